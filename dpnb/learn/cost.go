package learn

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/ledger"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Cost is what a fit would cost, before it is paid for: Allowance.Cost.
type Cost struct {
	// Epsilon and Delta are what the fit would be alone.
	Epsilon, Delta float64
	after          ledger.State
}

// Cost returns what a fit of l on data with the allowance would cost. Nothing is spent, and the answer depends on
// public numbers alone.
//
//	dpnb.Show(budget.Spend(0.5).Cost(dpnb.Logistic{}, data))
//
// Errors: those of the fit that come before the charge; a simulation, which costs nothing.
func (a Allowance) Cost(l Learner, data *Dataset) (*Cost, error) {
	if a.simulation {
		return nil, errors.New("dpnb: a simulation costs nothing")
	}
	if err := own(l); err != nil {
		return nil, err
	}
	p := l.spec()
	if t, ok := l.(Tune); ok { // of all that it chooses from
		var err error
		if p, err = t.among(data); err != nil {
			return nil, err
		}
	}
	_, price, err := priced(p.seen(data, a.part.Delta == 0), a, &p)
	if err != nil {
		return nil, err
	}
	after, err := a.budget.ledger.After(price)
	if err != nil {
		return nil, err
	}
	return &Cost{Epsilon: price.Epsilon, Delta: price.Delta, after: after}, nil
}

// Display shows the cost, and what the budget would be after it.
func (c *Cost) Display() display.Item {
	it := display.Item{Title: "What it would cost", Header: []string{"", "ε", "δ"},
		Warning: mechanism.Guarantee{Epsilon: c.Epsilon, Delta: c.Delta}.Warning()}
	row := func(what, epsilon, delta string) { it.Row(what, epsilon, delta) }
	row("alone", privacy.FormatUp(c.Epsilon, 4), privacy.FormatUp(c.Delta, 4))
	row("all so far, with it", privacy.FormatUp(c.after.SpentEpsilon, 4), privacy.FormatUp(c.after.SpentDelta, 4))
	row("remaining budget", privacy.FormatDown(c.after.RemainingEpsilon, 4),
		privacy.FormatDown(c.after.RemainingDelta, 4))
	it.Note("Nothing was spent.")
	return it
}

// BudgetCurve is the δ of all releases of a budget together, at several ε: Budget.Curve.
type BudgetCurve struct {
	// Epsilons and Deltas, rounded up; every pair of them holds.
	Epsilons, Deltas []float64
	title            string
}

// Curve returns δ for all releases so far together, at ε from 0 to 1.5 times the budget's. It assumes that no cost was
// chosen in the light of an earlier result; that the budget's own (ε, δ) is kept holds without that assumption.
//
// Errors: those of State.
func (b *Budget) Curve() (*BudgetCurve, error) {
	s, err := b.State()
	if err != nil {
		return nil, err
	}
	c := &BudgetCurve{title: fmt.Sprintf("All releases of budget %q together (%s)", s.Name, s.Adjacency.Words())}
	for i := range 61 {
		eps := s.Epsilon * float64(i) / 40
		c.Epsilons, c.Deltas = append(c.Epsilons, eps), append(c.Deltas, s.DeltaUpper(eps))
	}
	return c, nil
}

// Display shows every tenth point.
func (c *BudgetCurve) Display() display.Item {
	it := display.Item{Title: c.title, Header: []string{"ε", "δ"}}
	for i := 0; i < len(c.Epsilons); i += 10 {
		it.Row(privacy.FormatUp(c.Epsilons[i], 4), privacy.FormatUp(c.Deltas[i], 4))
	}
	return it
}

// Err is nil: there is a curve.
func (c *BudgetCurve) Err() error { return nil }

// Illustration draws δ against ε; points of δ = 0 are left out.
func (c *BudgetCurve) Illustration() *figure.Figure {
	f := figure.New(c.title, "ε, privacy loss", "δ").LogY()
	var x, y []float64
	for i, d := range c.Deltas {
		if d > math.SmallestNonzeroFloat64 {
			x, y = append(x, c.Epsilons[i]), append(y, d)
		}
	}
	f.Alt = "nothing was released, or nothing that has a δ"
	if len(x) > 0 {
		f.Line("", x, y, figure.Blue)
		two := func(v float64) string { return privacy.FormatUp(v, 2) }
		f.Alt = fmt.Sprintf("δ falls from %s at ε = %s to %s at ε = %s", two(y[0]), two(x[0]), two(y[len(y)-1]),
			two(x[len(x)-1]))
	}
	return f
}
