package parallel

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/dpnb/notebooks/dpnb/internal/mapped"
)

// Workers returns how many goroutines serve n tasks: wanted, or one for each processor if wanted is not positive, and
// never more than tasks.
func Workers(n, wanted int) int {
	if wanted <= 0 {
		wanted = runtime.GOMAXPROCS(0)
	}
	return max(1, min(wanted, n))
}

// For calls task(w, i) once for each i = 0, …, n−1, on Workers(n, workers) goroutines numbered w, and returns when all
// have returned. Tasks are begun in rising order; after an error, or when ctx ends, no more are begun.
//
// Errors: ctx.Err() if ctx ends first; else that of the first task, by i, that failed, which does not depend on the
// number of workers. A panic with an error, as rows that cannot be read have it, is one of the caller.
func For(ctx context.Context, n, workers int, task func(worker, i int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var failed atomic.Bool
	var wg sync.WaitGroup
	var failure failure
	for w := range Workers(n, workers) {
		wg.Go(func() {
			defer mapped.Watch()()
			defer failure.take()
			for !failed.Load() && ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if errs[i] = task(w, i); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	wg.Wait()
	failure.carry()
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Blocks is Each with the numbers from 0 to n − 1 in blocks [lo, hi) of a size, of which the last may be shorter.
func Blocks(n, size int, task func(lo, hi int)) {
	Each((n+size-1)/size, 0, func(b int) { task(b*size, min(n, (b+1)*size)) })
}

// Each is For with tasks that cannot fail and are not cut short.
func Each(n, workers int, task func(i int)) {
	_ = For(context.Background(), n, workers, func(_, i int) error { task(i); return nil })
}
