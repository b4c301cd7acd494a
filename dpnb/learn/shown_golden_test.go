package learn_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
	held "github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// What models show, with the noise of one seed, is as it was, in words and numbers: testdata/shown.txt.
func TestWhatModelsShow(t *testing.T) {
	df, others := learn.Patients(300, 11), learn.Patients(200, 12)
	few := func(column string) learn.DataFrame { return df.Select("age", "weight", "smoker", column) }
	var all strings.Builder
	say := func(what string, thing any, err error) {
		fmt.Fprintf(&all, "-- %s\n", what)
		if err != nil {
			fmt.Fprintln(&all, err)
			return
		}
		if d, ok := thing.(interface{ Display() display.Item }); ok {
			fmt.Fprintln(&all, d.Display().Text())
		}
		switch f := thing.(type) {
		case interface{ Figure() *figure.Figure }:
			fmt.Fprintln(&all, f.Figure().Words(), f.Figure().Numbers(), held.Written(f.Figure().SVG()))
		case *figure.Figure:
			fmt.Fprintln(&all, f.Words(), f.Numbers(), held.Written(f.SVG()))
		case fmt.Stringer, []float64, [][]float64, learn.Card, float64:
			fmt.Fprintln(&all, f)
		}
	}
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
	text := regexp.MustCompile("(?m)^Assumes: .*\n").ReplaceAllString(all.String(), "")
	held.Compare(t, "testdata/shown.txt", text)
}
