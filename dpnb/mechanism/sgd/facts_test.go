package sgd

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// What follows from facts, by hand, and what a descent costs beside a Gaussian mechanism.
func TestFacts(t *testing.T) {
	c := quantiles(deciles).WithCurvature(0.2)
	of, stretch := c.For(mechanism.Facts{Records: 1000, Mu: 0.5, Directions: 30})
	u, r := of.(Curvature).Fit.Update, math.Sqrt(470)
	if math.Abs(u.Radius-r) > 1e-12 || math.Abs(u.Ball-2*r) > 1e-12 || math.Abs(u.Ridge-0.09) > 1e-15 || stretch != 1 {
		t.Errorf("%+v, stretch %v", u, stretch)
	}
	for _, m := range []mechanism.WithGaussians{c, quantiles(deciles)} {
		_, mu, ok := privacy.GaussianMu(must.Get(m.WithGaussian(0.3)))
		if want := math.Hypot(math.Sqrt(20)/3, 0.3); !ok || mu < want || mu > want*(1+1e-12) {
			t.Errorf("μ = %v beside 0.3, want %v", mu, want)
		}
	}
}
