package population

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// Simulation is an estimator on data sets from a population, many times.
type Simulation struct {
	Population
	Estimator Estimator
	// Repetitions, at least 2.
	Repetitions int
	Seed        uint64
	// TestRecords is the number of new records in each repetition on which the error of a classifier is measured; zero
	// for none.
	TestRecords int
	// Edges are the ends, in rising order, of the cells of a histogram of the coordinates of β̂, two at least; nil for
	// none.
	Edges []float64
	// Workers is the number of goroutines; zero means one for each processor. The result does not depend on it.
	Workers int
}

// Result of a simulation.
type Result struct {
	// AspectRatio is d/n as it was.
	AspectRatio float64
	repetitions []repetition
}

// repetition is what was measured of one data set: at each iterate, and the histogram of the last one.
type repetition struct {
	values []values
	cells  []float64
}

// Iterates returns the number of points that were measured: 1, or T + 1 for gradient descent.
func (r *Result) Iterates() int { return len(r.repetitions[0].values) }

// Of returns the mean and its standard error of a measure at an iterate; negative ones count from the last.
func (r *Result) Of(iterate int, m Measure) sim.Summary {
	return sim.Summarize(r.Each(iterate, m))
}

// Each returns the measure of every repetition, in order.
func (r *Result) Each(iterate int, m Measure) []float64 {
	if iterate < 0 {
		iterate += r.Iterates()
	}
	out := make([]float64, len(r.repetitions))
	for k, v := range r.repetitions {
		out[k] = v.values[iterate][m]
	}
	return out
}

// Histogram returns, for each cell, the share of the coordinates of the last iterate that lie in it.
func (r *Result) Histogram() []sim.Summary {
	out := make([]sim.Summary, len(r.repetitions[0].cells))
	column := make([]float64, len(r.repetitions))
	for c := range out {
		for k, v := range r.repetitions {
			column[k] = v.cells[c]
		}
		out[c] = sim.Summarize(column)
	}
	return out
}

func (s Simulation) validate() error {
	if err := s.Population.Validate(); err != nil {
		return err
	}
	if s.Estimator == nil {
		return errors.New("population: Estimator is nil, want for example ObjectivePerturbation")
	}
	if err := s.Estimator.validate(); err != nil {
		return err
	}
	switch {
	case s.Repetitions < 2:
		return fmt.Errorf("population: Repetitions = %d, want at least 2: a mean without a standard error says little",
			s.Repetitions)
	case s.TestRecords < 0 || s.Workers < 0:
		return fmt.Errorf("population: TestRecords = %d, Workers = %d, want numbers ≥ 0", s.TestRecords, s.Workers)
	case s.TestRecords > 0 && s.Prob == nil:
		return errors.New("population: TestRecords are for a classification: set Prob")
	case len(s.Edges) == 1 || !slices.IsSorted(s.Edges):
		return errors.New("population: Edges must be at least two numbers in rising order, or nil")
	}
	return nil
}

// Run simulates.
//
// Errors: a setting out of range; a repetition whose problem could not be solved to the tolerance or whose iterates
// diverged, with its number; ctx.Err() if ctx ends first.
func (s Simulation) Run(ctx context.Context) (*Result, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	workers := make([]worker, parallel.Workers(s.Repetitions, s.Workers))
	samples := make([]*Sample, len(workers))
	all, err := sim.Trials(ctx, s.Repetitions, s.Workers, noise.NewSeeded(s.Seed),
		func(w, k int, r *noise.Seeded) (repetition, error) {
			samples[w] = s.Draw(r, samples[w])
			out, err := s.repetition(&workers[w], samples[w], r)
			if err != nil {
				err = fmt.Errorf("repetition %d: %w", k, err)
			}
			return out, err
		})
	if err != nil {
		return nil, err
	}
	return &Result{AspectRatio: float64(s.Features) / float64(s.Records), repetitions: all}, nil
}

func (s Simulation) repetition(w *worker, sample *Sample, r *noise.Seeded) (repetition, error) {
	out := repetition{values: make([]values, s.Estimator.iterates())}
	finite := true
	err := s.Estimator.fit(w, sample, r, func(iterate int, beta, xi []float64) {
		v := &out.values[iterate]
		v.measure(beta, sample.Signal, xi)
		finite = finite && !math.IsNaN(v[MSE]) && !math.IsInf(v[MSE], 0)
		if iterate < len(out.values)-1 {
			return
		}
		if l := s.Estimator.slopes(); l != nil {
			v.onRecords(w, s.Population, sample, beta, l)
		}
		if s.TestRecords > 0 {
			v.onNew(w, s.Population, r, s.TestRecords, beta, sample.Signal)
		}
		if s.Edges != nil {
			out.cells = shares(s.Edges, beta)
		}
	})
	if err == nil && !finite {
		err = errors.New("population: the iterates grew beyond all bounds: take a smaller Step")
	}
	return out, err
}
