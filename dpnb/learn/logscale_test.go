package learn

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/checksum"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// A model with a logarithmic scale from a positive bound is kept in version 2 of the format, every other in version 1;
// in version 1 such a scale was another one, and the model is refused.
func TestKeptLogarithmicScale(t *testing.T) {
	for _, lower := range []float64{1000, 0} {
		table := must.Get(frame.NewTable(frame.Column{Name: "pay", Numbers: []float64{2000, 3e4, 5e5, 1000}},
			frame.Column{Name: "ill", Kind: frame.Categorical, Texts: []string{"no", "yes", "yes", "no"}}))
		df := FromTable(table).WithSchema(Log("pay", lower, 1e6), Categorical("ill", "no", "yes"))
		b := NewBudget(1, 1e-6, Named(t.TempDir()))
		m := must.Get(Logistic{Noise: noise.NewSeeded(1)}.Fit(Binary(df, "ill"), b.Spend(1)))
		content := must.Get(m.encode())
		if _, err := decode(content); err != nil {
			t.Error(err)
		}
		text, version, err := checksum.Unseal(keptFormat, keptVersion, content)
		if want := map[bool]int{true: 2, false: 1}[lower > 0]; err != nil || version != want {
			t.Errorf("from %v: version %d, %v, want %d", lower, version, err, want)
		}
		old := must.Get(checksum.Seal(keptFormat, 1, text))
		switch _, err := decode(old); {
		case lower > 0 && (err == nil || !strings.Contains(err.Error(), "fit it again")):
			t.Errorf("from %v, of version 1: %v", lower, err)
		case lower == 0 && err != nil:
			t.Error(err)
		}
	}
}

// The factor beside an effect is that of the predictions of two rows that differ in that column alone, of 1 + y − lower
// where the bounds begin at 0; displays and the card have it, with its interval.
func TestFactorsAreThoseOfPredictions(t *testing.T) {
	testscale.Slow(t)
	const rows = 5000
	for _, lower := range []float64{5, 0} {
		rng := noise.NewSeeded(4)
		age, cost := make([]float64, rows), make([]float64, rows)
		bike := make([]string, rows)
		for i := range rows {
			age[i], bike[i] = 16+74*rng.Float64(), []string{"city", "cargo"}[i%2]
			cost[i] = 60*math.Exp(0.6*float64(i%2)+0.005*age[i]+0.3*rng.NormFloat64()) + lower - 1
		}
		table := must.Get(frame.NewTable(frame.Column{Name: "age", Numbers: age}, frame.Column{Name: "cost",
			Numbers: cost}, frame.Column{Name: "bike", Kind: frame.Categorical, Texts: bike}))
		df := FromTable(table).WithSchema(Numeric("age", 16, 90), Categorical("bike", "city", "cargo"),
			Log("cost", lower, 2000))
		of := Regression(df, "cost", InUnits(), Lines())
		two := must.Get(frame.NewTable(frame.Column{Name: "age", Numbers: []float64{16, 90, 16}}, frame.Column{
			Name: "bike", Kind: frame.Categorical, Texts: []string{"city", "city", "cargo"}}))
		for _, l := range []Learner{Linear{CurvatureShare: 0.1, Noise: noise.NewSeeded(1)},
			Huber{CurvatureShare: 0.1, Noise: noise.NewSeeded(1)},
			Quantiles{Levels: []float64{0.2, 0.6}, Noise: noise.NewSeeded(1)}} {
			m := must.Get(l.Fit(of, Simulate(8, 1e-6)))
			from := 0.0
			if lower == 0 {
				from = -1
			}
			levels := len(m.coefficients) / len(m.features)
			y := [][]float64{nil}
			if levels > 1 {
				y = must.Get(m.PredictQuantiles(FromTable(two)))
			} else {
				y[0] = must.Get(m.Predict(FromTable(two)))
			}
			for j, v := range m.coefficients {
				feature, k := m.features[j%len(m.features)], j/len(m.features)
				other := map[string]int{"age: 16 → 90": 1, "bike=cargo": 2}[feature]
				if other == 0 {
					continue
				}
				by := (y[k][other] - from) / (y[k][0] - from)
				want := "× " + strings.TrimSuffix(fmt.Sprintf("%#.3g", by), ".")
				if said, ok := m.factor(feature, v); !ok || said != want {
					t.Errorf("%s of %s from %v: %q, predictions have %q", feature, m.title, lower, said, want)
				}
				shown := m.Display().Text()
				if !strings.Contains(shown, want) || !strings.Contains(string(must.Get(m.Card())), want+" |") {
					t.Errorf("no %q in what %s shows or in its card:\n%s", want, m.title, shown)
				}
			}
			if said := m.factorWords(); strings.Contains(said, "1 + cost − 0") != (lower == 0) {
				t.Errorf("from %v: %q", lower, said)
			}
			if levels > 1 {
				continue
			}
			one := must.Get(m.Difference("bike", "cargo", "city", 0.95))
			iv := must.Get(m.PopulationIntervals(0.95))
			for of, s := range map[string]string{"intervals": iv.Display().Text(), "difference": one.Display().Text()} {
				want, _ := m.factor("", one.Population.Estimate, one.Population.Lower, one.Population.Upper)
				if strings.Count(want, " to ") != 1 || !strings.Contains(s, want) {
					t.Errorf("no %q among the %s of %s:\n%s", want, of, m.title, s)
				}
			}
		}
	}
}

// The ends of an interval are told apart as they are shown, in three digits where these do.
func TestEndsOfIntervalsAreToldApart(t *testing.T) {
	for _, c := range []struct {
		estimate, lower, upper float64
		want                   string
	}{{1.2345, 0.5, 2, "+1.23 +0.5 +2"}, {-1.2512, -1.2534, -1.249, "-1.251 -1.253 -1.249"}, {0, 0, 0, "+0 +0 +0"},
		{7, math.Inf(-1), math.Inf(1), "+7 −∞ +∞"}, {1.00001, 1, 1.00002, "+1.00001 +1 +1.00002"}} {
		if got := strings.Join(spanned(c.estimate, c.lower, c.upper), " "); got != c.want {
			t.Errorf("%v: %s", c, got)
		}
	}
}
