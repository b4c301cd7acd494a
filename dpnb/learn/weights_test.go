package learn_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// surveyed are invented patients with a weight: of every third 4, of others 1, of some none; and the same people as
// often as they weigh.
func surveyed(rows int) (weighted, repeated learn.DataFrame) {
	df := learn.Patients(rows, 3)
	table := must.Get(df.Table())
	_, schema, _ := df.Known()
	w, index := make([]float64, rows), []int{}
	for i := range w {
		switch w[i] = 1; {
		case i%3 == 0:
			w[i] = 4
		case i%10 == 1:
			w[i] = math.NaN()
			continue
		case i%10 == 2:
			w[i] = -1
			continue
		}
		for range int(w[i]) {
			index = append(index, i)
		}
	}
	var columns, often []frame.Column
	for _, name := range table.Names() {
		c := *must.Get(table.Column(name))
		more := frame.Column{Name: name, Kind: c.Kind}
		for _, i := range index {
			if c.Kind == frame.Numeric {
				more.Numbers = append(more.Numbers, c.Numbers[i])
			} else {
				more.Texts = append(more.Texts, c.Texts[i])
			}
		}
		columns, often = append(columns, c), append(often, more)
	}
	columns = append(columns, frame.Column{Name: "survey", Kind: frame.Numeric, Numbers: w})
	return learn.FromTable(must.Get(frame.NewTable(columns...))).WithSchema(schema.Fields...),
		learn.FromTable(must.Get(frame.NewTable(often...))).WithSchema(schema.Fields...)
}

// A record of weight 4 is four records of weight 1, with a ridge that is a fourth since weights are shares of their
// bound; one without a weight is none: for two classes and for numbers, centred or not.
func TestWeightsAreRepetitions(t *testing.T) {
	weighted, repeated := surveyed(900)
	for name, c := range map[string]struct {
		of   func(lambda float64) learn.Learner
		made func(df learn.DataFrame, opts ...learn.Option) *learn.Dataset
	}{
		"Logistic": {func(l float64) learn.Learner { return learn.Logistic{Lambda: l} },
			func(df learn.DataFrame, opts ...learn.Option) *learn.Dataset { return learn.Binary(df, "ill", opts...) }},
		"SVM": {func(l float64) learn.Learner { return learn.SVM{Lambda: l} },
			func(df learn.DataFrame, opts ...learn.Option) *learn.Dataset { return learn.Binary(df, "ill", opts...) }},
		"Huber": {func(l float64) learn.Learner { return learn.Huber{Lambda: l} },
			func(df learn.DataFrame, opts ...learn.Option) *learn.Dataset {
				return learn.Regression(df, "pressure", opts...)
			}},
		"Linear": {func(l float64) learn.Learner { return learn.Linear{Lambda: l} },
			func(df learn.DataFrame, opts ...learn.Option) *learn.Dataset {
				return learn.Regression(df, "pressure", opts...)
			}},
	} {
		a := must.Get(c.of(1).FitWithoutPrivacy(c.made(weighted, learn.WeightsFrom("survey", 4), learn.Lines())))
		b := must.Get(c.of(4).FitWithoutPrivacy(c.made(repeated, learn.Lines())))
		p, q := must.Get(a.Predict(repeated)), must.Get(b.Predict(repeated))
		for i := range p {
			if !(math.Abs(p[i]-q[i]) < 1e-4*(1+math.Abs(q[i]))) {
				t.Fatalf("%s: record %d is predicted %v, with repeated records %v", name, i, p[i], q[i])
			}
		}
	}
}

// Private fits of records with weights are charged as those without, are saved and loaded, predict without a column of
// weights, and are near those of repeated records.
func TestWeightedFits(t *testing.T) {
	testscale.Slow(t)
	weighted, repeated := surveyed(6000)
	with := learn.WeightsFrom("survey", 4)
	for name, c := range map[string]struct {
		l, plain *learn.Dataset
		learner  learn.Learner
	}{
		"Logistic": {learn.Binary(weighted, "ill", with), learn.Binary(repeated, "ill"),
			learn.Logistic{Noise: learn.Seed(1)}},
		"SVM": {learn.Binary(weighted, "ill", with), learn.Binary(repeated, "ill"),
			learn.SVM{Noise: learn.Seed(1)}},
		"Huber": {learn.Regression(weighted, "pressure", with), learn.Regression(repeated, "pressure"),
			learn.Huber{Noise: learn.Seed(1)}},
		"Linear": {learn.Regression(weighted, "pressure", with, learn.Uncentred(), learn.RowNorm(1)),
			learn.Regression(repeated, "pressure"), learn.Linear{Noise: learn.Seed(1)}},
	} {
		must.Get(c.learner.Fit(c.plain, learn.Simulate(3, 1e-6))) // whose mechanism must not be that of weights
		m := must.Get(c.learner.Fit(c.l, learn.Simulate(3, 1e-6)))
		if g := m.Release.Guarantee; g.Epsilon > 3 || !strings.Contains(m.Release.Mechanism, "weighted") {
			t.Errorf("%s: %+v, %s", name, g, m.Release.Mechanism)
		}
		plain := must.Get(c.learner.FitWithoutPrivacy(c.plain))
		if a, b := must.Get(m.Score(repeated)), must.Get(plain.Score(repeated)); a < b-0.05 {
			t.Errorf("%s: scores %v, of repeated records without noise %v", name, a, b)
		}
		if a, b := must.Get(m.Score(c.l)), must.Get(m.Score(weighted)); a != b {
			t.Errorf("%s: scores of the records that it was fitted to are %v, of their table %v", name, a, b)
		}
		path := filepath.Join(t.TempDir(), "model.json")
		if err := m.Save(path); err != nil {
			t.Fatal(name, err)
		}
		p, q := must.Get(m.Predict(repeated)), must.Get(must.Get(learn.Load(path)).Predict(repeated))
		for i := range p {
			if p[i] != q[i] {
				t.Fatalf("%s: %v, read back %v", name, p[i], q[i])
			}
		}
		iv, err := m.Intervals(0.95)
		if err != nil {
			t.Fatal(name, err)
		}
		// Nothing is promised that a fit with weights refuses, and nothing said of how a guess has failed.
		said := iv.Display().Text()
		if !strings.Contains(said, "have weights there are no narrower") || strings.Contains(said, "CurvatureShare") {
			t.Errorf("%s: %s", name, said)
		}
		const unknown = "not known where records have weights"
		if _, err := m.PopulationIntervals(0.95); err == nil || !strings.Contains(err.Error(), unknown) {
			t.Errorf("%s: intervals for the population: %v", name, err)
		}
		if name == "Linear" { // whose rows are not centred here
			continue
		}
		said = must.Get(m.Shapes()).All()[0].Display().Text()
		if !strings.Contains(said, "No bands: they are "+unknown) {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// Suited spends nothing on a curvature that records with weights do not have.
func TestSuitedWeights(t *testing.T) {
	weighted, _ := surveyed(600)
	for _, target := range []string{"ill", "pressure"} {
		l, data := learn.Suited(weighted, target, learn.WeightsFrom("survey", 4))
		budget := learn.NewBudget(1, 1e-6, learn.Named(t.TempDir()+target))
		if _, err := l.Fit(data, budget.Spend(0.5)); err != nil {
			t.Error(target, err)
		}
	}
}

// Weights of classes have a rare class recognised more often.
func TestClassWeights(t *testing.T) {
	df := learn.Patients(5000, 4)
	recall := func(opts ...learn.Option) float64 {
		m := must.Get(learn.Logistic{Noise: learn.Seed(2)}.Fit(learn.Binary(df, "ill", opts...), learn.Simulate(3,
			1e-6)))
		c := must.Get(m.Evaluate(df)).Confusion
		return float64(c[1][1]) / float64(c[1][0]+c[1][1])
	}
	plain, more := recall(), recall(learn.ClassWeights(map[string]float64{"yes": 5}))
	if !(more > plain+0.1) {
		t.Errorf("recall %v, with weights %v", plain, more)
	}
	if less := recall(learn.ClassWeights(map[string]float64{"no": 5})); !(less < plain-0.1) {
		t.Errorf("recall %v, with weights of the other class %v", plain, less)
	}
}

// A fit with weights of classes is released once like others, and other weights are another fit.
func TestClassWeightsOnce(t *testing.T) {
	df, budget := learn.Patients(300, 4), learn.NewBudget(1, 1e-6, learn.Named(t.TempDir()))
	fit := func(weight float64) (*learn.Model, error) {
		return learn.FitOnce("ill", learn.Logistic{}, learn.Binary(df, "ill",
			learn.ClassWeights(map[string]float64{"yes": weight})), budget.Spend(0.5))
	}
	first := must.Get(fit(5))
	if again := must.Get(fit(5)); !sameBits(kept(t, again).Theta(), first.Theta()) {
		t.Error("another model is given again, or read back")
	}
	if _, err := fit(4); err == nil || !strings.Contains(err.Error(), "ClassWeight") {
		t.Errorf("other weights: %v", err)
	}
}
