package cop

import (
	"fmt"
	"slices"
	"time"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/noise"
)

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
func MeasureRuntimes(arm Arm, seed uint64) (Runtimes, error) {
	var all Runtimes
	src := noise.NewSeeded(seed)
	for i, printed := range Table3 {
		r := Design{Loss: Medians{}, Dimension: printed.Dimension}.Draw(printed.N, src.Stream(i))
		here := Runtime{N: printed.N, Dimension: printed.Dimension}
		for k, eps := range Epsilons {
			start := time.Now()
			if _, err := arm.Fit(r, eps, Delta, src.Stream(i).Stream(k)); err != nil {
				return nil, err
			}
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
		row := []string{fmt.Sprint(v.N), fmt.Sprint(v.Dimension)}
		for _, s := range v.Seconds {
			row = append(row, fmt.Sprintf("%.3f", s))
		}
		for _, s := range Table3[i].Seconds {
			row = append(row, fmt.Sprintf("%.2f", s))
		}
		it.Row(row...)
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
