package sim

import (
	"context"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Trials runs n independent trials and returns their results in order. Trial k draws from stream k of src and from
// nothing else, so that the results depend neither on the number of workers (zero: one for each processor) nor, for the
// trials that there were, on how many are added. worker < parallel.Workers(n, workers) says which goroutine runs it,
// for what is reused between its trials.
//
// Errors: ctx.Err() if ctx ends first; else that of the first trial that failed.
func Trials[T any](ctx context.Context, n, workers int, src *noise.Seeded,
	trial func(worker, k int, src *noise.Seeded) (T, error)) ([]T, error) {
	out := make([]T, n)
	err := parallel.For(ctx, n, workers, func(w, k int) (err error) {
		out[k], err = trial(w, k, src.Stream(k))
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
