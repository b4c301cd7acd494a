package objpert_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// What follows from facts, by hand, and that it costs no more.
func TestFacts(t *testing.T) {
	f := mechanism.Facts{Records: 1000, Mu: 0.5, Directions: 30, Bias: 0.5, // a = 0.12
		Curves: []matrix.Span{{First: 1, Len: 4}}, Held: []matrix.Direction{{First: 0, Weights: []float64{1}}}}
	counts, known := f, f
	counts.Typical, known.BaseRate = 1.5, 0.2
	logit := math.Log(0.2 / 0.8)
	for name, c := range map[string]struct {
		loss                         loss.Loss
		facts                        mechanism.Facts
		ridge, rough, centre, margin float64
		classes, known               bool
	}{
		"classes":   {loss.Logistic{}, f, 0.25 * (1 + 17*0.12), 0.5, 0, 0, true, false},
		"base rate": {loss.Logistic{}, known, 0.25 * (1 + 17*0.12), 0.5, logit / 0.5, 0, true, true},
		"hinge":     {loss.Softplus{Width: 1}, f, 0.25 * (1 + 17*0.12*1.06), 0.5, 0, 1.12, true, false},
		"weighted": {loss.Weighted{Of: loss.Softplus{Width: 1}}, f, 0.25 * (1 + 17*0.12*1.06), 0.5, 0, 1.12, true,
			false},
		"wide":    {loss.Softplus{Width: 2}, f, 0.125 * (1 + 17*0.12), 0.5, 0, 0, true, false},
		"numbers": {loss.PseudoHuber{Threshold: 1}, f, 0.12, 2, 0, 0, false, false},
		"counts": {loss.Clipped(loss.Poisson{MaxCount: 7}, 2), counts, 4 / 1.5 * 0.12, 2, math.Log(1.5) / 0.5, 0,
			false, false},
	} {
		for _, least := range []float64{0.01, 100} {
			m := objpert.Objective{Loss: c.loss, RowNorm: 1, Lambda: least, Sigma: 2, Tolerance: 1e-6, OutputSigma: 1}
			of, stretch := m.For(c.facts)
			got := of.(objpert.Objective)
			want, last := math.Max(least, c.ridge), least
			if want > least && !c.known {
				last = math.Sqrt(least * want)
			} else if want > least {
				last = want
			}
			u := want * 30 / 1000
			if c.facts.Typical > 0 {
				u /= c.facts.Typical
			}
			longer := 1 + math.Min(2, u)
			if !c.classes {
				longer = 1 + u/((1+u)*(1+u)*(1+u))
			}
			near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }
			if !near(got.Lambda, last) || !near(got.Lambda+got.Shrinkage, want) || !near(got.Centre, c.centre) ||
				!near(stretch, longer) || !reflect.DeepEqual(got.Held, c.facts.Held) || len(got.Rough) != 1 ||
				got.Rough[0].Span != f.Curves[0] || !near(got.Rough[0].Weight, c.rough*want) {
				t.Errorf("%s: %+v, stretch %v, want λ = %v and %v, centre %v, stretch %v", name, got, stretch, last,
					want, c.centre, longer)
			}
			own, weighted := loss.Weightless(got.Loss)
			if h, ok := own.(loss.Softplus); ok && h.Width == 1 && !near(h.Margin, c.margin) {
				t.Errorf("%s: margin %v, want %v", name, h.Margin, c.margin)
			}
			if _, was := c.loss.(loss.Weighted); was != weighted {
				t.Errorf("%s: the weights of %s", name, got.Loss.Name())
			}
			a, b := must.Get(m.Profile()), must.Get(got.Profile())
			for _, eps := range []float64{0.1, 1} {
				if is, was := privacy.DeltaUpper(b, eps), privacy.DeltaUpper(a, eps); is > was*(1+1e-12) {
					t.Errorf("%s: δ(%v) = %v, was %v", name, eps, is, was)
				}
			}
		}
	}
	// A centre that float64 has too few digits for is cut.
	m := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1, Sigma: 2, Tolerance: 1e-15, OutputSigma: 1}
	known.BaseRate = 0.01
	of, _ := m.For(known)
	if got := of.(objpert.Objective); got.Centre != -0x1p48*1e-15/got.Lambda {
		t.Errorf("centre %v", got.Centre)
	}
	if beside := objpert.OutputBeside(0.5, 2, 1, 1.2); !(math.Abs(0.5/beside-1.3) <= 1e-12) || 0.5/beside < 1.3 {
		t.Errorf("μ = %v, want 1.3", 0.5/beside)
	}
}

// The penalty of a form without its last coefficient is λ + ω, of the last λ.
func TestRidges(t *testing.T) {
	if got := (objpert.Objective{Lambda: 2, Penalty: objpert.Penalty{Shrinkage: 3}}).Ridges(3); !reflect.DeepEqual(got,
		[]float64{5, 5, 2}) {
		t.Error(got)
	}
}
