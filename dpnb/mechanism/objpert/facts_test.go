package objpert_test

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
)

// What follows from facts, by hand (a = 0.12), and that 2τ/(λσ_out) does not rise by it.
func TestFacts(t *testing.T) {
	f := mechanism.Facts{Records: 1000, Mu: 0.5, Directions: 30, Bias: 0.5, Curves: []matrix.Span{{First: 1, Len: 4}}}
	counts, known := f, f
	counts.Typical, known.BaseRate = 1.5, 0.2
	hinge, clipped := loss.Softplus{Width: 1}, loss.Clipped(loss.Poisson{MaxCount: 7}, 2)
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }
	for name, c := range map[string]struct {
		loss                         loss.Loss
		facts                        mechanism.Facts
		ridge, rough, centre, margin float64
		numbers                      bool
	}{
		"classes":   {loss.Logistic{}, f, 0.25 * (1 + 17*0.12), 0.5, 0, 0, false},
		"base rate": {loss.Logistic{}, known, 0.25 * (1 + 17*0.12), 0.5, math.Log(0.2/0.8) / 0.5, 0, false},
		"weighted":  {loss.Weighted{Of: hinge}, f, 0.25 * (1 + 17*0.12*1.06), 0.5, 0, 1.12, false},
		"wide":      {loss.Softplus{Width: 2}, f, 0.125 * (1 + 17*0.12), 0.5, 0, 0, false},
		"numbers":   {loss.PseudoHuber{Threshold: 1}, f, 0.12, 2, 0, 0, true},
		"counts":    {clipped, counts, 4 / 1.5 * 0.12, 2, math.Log(1.5) / 0.5, 0, true},
	} {
		for _, least := range []float64{0.01, 100} {
			m := objpert.Objective{Loss: c.loss, RowNorm: 1, Lambda: least, Sigma: 2, Tolerance: 1e-6, OutputSigma: 1}
			of, stretch := m.For(c.facts)
			got := of.(objpert.Objective)
			want := math.Max(least, c.ridge)
			last := math.Sqrt(least * want)
			if c.facts.BaseRate > 0 {
				last = want
			}
			u := want * 30 / 1000 / math.Max(c.facts.Typical, 1)
			longer := 1 + math.Min(2, u)
			if c.numbers {
				longer = 1 + u/((1+u)*(1+u)*(1+u))
			}
			if !near(got.Lambda, last) || !near(got.Lambda+got.Shrinkage, want) || !near(got.Centre, c.centre) ||
				!near(stretch, longer) || len(got.Rough) != 1 || !near(got.Rough[0].Weight, c.rough*want) ||
				got.Lambda*got.OutputSigma < least || !near(got.Lambda*got.OutputSigma, least) {
				t.Errorf("%s: %+v, stretch %v, want λ = %v and %v, stretch %v", name, got, stretch, last, want, longer)
			}
			own, weighted := loss.Weightless(got.Loss)
			if h, ok := own.(loss.Softplus); weighted != (name == "weighted") || ok && !near(h.Margin, c.margin) {
				t.Errorf("%s: %s", name, got.Loss.Name())
			}
		}
	}
}
