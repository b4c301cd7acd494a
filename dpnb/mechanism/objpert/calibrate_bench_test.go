package objpert

import (
	"fmt"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// The calibration that the first fit of each kind pays for.
func BenchmarkCalibration(b *testing.B) {
	for _, l := range []struct {
		loss loss.Loss
		clip float64
	}{
		{loss.Logistic{}, 0}, {loss.SmoothedHinge{Width: 0.5}, 0}, {loss.Softplus{Width: 0.5}, 0},
		{loss.Huber{Threshold: 1}, 0},
		{loss.PseudoHuber{Threshold: 1}, 0}, {loss.Squared{}, 0.5}, {loss.Probit{}, 1}, {loss.Poisson{MaxCount: 5}, 1},
	} {
		for _, eps := range []float64{1e-8, 1e-4, 0.1, 1, 8, 100} {
			b.Run(fmt.Sprintf("%s/epsilon=%g", l.loss.Name(), eps), func(b *testing.B) {
				for b.Loop() {
					must.Get(Calibrate(Config{Loss: l.loss, Clip: l.clip, RowNorm: 1, Epsilon: eps,
						Delta: 1e-6, Adjacency: privacy.AddRemove, Bound: objective.Tight}))
				}
			})
		}
	}
}
