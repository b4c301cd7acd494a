package objective_test

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// The bounds for clipped counts lie above the exact divergence of neighbours in one dimension, for records at every
// corner of what is allowed, others beside them or not; and some come close to the tight one.
func TestClippedPoissonIsAboveExactDivergence(t *testing.T) {
	testscale.Slow(t)
	l := loss.Clipped(loss.Poisson{MaxCount: 3}, 2)
	curve, closest := must.Get(loss.CurveOf(l, 1.5)), 0.0
	for _, c := range []struct{ lambda, sigma, eps float64 }{{5, 4, 1}, {30, 6, 0.5}, {12, 2, 2}, {3, 10, 1.5}} {
		for _, others := range [][2][]float64{{}, {{1.5}, {3}}, {{-1.5, 1.5, 1.5}, {0, 3, 3}}} {
			for _, added := range [][2]float64{{1.5, 3}, {1.5, 0}, {-1.5, 3}, {0.7, 2}, {1.5, 1}} {
				pair := &audit.Scalar{Loss: l, X: others[0], Y: others[1], ExtraX: added[0], ExtraY: added[1],
					Lambda: c.lambda, Sigma: c.sigma}
				for _, direction := range privacy.Directions {
					exact := pair.DeltaLower(direction, c.eps)
					for _, b := range []objective.Bound{objective.Pointwise, objective.Integral, objective.Tight} {
						p := must.Get(objective.New(objective.Config{Curve: curve, Lambda: c.lambda, Sigma: c.sigma,
							Bound: b}))
						claimed := math.Exp(p.LogDeltaUpper(direction, c.eps))
						if exact > claimed*(1+1e-9)+1e-12 {
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
	if t.Logf("nearest pair: %.3f of the tight bound", closest); closest < 0.5 {
		t.Errorf("the nearest pair has %.3f of the tight bound", closest)
	}
}
