package learn_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// The effect of being missing is what a record without a value has more than one with the value that is said, or than
// the average of the curve.
func TestMissingIsAgainstWhatIsSaid(t *testing.T) {
	testscale.Slow(t)
	rows := "gift,age,y\n"
	for i := range 4000 {
		gift, y := fmt.Sprint(i*37%500), 20+float64(i*37%500)/20
		if i%9 == 0 {
			gift, y = "", 60
		}
		rows += fmt.Sprintf("%s,%d,%g\n", gift, 20+i%60, y+3*math.Sin(float64(i)))
	}
	for _, c := range []struct {
		gift    learn.Field
		opt     learn.Option
		said    string
		against []float64
	}{
		{learn.Numeric("gift", 0, 500), learn.Lines(), "gift = 250, the middle of its bounds", []float64{250}},
		{learn.Numeric("gift", 0, 500).Typically(50), learn.Curves(), "gift = 50, its typical value", []float64{50}},
		{learn.Numeric("gift", 0, 700), learn.Curves(), "the average of the curve of gift from 0 to 700",
			[]float64{0, 100, 200, 300, 400, 500, 600, 700}},
		{learn.Log("gift", 1, 400), learn.Lines(), "gift = 20, the middle of its bounds on the logarithmic scale",
			[]float64{20}},
		{learn.Numeric("gift", 0, 500).OrMissingAs(9), learn.Lines(), "", nil},
		{learn.Numeric("gift", 0, 500), learn.Steps("gift", 100), "", nil},
	} {
		if c.gift.Fill == nil {
			c.gift = c.gift.OrMissing()
		}
		df := frameOf(t, rows).WithSchema(c.gift, learn.Numeric("age", 18, 98), learn.Numeric("y", 0, 100))
		m := must.Get(learn.Tuned(learn.Linear{CurvatureShare: 0.1}, 0, 0, learn.Seed(1)).Fit(
			learn.Regression(df, "y", learn.InUnits(), c.opt), learn.Simulate(100, 1e-6))) // no row is cut
		for _, text := range []string{m.Display().Text(), must.Get(m.Intervals(0.9)).Display().Text(),
			string(must.Get(m.Card()))} {
			if want := "The effect of being missing is against: " + c.said; c.said == "" {
				if strings.Contains(text, "being missing") {
					t.Errorf("%v: %s", c.gift, text)
				}
			} else if !strings.Contains(text, want+".") {
				t.Errorf("want %q in %s", want, text)
			}
		}
		if c.said == "" {
			continue
		}
		effects := m.Coefficients()
		at := -1
		for i := range effects.Nrow() {
			if effects.Elem(i, 0).String() == "gift missing" {
				at = i
			}
		}
		of := func(gift string) float64 {
			return must.Get(m.Predict(frameOf(t, "gift,age,y\n"+gift+",40,\n")))[0]
		}
		var with []float64
		for _, v := range c.against {
			with = append(with, of(fmt.Sprint(v)))
		}
		got, want := of("")-floats.Sum(with)/float64(len(with)), 50*effects.Elem(at, 1).Float()
		if !(math.Abs(got-want) <= 1e-9) || !(want > 5) {
			t.Errorf("%s: a missing gift makes %g, and %g by what is said", c.said, want, got)
		}
	}
}
