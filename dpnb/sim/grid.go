// Package sim runs simulations: many trials of many settings, each with random numbers of its own, on all processors,
// with the same result at any number of them. Trials is the runner; Grid lays mechanisms over tasks and ε.
//
// It may import loss, matrix, erm and noise. audit, the claims and the learners enter; what privacy costs is no
// business of it, and no release draws here.
package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Fit learns coefficients θ from records of a type D as a mechanism with privacy (ε, δ) would, but draws from src
// alone, which whoever knows the seed can repeat: what it returns is a simulation and never a private release. It is
// called from several goroutines at once.
type Fit[D any] func(train D, epsilon, delta float64, src *noise.Seeded) (theta []float64, err error)

// Mechanism is a Fit with a name.
type Mechanism[D any] struct {
	Name string
	Fit  Fit[D]
}

// Task is a data set in two parts.
type Task[D any] struct {
	Name        string
	Train, Test D
}

// Grid is an experiment: every mechanism on every task at every ε, in independent trials. Trial k of task i, mechanism
// j and ε number l draws from stream i, j, l, k of Seed, so that what is appended to a list leaves the rest as it was.
type Grid[D any] struct {
	Tasks      []Task[D]
	Mechanisms []Mechanism[D]
	Epsilons   []float64
	Delta      float64
	// Trials of each cell, at least 2.
	Trials int
	// Score says how good θ is on the test part, for example its accuracy.
	Score func(test D, theta []float64) (float64, error)
	Seed  uint64
	// Workers is the number of goroutines; zero means one for each processor. The result does not depend on it.
	Workers int
	// Progress, if not nil, is called after each trial, never twice at once.
	Progress func(done, total int)
}

// Cell is what one mechanism scored on one task at one ε.
type Cell struct {
	Task, Mechanism string
	Epsilon         float64
	// Scores of the trials, in their order.
	Scores []float64
	Summary
}

// Summary is a mean with its standard error.
type Summary struct {
	// Mean of N scores; StdErr is their standard deviation (with N − 1) over √N.
	Mean, StdErr float64
	N            int
}

// Interval returns Mean ± t·StdErr with the 97.5 % quantile t of Student's law with N − 1 degrees of freedom. It covers
// the true mean with 95 % probability if scores are Gaussian; for a skew law show Quantile of the scores instead. With
// fewer than two scores it is the whole line.
func (s Summary) Interval() (lower, upper float64) {
	if s.N < 2 {
		return math.Inf(-1), math.Inf(1)
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(s.N - 1)}.Quantile(0.975)
	return s.Mean - t*s.StdErr, s.Mean + t*s.StdErr
}

// Sigmas is how far the mean is from x in standard errors, brought from Student's law with N − 1 degrees of freedom to
// the normal one: 4 of twenty scores are as rare as 3.4 of many. With N unknown (zero) the standard errors themselves.
func (s Summary) Sigmas(x float64) float64 {
	t := (s.Mean - x) / s.StdErr
	if s.N < 2 || math.IsNaN(t) {
		return t
	}
	// Survival is 1 − CDF and so good for nothing below 1e-16; the CDF of −|t| is.
	p := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(s.N - 1)}.CDF(-math.Abs(t))
	if p < 1e-300 {
		return t
	}
	return math.Copysign(distuv.UnitNormal.Quantile(p), t)
}

// Quantile returns the p-quantile of the scores, 0 ≤ p ≤ 1: 0 is the smallest, 1 the largest, between two scores it is
// interpolated. It assumes nothing of their law. NaN if there are none.
func (c Cell) Quantile(p float64) float64 {
	if len(c.Scores) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(c.Scores))
	at := math.Max(0, math.Min(1, p)) * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-1)
	if w := at - float64(i); w > 0 {
		return (1-w)*sorted[i] + w*sorted[i+1]
	}
	return sorted[i]
}

// Summarize returns the mean of the scores and its standard error.
func Summarize(scores []float64) Summary {
	mean, sd := stat.MeanStdDev(scores, nil)
	return Summary{Mean: mean, StdErr: sd / math.Sqrt(float64(len(scores))), N: len(scores)}
}

// Run runs all trials and returns the cells ordered by task, then ε, then mechanism, as in the lists.
//
// Errors: a grid without tasks, mechanisms, ε or score; the first trial that fails, with where it was; ctx.Err() if ctx
// ends first.
func (g Grid[D]) Run(ctx context.Context) ([]Cell, error) {
	if err := g.validate(); err != nil {
		return nil, err
	}
	var cells []Cell
	for _, t := range g.Tasks {
		for _, e := range g.Epsilons {
			for _, m := range g.Mechanisms {
				cells = append(cells, Cell{Task: t.Name, Mechanism: m.Name, Epsilon: e,
					Scores: make([]float64, g.Trials)})
			}
		}
	}
	total := g.Len()
	var mu sync.Mutex
	done := 0
	err := parallel.For(ctx, total, g.Workers, func(_, job int) error {
		row, err := g.Trial(ctx, job)
		if err != nil {
			return err
		}
		cells[job/g.Trials].Scores[job%g.Trials] = row.Numbers[scoreColumn]
		if g.Progress != nil {
			mu.Lock()
			defer mu.Unlock()
			done++
			g.Progress(done, total)
		}
		return nil
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	for i := range cells {
		cells[i].Summary = Summarize(cells[i].Scores)
	}
	return cells, nil
}

// scoreColumn is where a Row of a Grid has the score.
const scoreColumn = 2

// Columns implements Sweep: task and mechanism; ε, the number of the trial in its cell, the score.
func (g Grid[D]) Columns() (texts, numbers []string) {
	return []string{"task", "mechanism"}, []string{"epsilon", "trial", "score"}
}

// Len implements Sweep: Trials of each cell, cell after cell in the order of Run.
func (g Grid[D]) Len() int { return len(g.Tasks) * len(g.Epsilons) * len(g.Mechanisms) * g.Trials }

// Trial implements Sweep.
func (g Grid[D]) Trial(_ context.Context, k int) (Row, error) {
	if err := g.validate(); err != nil {
		return Row{}, err
	}
	c, trial := k/g.Trials, k%g.Trials
	mechanism := c % len(g.Mechanisms)
	epsilon := c / len(g.Mechanisms) % len(g.Epsilons)
	task := c / len(g.Mechanisms) / len(g.Epsilons)
	t, m, e := g.Tasks[task], g.Mechanisms[mechanism], g.Epsilons[epsilon]
	src := noise.NewSeeded(g.Seed).Stream(task).Stream(mechanism).Stream(epsilon).Stream(trial)
	theta, err := m.Fit(t.Train, e, g.Delta, src)
	var score float64
	if err == nil {
		score, err = g.Score(t.Test, theta)
	}
	if err != nil {
		return Row{}, fmt.Errorf("sim: %s, %s, ε = %g, trial %d: %w", t.Name, m.Name, e, trial, err)
	}
	return Row{[]string{t.Name, m.Name}, []float64{e, float64(trial), score}}, nil
}

func (g Grid[D]) validate() error {
	switch {
	case len(g.Tasks) == 0 || len(g.Mechanisms) == 0 || len(g.Epsilons) == 0 || g.Score == nil:
		return errors.New("sim: a grid needs tasks, mechanisms, epsilons and a score")
	case g.Trials < 2:
		return fmt.Errorf("sim: Trials = %d, want at least 2: a mean without a standard error says little", g.Trials)
	case g.Workers < 0:
		return fmt.Errorf("sim: Workers = %d, want a positive number, or 0 for one for each processor", g.Workers)
	}
	for _, m := range g.Mechanisms {
		if m.Fit == nil {
			return fmt.Errorf("sim: the mechanism %q has no Fit", m.Name)
		}
	}
	return nil
}
