package learn_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// language is one in which docs/export.md has a program that predicts, with how to ask whether what it needs is there,
// and what to append so that it writes what it predicts of records, its first argument, by models, the others.
type language struct {
	name, program string
	needs         []string
	script, then  string
}

var languages = []language{
	{"python", "python3", []string{"-c", "import json"}, "predict.py", `
import sys
records = json.load(open(sys.argv[1]))
print(json.dumps([[predict(m, r) for r in records] for m in map(load, sys.argv[2:])]))
`},
	{"r", "Rscript", []string{"-e", "library(jsonlite)"}, "predict.R", `
files <- commandArgs(TRUE)
records <- jsonlite::fromJSON(files[1], simplifyVector = FALSE)
by <- function(m) lapply(records, function(r) predicted(m, r))
cat(jsonlite::toJSON(lapply(files[-1], function(f) by(load_model(f))), digits = I(17)))
`},
}

// predict returns what the program predicts by models, of each record of each; without it the test is skipped.
func (l language) predict(t *testing.T, dir, records string, models []string) (all [][][]float64) {
	program, err := exec.LookPath(l.program)
	if err != nil {
		t.Skip("there is no " + l.program)
	}
	if out, err := exec.Command(program, l.needs...).CombinedOutput(); err != nil {
		t.Skipf("%s %q: %s", l.program, l.needs, out)
	}
	page := must.Get(os.ReadFile("../../docs/export.md"))
	code := regexp.MustCompile("(?s)```" + l.name + "\n(.*?)```").FindSubmatch(page)[1]
	script := filepath.Join(dir, l.script)
	must.Do(os.WriteFile(script, append(code, l.then...), 0o600))
	out, err := exec.Command(program, append([]string{script, records}, models...)...).CombinedOutput()
	if err == nil {
		err = json.Unmarshal(out, &all)
	}
	if err != nil || len(all) != len(models) {
		t.Fatalf("%v\n%s", err, out)
	}
	return all
}

// A model is exported in the first version of docs/export.md that has all of it, so that a program for an earlier one
// refuses what it cannot read.
func TestVersionsOfExportedModels(t *testing.T) {
	var text strings.Builder
	text.WriteString("age,gain,city,plan,seen,happy\n")
	for i := range 90 {
		fmt.Fprintf(&text, "%d,%d,%s,%s,2024-03-%02d,%s\n", 20+i%60, i%7, []string{"Bern", "Rome"}[i%2],
			[]string{"a", "b"}[i/3%2], 1+i%28, []string{"no", "yes"}[i/5%2])
	}
	path := filepath.Join(t.TempDir(), "people.csv")
	must.Do(os.WriteFile(path, []byte(text.String()), 0o600))
	plain := []frame.Field{learn.Numeric("age", 18, 90), learn.Numeric("gain", 0, 8),
		learn.Categorical("city", "Bern", "Rome"), learn.Categorical("plan", "a", "b"),
		learn.Categorical("happy", "no", "yes")}
	pattern := learn.Categorical("city", "Bern", "Rome").Categorised(frame.Pattern{Match: "^R", As: "Rome"})
	for name, c := range map[string]struct {
		version float64
		more    frame.Field
		opts    []learn.Option
	}{
		"lines":     {1, frame.Field{}, []learn.Option{learn.Lines()}},
		"hats":      {1, frame.Field{}, []learn.Option{learn.Curves()}},
		"uncentred": {1, frame.Field{}, []learn.Option{learn.Uncentred()}},
		"a date": {2, frame.DateField("seen", "2006-01-02", "2024-01-01", "2025-01-01"),
			[]learn.Option{learn.Lines()}},
		"a copy":   {2, learn.Numeric("old", 60, 90).CopyOf("age"), []learn.Option{learn.Lines()}},
		"a cross":  {3, frame.Field{}, []learn.Option{learn.Lines(), learn.Cross("city", "plan")}},
		"steps":    {3, frame.Field{}, []learn.Option{learn.Lines(), learn.Steps("age", 40)}},
		"a period": {3, frame.Field{}, []learn.Option{learn.Lines(), learn.Periodic("gain", 8)}},
		"texts":    {4, pattern, []learn.Option{learn.Lines(), learn.Cross("city", "plan")}},
	} {
		fields := slices.DeleteFunc(slices.Clone(plain), func(f frame.Field) bool { return f.Name == c.more.Name })
		if c.more.Name != "" {
			fields = append(fields, c.more)
		}
		df := learn.ReadCSV(path).WithSchema(fields...)
		if c.more.Part == frame.NoDate {
			df = df.Drop("seen")
		}
		m := must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(learn.Binary(df, "happy", c.opts...),
			learn.Simulate(4, 1e-6)))
		says := func(m *learn.Model) any {
			var out struct{ Version float64 }
			must.Do(json.Unmarshal(must.Get(m.ExportText()), &out))
			return out.Version
		}
		if got := says(m); got != c.version {
			t.Errorf("%s: version %v, want %v", name, got, c.version)
		}
		if got := says(must.Get(m.Calibrated(1.3, -0.2, "a test.", ""))); got != max(3, c.version) {
			t.Errorf("%s: version %v with a calibration", name, got)
		}
	}
}

// The program of docs/export.md predicts of a CSV file, by the marks with which it is written, what Predict does.
func TestCSVFilesPredictElsewhere(t *testing.T) {
	program, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	dir := t.TempDir()
	table, file := filepath.Join(dir, "people.csv"), filepath.Join(dir, "predict.py")
	model := filepath.Join(dir, "happy.linear.json")
	text := "age;fee;city;seen;happy\n"
	for i := range 200 {
		age := []string{"n/a", "", fmt.Sprint(20 + i%60), "old", fmt.Sprint(18 + i%70)}[i%5]
		text += fmt.Sprintf("%s;%d'%03d,5; %s;%02d.03.2024;%s\n", age, 1+i%4, i*37%1000,
			[]string{"Bern", "Rome ", "n/a", "Oslo"}[i%4], 1+i%28, []string{"no", "yes"}[i/3%2])
	}
	must.Do(os.WriteFile(table, []byte(text), 0o600))
	df := learn.ReadCSVWith(table, &learn.CSV{Comma: ';', Decimal: ',', Thousands: '\'', Missing: []string{"n/a"}}).
		WithSchema(learn.Numeric("age", 18, 90).OrMissing(), learn.Numeric("fee", 0, 5000),
			learn.Categorical("city", "Bern", "Rome").OrMissing(), learn.Categorical("happy", "no", "yes"),
			frame.DateField("seen", "02.01.2006", "2024-01-01", "2025-01-01"))
	m := must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(learn.Binary(df, "happy"), learn.Simulate(1, 1e-6)))
	must.Do(m.Export(model))
	page := must.Get(os.ReadFile("../../docs/export.md"))
	var code []byte
	for _, block := range regexp.MustCompile("(?s)```python\n(.*?)```").FindAllSubmatch(page, -1) {
		code = append(code, block[1]...)
	}
	code = fmt.Appendf(code, "print(json.dumps([p[0] for p in predictions(%q, %q, separator=';', decimal=',', "+
		"thousands=\"'\", missing={'n/a'}, dates={'seen': '%%d.%%m.%%Y'})]))\n", model, table)
	must.Do(os.WriteFile(file, code, 0o600))
	out, err := exec.Command(program, file).CombinedOutput()
	var got []float64
	if err == nil {
		err = json.Unmarshal(out, &got)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	predicted := m.PredictFrame(df)
	if want := predicted.Col(predicted.Names()[1]).Float(); !floats.EqualApprox(got, want, 1e-12) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The programs of docs/export.md predict what PredictFrame does from an exported model, of every kind and with every
// kind of column, with values that are missing, beyond their bounds and of no category; and do not if the coefficients
// are a tenth off.
func TestExportedModelsPredictElsewhere(t *testing.T) {
	testscale.InTurn(t)
	dir := t.TempDir()
	rows := 40 // that are predicted for
	if testscale.Full() {
		rows = 150
	}
	_, records := strange(t, dir, rows)
	df, _ := strange(t, dir, 150)
	many, _ := strange(t, dir, 6000) // of which the first are those
	asked := filepath.Join(dir, "records.json")
	must.Do(os.WriteFile(asked, records, 0o600))
	misspelt := filepath.Join(dir, "misspelt.json")
	must.Do(os.WriteFile(misspelt, []byte(`[{"agee": 34}]`), 0o600))
	written := filepath.Join(dir, "written.json") // with a mark of thousands that nobody has read
	must.Do(os.WriteFile(written, regexp.MustCompile(`"age":\s*[0-9.]+`).ReplaceAll(records, []byte(`"age": "1'040"`)),
		0o600))
	src := learn.Seed(1)
	binary := func(opts ...learn.Option) *learn.Dataset {
		return learn.Binary(df.Drop("town", "visits"), "happy", opts...)
	}
	pay := func(opts ...learn.Option) *learn.Dataset {
		return learn.Regression(df.Drop("town", "visits"), "pay", opts...)
	}
	unbounded := learn.Regression(df.Drop("town", "visits", "age"), "pay", learn.Uncentred())
	few := many.Drop("town", "visits", "month", "year", "day", "hour", "seen", "place")
	var names, models []string
	var wants [][][]float64
	for name, c := range map[string]struct {
		l       learn.Learner
		data    *learn.Dataset
		epsilon float64 // 4 if 0
		has     string
	}{
		"steps":    {l: learn.SVM{Noise: src}, data: binary(learn.Curves(), learn.Steps("age", 30, 40.5)), has: "cuts"},
		"a period": {l: learn.SVM{Noise: src}, data: binary(learn.Curves(), learn.Periodic("gain", 0)), has: "waves"},
		"hours":    {l: learn.SVM{Noise: src}, data: binary(learn.Curves(), learn.Periodic("hour", 24)), has: "waves"},
		"crosses": {l: learn.Logistic{Noise: src}, data: binary(learn.Curves(), learn.Cross("age", "city"),
			learn.Cross("plan", "city"), learn.Steps("gain", 10), learn.Cross("income", "gain")), has: "crosses"},
		"lines crossed": {l: learn.Logistic{Noise: src}, data: binary(learn.Lines(), learn.Cross("city", "age")),
			has: "crosses"},
		"products": {l: learn.Huber{Noise: src}, data: learn.Regression(few.Drop("happy"), "pay"),
			has: "product_norm"},
		"cells": {l: learn.Logistic{Noise: src}, data: learn.Binary(few.Drop("pay"), "happy"), epsilon: 50,
			has: "middle"},
		"calibrated": {l: learn.SVM{Noise: src}, data: binary(learn.Curves()), has: "calibration"},
		"SVM":        {l: learn.SVM{Noise: src}, data: binary(learn.Curves()), has: "patterns"},
		"changed":    {l: learn.SVM{Noise: src}, data: binary(learn.Curves())},
		"one line":   {l: learn.Huber{Noise: src}, data: pay(learn.Curves(), learn.Line("age"))},
		"lines":      {l: learn.Logistic{Noise: src}, data: binary(learn.Lines())},
		"uncentred":  {l: learn.Logistic{Noise: src}, data: binary(learn.Uncentred(), learn.RowNorm(1))},
		"clipped": {l: learn.Logistic{Noise: src},
			data: binary(learn.Uncentred(), learn.ClipNorm(0.8), learn.NoBias())},
		"in units":   {l: learn.Logistic{Noise: src}, data: binary(learn.InUnits())},
		"Huber":      {l: learn.Huber{Noise: src}, data: pay(learn.Curves())},
		"Linear":     {l: learn.Linear{Noise: src}, data: pay(learn.Lines())},
		"quantiles":  {l: learn.Quantiles{Noise: src, Levels: []float64{0.4, 0.5, 0.6}}, data: pay()},
		"softmax":    {l: learn.Softmax{Noise: src}, data: learn.Classes(df.Drop("visits"), "town")},
		"OneVsRest":  {l: learn.OneVsRest{Noise: src}, data: learn.Classes(df.Drop("visits"), "town")},
		"Poisson":    {l: learn.Poisson{Noise: src}, data: learn.Counts(df.Drop("town"), "visits")},
		"HeavyTails": {l: learn.HeavyTails{Noise: src}, data: unbounded},
	} {
		delta := 1e-6
		if name == "HeavyTails" {
			delta = 0
		}
		m, err := c.l.Fit(c.data, learn.Simulate(cmp.Or(c.epsilon, 4), delta))
		if err != nil {
			t.Fatal(name, err)
		}
		if name == "changed" {
			m = must.Get(m.With(m.Shape("city").SetCategory("Rome", 1)))
		}
		if name == "calibrated" {
			m = must.Get(m.Calibrated(1.3, -0.2, "a test.", ""))
		}
		path := filepath.Join(dir, name+".json")
		if err := m.Export(path); err != nil {
			t.Fatal(name, err)
		}
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), "\""+c.has) {
			t.Errorf("%s: the exported model has no %s (%v)", name, c.has, err)
		}
		own := m.PredictFrame(df.Head(rows))
		var want [][]float64
		for _, column := range own.Names() {
			if column == "prediction" && own.Col(column).Type() == "string" {
				continue
			}
			want = append(want, own.Col(column).Float())
		}
		var wrong map[string]any
		must.Do(json.Unmarshal(text, &wrong))
		version := 4.0 // of patterns, which these two do not have
		if c.has == "product_norm" || c.has == "middle" {
			version = 3
		}
		if wrong["version"] != version {
			t.Errorf("%s: an exported model of version %v", name, wrong["version"])
		}
		first := wrong["coefficients"].([]any)[0].([]any)
		for j := range first {
			first[j] = 1.1 * first[j].(float64)
		}
		text = must.Get(json.Marshal(wrong))
		off := filepath.Join(dir, name+".wrong.json")
		must.Do(os.WriteFile(off, text, 0o600))
		names, models, wants = append(names, name), append(models, path, off), append(wants, want)
		if !strings.Contains(string(text), "SIMULATION") {
			t.Errorf("%s: an exported simulation is not marked", name)
		}
	}
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			predicted := l.predict(t, dir, asked, models)
			if exec.Command(l.program, filepath.Join(dir, l.script), misspelt, models[0]).Run() == nil {
				t.Error("a record without its columns is predicted for")
			}
			ofSteps := models[2*slices.Index(names, "steps")]
			for _, text := range []string{written, asked} {
				err := exec.Command(l.program, filepath.Join(dir, l.script), text, ofSteps).Run()
				if (err == nil) != (text == asked) {
					t.Errorf("a number that is written as a text: %s, %v", text, err)
				}
			}
			for k, name := range names {
				if worst := apart(predicted[2*k], wants[k]); !(worst < 1e-12) {
					t.Errorf("%s: its predictions are up to %g of ours apart", name, worst)
				}
				if worst := apart(predicted[2*k+1], wants[k]); worst < 1e-6 {
					t.Errorf("%s: coefficients a tenth too large go unnoticed (%g)", name, worst)
				}
			}
		})
	}
	open := must.Get(learn.Logistic{}.FitWithoutPrivacy(binary()))
	if err := open.Export(filepath.Join(dir, "open.json")); err == nil {
		t.Error("a fit without privacy is exported")
	}
}

// apart is by how much predictions of records differ from columns of them, of one or of their size.
func apart(records, columns [][]float64) (worst float64) {
	if len(records) != len(columns[0]) {
		return math.Inf(1)
	}
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
func strange(t *testing.T, dir string, rows int) (learn.DataFrame, []byte) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	text.WriteString("age,income,city,plan,pay,happy,town,visits,seen,gain,place\n")
	var records []map[string]any
	for range rows {
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
		gain := any(float64(max(0, r.IntN(400)-300)))
		if r.IntN(20) == 0 {
			gain = nil
		}
		place := any([]string{"new york", "New-York", "york_new", "Zürich", "ZÜRICH 3", "St. Gallen", "Stella", "Chur",
			"north"}[r.IntN(9)])
		if r.IntN(8) == 0 {
			place = nil
		}
		fmt.Fprintf(&text, "%s,%s,%s,%s,%d,%s,%s,%d,%s,%s,%s\n", cell(age), cell(income), cell(city), cell(plan),
			100+r.IntN(900)+900*happy, []string{"no", "yes"}[happy], []string{"x", "y", "z"}[r.IntN(3)],
			r.IntN(6), seen, cell(gain), cell(place))
		records = append(records, map[string]any{"age": age, "income": income, "city": city, "plan": plan, "seen": iso,
			"gain": gain, "place": place})
	}
	path := filepath.Join(dir, fmt.Sprint(rows, ".csv"))
	must.Do(os.WriteFile(path, []byte(text.String()), 0o600))
	// The targets among the features of others are read back as they stand.
	for i, line := range strings.Split(strings.TrimSpace(text.String()), "\n")[1:] {
		f := strings.Split(line, ",")
		var pay, visits float64
		must.Get(fmt.Sscan(f[4], &pay))
		must.Get(fmt.Sscan(f[7], &visits))
		records[i]["pay"], records[i]["happy"], records[i]["town"], records[i]["visits"] = pay, f[5], f[6], visits
	}
	const layout = "2.1.2006 15:04"
	out := must.Get(json.Marshal(records))
	return learn.ReadCSV(path).WithSchema(learn.Numeric("age", 18, 90).OrMissing().Typically(40),
		frame.LogField("income", 10, 100_000).OrMissingAs(2000),
		learn.Categorical("city", "Bern", "Rome").OrElse("Rome"),
		learn.Categorical("plan", "a", "b").OrMissing(), frame.LogField("pay", 50, 2000),
		learn.Categorical("happy", "no", "yes"), learn.Categorical("town", "x", "y", "z"),
		learn.Numeric("visits", 0, 8), learn.Numeric("gain", 0, 80).Typically(0),
		learn.Categorical("place", "east", "north", "south").OrMissing().Categorised(
			frame.Pattern{Match: `^(?i:new)\b.york$`, As: "east"},
			frame.Pattern{Match: `(?i)^zürich( \d+)?$`, As: "north"},
			frame.Pattern{Match: `^\pL+\.|^Chur`, As: "south"},
			frame.Pattern{Match: "(?i)YORK|^N[^o]", As: "north"}),
		frame.WeekdayField("seen", layout).OrMissing(),
		frame.HourField("hour", layout).CopyOf("seen").OrMissing(), frame.MonthField("month", layout).CopyOf("seen"),
		frame.YearField("year", layout, 2020, 2030).CopyOf("seen"),
		frame.DateField("day", layout, "2022-01-01", "2027-01-01").CopyOf("seen")), out
}
