package learn

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// unpaid is a mechanism that does not charge.
type unpaid struct{ mechanism.Mechanism }

func (u unpaid) Run(rows matrix.Rows, labels []float64, src noise.Source, _ *mechanism.Settings) (*mechanism.Release,
	error) {
	return u.Mechanism.Run(rows, labels, src, nil)
}

// What a mechanism releases without charging for it is paid for all the same.
func TestNothingIsReleasedUnpaid(t *testing.T) {
	p := Logistic{Noise: Seed(1)}.spec()
	p.instead(func(p spec, d *frame.Design, epsilon, delta float64) (mechanism.Mechanism, error) {
		m, err := tilted(p, d, epsilon, delta)
		return unpaid{m}, err
	})
	budget := NewBudget(1, 1e-6, Named(t.TempDir()))
	must.Get(fit(Binary(Patients(100, 1), "ill"), budget.Spend(0.5), p))
	if s, err := budget.State(); err != nil || len(s.Entries) != 1 || s.SpentEpsilon != 0.5 {
		t.Errorf("the ledger has %+v (%v)", s, err)
	}
}

// watching looks, when the first noise is drawn, at what was spent.
type watching struct {
	noise.Source
	budget *Budget
	spent  []float64
}

func (w *watching) Uint64() uint64 {
	if w.spent == nil {
		s, _ := w.budget.State()
		w.spent = []float64{s.SpentEpsilon}
	}
	return w.Source.Uint64()
}

// Noise is drawn when the budget was charged.
func TestNoiseIsDrawnWhenItIsPaidFor(t *testing.T) {
	budget := NewBudget(1, 1e-6, Named(t.TempDir()))
	src := &watching{Source: Seed(1), budget: budget}
	must.Get((Logistic{Noise: src}).Fit(Binary(Patients(100, 1), "ill"), budget.Spend(0.5)))
	if len(src.spent) != 1 || src.spent[0] != 0.5 {
		t.Errorf("when noise was drawn %v was spent, want 0.5", src.spent)
	}
}

// Allowances that differ in the last digit of δ are told apart by their words, which are what is compared when a
// release is asked for again.
func TestAllowancesAreToldApart(t *testing.T) {
	budget := NewBudget(1, 1e-5, Named(t.TempDir()))
	a, b := budget.Spend(0.5).WithDelta(1.2e-6), budget.Spend(0.5).WithDelta(math.Nextafter(1.2e-6, 1))
	if a.said() == b.said() || a.said() == budget.Spend(0.5).said() {
		t.Error(a.said(), b.said())
	}
}
