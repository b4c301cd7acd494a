package learn_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
)

// earners are people of whom most have no gain; those who have one of twice the size of some value differ from the
// others, and what age does depends on the town.
type earners int

func (earners) Names() []string { return []string{"gain", "age", "town", "rich", "wage"} }

func (earners) Origin() frame.Source { return frame.Source{Name: "earners", Invented: true} }

func (n earners) Scan(_ []string, f func(*frame.Table) error) error {
	r := rand.New(rand.NewPCG(1, 2))
	number := func(name string) frame.Column { return frame.Column{Name: name, Numbers: make([]float64, n)} }
	text := func(name string) frame.Column {
		return frame.Column{Name: name, Kind: frame.Categorical, Texts: make([]string, n)}
	}
	c := []frame.Column{number("gain"), number("age"), text("town"), text("rich"), number("wage")}
	for i := range int(n) {
		gain, age := 0.0, 18+60*r.Float64()
		if r.Float64() < 0.3 {
			gain = 100 * float64(1+r.IntN(40))
		}
		c[0].Numbers[i], c[1].Numbers[i], c[2].Texts[i] = gain, age, "Bern"
		slope := 0.05
		if r.Float64() < 0.5 {
			c[2].Texts[i], slope = "Rome", -0.05
		}
		t := slope * (age - 48)
		if gain > 0 {
			t += 3 * math.Cos(gain*math.Pi/100) // odd or even hundreds
		}
		c[3].Texts[i] = "no"
		if r.Float64() < 1/(1+math.Exp(-t)) {
			c[3].Texts[i] = "yes"
		}
		c[4].Numbers[i] = 5*t + r.NormFloat64()
	}
	table, err := frame.NewTable(c...)
	if err != nil {
		return err
	}
	return f(table)
}

func (earners) schema() []frame.Field {
	return []frame.Field{frame.NumericField("gain", 0, 4000), frame.NumericField("age", 18, 78),
		frame.CategoricalField("town", "Bern", "Rome"), frame.CategoricalField("rich", "no", "yes"),
		frame.NumericField("wage", -25, 25)}
}

// Where records are enough a model has cells of a number most of whose values are one, and products of two columns: it
// then sees what a sum of curves does not, says so, is the same after it was kept, and predicts the same of a table
// that is scanned, of which the records are stored. With Curves, or a CurvatureShare, it has neither, and a model of
// such a table has curves.
func TestModelsWithDetail(t *testing.T) {
	testscale.InTurn(t)
	path := filepath.Join(t.TempDir(), "a.parquet")
	must.Do(parquet.Write(path, earners(20_000)))
	scan := learn.FromScanner(parquet.Open(path, nil)).WithSchema(earners(0).schema()...)
	df := scan.Collect().WithSchema(earners(0).schema()...)
	fit := func(l learn.Learner, data *learn.Dataset) (*learn.Model, float64) {
		t.Helper()
		m := must.Get(l.Fit(data, learn.Simulate(1, 1e-6)))
		score := must.Get(m.Score(data))
		return m, score
	}
	for _, number := range []bool{false, true} {
		make := func(df learn.DataFrame, opts ...learn.Option) *learn.Dataset {
			if number {
				return learn.Regression(df.Drop("rich"), "wage", opts...)
			}
			return learn.Binary(df.Drop("wage"), "rich", opts...)
		}
		var l, intervals learn.Learner = learn.SVM{Noise: learn.Seed(1)},
			learn.SVM{CurvatureShare: 0.1, Noise: learn.Seed(1)}
		if number {
			l, intervals = learn.Huber{Noise: learn.Seed(1)}, learn.Huber{CurvatureShare: 0.1, Noise: learn.Seed(1)}
		}
		m, score := fit(l, make(df))
		b := m.Release.Also.(*geometry.Bought)
		if len(b.Cells) != 1 || (len(b.Pairs) > 0) != number {
			t.Errorf("cells of %v and %d columns with products", b.Cells, len(b.Pairs))
		}
		curves, less := fit(l, make(df, learn.Curves()))
		if gain := score - less; gain < 0.02 {
			t.Errorf("number %v: cells and products give %v more", number, gain)
		}
		if number {
			scanned, as := fit(l, make(scan, learn.StoredIn(learn.Storage{Dir: t.TempDir()})))
			b, bends := scanned.Release.Also.(*geometry.Bought), "of second differences"
			if len(b.Cells)+len(b.Pairs) > 0 || !(math.Abs(as-less) <= 0.01) ||
				!strings.Contains(scanned.Display().Text(), bends) {
				t.Errorf("a scanned table has a model of %v, where curves have %v", as, less)
			}
		}
		for _, plain := range []*learn.Model{curves, first(fit(intervals, make(df)))} {
			if b := plain.Release.Also.(*geometry.Bought); len(b.Cells)+len(b.Pairs) > 0 {
				t.Error("a model has what it was asked not to have")
			}
		}
		out := filepath.Join(t.TempDir(), "model.json")
		if err := m.Export(out); err != nil {
			t.Error(err)
		}
		card := must.Get(m.Card())
		if text := m.Display().Text() + string(card); !strings.Contains(text, "127 cells of gain") ||
			strings.Contains(text, "products of every two columns") != number {
			t.Errorf("nothing is said of what rows have:\n%s", text)
		}
		p, err := m.Predict(df)
		q, errBack := kept(t, m).Predict(df)
		if err != nil || errBack != nil || !sameBits(p, q) {
			t.Errorf("other predictions of the kept model (%v, %v)", err, errBack)
		}
		stored, err := m.Score(make(scan, learn.StoredIn(frame.Storage{Dir: t.TempDir()})))
		if err != nil || !(math.Abs(stored-score) <= 1e-5) {
			t.Errorf("stored records score %v, in memory %v (%v)", stored, score, err)
		}
		s := m.Shape("gain").Smoothed(1)
		edited := must.Get(m.With(s))
		was, points := m.Shape("gain").Points(), s.Points()
		all := edited.Shape("gain").Points()
		for k, q := range all {
			off, moved := all[0].Value-points[0].Value, points[k].Value-was[k].Value
			if number && !(math.Abs(q.Value-points[k].Value-off) <= 1e-9) || k == 3 && math.Abs(moved) < 1e-6 {
				t.Errorf("the edited model has %v at %s, its shape %v, moved by %v", q.Value, q.Name, points[k].Value,
					moved)
			}
		}
		if s := m.Shape("gain").Monotone(1); s.Err() == nil {
			t.Error("a shape with fine cells is said to rise")
		}
		if iv, err := m.Intervals(0.95); err != nil || len(iv.Estimate) != len(m.Theta()) ||
			!sameBits(iv.Estimate, m.Theta()) {
			t.Errorf("intervals are about %v, the effects are %v (%v)", iv.Estimate, m.Theta(), err)
		}
	}
}

func first(m *learn.Model, _ float64) *learn.Model { return m }

// A fit without privacy has the cells and products that a private one has where records are enough: it is as good, is
// ahead of curves alone, shows what pairs do, says that it is not private, and can be changed; where they are not
// enough it is the fit of curves alone.
func TestPlainFitsWithDetail(t *testing.T) {
	testscale.InTurn(t)
	table := func(n int) learn.DataFrame {
		return learn.FromScanner(earners(n), nil).WithSchema(earners(0).schema()...).Collect().
			WithSchema(earners(0).schema()...)
	}
	df, few := table(20_000), table(250)
	for name, l := range map[string]learn.Learner{"SVM": learn.SVM{Noise: learn.Seed(1)},
		"Logistic": learn.Logistic{Noise: learn.Seed(1)}, "Huber": learn.Huber{Noise: learn.Seed(1)},
		"Linear": learn.Linear{Noise: learn.Seed(1)}} {
		number := name == "Huber" || name == "Linear"
		make := func(df learn.DataFrame, opts ...learn.Option) *learn.Dataset {
			if number {
				return learn.Regression(df.Drop("rich"), "wage", opts...)
			}
			return learn.Binary(df.Drop("wage"), "rich", opts...)
		}
		score := func(m *learn.Model, err error) (*learn.Model, float64) {
			t.Helper()
			if err != nil {
				t.Fatal(name, err)
			}
			s, err := m.Score(make(df))
			if err != nil {
				t.Fatal(name, err)
			}
			return m, s
		}
		_, private := score(l.Fit(make(df), learn.Simulate(1, 1e-6)))
		plain, got := score(l.FitWithoutPrivacy(make(df)))
		_, curves := score(l.FitWithoutPrivacy(make(df, learn.Curves())))
		if got < private-0.02 || got < curves+0.02 {
			t.Errorf("%s: without privacy %v, of curves alone %v, with privacy %v", name, got, curves, private)
		}
		shapes, err := plain.Shapes()
		if err != nil || (len(shapes.Surfaces()) > 0) != number ||
			!strings.Contains(shapes.Display().Text(), "WITHOUT") {
			t.Errorf("%s: %v", name, err)
		}
		changed := must.Get(plain.With(plain.Shape("age").Smoothed(100)))
		before, again := plain.Shape("age").Points(), plain.Unedited().Shape("age").Points()
		after := changed.Shape("age").Points()
		if before[0] != again[0] || before[7].Value == after[7].Value {
			t.Errorf("%s: an edit changed the model itself, or nothing", name)
		}
		a, err := l.FitWithoutPrivacy(make(few))
		b, e := l.FitWithoutPrivacy(make(few, learn.Curves()))
		if err != nil || e != nil {
			t.Fatal(err, e)
		}
		p, err := a.Predict(few)
		q, e := b.Predict(few)
		if err != nil || e != nil || !sameBits(p, q) {
			t.Errorf("%s: few records have other features than curves (%v, %v)", name, err, e)
		}
	}
}
