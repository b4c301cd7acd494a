package objective_test

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// The bounds for clipped counts lie above the exact divergence of neighbours in one dimension, whose densities are
// known:
//
//	p(θ) = φ((λθ + Σf′x)/σ)/σ·(λ + Σf″x²),
//
// for records at every corner of what is allowed, others beside them or not; and some come close to the tight one.
func TestClippedPoissonIsAboveExactDivergence(t *testing.T) {
	type record struct{ x, y float64 }
	const most, level, radius = 3.0, 2.0, 1.5
	slope := func(th, y float64) (f1, f2 float64) {
		e := math.Exp(th)
		switch p := e - y; {
		case p > level:
			return level, 0
		case p < -level:
			return -level, 0
		default:
			return p, e
		}
	}
	var closest float64
	for _, c := range []struct{ lambda, sigma, eps float64 }{{5, 4, 1}, {30, 6, 0.5}, {12, 2, 2}, {3, 10, 1.5}} {
		curve, err := loss.CurveOf(loss.Clipped(loss.Poisson{MaxCount: most}, level), radius)
		if err != nil {
			t.Fatal(err)
		}
		bounds := map[objective.Bound]privacy.Profile{}
		for _, b := range []objective.Bound{objective.Pointwise, objective.Integral, objective.Tight} {
			if bounds[b], err = objective.New(objective.Config{Curve: curve, Lambda: c.lambda, Sigma: c.sigma,
				Bound: b}); err != nil {
				t.Fatal(err)
			}
		}
		for _, others := range [][]record{nil, {{1.5, 3}}, {{-1.5, 0}, {1.5, 3}, {1.5, 3}}} {
			for _, added := range []record{{1.5, 3}, {1.5, 0}, {-1.5, 3}, {0.7, 2}, {1.5, 1}} {
				var remove, add float64 // δ where the record is there first, and where it is not
				density := func(th float64, with bool) float64 {
					b, h := c.lambda*th, c.lambda
					for _, r := range others {
						f1, f2 := slope(th*r.x, r.y)
						b, h = b+r.x*f1, h+r.x*r.x*f2
					}
					if with {
						f1, f2 := slope(th*added.x, added.y)
						b, h = b+added.x*f1, h+added.x*added.x*f2
					}
					return math.Exp(-0.5*b*b/(c.sigma*c.sigma)) / (c.sigma * math.Sqrt(2*math.Pi)) * h
				}
				reach := (10*c.sigma + 20) / c.lambda
				const n = 20_000
				for i := range n {
					th := reach * (2*(float64(i)+0.5)/n - 1)
					p, q := density(th, true), density(th, false)
					remove += math.Max(0, p-math.Exp(c.eps)*q) * 2 * reach / n
					add += math.Max(0, q-math.Exp(c.eps)*p) * 2 * reach / n
				}
				for b, p := range bounds {
					for direction, exact := range map[privacy.Direction]float64{privacy.Remove: remove,
						privacy.Add: add} {
						claimed := math.Exp(p.LogDeltaUpper(direction, c.eps))
						if exact > claimed*(1+1e-3)+1e-12 {
							t.Errorf("%v, %+v, others %v, added %v, direction %v: exact δ = %g, claimed %g", b, c,
								others, added, direction, exact, claimed)
						}
						if b == objective.Tight && claimed > 1e-12 {
							closest = math.Max(closest, exact/claimed)
						}
					}
				}
			}
		}
	}
	if closest < 0.5 {
		t.Errorf("the nearest pair has %.3f of the tight bound", closest)
	}
	t.Logf("nearest pair: %.3f of the tight bound", closest)
}
