package cop

import (
	"context"
	"fmt"

	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// Experiment fits every arm to the same records: run k of a design and a number of records
// has records of its own, and each arm noise of its own.
type Experiment struct {
	Designs []Design
	Counts  []int
	// Epsilons, with δ = Delta.
	Epsilons []float64
	Arms     []Arm
	Runs     int
	Seed     uint64
	// Paired gives the arms of a run the same stream of noise, so that their difference is known
	// better than either.
	Paired bool
	// Workers is the number of goroutines; zero means one for each processor.
	Workers int
}

// Point is what an arm came to on a design, at one ε and one number of records.
type Point struct {
	Design
	Arm     string
	N       int
	Epsilon float64
	// Empirical is the excess of the mean loss of the records over the least one. Relative
	// is the excess of the population risk in units of the smallest.
	Empirical, Relative sim.Cell
}

// Run runs all trials and returns the points ordered by design, n, ε and arm.
func (e Experiment) Run(ctx context.Context) (Points, error) {
	type scores struct{ empirical, relative []float64 }
	cells := len(e.Epsilons) * len(e.Arms)
	root := noise.NewSeeded(e.Seed)
	var all Points
	for i, d := range e.Designs {
		population := d.Population(root.Stream(i).Stream(-1))
		for _, n := range e.Counts {
			run := func(_, k int, src *noise.Seeded) (scores, error) {
				s := scores{make([]float64, cells), make([]float64, cells)}
				r := d.Draw(n, src.Stream(0))
				for c := range cells {
					arm, eps := e.Arms[c%len(e.Arms)], e.Epsilons[c/len(e.Arms)]
					stream := 1 + c
					if e.Paired {
						stream = 1 + c/len(e.Arms)
					}
					theta, err := arm.Fit(r, eps, Delta, src.Stream(stream))
					if err == nil {
						s.empirical[c], err = r.Excess(theta)
					}
					if err != nil {
						return s, fmt.Errorf("cop: %s, d = %d, n = %d, ε = %g, run %d: %w",
							arm.Name, d.Dimension, n, eps, k, err)
					}
					s.relative[c] = population.Relative(theta)
				}
				return s, nil
			}
			runs, err := sim.Trials(ctx, e.Runs, e.Workers, root.Stream(i).Stream(n), run)
			if err != nil {
				return nil, err
			}
			for c := range cells {
				p := Point{Design: d, N: n, Arm: e.Arms[c%len(e.Arms)].Name}
				p.Epsilon = e.Epsilons[c/len(e.Arms)]
				for _, s := range runs {
					p.Empirical.Scores = append(p.Empirical.Scores, s.empirical[c])
					p.Relative.Scores = append(p.Relative.Scores, s.relative[c])
				}
				p.Empirical.Summary = sim.Summarize(p.Empirical.Scores)
				p.Relative.Summary = sim.Summarize(p.Relative.Scores)
				all = append(all, p)
			}
		}
	}
	return all, nil
}

// Points are the outcome of an Experiment.
type Points []Point

// Of returns the points that keep selects, in their order.
func (p Points) Of(keep func(Point) bool) (some Points) {
	for _, v := range p {
		if keep(v) {
			some = append(some, v)
		}
	}
	return some
}
