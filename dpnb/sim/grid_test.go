package sim_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// mean releases a mean with Gaussian noise of σ = 1/(nε); its score is the error.
func mean(data []float64, epsilon, _ float64, src *noise.Seeded) ([]float64, error) {
	var s float64
	for _, v := range data {
		s += v / float64(len(data))
	}
	out := []float64{0}
	src.Gaussian(out, 1/(float64(len(data))*epsilon))
	out[0] += s
	return out, nil
}

func zero([]float64, float64, float64, *noise.Seeded) ([]float64, error) { return []float64{0}, nil }

func grid(workers int) sim.Grid[[]float64] {
	return sim.Grid[[]float64]{
		Tasks: []sim.Task[[]float64]{
			{Name: "ones", Train: []float64{1, 1, 1, 1}, Test: []float64{1}},
			{Name: "twos", Train: []float64{2, 2}, Test: []float64{2}},
		},
		Mechanisms: []sim.Mechanism[[]float64]{{Name: "mean", Fit: mean}, {Name: "zero", Fit: zero}},
		Epsilons:   []float64{0.5, 2, 8}, Delta: 1e-5, Trials: 400, Seed: 3, Workers: workers,
		Score: func(test []float64, theta []float64) (float64, error) { return theta[0] - test[0], nil },
	}
}

func run(t *testing.T, g sim.Grid[[]float64]) []sim.Cell {
	t.Helper()
	return must.Get(g.Run(context.Background()))
}

// Errors are N(0, 1/(nε)²): mean within 5 standard errors, standard error to a fifth (6 of its own standard deviations
// at 400 trials).
func TestGridMeasures(t *testing.T) {
	cells := run(t, grid(0))
	if len(cells) != 12 {
		t.Fatalf("%d cells", len(cells))
	}
	for i, c := range cells {
		if want := []string{"mean", "zero"}[i%2]; c.Mechanism != want || c.Epsilon != []float64{0.5, 2, 8}[i/2%3] ||
			c.Task != []string{"ones", "twos"}[i/6] {
			t.Errorf("cell %d is %s, %v, %s", i, c.Task, c.Epsilon, c.Mechanism)
		}
		n := map[string]float64{"ones": 4, "twos": 2}[c.Task]
		if c.Mechanism == "zero" {
			if c.StdErr != 0 || c.Mean != -4/n {
				t.Errorf("%s at zero: %+v", c.Task, c.Summary)
			}
			continue
		}
		se := 1 / (n * c.Epsilon) / 20
		if !(math.Abs(c.Mean) <= 5*se) || !(math.Abs(c.StdErr/se-1) <= 0.2) {
			t.Errorf("%s, ε = %v: %+v, want 0 ± %v", c.Task, c.Epsilon, c.Summary, se)
		}
		if lo, hi := c.Interval(); !(math.Abs(hi-lo-2*1.96593*c.StdErr) <= 1e-5*c.StdErr) ||
			!(math.Abs(lo+hi-2*c.Mean) <= 1e-12) {
			t.Errorf("interval %v … %v", lo, hi)
		}
	}
}

// Student's interval covers the mean of few Gaussian scores as often as it says: 95 % of 4,000 times to within 4
// standard deviations of that count (0.35 % each). ± 1.96 standard errors would cover 81 % at three scores and 92 % at
// ten.
func TestIntervalCoversOfFewScores(t *testing.T) {
	src := noise.NewSeeded(17)
	for _, n := range []int{3, 10} {
		const times = 4000
		covered, normal := 0, 0
		for range times {
			scores := make([]float64, n)
			src.Gaussian(scores, 2)
			s := sim.Summarize(scores)
			if lo, hi := s.Interval(); lo <= 0 && 0 <= hi {
				covered++
			}
			if math.Abs(s.Mean) <= 1.96*s.StdErr {
				normal++
			}
		}
		if share := float64(covered) / times; !(math.Abs(share-0.95) <= 0.014) {
			t.Errorf("%d scores: covered %.3f of the times", n, share)
		}
		if share := float64(normal) / times; share > 0.936 {
			t.Errorf("%d scores: ± 1.96 standard errors cover %.3f, so that this test tells nothing", n, share)
		}
	}
	if lo, hi := (sim.Summary{Mean: 1}).Interval(); !math.IsInf(lo, -1) || !math.IsInf(hi, 1) {
		t.Errorf("no scores: %v … %v", lo, hi)
	}
}

// Source of the quantiles: tables of Student's law: 4 at 19 degrees of freedom has the tail 3.848e-4, as 3.363 of the
// normal law; 63.657 at one has 0.005, as 2.576.
func TestSigmas(t *testing.T) {
	for _, c := range []struct {
		s    sim.Summary
		want float64
	}{
		{sim.Summary{Mean: 4, StdErr: 1, N: 20}, 3.363}, {sim.Summary{Mean: -4, StdErr: 1, N: 20}, -3.363},
		{sim.Summary{Mean: 63.657, StdErr: 1, N: 2}, 2.576}, {sim.Summary{Mean: 2, StdErr: 1}, 2},
		{sim.Summary{Mean: 2, StdErr: 1, N: 1e7}, 2},
	} {
		if got := c.s.Sigmas(0); !(math.Abs(got-c.want) <= 2e-3) {
			t.Errorf("%+v: %.4f, want %.3f", c.s, got, c.want)
		}
	}
}

func TestQuantile(t *testing.T) {
	c := sim.Cell{Scores: []float64{4, 1, 2, 100}}
	for _, v := range [][2]float64{{0, 1}, {1, 100}, {0.5, 3}, {1. / 3, 2}, {-1, 1}, {2, 100}} {
		if got := c.Quantile(v[0]); !(math.Abs(got-v[1]) <= 1e-12) {
			t.Errorf("quantile %v is %v, want %v", v[0], got, v[1])
		}
	}
	if c.Scores[0] != 4 {
		t.Error("the scores were sorted in place")
	}
	if !math.IsNaN((sim.Cell{}).Quantile(0.5)) {
		t.Error("a quantile of nothing")
	}
}

func TestGridDoesNotDependOnWorkersOrOnWhatIsAppended(t *testing.T) {
	want := run(t, grid(1))
	if got := run(t, grid(5)); !reflect.DeepEqual(got, want) {
		t.Error("five workers give another result than one")
	}
	more := grid(2)
	more.Epsilons = append(more.Epsilons, 16)
	more.Mechanisms = append(more.Mechanisms, sim.Mechanism[[]float64]{Name: "again", Fit: mean})
	find := func(cells []sim.Cell, c sim.Cell) *sim.Cell {
		for i := range cells {
			if cells[i].Task == c.Task && cells[i].Mechanism == c.Mechanism && cells[i].Epsilon == c.Epsilon {
				return &cells[i]
			}
		}
		return nil
	}
	cells := run(t, more)
	for _, c := range want {
		if got := find(cells, c); got == nil || !reflect.DeepEqual(*got, c) {
			t.Errorf("%s, %s, ε = %v changed when the grid grew", c.Task, c.Mechanism, c.Epsilon)
		}
	}
	if a, b := find(cells, cells[0]), find(cells, sim.Cell{Task: "ones", Mechanism: "again",
		Epsilon: 0.5}); a.Scores[0] == b.Scores[0] {
		t.Error("two mechanisms share their random numbers")
	}
	other := grid(2)
	other.Seed++
	if got := run(t, other); got[0].Mean == want[0].Mean {
		t.Error("another seed gives the same numbers")
	}
}

func TestGridReportsProgressAndFailures(t *testing.T) {
	g := grid(3)
	calls, last := 0, 0
	g.Progress = func(done, total int) {
		calls++
		last = max(last, done)
		if total != 4800 {
			t.Errorf("total %d", total)
		}
	}
	run(t, g)
	if calls != 4800 || last != 4800 {
		t.Errorf("%d calls, last %d", calls, last)
	}
	boom := errors.New("boom")
	var runs atomic.Int32
	g = grid(2)
	g.Mechanisms[1].Fit = func([]float64, float64, float64, *noise.Seeded) ([]float64, error) {
		runs.Add(1)
		return nil,
			boom
	}
	if cells, err := g.Run(context.Background()); cells != nil || !errors.Is(err, boom) ||
		!strings.Contains(err.Error(), "zero, ε = 0.5") {
		t.Errorf("a trial that fails: %v, %v", cells, err)
	}
	if runs.Load() > 100 {
		t.Errorf("%d trials after the first failure", runs.Load())
	}
	ctx, cancel := context.WithCancel(context.Background())
	g = grid(2)
	g.Progress = func(done, _ int) {
		if done == 10 {
			cancel()
		}
	}
	if cells, err := g.Run(ctx); cells != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("a run that is cancelled: %v", err)
	}
}

func TestGridRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*sim.Grid[[]float64]){
		"no tasks":      func(g *sim.Grid[[]float64]) { g.Tasks = nil },
		"no mechanisms": func(g *sim.Grid[[]float64]) { g.Mechanisms = nil },
		"no ε":          func(g *sim.Grid[[]float64]) { g.Epsilons = nil },
		"no score":      func(g *sim.Grid[[]float64]) { g.Score = nil },
		"no Fit":        func(g *sim.Grid[[]float64]) { g.Mechanisms[1].Fit = nil },
		"one trial":     func(g *sim.Grid[[]float64]) { g.Trials = 1 },
		"workers":       func(g *sim.Grid[[]float64]) { g.Workers = -1 },
	} {
		g := grid(1)
		spoil(&g)
		if _, err := g.Run(context.Background()); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// Noise on a mean, at two ε.
func ExampleGrid() {
	cells, err := sim.Grid[[]float64]{
		Tasks:      []sim.Task[[]float64]{{Name: "four ones", Train: []float64{1, 1, 1, 1}, Test: []float64{1}}},
		Mechanisms: []sim.Mechanism[[]float64]{{Name: "noisy mean", Fit: mean}},
		Epsilons:   []float64{1, 100}, Trials: 10, Seed: 1,
		Score: func(test []float64, theta []float64) (float64, error) { return math.Abs(theta[0] - test[0]), nil },
	}.Run(context.Background())
	if err != nil {
		panic(err)
	}
	for _, c := range cells {
		_, upper := c.Interval()
		fmt.Printf("%s, %s, ε = %g: error %.3f ± %.3f\n", c.Task, c.Mechanism, c.Epsilon, c.Mean, upper-c.Mean)
	}
	// Output:
	// four ones, noisy mean, ε = 1: error 0.115 ± 0.063
	// four ones, noisy mean, ε = 100: error 0.002 ± 0.001
}
