package learn_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/frame"
	held "github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// saying writes what things show, in words and numbers, or why there are none.
func saying(all *strings.Builder) func(what string, thing any, err error) {
	return func(what string, thing any, err error) {
		fmt.Fprintf(all, "-- %s\n", what)
		if err != nil {
			fmt.Fprintln(all, err)
			return
		}
		if d, ok := thing.(interface{ Display() display.Item }); ok {
			fmt.Fprintln(all, d.Display().Text())
		}
		switch f := thing.(type) {
		case interface{ Figure() *figure.Figure }:
			fmt.Fprintln(all, f.Figure().Words(), f.Figure().Numbers(), held.Written(f.Figure().SVG()))
		case *figure.Figure:
			fmt.Fprintln(all, f.Words(), f.Numbers(), held.Written(f.SVG()))
		case fmt.Stringer, []float64, [][]float64, learn.Card, float64:
			fmt.Fprintln(all, f)
		}
	}
}

// What models show, with the noise of one seed, is as it was, in words and numbers: testdata/shown.txt.
func TestWhatModelsShow(t *testing.T) {
	testscale.Slow(t)
	df, others := learn.Patients(300, 11), learn.Patients(200, 12)
	few := func(column string) learn.DataFrame { return df.Select("age", "weight", "smoker", column) }
	var all strings.Builder
	say := saying(&all)
	for _, c := range []way{
		{"logistic, curves", learn.Logistic{CurvatureShare: 0.2}, learn.Binary(few("ill"), "ill", learn.Curves()), 0},
		{"logistic, in units", learn.Logistic{}, learn.Binary(few("ill"), "ill", learn.InUnits()), 0},
		{"logistic, shrunk", learn.Logistic{CurvatureShare: 0.5, Lambda: 60}, learn.Binary(few("ill"), "ill"), 0},
		{"SVM", learn.SVM{CurvatureShare: 0.2}, learn.Binary(few("ill"), "ill", learn.Cross("age", "smoker")), 0},
		{"linear, surfaces", learn.Linear{CurvatureShare: 0.2}, learn.Regression(few("pressure"), "pressure",
			learn.Cross("age", "weight"), learn.Curves()), 0},
		{"Huber, terms", learn.Huber{}, learn.Regression(few("pressure"), "pressure", learn.Rising("age"),
			learn.Steps("weight", 60, 90)), 0},
		{"Poisson", learn.Poisson{CurvatureShare: 0.2}, learn.Counts(few("visits"), "visits", learn.Curves()), 0},
		{"Huber, logarithmic", learn.Huber{}, learn.Regression(few("pressure").WithSchema(learn.Numeric("age", 18, 90),
			learn.Log("weight", 40, 150), learn.Categorical("smoker", "no", "yes"), learn.Numeric("pressure", 80, 200)),
			"pressure", learn.Curves()), 0},
		{"heavy tails", learn.HeavyTails{}, learn.Regression(few("pressure"), "pressure"), 0},
		{"heavy tails, quantile", learn.HeavyTails{Loss: learn.PinballLoss, Tau: 0.9},
			learn.Regression(few("pressure"), "pressure"), 0},
		{"softmax", learn.Softmax{}, learn.Classes(few("ward"), "ward", learn.Curves()), 0},
		{"one-vs-rest", learn.OneVsRest{}, learn.Classes(few("ward"), "ward"), 0},
		{"quantile", learn.Quantile{Tau: 0.8}, learn.Regression(few("pressure"), "pressure"), 0},
		{"quantiles", learn.Quantiles{}, learn.Regression(few("pressure"), "pressure", learn.Curves()), 0},
		{"L1", learn.Linear{Regularise: learn.Regulariser{L1: 5}}, learn.Regression(few("pressure"), "pressure"), 0},
	} {
		fmt.Fprintf(&all, "== %s\n", c.name)
		say("dataset", c.data, c.data.Err())
		cost, err := learn.NewBudget(1, 1e-6, learn.Named(t.TempDir()+c.name)).Share(0.3).Cost(c.l, c.data)
		say("cost", cost, err)
		m := must.Get(learn.Tuned(c.l, 0, 0, learn.Seed(1)).Fit(c.data, learn.Simulate(3, 1e-6)))
		say("model", m, nil)
		plain := must.Get(c.l.FitWithoutPrivacy(c.data))
		say("without privacy", plain.Theta(), nil)
		say("coefficients", m.Coefficients(), nil)
		say("in units", m.CoefficientsInUnits(), nil)
		iv, err := m.Intervals(0.9)
		say("intervals", iv, err)
		iv, err = m.PopulationIntervals(0.9)
		say("population", iv, err)
		d, err := m.Difference("smoker", "yes", "no", 0.9)
		say("difference", d, err)
		var of []string
		if strings.Contains(c.name, "soft") || strings.Contains(c.name, "rest") {
			of = []string{"heart"}
		}
		shapes, err := m.Shapes(of...)
		say("shapes", shapes, err)
		for _, column := range []string{"age", "smoker"} {
			say(column, m.Shape(column, of...), m.Shape(column, of...).Err())
		}
		surface := m.Surface("age", "weight", of...)
		say("surface", surface, surface.Err())
		bands, err := m.Bands("age", map[string]any{"weight": 50.0})
		say("bands", bands, err)
		e, err := m.Evaluate(others)
		say("evaluation", e, err)
		if err == nil {
			say("calibration", e.CalibrationTable(), nil)
		}
		scores, err := m.QuantileScores(others)
		say("quantile scores", scores, err)
		p, err := m.Predict(others.Head(5))
		say("predictions", p, err)
		card, err := m.Card()
		say("card", card, err)
	}
	fmt.Fprintln(&all, "== curves")
	for _, c := range []way{
		{"accuracy", learn.Logistic{Noise: learn.Seed(1)}, learn.Binary(few("ill"), "ill", learn.Lines()), 0},
		{"R²", learn.Linear{Noise: learn.Seed(1)}, learn.Regression(few("pressure"), "pressure", learn.Lines()), 0},
	} {
		curve, err := learn.SweepEpsilon(c.l, c.data, c.data, 1e-6, 2, 0.5, 1, 2, 5, 20)
		say(c.name, curve, err)
	}
	held.Compare(t, "testdata/shown.txt", unassuming.ReplaceAllString(all.String(), ""))
}

var unassuming = regexp.MustCompile("(?m)^Assumes: .*\n")

// What is rarely shown is as it was, too, with the noise of one seed: tables, forecasts, comparisons with all rivals,
// groups, many columns, missing values, and models that were changed, calibrated or chosen: testdata/rarely.txt.
func TestWhatIsRarelyShown(t *testing.T) {
	testscale.InTurn(t)
	df, others := learn.Patients(300, 11), learn.Patients(200, 12)
	a, b := learn.Simulate(3, 1e-6), learn.Seed(1)
	var all strings.Builder
	say := saying(&all)
	left := func() bool { // what takes seconds is left to the full tests, and the file is written with it
		if testscale.Full() || os.Getenv("DPNB_GOLDEN") != "" {
			return false
		}
		fmt.Fprintln(&all, held.Elsewhere)
		return true
	}
	say("a table", df, nil)
	say("its schema", df.Schema(), nil)
	say("what does not fit", df.WithSchema(learn.Numeric("age", 40, 50), learn.Categorical("none", "a", "b")).Check(),
		nil)
	plain := must.Get(frame.ReadCSV(strings.NewReader("x\n1\n"), nil))
	say("no schema", learn.FromTable(plain).Schema(), nil)
	studies := []learn.Study{{Records: 2000, Features: 20, Epsilon: 1}, {Records: 2000, Features: 20, Epsilon: 1,
		Delta: 1e-5, Signal: 30, Noise: 10}, {Records: 2000, Features: 20, Epsilon: 1, Noise: 3, Threshold: 1},
		learn.StudyOf(learn.Regression(df, "pressure"), 2000, 1, 1e-6), {Features: 20}, {Records: 20}, {Records: 9,
			Features: 2, Delta: -1}, {Records: 9, Features: 2, Signal: -1}, {Records: 9, Features: 2, Noise: -1},
		{Records: 9, Features: 2, Threshold: 1}, {Records: 9, Features: 2, Epsilon: -1}}
	if left() {
		studies = nil
	}
	for _, s := range studies {
		f := s.Forecast()
		names, errors := f.Errors()
		say("forecast", f, nil)
		say(fmt.Sprint(names), errors, nil)
	}
	many := learn.Regression(learn.Patients(1500, 13), "pressure", learn.Lines())
	tukey, err := learn.TukeyEM(1500).Fit(many, learn.Simulate(60, 1e-6), b)
	say("TukeyEM of many", tukey, err)
	open := df.Select("age", "ward", "pressure").WithSchema(learn.Numeric("age", 18, 90).Unbounded(),
		learn.Categorical("ward", "heart", "lungs"), learn.Numeric("pressure", 80, 200).Unbounded())
	for _, data := range []*learn.Dataset{learn.Regression(open, "pressure"), learn.Counts(open, "pressure"),
		learn.Binary(df, "ill", learn.Steps("age", 30, 60), learn.Periodic("visits", 20), learn.ClipNorm(2)),
		learn.Regression(df, "pressure", learn.WeightsFrom("age", 90), learn.Uncentred())} {
		say("records", data, data.Err())
	}
	for _, l := range []learn.Learner{learn.HeavyTails{Noise: b}, learn.Huber{Noise: b}} {
		fitted, err := l.Fit(learn.RecordsFor(l, open, "pressure"), a)
		say("without bounds", fitted, err)
	}
	binary, numbers := learn.Binary(df, "ill", learn.Lines()), learn.Regression(df, "pressure", learn.Lines())
	rivals := append(slices.Clone(learn.AllMechanisms), learn.TukeyEM(300), learn.TunedSGD(300),
		learn.ConvolvedMedian(300), learn.GradientDescent(learn.DescentSetting{LearningRate: 0.1, Steps: 20, Clip: 1}),
		learn.TukeyEM(0), learn.TunedSGD(0), learn.ConvolvedMedian(0))
	for _, data := range []*learn.Dataset{binary, learn.Classes(df, "ward", learn.Lines()), numbers} {
		if data == numbers && left() {
			continue
		}
		say("rivals", learn.CompareWith(learn.CompareSettings{Seeds: 2}, data, 4, rivals...), nil)
	}
	for _, m := range rivals[len(learn.AllMechanisms) : len(rivals)-3] {
		for _, data := range []*learn.Dataset{binary, numbers} {
			if strings.HasPrefix(m.Name(), "convolved") && data == numbers && left() {
				continue
			}
			fitted, err := m.Fit(data, learn.Simulate(60, 1e-6), learn.Seed(2))
			say(m.Name(), fitted, err)
		}
	}
	for _, l := range []learn.Learner{learn.Logistic{Noise: b}, learn.Poisson{Noise: b}, learn.SVM{Noise: b}} {
		groups, err := learn.FitBy(l, df, "ward", func(part learn.DataFrame) *learn.Dataset {
			if _, counts := l.(learn.Poisson); counts {
				return learn.Counts(part, "visits", learn.Lines())
			}
			return learn.Binary(part, "ill", learn.Lines(), learn.InUnits())
		}, a)
		say("groups", groups, err)
		if _, logistic := l.(learn.Logistic); logistic {
			card, err := groups.Of("bones").Card()
			say("card of a group", card, err)
		}
	}
	m := must.Get(learn.SVM{Noise: b, CurvatureShare: 0.2}.Fit(learn.Binary(df, "ill", learn.Curves()), a))
	say("changed", must.Get(m.With(m.Shape("age").Monotone(1).Smoothed(0.5), m.Shape("smoker").SetCategory("yes", 1),
		m.Shape("weight").Rounded(0.25))), nil)
	for _, s := range []*learn.Shape{m.Shape("age").Monotone(1), m.Shape("ward").SetCategory("bones", -0.5),
		m.Shape("pressure").Set(100, 140, 0.3), m.Shape("weight").Convex(-1)} {
		say(strings.Join(s.Did(), "; "), s, s.Err())
	}
	calibrated := must.Get(m.Calibrated(0.8, -0.2, "a curve that was drawn by hand.", "The curve protects nobody."))
	say("calibrated", calibrated, nil)
	e, err := calibrated.Evaluate(others)
	say("evaluation", e, err)
	chosen, err := learn.Tune{Learners: []learn.Learner{learn.Logistic{}, learn.Logistic{Lambda: 20}},
		Without: [][]string{nil, {"visits"}}, Noise: b}.Fit(binary, a)
	say("chosen", chosen, err)
	var header, row []string
	var fields []learn.Field
	for k := range 16 {
		name := fmt.Sprint("x", k)
		header, row = append(header, name), append(row, []string{"", "3", "5"}[k%3])
		f := learn.Numeric(name, 0, float64(2+k%3*4))
		f.Missing = true
		fields = append(fields, f)
	}
	wide := learn.FromTable(must.Get(frame.ReadCSV(strings.NewReader(strings.Join(header, ",")+",y\n"+
		strings.Repeat(strings.Join(row, ",")+",no\n,1"+strings.Repeat(",", 15)+"yes\n", 40)), nil))).WithSchema(
		append(fields, learn.Categorical("y", "no", "yes"))...)
	m = must.Get(learn.Logistic{Noise: b, CurvatureShare: 0.2}.Fit(learn.Binary(wide, "y", learn.Lines()), a))
	say("many columns", m, nil)
	iv, err := m.PopulationIntervals(0.9)
	say("their intervals", iv, err)
	held.Compare(t, "testdata/rarely.txt", unassuming.ReplaceAllString(all.String(), ""))
}
