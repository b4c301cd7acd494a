package explore_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

// modelsOf are models of every kind of target with the error that they make, worked out from what they predict.
func modelsOf(t *testing.T, df learn.DataFrame, src noise.Source, a func() learn.Allowance) (
	models map[string]*learn.Model, exact map[string]float64) {
	t.Helper()
	models, exact = map[string]*learn.Model{}, map[string]float64{}
	for name, c := range map[string]struct {
		l    learn.Learner
		data *learn.Dataset
	}{
		"ill":      {learn.Logistic{Noise: src}, learn.Binary(df, "ill", learn.RowNorm(1))},
		"ward":     {learn.Softmax{Noise: src}, learn.Classes(df, "ward", learn.RowNorm(1))},
		"pressure": {learn.Linear{Noise: src}, learn.Regression(df, "pressure", learn.RowNorm(1))},
		"visits":   {learn.Poisson{Noise: src}, learn.Counts(df, "visits", learn.RowNorm(1))},
	} {
		m, err := c.l.Fit(c.data, a())
		if err != nil {
			t.Fatal(name, err)
		}
		models[name] = m
		if name == "ill" || name == "ward" {
			right := must.Get(m.Score(df))
			exact[name] = 1 - right
			continue
		}
		p := must.Get(m.Predict(df))
		table, _ := df.Table()
		column, _ := table.Column(name)
		for i, y := range column.Numbers {
			exact[name] += math.Abs(p[i]-y) / float64(len(p))
		}
	}
	return models, exact
}

// The error that is asked for is the one that the model makes, for every kind of target, to four standard deviations of
// the noise; and intervals of 80 % cover it about as often. Of all draws an error of a tenth moves all intervals beside
// it.
func TestLossOfCovers(t *testing.T) {
	testscale.InTurn(t)
	df := learn.Patients(4000, 3)
	models, exact := modelsOf(t, df, learn.Seed(1), func() learn.Allowance { return learn.Simulate(2, 1e-6) })
	for name, m := range models {
		covered, moved, draws := 0, 0, 24
		if testscale.Full() {
			draws = 60
		}
		for seed := range uint64(draws) {
			s, err := explore.LossOf(m).Confidence(0.8).Noise(learn.Seed(seed)).Of(df, learn.Simulate(2, 1e-6))
			if err != nil {
				t.Fatal(name, err)
			}
			within := func(v float64) bool { lo, hi := s.Interval(); return lo <= v && v <= hi }
			if within(exact[name]) {
				covered++
			}
			if within(1.1 * exact[name]) {
				moved++
			}
		}
		// Counts of more than half the range, which the loss cuts, do not occur.
		if least := 0.8 - 4*math.Sqrt(0.8*0.2/float64(draws)); float64(covered) < least*float64(draws) ||
			5*moved > draws {
			t.Errorf("%s: %d of %d intervals have the error %.4g in them, %d one that is a tenth larger", name, covered,
				draws, exact[name], moved)
		}
	}
}

// Each loss is within its public bounds and of its record alone: chunks of any size give the same.
func TestLossesAreOfSingleRecords(t *testing.T) {
	df := learn.Patients(700, 4)
	models, _ := modelsOf(t, df, learn.Seed(1), func() learn.Allowance { return learn.Simulate(0.01, 1e-6) })
	table := must.Get(df.Table())
	for name, m := range models {
		l := must.Get(m.Losses(true))
		all, err := l.Of(table)
		if err != nil || slices.Min(all) < 0 || slices.Max(all) > l.Most {
			t.Errorf("%s: from %v to %v, at most %v, %v", name, slices.Min(all), slices.Max(all), l.Most, err)
		}
		for i := range 700 {
			one, err := l.Of(table.Slice(i, i+1))
			if err != nil || one[0] != all[i] {
				t.Fatalf("%s: record %d has %v alone and %v among all, %v", name, i, one, all[i], err)
			}
		}
	}
}

// What cannot be asked is refused before the charge; what was asked once is not paid for again, by a model that FitOnce
// gave again as well; and a forecast stands beside it.
func TestLossOfRefusedOnceAndBeside(t *testing.T) {
	df := learn.Patients(3000, 5)
	data := learn.Binary(df, "ill", learn.RowNorm(1))
	b := fresh(4, 1e-5)
	fit := func() *learn.Model {
		return must.Get(learn.FitOnce("m", learn.Logistic{}, data, b.Spend(1)))
	}
	plain := must.Get(learn.Logistic{}.FitWithoutPrivacy(data))
	simulated := must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(data, learn.Simulate(1, 1e-6)))
	levels := must.Get(learn.Quantiles{Levels: []float64{0.2, 0.8}, Noise: learn.Seed(1)}.Fit(
		learn.Regression(df, "pressure", learn.RowNorm(1)), learn.Simulate(1, 1e-6)))
	fit()
	before := spent(t, b)
	for name, c := range map[string]struct {
		q    explore.Query
		df   learn.DataFrame
		want string
	}{
		"no model":        {explore.LossOf(nil), df, "no model"},
		"without privacy": {explore.LossOf(plain), df, "without privacy"},
		"a simulation":    {explore.LossOf(simulated), df, "is a simulation"},
		"quantiles":       {explore.LossOf(levels).Noise(learn.Seed(1)), df, "quantiles"},
		"groups":          {explore.LossOf(fit()).By("ward"), df, "(Where)"},
		"no column":       {explore.LossOf(fit()), df.Drop("age"), `column "age"`},
		"no label":        {explore.LossOf(fit()), df.Drop("ill"), `column "ill"`},
	} {
		if _, err := c.q.Of(c.df, b.Spend(0.1)); err == nil || !strings.Contains(err.Error(), c.want) ||
			spent(t, b) != before {
			t.Errorf("%s: %v, %v spent", name, err, spent(t, b)-before)
		}
	}
	first := must.Get(explore.LossOf(fit()).Once("error", df, b.Spend(0.1)))
	before = spent(t, b)
	again, err := explore.LossOf(fit()).Once("error", df, b.Spend(0.1))
	if err != nil || again.Value() != first.Value() || spent(t, b) != before {
		t.Errorf("%v, then %v, %v; %v spent", first.Value(), again.Value(), err, spent(t, b)-before)
	}
	other := must.Get(learn.Logistic{Lambda: 50}.Fit(data, b.Spend(0.1)))
	if _, err := explore.LossOf(other).Once("error", df, b.Spend(0.1)); err == nil {
		t.Error("the error of one model is given as that of another")
	}
	forecastOf := func(data *learn.Dataset) *learn.Forecast {
		s := learn.StudyOf(data, 3000, 1, 1e-5)
		s.Mechanisms = []proportional.Mechanism{proportional.Output}
		return s.Forecast()
	}
	forecast := forecastOf(data)
	c := explore.Beside(forecast, first)
	text := c.Display().Text()
	for _, want := range []string{"forecast: without privacy", "forecast: output perturbation", "measured: this model",
		"assumes", "for ill"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if png, err := c.Illustration().PNG(); err != nil || len(png) == 0 {
		t.Error(err)
	}
	numbers := forecastOf(learn.Regression(df, "pressure"))
	if numbers.Err() != nil {
		t.Error(numbers.Err())
	}
	for _, bad := range []*explore.Compared{explore.Beside(nil, first), explore.Beside(forecast, nil),
		explore.Beside(numbers, first)} {
		if bad.Err() == nil || bad.Illustration() != nil || !bad.Display().Error {
			t.Errorf("compared: %s", bad.Display().Text())
		}
	}
}

// The bound on a loss is the model's: read off the data, it is no more covered in an answer about the model than in the
// model, whatever schema the records have that are asked.
func TestLossOfWarnsOfBoundsOffTheData(t *testing.T) {
	testscale.InTurn(t)
	df := learn.Patients(500, 6)
	table := must.Get(df.Table())
	for _, inferred := range []bool{false, true} {
		from, options := df, []learn.Option{learn.RowNorm(1)}
		if inferred {
			from, options = learn.FromTable(table), append(options, learn.InferBounds())
		}
		data := learn.Regression(from, "pressure", options...)
		m := must.Get(learn.Linear{Noise: learn.Seed(1)}.Fit(data, learn.Simulate(1, 1e-6)))
		s := must.Get(explore.LossOf(m).Noise(learn.Seed(2)).Of(df, learn.Simulate(1, 1e-6)))
		study := learn.StudyOf(data, 500, 1, 1e-6)
		study.Mechanisms = []proportional.Mechanism{proportional.Objective}
		beside := explore.Beside(study.Forecast(), s)
		for what, w := range map[string]string{"answer": s.Display().Warning, "beside": beside.Display().Warning} {
			if strings.Contains(w, "READ OFF THE DATA") != inferred {
				t.Errorf("%s, bounds off the data %v: warning %q", what, inferred, w)
			}
		}
	}
}
