// Package sweeps has the papers' experiments, and the register of claims, as sweeps by name: what another process or
// machine can be asked for.
package sweeps

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/dataset"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper"
	"github.com/dpnb/notebooks/dpnb/paper/cop"
	"github.com/dpnb/notebooks/dpnb/paper/experiment"
	"github.com/dpnb/notebooks/dpnb/paper/qop"
	"github.com/dpnb/notebooks/dpnb/paper/rkw23"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// Request says which sweep, of which size. Two requests that are equal give the same rows.
type Request struct {
	Name string
	// Trials of each cell, and Seed; zero is what the experiment has.
	Trials int
	Seed   uint64
	// Only of the claims is a pattern of their IDs; empty is all.
	Only string
}

// String identifies the request.
func (r Request) String() string {
	return fmt.Sprintf("%s, trials %d, seed %d, only %q", r.Name, r.Trials, r.Seed, r.Only)
}

var makers = map[string]func(r Request) (sim.Sweep, error){
	"rkw23/fig2": func(r Request) (sim.Sweep, error) {
		set, err := experiment.Synthetic("Synthetic-L", dataset.SyntheticL(1))
		return sized(rkw23.Figure2([]experiment.Set{set}), r), err
	},
	"qop/fig2": func(r Request) (sim.Sweep, error) {
		return sized(qop.Figure2([]float64{10, 100, 1000}, 0, 58, qop.AsPrinted(qop.Certified)...), r), nil
	},
	"cop/fig5": figure(5), "cop/fig7": figure(7), "cop/fig8": figure(8),
	"noise": func(r Request) (sim.Sweep, error) { return sized(means(), r), nil },
	"claims": func(r Request) (sim.Sweep, error) {
		if r.Trials != 0 || r.Seed != 0 {
			return nil, fmt.Errorf("sweeps: the claims have seeds and trials of their own: leave out both")
		}
		var only []string
		if r.Only != "" {
			only = strings.Split(r.Only, ",")
		}
		all, err := claim.Select(paper.Register(), only...)
		return claims(all), err
	},
}

func sized[D any](g sim.Grid[D], r Request) sim.Sweep {
	if r.Trials != 0 {
		g.Trials = r.Trials
	}
	if r.Seed != 0 {
		g.Seed = r.Seed
	}
	return g
}

func figure(number int) func(Request) (sim.Sweep, error) {
	return func(r Request) (sim.Sweep, error) {
		e := cop.Reproduce(number, true, cop.Published()...)
		if r.Trials != 0 {
			e.Runs = r.Trials
		}
		if r.Seed != 0 {
			e.Seed = r.Seed
		}
		return e, nil
	}
}

// means is the grid that takes no time: Gaussian noise on the mean of four numbers.
func means() sim.Grid[[]float64] {
	ones := []float64{1, 1, 1, 1}
	return sim.Grid[[]float64]{Tasks: []sim.Task[[]float64]{{Name: "four ones", Train: ones, Test: ones}},
		Mechanisms: []sim.Mechanism[[]float64]{{Name: "Gaussian", Fit: func(x []float64, epsilon, _ float64,
			src *noise.Seeded) ([]float64, error) {
			theta := []float64{0}
			src.Gaussian(theta, 1/(float64(len(x))*epsilon))
			theta[0]++
			return theta, nil
		}}},
		Epsilons: []float64{0.1, 1}, Delta: 1e-5, Trials: 500, Seed: 1,
		Score: func(_ []float64, theta []float64) (float64, error) { return theta[0] - 1, nil }}
}

// claims is a trial for each claim, checked in full.
type claims []claim.Claim

// Columns implements sim.Sweep.
func (claims) Columns() (texts, numbers []string) {
	return []string{"claim", "verdict", "measured", "interval"}, nil
}

// Len implements sim.Sweep.
func (c claims) Len() int { return len(c) }

// Trial implements sim.Sweep.
func (c claims) Trial(ctx context.Context, k int) (sim.Row, error) {
	r, err := claim.Run(ctx, c[k:k+1], claim.Full, nil)
	if err != nil {
		return sim.Row{}, err
	}
	return sim.Row{Texts: []string{r[0].ID, r[0].Verdict, r[0].Measured, r[0].Interval}}, nil
}

// Names returns the names of the sweeps.
func Names() []string { return slices.Sorted(maps.Keys(makers)) }

// New returns the sweep that is asked for.
//
// Errors: a name that is none; parameters that the experiment does not take.
func New(r Request) (sim.Sweep, error) {
	make, known := makers[r.Name]
	switch {
	case !known:
		return nil, fmt.Errorf("sweeps: there is no sweep %q: take one of %s", r.Name, strings.Join(Names(), ", "))
	case r.Only != "" && r.Name != "claims":
		return nil, fmt.Errorf("sweeps: a pattern chooses among the claims, and %s is an experiment", r.Name)
	case r.Trials < 0 || r.Trials == 1:
		return nil, fmt.Errorf("sweeps: %d trials, want at least 2: a mean without a standard error says little",
			r.Trials)
	}
	return make(r)
}

// Table returns rows as a dataframe, a column for each of theirs.
func Table(s sim.Sweep, rows []sim.Row) (*frame.Table, error) {
	texts, numbers := s.Columns()
	var columns []frame.Column
	for j, name := range texts {
		c := frame.Column{Name: name, Kind: frame.Categorical}
		for _, r := range rows {
			c.Texts = append(c.Texts, r.Texts[j])
		}
		columns = append(columns, c)
	}
	for j, name := range numbers {
		c := frame.Column{Name: name, Kind: frame.Numeric}
		for _, r := range rows {
			c.Numbers = append(c.Numbers, r.Numbers[j])
		}
		columns = append(columns, c)
	}
	return frame.NewTable(columns...)
}
