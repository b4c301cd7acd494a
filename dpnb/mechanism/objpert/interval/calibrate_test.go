package interval

import (
	"errors"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// At extreme (ε, δ) and shares what is returned is within the budget and uses it,
// or it is an error.
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
				p, err := k.Together()
				if err != nil {
					t.Fatal(err)
				}
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

// largest finds the root of rising functions from bad starts, and never returns
// what it has not seen to be good.
func TestLargest(t *testing.T) {
	for name, f := range map[string]func(float64) float64{
		"steep":  func(x float64) float64 { return 1e9 * (x - 3) },
		"flat":   func(x float64) float64 { return 1e-3 * (x - 3) },
		"step":   func(x float64) float64 { return math.Copysign(1, x-3) },
		"curved": func(x float64) float64 { return math.Log(x / 3) },
		"unknown above": func(x float64) float64 {
			if x > 3 {
				return math.NaN()
			}
			return x - 3
		},
	} {
		for _, guess := range []float64{1e-6, 2.9, 3, 40, 1e6} {
			for _, slope := range []float64{1, 1e-9, -1, 0, math.NaN(), math.Inf(1)} {
				seen := map[float64]bool{}
				x, err := largest(guess, slope, func(x float64) (float64, error) {
					y := f(x)
					if y <= 0 {
						seen[x] = true
					}
					return y, nil
				})
				if err != nil || !(x > 0) || !seen[x] || f(x) > 0 || f(x) < -5e-4 && x < 3*(1-1e-6) {
					t.Errorf("%s from %g, slope %g: %v (f = %g), %v", name, guess, slope, x, f(x), err)
				}
			}
		}
	}
	wrong := errors.New("wrong")
	if _, err := largest(1, 1, func(float64) (float64, error) { return 0, wrong }); err != wrong {
		t.Error(err)
	}
	if x, err := largest(1, 1, func(float64) (float64, error) { return 1, nil }); x != 0 || err != nil {
		t.Errorf("%v, %v where nothing is good", x, err)
	}
}
