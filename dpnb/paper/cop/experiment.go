package cop

import (
	"context"
	"fmt"
	"sync"

	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// Experiment fits every arm to the same records: run k of a design and a number of records has records of its own, and
// each arm noise of its own.
type Experiment struct {
	Designs []Design
	Counts  []int
	// Epsilons, with δ = Delta.
	Epsilons []float64
	Arms     []Arm
	Runs     int
	Seed     uint64
	// Paired gives the arms of a run the same stream of noise, so that their difference is known better than either.
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
	// Empirical is the excess of the mean loss of the records over the least one. Relative is the excess of the
	// population risk in units of the smallest.
	Empirical, Relative sim.Cell
}

// scores are those of the cells of a run, ε by ε and in it arm by arm.
type scores struct{ empirical, relative []float64 }

// cell returns the arm and the ε of a cell.
func (e Experiment) cell(c int) (Arm, float64) {
	return e.Arms[c%len(e.Arms)], e.Epsilons[c/len(e.Arms)]
}

func (e Experiment) cells() int { return len(e.Epsilons) * len(e.Arms) }

// population returns that of design i.
func (e Experiment) population(i int) *Population {
	return e.Designs[i].Population(noise.NewSeeded(e.Seed).Stream(i).Stream(-1))
}

// run makes run k of a design with n records, from stream k of src.
func (e Experiment) run(population *Population, n, k int, src *noise.Seeded) (scores, error) {
	s := scores{make([]float64, e.cells()), make([]float64, e.cells())}
	r := population.Draw(n, src.Stream(0))
	for c := range e.cells() {
		arm, eps := e.cell(c)
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
				arm.Name, population.Dimension, n, eps, k, err)
		}
		s.relative[c] = population.Relative(theta)
	}
	return s, nil
}

// Run runs all trials and returns the points ordered by design, n, ε and arm.
func (e Experiment) Run(ctx context.Context) (Points, error) {
	root := noise.NewSeeded(e.Seed)
	var all Points
	for i, d := range e.Designs {
		population := e.population(i)
		for _, n := range e.Counts {
			runs, err := sim.Trials(ctx, e.Runs, e.Workers, root.Stream(i).Stream(n),
				func(_, k int, src *noise.Seeded) (scores, error) { return e.run(population, n, k, src) })
			if err != nil {
				return nil, err
			}
			for c := range e.cells() {
				p := Point{Design: d, N: n}
				p.Arm, p.Epsilon = e.Arms[c%len(e.Arms)].Name, e.Epsilons[c/len(e.Arms)]
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

// Sweep returns the experiment with a row for each run: its design, n and number, and the scores of every arm at every
// ε.
func (e Experiment) Sweep() sim.Sweep {
	s := &sweep{Experiment: e}
	for i := range e.Designs {
		s.population = append(s.population, sync.OnceValue(func() *Population { return e.population(i) }))
	}
	return s
}

type sweep struct {
	Experiment
	population []func() *Population
}

// Columns implements sim.Sweep.
func (s *sweep) Columns() (texts, numbers []string) {
	texts, numbers = []string{"loss"}, []string{"dimension", "records", "run"}
	for c := range s.cells() {
		arm, eps := s.cell(c)
		numbers = append(numbers, fmt.Sprintf("empirical, %s, ε = %g", arm.Name, eps),
			fmt.Sprintf("relative, %s, ε = %g", arm.Name, eps))
	}
	return texts, numbers
}

// Len implements sim.Sweep.
func (s *sweep) Len() int { return len(s.Designs) * len(s.Counts) * s.Runs }

// Trial implements sim.Sweep.
func (s *sweep) Trial(_ context.Context, trial int) (sim.Row, error) {
	k, at, i := trial%s.Runs, trial/s.Runs%len(s.Counts), trial/s.Runs/len(s.Counts)
	d, n := s.Designs[i], s.Counts[at]
	one, err := s.run(s.population[i](), n, k, noise.NewSeeded(s.Seed).Stream(i).Stream(n).Stream(k))
	row := sim.Row{Texts: []string{fmt.Sprintf("%T", d.Loss)}, Numbers: []float64{float64(d.Dimension), float64(n),
		float64(k)}}
	for c := range s.cells() {
		row.Numbers = append(row.Numbers, one.empirical[c], one.relative[c])
	}
	return row, err
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
