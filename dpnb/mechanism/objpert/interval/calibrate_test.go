package interval

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// At extreme (ε, δ) and shares what is returned is within the budget and uses it, or it is an error.
func TestCalibrateAtExtremes(t *testing.T) {
	good := 0
	for _, eps := range []float64{1e-3, 0.3, 10, 100} {
		for _, delta := range []float64{1e-300, 1e-30, 1e-5, 0.3} {
			for _, share := range []float64{1e-6, 0.1, 0.9, 1 - 1e-9} {
				c := config(loss.Logistic{}, eps)
				c.Delta = delta
				_, k, err := Calibrate(c, Share{Curvature: share})
				if err != nil {
					continue
				}
				p := must.Get(k.WithGaussian(0))
				good++
				if l := privacy.LogDeltaUpper(p, eps) - math.Log(delta); l > 0 || l < -1e-3 {
					t.Errorf("ε = %g, δ = %g, share %g: δ is exp(%g) times that", eps, delta, share, l)
				}
			}
		}
	}
	if good < 40 {
		t.Errorf("only %d of 64 were found", good)
	}
}
