package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// A saved model shows what each column does, on a page that needs nothing else; one that has no shapes says so, and
// writes nothing.
func TestShapesCommand(t *testing.T) {
	t.Chdir(t.TempDir())
	rows := "age,city,ill\n"
	for k := range 60 {
		rows += []string{"20,Bern,no\n", "61,Rome,yes\n", "44,Bern,yes\n"}[k%3]
	}
	must.Do(os.WriteFile("people.csv", []byte(rows), 0o600))
	df := learn.ReadCSV("people.csv").WithSchema(learn.Numeric("age", 18, 98),
		learn.Categorical("city", "Bern", "Rome"), learn.Categorical("ill", "no", "yes"))
	budget := learn.NewBudget(9, 1e-5, learn.Named(t.TempDir()))
	saved := func(name string, l learn.Learner, data *learn.Dataset) {
		must.Do(must.Get(l.Fit(data, budget.Spend(2))).Save(name))
	}
	saved("ill.json", learn.SVM{}, learn.Binary(df, "ill"))
	saved("city.json", learn.Softmax{}, learn.Classes(df, "city"))
	saved("plain.json", learn.Logistic{}, learn.Binary(df, "ill", learn.Uncentred()))
	page := func(name string) string { return string(must.Get(os.ReadFile(name))) }

	text, err := said("shapes", "ill.json")
	if err != nil || !strings.Contains(text, "age") || !strings.Contains(text, "importance") ||
		!strings.Contains(text, "ill.shapes.html has the curves") {
		t.Errorf("%v: %s", err, text)
	}
	for want, times := range map[string]int{`<img alt="Age. `: 1, `<img alt="City. `: 1, "<h1>": 1,
		">What each column does in a private support vector machine for ill<": 2, // the second is the heading
		"How much a value adds to the log-odds of yes":                        3, // once for all, and of each by itself
		"<summary>The shape of age</summary>":                                 1,
		"<summary>The shape of city</summary>":                                1} {
		if n := strings.Count(page("ill.shapes.html"), want); n != times {
			t.Errorf("the page has %d times %s", n, want)
		}
	}
	must.Get(said("shapes", "city.json", "-o", "all.html"))
	if !strings.Contains(page("all.html"), "How much a value adds to the score of its class, all") {
		t.Error("the score of one class is said to be that of all")
	}
	must.Get(said("shapes", "city.json", "--of", "Rome", "-o", "rome.html"))
	if p := page("rome.html"); !strings.Contains(p, "age of Rome") || strings.Contains(p, "age of Bern") {
		t.Error("another class is shown than was asked for")
	}
	for _, args := range [][]string{{"plain.json"}, {"city.json", "--of", "Paris"}, {"none.json"}, {"people.csv"},
		{"ill.json", "-o", "ill.json"}, {"ill.json", "-o", filepath.Join("none", "x.html")}} {
		args = append([]string{"shapes"}, args...)
		if !strings.Contains(strings.Join(args, " "), "-o") {
			args = append(args, "-o", "not.html")
		}
		if _, err := said(args...); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
	if _, err := os.Stat("not.html"); err == nil {
		t.Error("a page is written without shapes")
	}
	if !strings.HasPrefix(page("ill.json"), "{") {
		t.Error("the model was written over")
	}
}
