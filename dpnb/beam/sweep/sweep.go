// Package sweep runs the sweeps of paper/sweeps on workers: the same rows, to the last digit, as in one process,
// whatever the number of workers and whatever dies.
package sweep

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/dpnb/notebooks/dpnb/beam/runner"
	"github.com/dpnb/notebooks/dpnb/paper/sweeps"
	"github.com/dpnb/notebooks/dpnb/sim"
)

func init() { register.DoFn2x1[context.Context, int, error](&makePart{}) }

// open returns the parts of a sweep in a folder, which every worker must see under this name.
//
// Errors: as sweeps.New and sim.OpenParts.
func open(r sweeps.Request, dir string) (*sim.Parts, error) {
	s, err := sweeps.New(r)
	if err != nil {
		return nil, err
	}
	return sim.OpenParts(dir, r.String(), s)
}

// Run makes what is missing of a sweep's parts in a folder, each worker its share. progress, if not nil, is told now
// and then how many parts there are of how many.
//
// Errors: as sweeps.New and sim.OpenParts; what the runner failed of. What was made stays, and another Run goes on.
func Run(ctx context.Context, on *runner.Session, r sweeps.Request, dir string,
	progress func(done, total int)) error {
	parts, err := open(r, dir)
	if err != nil {
		return err
	}
	missing := parts.Missing()
	if progress != nil {
		stop := told(parts, progress)
		defer stop()
	}
	if len(missing) == 0 {
		return nil
	}
	request, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return on.Run(ctx, "dpnb sweep", func(scope beam.Scope, worker int) {
		var mine []int
		for k := worker; k < len(missing); k += on.Workers() {
			mine = append(mine, missing[k])
		}
		if len(mine) > 0 {
			// Reshuffled, so that a runner which has several hands for a worker gives each a part.
			beam.ParDo0(scope, &makePart{string(request), dir}, beam.Reshuffle(scope, beam.CreateList(scope, mine)))
		} else {
			beam.Impulse(scope)
		}
	})
}

// told has progress told every half second, and once more when stop is called.
func told(parts *sim.Parts, progress func(done, total int)) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				progress(parts.Done(), parts.Len())
			case <-done:
				progress(parts.Done(), parts.Len())
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}

// makePart makes a part of the sweep that Request asks for in Dir.
type makePart struct{ Request, Dir string }

// opened has the parts of the sweeps that this process has been asked for: their data are made once.
var opened sync.Map

// ProcessElement makes part k, unless it is there.
func (m *makePart) ProcessElement(ctx context.Context, k int) error {
	get, _ := opened.LoadOrStore(*m, sync.OnceValues(func() (*sim.Parts, error) {
		var r sweeps.Request
		if err := json.Unmarshal([]byte(m.Request), &r); err != nil {
			return nil, err
		}
		return open(r, m.Dir)
	}))
	p, err := get.(func() (*sim.Parts, error))()
	if err != nil {
		return err
	}
	return p.Make(ctx, k)
}
