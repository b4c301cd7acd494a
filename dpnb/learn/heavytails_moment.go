package learn

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// MomentEstimate is what HeavyTails.EstimateMoment returns.
type MomentEstimate struct {
	// Moment is k, Bound the estimate of G, the k-th root of the mean of ‖gradient‖^k; 0 if no cell had records enough.
	Moment, Bound float64
	// Least is how many records a cell needs to be told from noise: fewer, in the tail, are missed.
	Least float64
	// Release has the noisy counts of the cells, to be looked at.
	Release *mechanism.Release
	release mechanism.Release
	readOff string
}

// The cells of EstimateMoment: four to a factor of two, from 2⁻²⁰ to 2⁴⁰; shorter and longer gradients, and those that
// are not finite, are in none.
const (
	momentCells  = 240
	perOctave    = 4
	firstOctave  = -20
	momentChance = 0.05
)

// EstimateMoment spends an allowance on a MomentBound for l with pure ε, from the records of a held-out part or from
// those that will be fitted. It releases, with geometric noise, how many records have a gradient of about each length
// A, each record being in one cell (for people with k rows, k times as much noise: PerPerson), and returns
//
//	G = (Σ c·A^k / Σ c)^{1/k}, k = Moment, zero meaning 2,
//
// over the cells whose counts c exceed what the noise alone exceeds with probability 1/20. A is ‖x‖ times the largest
// slope of the loss; for SquaredLoss it is ‖x‖·|y|, the gradient at 0. Cells are as wide as a factor of 2^¼, and G is
// right to half of that, except for the tail, which no number of records shows: if you know the moment, state it.
//
//	g, err := dpnb.HeavyTails{Moment: 2}.EstimateMoment(data, budget.Spend(0.05))
//	model, err := dpnb.HeavyTails{Moment: 2, MomentBound: g.Bound}.Fit(data, budget.Spend(0.5))
//
// Errors: as Fit, before the budget is charged.
func (l HeavyTails) EstimateMoment(data *Dataset, allowance Allowance) (*MomentEstimate, error) {
	if err := data.Err(); err != nil {
		return nil, err
	}
	data = data.held()
	k := orElse(l.Moment, 2)
	l.MomentBound = 1 // is what is asked for
	p, d := l.spec(), data.design
	if !(k > 1 && k <= 1e3) {
		return nil, &privacy.ParamError{Name: "Moment", Value: k, Want: "k > 1, at most 1000"}
	}
	if err := cmp.Or(p.valid(), p.suits(d)); err != nil {
		return nil, err
	}
	src := allowance.Noise(l.Noise)
	allowance, err := allowance.withoutDelta(p.learner)
	if err != nil {
		return nil, err
	}
	var histogram statistic.Histogram // for one row
	choose := mechanism.ForPeople(d.RowsOfAPerson, func(epsilon, _ float64) (_ mechanism.Mechanism, err error) {
		histogram, err = statistic.CalibrateHistogram(statistic.Cells{{Levels: momentCells}}, epsilon, 0, false)
		return histogram, err
	})
	if d, err = data.whole(); err != nil {
		return nil, err
	}
	m, alone, err := allowance.Pay(src, "moment of the gradients", data,
		func(epsilon, _ float64, _ bool) (mechanism.Mechanism, error) { return choose(epsilon, 0) }, nil)
	if err != nil {
		return nil, err
	}
	cells := l.lengths(d.Rows, d.Labels)
	r, err := m.Run(matrix.NewDense(len(cells), 1, cells), d.Labels, src, nil)
	if err != nil {
		return nil, err
	}
	r.Guarantee.Epsilon, r.Guarantee.Delta = alone.Epsilon, alone.Delta
	protects(&r.Guarantee, data.design)
	least := histogram.Margin(math.Pow(1-momentChance, 1.0/momentCells))
	g := &MomentEstimate{Moment: k, Least: least + 1, Release: r.Clone(), release: *r}
	if d.DataDependent {
		g.readOff = readOffTheData
	}
	var sum, count float64
	for j, c := range r.Coefficients {
		if c > least {
			sum, count = sum+c*math.Pow(middle(j), k), count+c
		}
	}
	if count > 0 {
		g.Bound = math.Pow(sum/count, 1/k)
	}
	return g, nil
}

// middle is what the lengths of a cell are taken for.
func middle(cell int) float64 { return math.Exp2(firstOctave + (float64(cell)+0.5)/perOctave) }

// lengths returns the cell of each record's gradient, or a number that is none.
func (l HeavyTails) lengths(rows matrix.Rows, y []float64) []float64 {
	cells := make([]float64, len(y))
	_, norms := matrix.Directions(rows, l.Workers)
	slope := l.loss().Lipschitz()
	for i, norm := range norms {
		length := norm * slope
		if math.IsInf(slope, 1) {
			length = norm * math.Abs(y[i])
		}
		cells[i] = math.Floor(perOctave * (math.Log2(length) - firstOctave))
	}
	return cells
}

// Display shows the estimate.
func (g *MomentEstimate) Display() display.Item {
	it := display.Item{Title: "Moment of the gradients", Header: []string{"k", "G, estimated"},
		Warning: join(join(g.release.Warning(), g.release.Guarantee.Warning()), g.readOff)}
	it.Row(fmt.Sprintf("%g", g.Moment), fmt.Sprintf("%.4g", g.Bound))
	if g.Bound == 0 {
		it.Note("No length is shared by %.0f records, which it takes at this ε: nothing is known of G.", g.Least)
	}
	it.Note("Lengths that fewer than about %.0f records share cannot be told from noise: the tail is missed.", g.Least)
	it.Note("Guarantee: %s", g.release.Guarantee.Words())
	return it
}
