package cop

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/experiment"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
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

// cell returns the arm and the ε of a cell of a run: ε by ε and in it arm by arm.
func (e Experiment) cell(c int) (Arm, float64) {
	return e.Arms[c%len(e.Arms)], e.Epsilons[c/len(e.Arms)]
}

func (e Experiment) cells() int { return len(e.Epsilons) * len(e.Arms) }

// place is the design, n and the number of a trial's run.
func (e Experiment) place(trial int) (design, n, run int) {
	cell := trial / e.Runs
	return cell / len(e.Counts), e.Counts[cell%len(e.Counts)], trial % e.Runs
}

// drawn is the population for the risk of a design, by its place in an experiment of a seed.
type drawn struct {
	Design
	place int
	seed  uint64
}

var populations = experiment.Remembered(func(d drawn) (*Population, error) {
	return d.Population(noise.NewSeeded(d.seed).Stream(d.place).Stream(-1)), nil
})

// scores are those of a trial's run, which has a stream of its own: the two of a Point for each cell.
func (e Experiment) scores(trial int) (all []float64, err error) {
	i, n, k := e.place(trial)
	population, err := populations(drawn{e.Designs[i], i, e.Seed})
	src := noise.NewSeeded(e.Seed).Stream(i).Stream(n).Stream(k)
	r := population.Draw(n, src.Stream(0))
	for c := range e.cells() {
		arm, eps := e.cell(c)
		stream := 1 + c
		if e.Paired {
			stream = 1 + c/len(e.Arms)
		}
		theta, err := arm.Fit(r, eps, Delta, src.Stream(stream))
		var excess float64
		if err == nil {
			excess, err = r.Excess(theta)
		}
		if err != nil {
			return nil, fmt.Errorf("cop: %s, d = %d, n = %d, ε = %g, run %d: %w", arm.Name, population.Dimension, n,
				eps, k, err)
		}
		all = append(all, excess, population.Relative(theta))
	}
	return all, err
}

// Run runs all trials and returns the points ordered by design, n, ε and arm.
func (e Experiment) Run(ctx context.Context) (Points, error) {
	runs, err := sim.Trials(ctx, e.Len(), e.Workers, noise.NewSeeded(e.Seed),
		func(_, k int, _ *noise.Seeded) ([]float64, error) { return e.scores(k) })
	if err != nil {
		return nil, err
	}
	var all Points
	for first := 0; first < len(runs); first += e.Runs {
		d, n, _ := e.place(first)
		for c := range e.cells() {
			arm, eps := e.cell(c)
			p := Point{Design: e.Designs[d], N: n, Arm: arm.Name, Epsilon: eps}
			for _, s := range runs[first : first+e.Runs] {
				p.Empirical.Scores = append(p.Empirical.Scores, s[2*c])
				p.Relative.Scores = append(p.Relative.Scores, s[2*c+1])
			}
			p.Empirical.Summary = sim.Summarize(p.Empirical.Scores)
			p.Relative.Summary = sim.Summarize(p.Relative.Scores)
			all = append(all, p)
		}
	}
	return all, nil
}

// Columns implements sim.Sweep, with a row for each run: its design, n and number, and the scores of every arm at every
// ε.
func (e Experiment) Columns() (texts, numbers []string) {
	texts, numbers = []string{"loss"}, []string{"dimension", "records", "run"}
	for c := range e.cells() {
		arm, eps := e.cell(c)
		numbers = append(numbers, fmt.Sprintf("empirical, %s, ε = %g", arm.Name, eps),
			fmt.Sprintf("relative, %s, ε = %g", arm.Name, eps))
	}
	return texts, numbers
}

// Len implements sim.Sweep.
func (e Experiment) Len() int { return len(e.Designs) * len(e.Counts) * e.Runs }

// Trial implements sim.Sweep.
func (e Experiment) Trial(_ context.Context, trial int) (sim.Row, error) {
	i, n, k := e.place(trial)
	scores, err := e.scores(trial)
	return sim.Row{Texts: []string{fmt.Sprintf("%T", e.Designs[i].Loss)},
		Numbers: append([]float64{float64(e.Designs[i].Dimension), float64(n), float64(k)}, scores...)}, err
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

// paperRuns is how many runs cop averages over.
const paperRuns = 50

// Reproduce returns the experiment of Figure 5, 7 or 8: the relative risk over n, for medians, for medians with a fixed
// A, and for a piecewise linear loss. With full it is at the scale of the paper; else for d = 5, two ε, three n and ten
// runs.
func Reproduce(number int, full bool, arms ...Arm) Experiment {
	d := Design{Loss: Medians{}, Dimension: 5, Fixed: number == 7}
	if number == 8 {
		d.Loss = Largest{}
	}
	e := Experiment{Designs: []Design{d}, Counts: []int{100, 250, 600}, Epsilons: []float64{0.2, 1}, Arms: arms,
		Runs: 10, Seed: uint64(number)}
	if full {
		e.Counts, e.Epsilons, e.Runs = Counts, Epsilons, paperRuns
		for _, k := range Dimensions[1:] {
			d.Dimension = k
			e.Designs = append(e.Designs, d)
		}
	}
	return e
}

// Published are the arms that cop compares, as printed.
func Published() []Arm { return []Arm{Printed(), Moreau(), NoisySGD()} }

// Runtime is a line of Table 3: seconds for one fit, at the four Epsilons.
type Runtime struct {
	N, Dimension int
	Seconds      [4]float64
}

// Table3 is as printed; of the last line the figures are cut off in the text that we have.
var Table3 = []Runtime{
	{100, 5, [4]float64{0.49, 0.53, 0.54, 0.51}}, {100, 10, [4]float64{0.70, 0.83, 0.88, 0.83}},
	{100, 20, [4]float64{2.73, 3.11, 3.48, 3.16}}, {100, 30, [4]float64{4.02, 5.19, 6.16, 5.85}},
	{500, 5, [4]float64{0.76, 0.91, 0.67, 0.71}}, {500, 10, [4]float64{0.90, 0.98, 1.00, 1.01}},
	{500, 20, [4]float64{4.41, 4.02, 3.94, 3.71}}, {500, 30, [4]float64{9.24, 8.96, 6.63, 6.03}},
	{1000, 5, [4]float64{0.98, 1.08, 0.89, 0.90}}, {1000, 10, [4]float64{1.16, 1.28, 1.35, 1.36}},
	{1000, 20, [4]float64{5.03, 5.16, 5.42, 5.28}}, {1000, 30, [4]float64{12.04, 10.23, 8.98, 8.64}},
	{2000, 5, [4]float64{1.58, 1.52, 1.35, 1.36}}, {2000, 10, [4]float64{1.84, 2.09, 2.01, 2.04}},
	{2000, 20, [4]float64{7.05, 7.72, 8.11, 7.51}},
}

// Runtimes is Table 3 measured here, beside it as printed.
type Runtimes []Runtime

// MeasureRuntimes fits an arm as often as the settings of Table 3 ask, on one processor.
func MeasureRuntimes(arm Arm, seed uint64) (all Runtimes, err error) {
	defer measure.Catch(&err)
	src := noise.NewSeeded(seed)
	for i, printed := range Table3 {
		r := Design{Loss: Medians{}, Dimension: printed.Dimension}.Draw(printed.N, src.Stream(i))
		here := Runtime{N: printed.N, Dimension: printed.Dimension}
		for k, eps := range Epsilons {
			start := time.Now()
			measure.Must(arm.Fit(r, eps, Delta, src.Stream(i).Stream(k)))
			here.Seconds[k] = time.Since(start).Seconds()
		}
		all = append(all, here)
	}
	return all, nil
}

// Display implements display.Displayer.
func (t Runtimes) Display() display.Item {
	it := display.Item{Title: "Table 3: seconds for one fit, here and as printed"}
	it.Header = []string{"n", "d", "ε = 0.2", "0.5", "1", "5", "printed, ε = 0.2", "0.5", "1", "5"}
	for i, v := range t {
		s, p := v.Seconds, Table3[i].Seconds
		it.Rowf("%d | %d | %.3f | %.3f | %.3f | %.3f | %.2f | %.2f | %.2f | %.2f", v.N, v.Dimension, s[0], s[1], s[2],
			s[3], p[0], p[1], p[2], p[3])
	}
	least, _, most := t.Ratio()
	it.Note("The printed times are %.0f to %.0f times as long. They are of another machine: numerical integrals on "+
		"a graphics card, where here is a closed form and one processor.", least, most)
	return it
}

// Ratio returns the least, the median and the largest ratio of a printed time to that here.
func (t Runtimes) Ratio() (least, median, most float64) {
	var all []float64
	for i, v := range t {
		for k, s := range v.Seconds {
			all = append(all, Table3[i].Seconds[k]/s)
		}
	}
	slices.Sort(all)
	return all[0], all[len(all)/2], all[len(all)-1]
}

// Rents writes a file of invented flats: rent = 200 + (8 + 6u²)·size − 15·km, u uniform, so that the τ-quantile at a
// size and a distance is RentQuantile. A square metre costs more, the dearer a flat is for its size.
func Rents(n int, seed uint64) (path string, err error) {
	src := noise.NewSeeded(seed)
	file, err := os.CreateTemp("", "rents-*.csv")
	if err != nil {
		return "", err
	}
	fmt.Fprintln(file, "size,km,rent")
	for range n {
		size, km := 20+120*src.Float64(), 15*src.Float64()
		fmt.Fprintf(file, "%.0f,%.1f,%.0f\n", size, km, RentQuantile(src.Float64(), size, km))
	}
	return file.Name(), file.Close()
}

// RentQuantile returns the rent below which a share tau of Rents of a size and distance lies.
func RentQuantile(tau, size, km float64) float64 { return 200 + (8+6*tau*tau)*size - 15*km }
