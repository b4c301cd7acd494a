package learn_test

import (
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// workers are invented people with a target that is a function of their columns, and noise.
func workers(t testing.TB, n int, seed uint64, truth func(age, hour float64, city, sex int) float64) (
	df learn.DataFrame, means []float64) {
	src := noise.NewSeeded(seed)
	columns := []frame.Column{{Name: "age"}, {Name: "hour"}, {Name: "city", Kind: frame.Categorical},
		{Name: "sex", Kind: frame.Categorical}, {Name: "pay"}}
	for range n {
		age, hour, city, sex := 10+80*src.Float64(), 24*src.Float64(), int(4*src.Float64()), int(2*src.Float64())
		normal := math.Sqrt(-2*math.Log(1-src.Float64())) * math.Cos(2*math.Pi*src.Float64())
		columns[0].Numbers, columns[1].Numbers = append(columns[0].Numbers, age), append(columns[1].Numbers, hour)
		columns[2].Texts = append(columns[2].Texts, []string{"Bern", "Rome", "Oslo", "Riga"}[city])
		columns[3].Texts = append(columns[3].Texts, []string{"f", "m"}[sex])
		means = append(means, truth(age, hour, city, sex))
		columns[4].Numbers = append(columns[4].Numbers, means[len(means)-1]+0.5*normal)
	}
	table := must.Get(frame.NewTable(columns...))
	return learn.FromTable(table).WithSchema(frame.NumericField("age", 10, 90), frame.NumericField("hour", 0, 24),
		frame.CategoricalField("city", "Bern", "Rome", "Oslo", "Riga"), frame.CategoricalField("sex", "f", "m"),
		frame.NumericField("pay", -5, 5)), means
}

// rSquared is that of predictions of pay.
func rSquared(t testing.TB, m *learn.Model, test learn.DataFrame, truth []float64) float64 {
	p := must.Get(m.Predict(test))
	var mean, wrong, all float64
	for _, y := range truth {
		mean += y / float64(len(truth))
	}
	for i, y := range truth {
		wrong += (y - p[i]) * (y - p[i])
		all += (y - mean) * (y - mean)
	}
	return 1 - wrong/all
}

// allTerms are those of workers.
func allTerms() []learn.Option {
	return []learn.Option{learn.Steps("age", 18, 65), learn.Periodic("hour", 24), learn.Cross("age", "sex"),
		learn.Cross("city", "hour")}
}

// Every learner takes terms, with and without a δ, and a model that is kept and loaded predicts and shows the same.
func TestTermsOfLearners(t *testing.T) {
	t.Parallel()
	testscale.InTurn(t)
	df, _ := workers(t, 3000, 1, func(age, hour float64, city, sex int) float64 { return age / 50 * float64(sex) })
	src := learn.Seed(1)
	curved := []learn.Option{learn.Line("hour"), learn.Cross("age", "sex"), learn.Cross("city", "sex")}
	classes := func(o ...learn.Option) *learn.Dataset { return learn.Classes(df, "city", o...) }
	two := func(o ...learn.Option) *learn.Dataset { return learn.Binary(df, "sex", o...) }
	numbers := func(o ...learn.Option) *learn.Dataset { return learn.Regression(df, "pay", o...) }
	for name, c := range map[string]struct {
		learner learn.Learner
		data    func(...learn.Option) *learn.Dataset
		delta   float64
	}{
		"numbers":   {learn.Huber{Noise: src}, numbers, 1e-6},
		"intervals": {learn.Huber{Noise: src, CurvatureShare: 0.05}, numbers, 1e-6},
		"pure":      {learn.Huber{Noise: src}, numbers, 0},
		"median":    {learn.Median{Noise: src}, numbers, 1e-6},
		"classes":   {learn.Softmax{Noise: src}, classes, 1e-6},
		"two":       {learn.SVM{Noise: src}, two, 1e-6},
		"L1":        {learn.Huber{Noise: src, Regularise: learn.Regulariser{GroupL1: 2}}, numbers, 1e-6},
	} {
		t.Run(name, func(t *testing.T) {
			for _, terms := range [][]learn.Option{allTerms(), curved} {
				if name == "classes" {
					terms = terms[:len(terms)-1]
				} else if name == "two" {
					terms = []learn.Option{learn.Steps("age", 18, 65), learn.Periodic("hour", 0),
						learn.Cross("city", "age"),
						learn.Cross("pay", "city")}
				}
				m := must.Get(c.learner.Fit(c.data(terms...), learn.Simulate(2, c.delta)))
				again := reloaded(t, m)
				if a, b := m.Display().Text(), again.Display().Text(); a != b {
					t.Errorf("%s, loaded %s", a, b)
				}
				a, err := m.Predict(df.Head(20))
				b, e := again.Predict(df.Head(20))
				if err != nil || e != nil || !slices.Equal(a, b) || slices.ContainsFunc(a, math.IsNaN) {
					t.Errorf("%v, loaded %v (%v, %v)", a, b, err, e)
				}
				if name == "intervals" {
					if _, err := m.PopulationIntervals(0.95); err != nil {
						t.Error(err)
					}
					if _, err := m.Difference("city", "Rome", "Bern", 0.95); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}

// The terms of a schema's file are those of options.
func TestTermsOfAFile(t *testing.T) {
	df, _ := workers(t, 300, 1, func(age, _ float64, _, _ int) float64 { return age / 50 })
	with := must.Get(learn.Regression(df, "pay", allTerms()...).Design())
	var fields []frame.Field
	for _, c := range append(with.Encoding.Columns(), "pay") {
		f, ok := with.Encoding.Field(c)
		if !ok {
			f = frame.NumericField(c, -5, 5)
		}
		fields = append(fields, f)
	}
	path := filepath.Join(t.TempDir(), "people.json")
	must.Do(df.WithSchema(fields...).SaveSchema(path))
	again, err := learn.Regression(df.WithSchemaFile(path), "pay").Design()
	if err != nil || !again.Encoding.Equal(with.Encoding) || !reflect.DeepEqual(again.Steps, with.Steps) {
		t.Errorf("%v, want %v (%v)", again.Steps, with.Steps, err)
	}
}

// What must rise does, whatever the noise, by every learner that holds it: over every place of a curve, a line where
// there are too few records for curves, steps and categories, also after the model was kept; and it would not without.
func TestRisingWithinTheFit(t *testing.T) {
	t.Parallel()
	testscale.Slow(t)
	src := learn.Seed(1)
	rises := func(m *learn.Model, column string, way float64) (least float64) {
		points := m.Shape(column).Points()
		if len(points) == 0 {
			t.Fatal(m.Shape(column).Err())
		}
		for k := range len(points) - 1 {
			least = min(least, way*(points[k+1].Value-points[k].Value))
		}
		return least
	}
	for name, c := range map[string]struct {
		learner learn.Learner
		target  string
		n       int
		terms   []learn.Option
		ways    map[string]float64
	}{
		"SVM": {learn.SVM{Noise: src}, "sex", 500, []learn.Option{learn.Rising("age"), learn.Falling("pay")},
			map[string]float64{"age": 1, "pay": -1}},
		"logistic": {learn.Logistic{Noise: src}, "sex", 500, []learn.Option{learn.Falling("age"),
			learn.Rising("city")}, map[string]float64{"age": -1, "city": 1}},
		"Huber": {learn.Huber{Noise: src}, "pay", 3000, []learn.Option{learn.Rising("age"), learn.Falling("hour"),
			learn.Falling("city")}, map[string]float64{"age": 1, "hour": -1, "city": -1}},
		"few": {learn.Huber{Noise: src}, "pay", 60, []learn.Option{learn.Rising("age"), learn.Falling("hour")},
			map[string]float64{"age": 1, "hour": -1}},
		"linear": {learn.Linear{Noise: src}, "pay", 3000, []learn.Option{learn.Steps("age", 18, 30, 40),
			learn.Falling("age"), learn.Cross("city", "sex"), learn.Rising("hour")},
			map[string]float64{"age": -1, "hour": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			df, _ := workers(t, c.n, 1, func(age, hour float64, city, sex int) float64 {
				return math.Abs(age-25)/50 + math.Sin(hour/4)/4 + float64(city%2)/4
			})
			records := func(o ...learn.Option) *learn.Dataset {
				if c.target == "sex" {
					return learn.Binary(df, "sex", o...)
				}
				return learn.Regression(df, c.target, o...)
			}
			m := must.Get(c.learner.Fit(records(c.terms...), learn.Simulate(0.5, 1e-6)))
			again := reloaded(t, m)
			plain := must.Get(c.learner.FitWithoutPrivacy(records(c.terms...)))
			free := must.Get(c.learner.Fit(records(), learn.Simulate(0.5, 1e-6)))
			bent := 0.0
			for column, way := range c.ways {
				for _, m := range []*learn.Model{m, again, plain} {
					if least := rises(m, column, way); least < -1e-12 {
						t.Errorf("%s goes the wrong way by %v", column, least)
					}
				}
				bent = min(bent, rises(free, column, way))
			}
			if bent > -1e-3 {
				t.Errorf("nothing had to be held: %v", bent)
			}
			if s := m.Shape("age").Points()[0]; s.Noise != nil {
				t.Error("there are bands where the noise has no known law")
			}
			if _, err := m.Intervals(0.95); err == nil {
				t.Error("there are intervals where the noise has no known law")
			}
		})
	}
}

// Where records are too few for the hats of crosses, numbers keep their own, and a category has a line of its own: a
// model that is kept is the same, its rows are those of the fit, and where the truth is a sum of curves it is hardly
// behind one without crosses and far ahead of straight lines, which it would else be of.
func TestCrossesAreGatedApart(t *testing.T) {
	testscale.InTurn(t)
	curves := func(age, hour float64, _, _ int) float64 {
		return math.Sin((age-10)/12) + math.Cos(hour/4)
	}
	lines := func(age, hour float64, city, _ int) float64 {
		return math.Cos(hour/4) + float64(city-1)*(age-50)/60
	}
	own := func(age, hour float64, city, _ int) float64 {
		return math.Sin((age-10)/12+float64(city)) + math.Cos(hour/4)
	}
	crosses := []learn.Option{learn.Cross("age", "city"), learn.Cross("hour", "city")}
	for name, truth := range map[string]func(age, hour float64, city, sex int) float64{"sum of curves": curves,
		"lines of categories": lines, "curves of categories": own} {
		test, want := workers(t, 2000, 99, truth)
		type cell struct {
			records int
			epsilon float64
		}
		for _, c := range testscale.Some(cell{700, 0.5}, cell{1000, 0.5}, cell{4000, 0.1}) {
			var crossed, plain, straight float64
			seeds := 2
			if testscale.Full() {
				seeds = 4
			}
			for seed := range uint64(seeds) {
				df, _ := workers(t, c.records, 1+seed, truth)
				fit := func(opts ...learn.Option) (*learn.Model, float64) {
					m := must.Get(learn.Huber{Noise: learn.Seed(seed)}.Fit(learn.Regression(df, "pay", opts...),
						learn.Simulate(c.epsilon, 1e-6)))
					return m, rSquared(t, m, test, want) / float64(seeds)
				}
				m, r := fit(crosses...)
				if b := m.Release.Also.(*geometry.Bought); !b.Curved || !b.CrossedLines {
					t.Fatalf("%s, %d records: curves %v, crosses of lines %v", name, c.records, b.Curved,
						b.CrossedLines)
				}
				again := reloaded(t, m)
				p, err := m.Predict(test)
				q, e := again.Predict(test)
				if err != nil || e != nil || !slices.Equal(p, q) {
					t.Fatalf("loaded it predicts otherwise (%v, %v)", err, e)
				}
				if err := m.Export(filepath.Join(t.TempDir(), "m.json")); err == nil ||
					!strings.Contains(err.Error(), "no place") {
					t.Errorf("a form that has no crosses of lines has the model (%v)", err)
				}
				if s := m.Surface("age", "city"); len(m.Shape("age").Points()) < 50 || s.Err() != nil ||
					s.Points()[0].NoiseAtOnce == nil {
					t.Errorf("a curve of %d places (%v)", len(m.Shape("age").Points()), s.Err())
				}
				crossed += r
				_, r = fit(learn.Curves())
				plain += r
				_, r = fit(append(crosses, learn.Lines())...)
				straight += r
			}
			t.Logf("%s, n = %d, ε = %g: R² %.3f with crosses, %.3f without, %.3f of lines with them", name, c.records,
				c.epsilon, crossed, plain, straight)
			if straight > crossed+0.02 || name == "sum of curves" && (crossed < plain-0.07 || crossed < straight+0.1) ||
				name == "lines of categories" && crossed < plain+0.05 {
				t.Errorf("%s, n = %d, ε = %g: R² %.3f with crosses, %.3f without, %.3f of lines with them", name,
					c.records, c.epsilon, crossed, plain, straight)
			}
		}
	}
}
