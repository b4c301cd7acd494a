// Package parallel deals pieces of work to goroutines: For for tasks, Dealer for the passes of a hot loop. Which worker
// takes which piece is left to chance, so that what a piece does must not depend on it.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/dpnb/notebooks/dpnb/internal/mapped"
)

// Dealer deals the chunks of a pass to workers, again and again, without an allocation. What a chunk holds afterwards
// must not depend on its worker.
type Dealer struct {
	workers, chunks int
	dealt           int // in this pass
	work            func(worker, chunk int)
	next            atomic.Int64
	wait            sync.WaitGroup
	failure         failure
}

// failure is the first panic of a worker with an error, which the caller is to have: rows that cannot be read. Mistakes
// of the program (runtime.Error) end it where they are made.
type failure struct {
	mu    sync.Mutex
	value error
}

// take, deferred by a worker, keeps its panic.
func (f *failure) take() {
	switch p := recover().(type) {
	case nil:
	case runtime.Error:
		err := mapped.Fault(p)
		if err == nil {
			panic(p)
		}
		f.keep(err)
	case error:
		f.keep(p)
	default:
		panic(p)
	}
}

func (f *failure) keep(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.value == nil {
		f.value = err
	}
}

// carry panics with what was kept, once.
func (f *failure) carry() {
	if p := f.value; p != nil {
		f.value = nil
		panic(p)
	}
}

// NewDealer returns a dealer of the chunks 0, …, chunks−1 to the workers 0, …, workers−1, each of which calls work for
// one chunk after the other.
func NewDealer(workers, chunks int, work func(worker, chunk int)) *Dealer {
	return &Dealer{workers: workers, chunks: chunks, work: work}
}

// Run deals every chunk once and returns when all are done; a panic of work with an error is then the caller's. The
// caller is worker 0; with one worker there is no other goroutine and nothing is allocated.
func (d *Dealer) Run() { d.Deal(d.chunks) }

// Deal is Run for a number of chunks that changes from pass to pass, to no more workers than there are chunks.
func (d *Dealer) Deal(chunks int) {
	d.dealt = chunks
	d.next.Store(0)
	workers := min(d.workers, chunks)
	if workers <= 1 {
		d.take(0)
		return
	}
	d.wait.Add(workers)
	for w := 1; w < workers; w++ {
		go d.join(w)
	}
	d.join(0)
	d.wait.Wait()
	d.failure.carry()
}

func (d *Dealer) join(w int) {
	defer d.wait.Done()
	defer mapped.Watch()()
	defer d.failure.take()
	d.take(w)
}

// take works on chunks until there are none left.
func (d *Dealer) take(w int) {
	for {
		k := int(d.next.Add(1)) - 1
		if k >= d.dealt {
			return
		}
		d.work(w, k)
	}
}
