package audit

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/internal/weight"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// heavier is a loss whose slopes are a tenth larger than it says.
type heavier struct{ loss.Weighted }

func (h heavier) ValueSlope(slope, t, y []float64) float64 {
	sum := h.Weighted.ValueSlope(slope, t, y)
	for i := range slope {
		slope[i] *= 1.1
	}
	return 1.1 * sum
}

// Neighbours with weights, on a grid of labels, weights and tilts, exactly in one dimension: no δ is above what is
// proved of the mechanism, the heaviest record comes near it, and if weights were up to 1.1 it would be above.
func TestWeightedNeighbours(t *testing.T) {
	testscale.InTurn(t)
	type weighted struct {
		of     loss.Loss
		labels []float64
		tight  bool
	}
	for _, c := range testscale.Some(weighted{loss.Logistic{}, []float64{-1, 1}, false},
		weighted{loss.Softplus{Width: 1}, []float64{-1, 1}, false},
		weighted{loss.Huber{Threshold: 0.5}, []float64{-1, 1}, true},
		weighted{loss.PseudoHuber{Threshold: 1}, []float64{-1, 1}, true},
		weighted{loss.Clipped(loss.Squared{}, 0.5), []float64{-1, 1}, true}) {
		for _, lambda := range []float64{0.05, 500} {
			m := objpert.Objective{Loss: loss.Weighted{Of: c.of}, RowNorm: 1, Lambda: lambda,
				Sigma: 2 * c.of.Lipschitz(), Tolerance: 1e-9, OutputSigma: 1}
			if lambda < 1 { // where the curve decides, too
				m.Sigma *= 2
			}
			if c.tight { // their bounds in short are larger than a tenth more
				m.Bound = objective.Tight
			}
			claimed := must.Get(m.Profile())
			worst := func(l loss.Loss, enough float64) (most float64) {
				for _, y := range c.labels {
					for _, w := range []float64{0.4, 0.9, 1} {
						s := &Scalar{Loss: l, X: []float64{-0.7, 1}, Y: []float64{weight.With(c.labels[0], 0.3),
							weight.With(c.labels[1], 1)}, ExtraX: 1, ExtraY: weight.With(y, w), Lambda: lambda,
							Sigma: m.Sigma}
						for _, s.Tilt = range []float64{0.6, -60 * lambda} {
							for _, dir := range privacy.Directions {
								d := s.DeltaLower(dir, 0.3) / privacy.DeltaUpper(claimed, 0.3)
								if most = max(most, d); most >= enough {
									return most
								}
							}
						}
					}
				}
				return most
			}
			if most := worst(m.Loss, math.Inf(1)); most > 1 {
				t.Errorf("%s, λ = %v: a pair of neighbours has %v times the δ that is "+
					"proved", m.Loss.Name(), lambda, most)
			}
			if lambda < 1 {
				continue
			}
			if most := worst(heavier{loss.Weighted{Of: c.of}}, 1); most < 1 {
				t.Errorf("%s, λ = %v: slopes that are a tenth larger are not noticed: %v", m.Loss.Name(), lambda, most)
			}
		}
	}
}
