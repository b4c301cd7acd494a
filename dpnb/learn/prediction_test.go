package learn_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-gota/gota/dataframe"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// A model makes its own rows of new records: other bounds, scales, norms, orders of columns and missing labels used to
// change what it predicted, without a word.
func TestModelHoldsItsSchema(t *testing.T) {
	var b strings.Builder
	for i := range 400 {
		age, city := 18+i%80, []string{"Bern", "Rome"}[i%2]
		happy := "no"
		if (age > 58) != (i%7 == 0) {
			happy = "yes"
		}
		fmt.Fprintf(&b, "%d,%s,%s\n", age, city, happy)
	}
	read := func(text string, fields ...learn.Field) learn.DataFrame {
		path := filepath.Join(t.TempDir(), "new.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return learn.ReadCSV(path).WithSchema(fields...)
	}
	df := read("age,city,happy\n"+b.String(), schema()...)
	data := learn.Binary(df, "happy", learn.RowNorm(1))
	m, err := learn.Logistic{Lambda: 1e-3}.FitWithoutPrivacy(data)
	if err != nil {
		t.Fatal(err)
	}
	want, err := m.Predict(data)
	if err != nil {
		t.Fatal(err)
	}
	score, err := m.Score(data)
	if err != nil || score < 0.8 {
		t.Fatalf("score %v, %v", score, err)
	}
	// The columns in another order, with one more.
	var turned strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		f := strings.Split(line, ",")
		fmt.Fprintf(&turned, "%s,x,%s,%s\n", f[2], f[1], f[0])
	}
	wide := []learn.Field{learn.Numeric("age", 0, 1000), learn.Categorical("city", "Rome", "Bern").OrMissing(),
		learn.Categorical("happy", "yes", "no")}
	for name, r := range map[string]learn.Records{
		"a dataframe":   df,
		"no schema":     read("happy,more,city,age\n" + turned.String()),
		"another":       learn.Binary(read("age,city,happy\n"+b.String(), wide...), "happy", learn.RowNorm(9)),
		"unscaled":      learn.Binary(df, "happy"),
		"no bias":       learn.Binary(df, "happy", learn.NoBias(), learn.Positive("no")),
		"bounds of its": learn.Binary(learn.FromTable(must(df.Table())), "happy", learn.InferBounds()),
		"from gota":     ofGota(df.Gota()),
	} {
		got, err := m.Predict(r)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: other predictions (%v)", name, err)
		}
		if s, err := m.Score(r); err != nil || s != score {
			t.Errorf("%s: score %v, want %v (%v)", name, s, score, err)
		}
	}
	unlabelled := df.Drop("happy")
	if got, err := m.Predict(unlabelled); err != nil || !slices.Equal(got, want) {
		t.Errorf("without labels: other predictions (%v)", err)
	}
	if _, err := m.Score(unlabelled); err == nil || !strings.Contains(err.Error(), `no column "happy"`) {
		t.Errorf("a score without labels: %v", err)
	}
	if _, err := m.Predict(df.Drop("city")); err == nil || !strings.Contains(err.Error(), `no column "city"`) {
		t.Errorf("a column that is not there: %v", err)
	}
	if _, err := m.Score(df.Head(0)); err == nil {
		t.Error("no records are scored")
	}
	if got, err := m.Predict(df.Head(0)); err != nil || len(got) != 0 {
		t.Errorf("no records: %v, %v", got, err)
	}
	if got := m.Columns(); !slices.Equal(got, []string{"age", "city"}) {
		t.Errorf("columns %q", got)
	}
	p := m.PredictFrame(unlabelled)
	if !slices.Equal(p.Names(), []string{"prediction", "probability of yes"}) || p.Nrow() != 400 ||
		!slices.Equal(p.Col("probability of yes").Float(), want) {
		t.Errorf("as a dataframe: %v", p)
	}
	if p = m.PredictFrame(df.Drop("age")); p.Err == nil {
		t.Error("a dataframe of predictions hides its error")
	}
}

// ofGota hands a dataframe to gota's reader and back.
func ofGota(df dataframe.DataFrame) learn.DataFrame {
	return learn.FromGota(func(texts ...dataframe.LoadOption) dataframe.DataFrame {
		return dataframe.LoadRecords(df.Records(), texts...)
	})
}

func broken(texts ...dataframe.LoadOption) dataframe.DataFrame {
	dataframe.LoadRecords(nil, texts...)
	return dataframe.DataFrame{Err: errors.New("boom")}
}

// reloaded returns a model as its file has it.
func reloaded(t *testing.T, m *learn.Model) *learn.Model {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.json")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	return must(learn.Load(path))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// What is asked of a model that is none says where to look, and does not panic.
func TestNoModel(t *testing.T) {
	var m *learn.Model
	df := frameOf(t, people)
	errs := map[string]error{"Err": m.Err(), "Coefficients": m.Coefficients().Err,
		"PredictFrame": m.PredictFrame(df).Err}
	add := func(name string, _ any, err error) { errs[name] = err }
	p, err := m.Predict(df)
	add("Predict", p, err)
	c, err := m.PredictClass(df)
	add("PredictClass", c, err)
	for name, f := range map[string]func(learn.Records) (float64, error){"Score": m.Score, "RMSE": m.RMSE,
		"Deviance": m.Deviance} {
		v, err := f(df)
		add(name, v, err)
	}
	for name, f := range map[string]func(float64) (*learn.Intervals, error){"Intervals": m.Intervals,
		"ProvedIntervals": m.ProvedIntervals, "PopulationIntervals": m.PopulationIntervals} {
		v, err := f(0.9)
		add(name, v, err)
	}
	table, err := m.CoefficientsWithIntervals(0.9)
	add("CoefficientsWithIntervals", table, err)
	for name, err := range errs {
		if err == nil || !strings.Contains(err.Error(), "no model: look at the err") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, ok := m.ObjectivePerturbation(); ok || m.Theta() != nil || m.Norm() == m.Norm() || m.Lambda() == m.Lambda() ||
		m.Columns() != nil {
		t.Error("a model that is none has numbers")
	}
	if _, ok := m.Curvature(); ok {
		t.Error("a model that is none has a curvature")
	}
	var out bytes.Buffer
	display.Out = &out
	defer func() { display.Out = nil }()
	var nobody learn.Model
	learn.Show(m, nobody.Coefficients(), &nobody, (*learn.Intervals)(nil), (*learn.ScoreCurve)(nil),
		(*learn.Comparison)(nil), (*learn.Forecast)(nil), (*learn.Dataset)(nil),
		(*learn.ScoreCurve)(nil).Figure(), (*learn.Intervals)(nil).DataFrame())
	if s := out.String(); strings.Count(s, "no model: look at the err") != 3 ||
		strings.Count(s, "look at the err that came with") != 7 {
		t.Errorf("shown as\n%s", s)
	}
}

// The keeper of the data hears of typing errors by asking, and that what is listed is raw.
func TestCheck(t *testing.T) {
	var out bytes.Buffer
	display.Out = &out
	defer func() { display.Out = nil }()
	learn.Show(frameOf(t, people+"abc,Paris,yes\n200,Bern,perhaps\n").Check())
	for _, want := range []string{"RAW RECORDS", "no number", `"abc"`, `"Paris"`, `"perhaps"`, "above 98", "8", "9",
		"lines of the file"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	out.Reset()
	learn.Show(frameOf(t, people).Check())
	if !strings.Contains(out.String(), "Every value fits") || !strings.Contains(out.String(), "RAW RECORDS") {
		t.Errorf("what fits is shown as\n%s", out.String())
	}
	if err := learn.FromTable(must(frameOf(t, people).Table())).Check().Err(); err == nil ||
		!strings.Contains(err.Error(), "WithSchema") {
		t.Errorf("a check without a schema: %v", err)
	}
}
