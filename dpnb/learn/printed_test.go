package learn_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/ledger"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

// printed finds what a text says an ε or a δ is.
var printed = regexp.MustCompile(`(ε|δ) (?:=|≤|falls from) ([0-9.]+(?:e[-+]?[0-9]+)?)`)

// TestPrintedFiguresHold: whatever prints an ε or a δ prints no less than it is, of numbers that every rounding to the
// nearest makes smaller; what is left of a budget is printed no larger than it is.
func TestPrintedFiguresHold(t *testing.T) {
	const eps, delta = 1.000000003, 1.000000003e-5
	figures := 0
	holds := func(where, text string, eps, delta float64) {
		t.Helper()
		text = strings.NewReplacer("−", "-", "(together ε", "(of a part").Replace(text)
		for _, m := range printed.FindAllStringSubmatch(text, -1) {
			is := map[string]float64{"ε": eps, "δ": delta}[m[1]]
			if v, err := strconv.ParseFloat(m[2], 64); err != nil || v < is && v > 0 {
				t.Errorf("%s prints %q of %v in %q", where, m[0], is, text)
			}
			figures++
		}
	}
	data := peopleData(t)
	for _, l := range []learn.Learner{learn.Logistic{Noise: learn.Seed(1)},
		learn.Logistic{Noise: learn.Seed(1), Records: 40}, learn.SVM{Noise: learn.Seed(1)}} {
		for _, delta := range []float64{delta, 0} {
			b := fresh(eps, delta)
			cost := must.Get(b.Spend(eps).Cost(l, data))
			holds("Cost", shown(t, cost), 0, 0)
			if v := must.Get(strconv.ParseFloat(cost.Display().Rows[0][1], 64)); v < eps {
				t.Errorf("Cost prints ε = %v", v)
			}
			m := must.Get(l.Fit(data, b.Spend(eps)))
			holds("Model", shown(t, m), eps, delta)
			holds("Card", string(must.Get(m.Card())), eps, delta)
			holds("Budget", b.Display().Title, eps, delta)
			holds("Budget.Curve", must.Get(b.Curve()).Illustration().Alt, 0, 0)
		}
	}
	// The columns of a budget's table, with many parts that have no short decimals.
	b := fresh(eps, delta)
	for _, part := range []float64{1. / 7, 1. / 13, 0.100000001} {
		must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(data, b.Spend(part)))
		s := must.Get(b.State())
		rows := b.Display().Rows
		is := [][2]float64{}
		for _, e := range s.Entries {
			is = append(is, [2]float64{e.Epsilon, e.Delta})
		}
		is = append(is, [2]float64{s.SpentEpsilon, s.SpentDelta}, [2]float64{s.RemainingEpsilon, s.RemainingDelta})
		if len(rows) != len(is) {
			t.Fatalf("%d rows, want %d", len(rows), len(is))
		}
		for i, row := range rows {
			left := strings.Contains(row[0], "remaining")
			for k, v := range is[i] {
				p := must.Get(strconv.ParseFloat(row[2+k], 64))
				if left && p > v || !left && p < v {
					t.Errorf("%s: %v printed of %v", row[0], p, v)
				}
				figures++
			}
		}
	}
	over := &ledger.OverspentError{AskedEpsilon: eps, AskedDelta: delta, RemainingEpsilon: 1.9999999,
		RemainingDelta: 1.9999999}
	left, asked, _ := strings.Cut(over.Error(), "needs")
	holds("the refusal", asked, eps, delta)
	for _, m := range printed.FindAllStringSubmatch(left, -1) {
		if v := must.Get(strconv.ParseFloat(m[2], 64)); v > 1.9999999 {
			t.Errorf("%q is left", m[0])
		}
	}
	c := &learn.Comparison{Epsilon: eps, Delta: delta, Seeds: 2, Rows: []learn.CompareRow{{Mechanism: "m"}}}
	k := &learn.ScoreCurve{Epsilons: []float64{eps, 2}, Delta: delta, Seeds: 2, Mean: []float64{0, 0},
		Lower: []float64{0, 0}, Upper: []float64{0, 0}}
	holds("Comparison", c.Display().Title, eps, delta)
	holds("ScoreCurve", k.Display().Title, eps, delta)
	study := learn.Study{Records: 2000, Features: 20, Epsilon: eps, Delta: delta,
		Mechanisms: []proportional.Mechanism{proportional.Output}}.Forecast()
	holds("Study", shown(t, study), eps, delta)
	for _, f := range []*figure.Figure{c.Figure(), k.Figure()} {
		holds("a figure", f.Words()+f.Numbers(), eps, delta)
	}
	if figures < 60 {
		t.Errorf("%d figures were found", figures)
	}
}
