package dtz24

import (
	"context"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/sim/population"
)

// BenchmarkFigure6Setting is 10⁴ simulations of one setting of Figure 6, logistic loss, T = 8: the target is 60 s on
// two processors.
func BenchmarkFigure6Setting(b *testing.B) {
	p := regressed(32, 31, population.Normal(0, Kappa), nil)
	for b.Loop() {
		must.Get(population.Simulation{Population: p, Repetitions: 10_000, Seed: 1,
			Estimator: population.NoisyDescent{Slopes: population.ExpectedLogistic, Step: Step(31. / 32), Steps: 8,
				Nu: 0.1}}.Run(context.Background()))
	}
}

// BenchmarkLarge is one fit of each kind with n and d in the thousands.
func BenchmarkLarge(b *testing.B) {
	for _, kind := range []Kind{RobustObjective, LogisticObjective, LogisticDescent} {
		b.Run(kind.String(), func(b *testing.B) {
			m := measure.Must(Setting{kind, population.Rademacher, 3000, 2000}.model())
			for b.Loop() {
				must.Get(population.Simulation{Population: m.population, Estimator: m.estimator, Repetitions: 2,
					Seed: 1}.Run(context.Background()))
			}
		})
	}
}
