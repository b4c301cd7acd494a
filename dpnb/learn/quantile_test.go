package learn_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// below returns the share of records of which the target is below what m predicts.
func below(t *testing.T, m *learn.Model, df learn.DataFrame, target string) float64 {
	t.Helper()
	q := must.Get(m.Predict(df))
	count := 0.0
	for i, y := range df.Gota().Col(target).Float() {
		if y < q[i] {
			count++
		}
	}
	return count / float64(len(q))
}

// Predictions of several levels never cross; scores are those of their definitions; and the fit
// is near the ordinary one.
func TestQuantiles(t *testing.T) {
	testscale.Slow(t)
	train, test := learn.Patients(6000, 1), learn.Patients(4000, 2)
	data := learn.Regression(train, "pressure", learn.RowNorm(1))
	levels := []float64{0.05, 0.25, 0.5, 0.75, 0.95}
	l := learn.Quantiles{Levels: levels, Noise: learn.Seed(3)}
	m := must.Get(l.Fit(data, learn.Simulate(1, 1e-6)))
	plain := must.Get(l.FitWithoutPrivacy(data))
	for name, m := range map[string]*learn.Model{"private": m, "plain": plain} {
		q := must.Get(m.PredictQuantiles(test))
		s := must.Get(m.QuantileScores(test))
		y := test.Gota().Col("pressure").Float()
		var inside float64
		for i, v := range y {
			v = math.Max(80, math.Min(200, v)) // as the records have it
			for k := 1; k < len(levels); k++ {
				if q[k][i] < q[k-1][i] {
					t.Fatalf("%s: record %d has quantiles that cross", name, i)
				}
			}
			if v >= q[0][i] && v <= q[4][i] {
				inside++
			}
		}
		if !(math.Abs(s.Coverage-inside/float64(len(y))) <= 1e-12) || !(math.Abs(s.Coverage-0.9) <= 0.03) {
			t.Errorf("%s: coverage %.3f, counted %.3f", name, s.Coverage, inside/float64(len(y)))
		}
		for k, tau := range levels {
			var sum, below float64
			for i, v := range y {
				v = math.Max(80, math.Min(200, v))
				sum += math.Max(tau*(v-q[k][i]), (tau-1)*(v-q[k][i]))
				if v <= q[k][i] {
					below++
				}
			}
			n := float64(len(y))
			if !(math.Abs(s.Pinball[k]/(sum/n)-1) <= 1e-9) || !(math.Abs(s.Below[k]-below/n) <= 1e-12) ||
				!(math.Abs(s.Below[k]-tau) <= 0.04) {
				t.Errorf("%s, τ = %g: loss %g, by hand %g; below %g", name, tau, s.Pinball[k], sum/n, s.Below[k])
			}
		}
		score, err := m.Score(test)
		if err != nil || score != s.R1 || score < 0.35 {
			t.Errorf("%s: score %g, R¹ %g (%v)", name, score, s.R1, err)
		}
		if _, err := m.Predict(test); err == nil || !strings.Contains(err.Error(), "PredictQuantiles") {
			t.Errorf("%s: Predict: %v", name, err)
		}
		if f := m.PredictFrame(test); !slices.Equal(f.Names(), []string{"0.05", "0.25", "0.5", "0.75", "0.95"}) ||
			f.Nrow() != 4000 {
			t.Errorf("%s: frame %v", name, f.Names())
		}
		if c := m.Coefficients(); !slices.Equal(c.Names()[:3], []string{"level", "feature", "coefficient"}) ||
			c.Nrow() != len(m.Theta()) {
			t.Errorf("%s: coefficients %v", name, c)
		}
		if text := shown(t, m); !strings.Contains(text, "τ = 0.95") || strings.Contains(text, "λ") {
			t.Errorf("%s is shown as %s", name, text)
		}
	}
	if _, err := m.Intervals(0.9); err == nil || !strings.Contains(err.Error(), "CurvatureShare: 0.2") {
		t.Errorf("intervals: %v", err)
	}
	if _, err := m.RMSE(test); err == nil {
		t.Error("several quantiles have an RMSE")
	}
	linear := must.Get(learn.Linear{}.FitWithoutPrivacy(data))
	if _, err := linear.QuantileScores(test); err == nil {
		t.Error("least squares has quantiles")
	}
}

// Quantiles with a share for their curvature have intervals, about estimates near those of the ordinary fits, which
// stay clear of 0 for what matters; they are shown and drawn. The guarantee is that of the whole budget.
func TestQuantileIntervals(t *testing.T) {
	testscale.Slow(t)
	data := learn.Regression(learn.Patients(30_000, 1), "pressure", learn.Uncentred())
	l := learn.Quantiles{Levels: []float64{0.25, 0.5, 0.75}, CurvatureShare: 0.2, Noise: learn.Seed(5)}
	m := must.Get(l.Fit(data, learn.Simulate(4, 1e-6)))
	plain := must.Get(l.FitWithoutPrivacy(data))
	if got := privacy.DeltaUpper(m.Release.Guarantee.Profile, 4) / 1e-6; got > 1 || got < 0.99 {
		t.Errorf("δ(ε) is %.4f of what was asked for", got)
	}
	iv := must.Get(m.Intervals(0.95))
	wide := must.Get(m.PopulationIntervals(0.95))
	// The ordinary fit's, categories from the first of their column.
	want, features := plain.Theta(), m.Coefficients().Col("feature").Records()
	d := len(want) / 3
	for from := 0; from < len(want); from += d {
		for first := from; first < from+d; first++ {
			column, _, ok := strings.Cut(features[first], "=")
			if !ok || first > from && strings.HasPrefix(features[first-1], column+"=") {
				continue
			}
			v, size := want[first], 0
			for j := first; strings.HasPrefix(features[j], column+"="); j++ {
				size++
			}
			if size == 1 {
				continue
			}
			for j := first; j < first+size; j++ {
				want[j] -= v
			}
			want[from+d-1] += v
		}
	}
	in, all := 0, 0
	for j, v := range want {
		if iv.Upper[j] == iv.Lower[j] || math.IsInf(iv.Upper[j], 1) {
			continue
		}
		if all++; iv.Lower[j] <= v && v <= iv.Upper[j] {
			in++
		}
		if wide.Upper[j]-wide.Lower[j] < iv.Upper[j]-iv.Lower[j] {
			t.Errorf("coefficient %d: the population's interval is the narrower", j)
		}
	}
	if all < len(iv.Lower)/2 || float64(in) < 0.85*float64(all) {
		t.Errorf("%d of %d finite intervals, of %d, have the ordinary fit's coefficient in them", in, all,
			len(iv.Lower))
	}
	text := wide.Display().Text()
	says(t, text, "population", "level", "quantile_intervals.md", "corrected", "Reference categories")
	if names := wide.DataFrame().Names(); !slices.Equal(names, []string{"level", "feature", "estimate", "lower",
		"upper"}) {
		t.Errorf("columns %v", names)
	}
	for _, feature := range []string{"age", ""} {
		if f, err := wide.Figure(feature); (err == nil) != (feature == "age") || err == nil && f.Alt == "" {
			t.Errorf("figure of %q: %v", feature, err)
		}
	}
	if _, err := m.ProvedIntervals(0.95); err == nil {
		t.Error("proved intervals of quantiles")
	}
}

// R¹ is 0 for the records' own quantile: next to 0 where the ward is all that is known.
func TestR1WithoutFeatures(t *testing.T) {
	data := learn.Regression(learn.Patients(1001, 1).Drop("age", "weight", "smoker", "visits", "ill"), "pressure")
	m := must.Get(learn.Quantile{Tau: 0.3}.FitWithoutPrivacy(data))
	if s, err := m.Score(data); err != nil || s < -1e-3 || s > 0.05 {
		t.Errorf("R¹ = %g (%v)", s, err)
	}
}

// Per unit there is a number whose step of 1 means the same everywhere: not one with a period, which was there three
// times for parts of it. One on a logarithmic scale says that it is for all of it, a crossed one in which category, and
// an interval of steps is against the first.
func TestUnitsThatColumnsHave(t *testing.T) {
	df := learn.Patients(800, 1).Drop("ill", "ward").WithSchema(learn.Numeric("age", 18, 90),
		learn.Log("weight", 40, 160), learn.Numeric("visits", 0, 24), learn.Categorical("smoker", "no", "yes"),
		learn.Numeric("pressure", 80, 200))
	for name, c := range map[string]struct {
		opts []learn.Option
		want string
	}{
		"period": {[]learn.Option{learn.Periodic("visits", 24)}, "smoker=yes|bias"},
		"steps":  {[]learn.Option{learn.Steps("visits", 2)}, "smoker=yes|visits=2 to 24|bias"},
		"crossed": {[]learn.Option{learn.Cross("age", "smoker"), learn.Periodic("visits", 24)},
			"smoker=yes|age, smoker=no|age, smoker=yes|bias"},
		"crossed period": {[]learn.Option{learn.Cross("visits", "smoker"), learn.Periodic("visits", 24)},
			"smoker=yes|bias"},
	} {
		want := "age|weight: 40 → 160|" + c.want
		for _, l := range []learn.Learner{learn.Linear{}, learn.Quantiles{Levels: []float64{0.2, 0.7}}} {
			m := must.Get(l.FitWithoutPrivacy(learn.Regression(df, "pressure", append(c.opts, learn.Lines())...)))
			units, effects := m.CoefficientsInUnits(), m.Coefficients()
			got := strings.Join(units.Col("feature").Records(), "|")
			if got != want && got != want+"|"+want {
				t.Errorf("%s: %s", name, got)
			}
			const half = 60 // of the bounds of pressure
			last, of := units.Nrow()-1, effects.Nrow()-1
			all, own := units.Col("coefficient").Float(), effects.Col("coefficient").Float()
			age, bias := all[0]-half*own[0]/72, all[last]-140-half*own[of]
			if !(math.Abs(age) <= 1e-12 && math.Abs(bias) <= 1e-9) {
				t.Errorf("%s: age is off by %v, the last bias by %v", name, age, bias)
			}
		}
	}
}

// In the units of the columns coefficients predict by themselves what the model predicts; where they have none, that is
// said.
func TestCoefficientsInUnits(t *testing.T) {
	df := learn.Patients(800, 1).Drop("ill", "ward")
	for name, l := range map[string]learn.Learner{"Linear": learn.Linear{}, "Quantiles": learn.Quantiles{}} {
		m := must.Get(l.FitWithoutPrivacy(learn.Regression(df, "pressure", learn.Uncentred())))
		c := m.CoefficientsInUnits()
		if c.Err != nil {
			t.Fatal(c.Err)
		}
		theta, feature := c.Col("coefficient").Float(), c.Col("feature").Records()
		const d = 6
		var want []float64
		if q, err := m.PredictQuantiles(df); err == nil {
			want = q[2]
		} else if want, err = m.Predict(df); err != nil {
			t.Fatal(err)
		}
		g, off := df.Gota(), 0
		for i := range 800 {
			var sum float64
			for j := len(theta) - d; j < len(theta); j++ {
				switch feature[j] {
				case "bias":
					sum += theta[j]
				case "smoker=no", "smoker=yes":
					if feature[j] == "smoker="+g.Col("smoker").Records()[i] {
						sum += theta[j]
					}
				default:
					sum += theta[j] * g.Col(feature[j]).Float()[i]
				}
			}
			if math.Abs(sum-want[i]) > 1e-9 {
				off++
			}
		}
		if off > 40 { // pooled, or moved into the bounds
			t.Errorf("%s: %d of 800 predictions are others", name, off)
		}
	}
	scaled := must.Get(learn.Median{}.FitWithoutPrivacy(learn.Regression(df, "pressure", learn.Uncentred(),
		learn.RowNorm(1))))
	several := must.Get(learn.Softmax{}.FitWithoutPrivacy(learn.Classes(learn.Patients(100, 1), "ward")))
	bare := must.Get(learn.Median{}.FitWithoutPrivacy(learn.Regression(df, "pressure", learn.NoBias())))
	for want, m := range map[string]*learn.Model{"RowNorm": scaled, "several classes": several, "NoBias": bare} {
		if c := m.CoefficientsInUnits(); c.Err == nil || !strings.Contains(c.Err.Error(), want) {
			t.Errorf("%s: %v", want, c.Err)
		}
	}
	// Of two classes they add up to the logarithm of the odds.
	ill := learn.Patients(100, 1)
	two := must.Get(learn.Logistic{}.FitWithoutPrivacy(learn.Binary(ill.Drop("smoker", "ward"), "ill",
		learn.Uncentred())))
	c := two.CoefficientsInUnits()
	p, err := two.Predict(ill)
	if c.Err != nil || err != nil {
		t.Fatal(c.Err, err)
	}
	sum, g := 0.0, ill.Gota()
	for j, name := range c.Col("feature").Records() {
		v := 1.0
		if name != "bias" {
			v = g.Col(name).Float()[0]
		}
		sum += c.Col("coefficient").Float()[j] * v
	}
	if want := math.Log(p[0] / (1 - p[0])); !(math.Abs(sum-want) <= 1e-9) {
		t.Errorf("log odds %g, want %g", sum, want)
	}
}

// Bands are of what was released, over the bounds of the feature.
func TestBands(t *testing.T) {
	data := learn.Regression(learn.Patients(2000, 1), "pressure", learn.RowNorm(1))
	m, err := learn.Quantiles{}.FitWithoutPrivacy(data)
	if err != nil {
		t.Fatal(err)
	}
	f := must.Get(m.Bands("age", map[string]any{"smoker": "yes", "weight": 70}))
	if png, err := f.PNG(); err != nil || len(png) < 1000 || !strings.Contains(f.Alt, "age from 18 to 90") {
		t.Errorf("%q (%v)", f.Alt, err)
	}
	for name, held := range map[string]map[string]any{"smoker": nil, "no such": nil, "age": {"age": 3},
		"weight": {"smoker": "perhaps"},
		"visits": {"weight": "heavy"}} {
		if _, err := m.Bands(name, held); err == nil {
			t.Errorf("bands against %s, held %v", name, held)
		}
	}
	// Many columns do not fit under the plot, and would press it flat: the label is short, and the alternative text has
	// what is held. A few are in the label.
	f, err = m.Bands("age", map[string]any{"weight": 70, "visits": 3})
	if err != nil || !strings.Contains(f.Alt, "weight 70") || !strings.Contains(f.Alt, "visits 3") {
		t.Errorf("%+v (%v)", f, err)
	}
	for n, want := range map[int]string{0: "age", 2: "age, at column 12, column 12",
		20: "age (20 other columns held)"} {
		if got := learn.AxisOf("age", slices.Repeat([]string{"column 12"}, n)); got != want {
			t.Errorf("%d columns: %q", n, got)
		}
	}
	// On a logarithmic scale the middle is that of the logarithms, of what is held and of what is drawn.
	df := learn.Patients(200, 1)
	_, schema, _ := df.Known()
	for k := range schema.Fields {
		if f := &schema.Fields[k]; f.Name == "weight" {
			*f = learn.Log("weight", 40, 160)
		}
	}
	m = must.Get(learn.Quantiles{}.FitWithoutPrivacy(learn.Regression(df.WithSchema(schema.Fields...), "pressure")))
	if f = must.Get(m.Bands("age", nil)); !strings.Contains(f.Alt, "weight 80") {
		t.Errorf("the middle of 40 to 160 is 80 on a logarithmic scale: %s", f.Alt)
	}
	if drawn := must.Get(m.Bands("weight", nil)).Numbers(); !strings.Contains(drawn, "(80, ") {
		t.Errorf("the middle one of the places from 40 to 160 is 80 on a logarithmic scale: %s", drawn)
	}
	linear, _ := learn.Linear{}.FitWithoutPrivacy(data)
	if _, err := linear.Bands("age", nil); err == nil {
		t.Error("least squares has bands")
	}
}

// Without noise, and next to none that the steps are told of, the descent comes to within two hundredths of the least
// objective, regularised or not.
func TestQuantileWithoutNoise(t *testing.T) {
	const n, halfWidth = 1200, 60
	data := learn.Regression(learn.Patients(n, 11), "pressure", learn.Uncentred(), learn.RowNorm(1))
	objective := func(m *learn.Model, l1 float64) (sum float64) {
		s := must.Get(m.QuantileScores(data))
		d := len(m.Theta()) / len(s.Levels)
		for k, loss := range s.Pinball {
			sum += loss / halfWidth * n
			for _, v := range m.Theta()[k*d : (k+1)*d-1] {
				sum += l1 * math.Abs(v)
			}
		}
		return sum
	}
	for l1, l := range map[float64]learn.Learner{0: learn.Quantile{}, 3: learn.Quantile{Tau: 0.9, L1: 3},
		1e-9: learn.Quantiles{L1: 1e-9}} {
		plain := must.Get(l.FitWithoutPrivacy(data))
		m := must.Get(learn.Tuned(l, 0, 0, &silence{Seeded: noise.NewSeeded(1)}).Fit(data, learn.Simulate(1000, 1e-6)))
		if got, least := objective(m, l1), objective(plain, l1); got > 1.02*least || got < 0.999*least {
			t.Errorf("%T: objective %.4f, the least is %.4f", l, got, least)
		}
	}
}

// A δ that gives records away is said to, with every model.
func TestLargeDelta(t *testing.T) {
	data := learn.Regression(learn.Patients(50, 1), "pressure", learn.RowNorm(1))
	for delta, warned := range map[float64]bool{0.5: true, 1e-6: false} {
		m := must.Get(learn.Median{Noise: learn.Seed(1)}.Fit(data, learn.Simulate(1, delta)))
		if text := shown(t, m); strings.Contains(text, "a whole record away") != warned {
			t.Errorf("δ = %g: %s", delta, text)
		}
	}
}
