package learn_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// The Python of docs/export.md predicts what PredictFrame does from an exported model, of every kind, with values that
// are missing, beyond their bounds and of no category; and does not if one coefficient is a tenth off.
func TestExportedModelsPredictInPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	page, err := os.ReadFile("../../docs/export.md")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(page)[1]
	dir := t.TempDir()
	script := filepath.Join(dir, "predict.py")
	code = append(code, "\nimport sys\nm = load(sys.argv[1])\n"+
		"print(json.dumps([predict(m, r) for r in json.load(open(sys.argv[2]))]))\n"...)
	if err := os.WriteFile(script, code, 0o600); err != nil {
		t.Fatal(err)
	}
	df, records := strange(t, dir)
	asked := filepath.Join(dir, "records.json")
	if err := os.WriteFile(asked, records, 0o600); err != nil {
		t.Fatal(err)
	}
	predicted := func(path string) (all [][]float64) {
		t.Helper()
		out, err := exec.Command(python, script, path, asked).CombinedOutput()
		if err == nil {
			err = json.Unmarshal(out, &all)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return all
	}
	src := learn.Seed(1)
	binary := func(opts ...learn.Option) *learn.Dataset {
		return learn.Binary(df.Drop("town", "visits"), "happy", opts...)
	}
	pay := func(opts ...learn.Option) *learn.Dataset {
		return learn.Regression(df.Drop("town", "visits"), "pay", opts...)
	}
	unbounded := learn.Regression(df.Drop("town", "visits", "age"), "pay", learn.Uncentred())
	for name, c := range map[string]struct {
		l    learn.Learner
		data *learn.Dataset
	}{
		"SVM":        {learn.SVM{Noise: src}, binary(learn.Curves())},
		"changed":    {learn.SVM{Noise: src}, binary(learn.Curves())},
		"one line":   {learn.Huber{Noise: src}, pay(learn.Curves(), learn.Line("age"))},
		"lines":      {learn.Logistic{Noise: src}, binary(learn.Lines())},
		"uncentred":  {learn.Logistic{Noise: src}, binary(learn.Uncentred(), learn.RowNorm(1))},
		"clipped":    {learn.Logistic{Noise: src}, binary(learn.Uncentred(), learn.ClipNorm(0.8), learn.NoBias())},
		"in units":   {learn.Logistic{Noise: src}, binary(learn.InUnits())},
		"Huber":      {learn.Huber{Noise: src}, pay(learn.Curves())},
		"Linear":     {learn.Linear{Noise: src}, pay(learn.Lines())},
		"quantiles":  {learn.Quantiles{Noise: src, Levels: []float64{0.4, 0.5, 0.6}}, pay()},
		"softmax":    {learn.Softmax{Noise: src}, learn.Classes(df.Drop("visits"), "town")},
		"OneVsRest":  {learn.OneVsRest{Noise: src}, learn.Classes(df.Drop("visits"), "town")},
		"Poisson":    {learn.Poisson{Noise: src}, learn.Counts(df.Drop("town"), "visits")},
		"HeavyTails": {learn.HeavyTails{Noise: src}, unbounded},
	} {
		delta := 1e-6
		if name == "HeavyTails" {
			delta = 0
		}
		m, err := c.l.Fit(c.data, learn.Simulate(4, delta))
		if err != nil {
			t.Fatal(name, err)
		}
		if name == "changed" {
			if m, err = m.With(m.Shape("city").SetCategory("Rome", 1)); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(dir, "model.json")
		if err := m.Export(path); err != nil {
			t.Fatal(name, err)
		}
		own := m.PredictFrame(df)
		var want [][]float64
		for _, column := range own.Names() {
			if column == "prediction" && own.Col(column).Type() == "string" {
				continue
			}
			want = append(want, own.Col(column).Float())
		}
		if worst := apart(predicted(path), want); !(worst < 1e-9) {
			t.Errorf("%s: Python's predictions are up to %g of ours apart", name, worst)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var wrong map[string]any
		if err := json.Unmarshal(text, &wrong); err != nil {
			t.Fatal(err)
		}
		first := wrong["coefficients"].([]any)[0].([]any)
		for j := range first {
			first[j] = 1.1 * first[j].(float64)
		}
		if text, err = json.Marshal(wrong); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if worst := apart(predicted(path), want); worst < 1e-6 {
			t.Errorf("%s: coefficients a tenth too large go unnoticed (%g)", name, worst)
		}
		if !strings.Contains(string(text), "SIMULATION") {
			t.Errorf("%s: an exported simulation is not marked", name)
		}
	}
	for _, term := range []learn.Option{learn.Steps("age", 30), learn.Periodic("age", 0), learn.Cross("age", "city")} {
		m, err := learn.SVM{Noise: src}.Fit(binary(learn.Curves(), term), learn.Simulate(4, 1e-6))
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Export(filepath.Join(dir, "term.json")); err == nil || !strings.Contains(err.Error(), "no place") {
			t.Errorf("a term is exported: %v", err)
		}
	}
	open, err := learn.Logistic{}.FitWithoutPrivacy(binary())
	if err != nil {
		t.Fatal(err)
	}
	if err := open.Export(filepath.Join(dir, "open.json")); err == nil {
		t.Error("a fit without privacy is exported")
	}
}

// apart is by how much predictions of records differ from columns of them, of one or of their size.
func apart(records, columns [][]float64) (worst float64) {
	for i, r := range records {
		if len(r) != len(columns) {
			return math.Inf(1)
		}
		for k, v := range r {
			worst = math.Max(worst, math.Abs(v-columns[k][i])/math.Max(1, math.Abs(v)))
		}
	}
	return worst
}

// strange is a table with values of every kind, and its records as JSON.
func strange(t *testing.T, dir string) (learn.DataFrame, []byte) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	text.WriteString("age,income,city,plan,pay,happy,town,visits,seen\n")
	var records []map[string]any
	for range 400 {
		age, income := any(float64(r.IntN(120))), any(math.Round(math.Exp(12*r.Float64())))
		city, plan := any([]string{"Bern", "Rome", "Oslo"}[r.IntN(3)]), any([]string{"a", "b", "c"}[r.IntN(3)])
		for _, v := range []*any{&age, &income, &city, &plan} {
			if r.IntN(8) == 0 {
				*v = nil
			}
		}
		cell := func(v any) string {
			if v == nil {
				return "NA"
			}
			return fmt.Sprint(v)
		}
		happy := r.IntN(2)
		day := time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.IntN(2e6)) * time.Minute)
		seen, iso := day.Format("2.1.2006 15:04"), any(day.Format("2006-01-02T15:04"))
		switch r.IntN(8) {
		case 0:
			seen, iso = "NA", nil
		case 1:
			seen, iso = "soon", "soon"
		}
		fmt.Fprintf(&text, "%s,%s,%s,%s,%d,%s,%s,%d,%s\n", cell(age), cell(income), cell(city), cell(plan),
			100+r.IntN(900)+900*happy, []string{"no", "yes"}[happy], []string{"x", "y", "z"}[r.IntN(3)],
			r.IntN(6), seen)
		records = append(records, map[string]any{"age": age, "income": income, "city": city, "plan": plan, "seen": iso})
	}
	path := filepath.Join(dir, "strange.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	// The targets among the features of others are read back as they stand.
	for i, line := range strings.Split(strings.TrimSpace(text.String()), "\n")[1:] {
		f := strings.Split(line, ",")
		var pay, visits float64
		if _, err := fmt.Sscan(f[4], &pay); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(f[7], &visits); err != nil {
			t.Fatal(err)
		}
		records[i]["pay"], records[i]["happy"], records[i]["town"], records[i]["visits"] = pay, f[5], f[6], visits
	}
	const layout = "2.1.2006 15:04"
	out, err := json.Marshal(records)
	if err != nil {
		t.Fatal(err)
	}
	return learn.ReadCSV(path).WithSchema(learn.Numeric("age", 18, 90).OrMissing().Typically(40),
		frame.LogField("income", 10, 100_000).OrMissingAs(2000),
		learn.Categorical("city", "Bern", "Rome").OrElse("Rome"),
		learn.Categorical("plan", "a", "b").OrMissing(), frame.LogField("pay", 50, 2000),
		learn.Categorical("happy", "no", "yes"), learn.Categorical("town", "x", "y", "z"),
		learn.Numeric("visits", 0, 8), frame.WeekdayField("seen", layout).OrMissing(),
		frame.HourField("hour", layout).CopyOf("seen").OrMissing(), frame.MonthField("month", layout).CopyOf("seen"),
		frame.YearField("year", layout, 2020, 2030).CopyOf("seen"),
		frame.DateField("day", layout, "2022-01-01", "2027-01-01").CopyOf("seen")), out
}
