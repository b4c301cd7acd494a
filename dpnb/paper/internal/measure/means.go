package measure

import (
	"context"

	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// Means is the mean over so many trials of each number that a trial gives, with its standard error. Trial k draws from
// stream k of src; what fails ends all.
func Means(ctx context.Context, trials int, src *noise.Seeded,
	trial func(k int, src *noise.Seeded) []float64) []sim.Summary {
	all := Must(sim.Trials(ctx, trials, 0, src, func(_, k int, src *noise.Seeded) ([]float64, error) {
		return trial(k, src), nil
	}))
	means, one := make([]sim.Summary, len(all[0])), make([]float64, trials)
	for i := range means {
		for k, t := range all {
			one[k] = t[i]
		}
		means[i] = sim.Summarize(one)
	}
	return means
}
