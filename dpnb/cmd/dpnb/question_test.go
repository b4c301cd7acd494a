//go:build linux

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/must"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// visits writes a table of 200 people with three rows each, and its schema, into a folder of its own.
func visits(t *testing.T) (df learn.DataFrame, table []string) {
	t.Helper()
	t.Chdir(t.TempDir())
	var rows strings.Builder
	for i := range 600 {
		fmt.Fprintf(&rows, "p%d,%d,%s\n", i/3, 20+i%50, []string{"Bern", "Rome"}[i%2])
	}
	must.Do(os.WriteFile("visits.csv", []byte("id,age,city\n"+rows.String()), 0o600))
	s := &frame.Schema{Fields: []frame.Field{learn.Numeric("age", 20, 70), learn.Categorical("city", "Bern", "Rome")}}
	must.Do(s.Save("schema.json"))
	df = learn.FromScanner(frame.ScanCSV("visits.csv", nil)).Knowing(s)
	return df, []string{"visits.csv", "--schema", "schema.json", "--epsilon", "2", "--delta", "1e-6"}
}

// Of each person so many rows count as was said, of one person one; what is asked without a ledger says so, and a
// simulation has none.
func TestRowsOfAPersonInTheShell(t *testing.T) {
	_, table := visits(t)
	count := append(table, "--count")
	for rows := 1; rows <= 3; rows++ {
		said, err := call(t, newDescribeCommand(), append(count, "--seed", "1", "--person", "id", "--rows-of-a-person",
			fmt.Sprint(rows))...)
		var n int
		_, after, _ := strings.Cut(said, "There are ")
		if _, e := fmt.Sscanf(after, "%d records", &n); err != nil || e != nil || n < 200*rows-80 || n > 200*rows+80 {
			t.Errorf("%d rows of a person: %s (%v)", rows, said, err)
		}
		if strings.Contains(said, "No ledger was kept") {
			t.Errorf("a simulation says: %s", said)
		}
	}
	if said, err := call(t, newDescribeCommand(), count...); err != nil ||
		!strings.Contains(said, "No ledger was kept") {
		t.Errorf("without a ledger: %s (%v)", said, err)
	}
	if said, err := call(t, newDescribeCommand(), append(count, "--seed", "1", "--budget", "l.json")...); err == nil {
		t.Errorf("a simulation under a ledger: %s", said)
	}
}

// Questions that differ are released under names that differ, and what a share buys is what it buys in code.
func TestQuestionsOfTheShell(t *testing.T) {
	names := map[string]string{}
	for what, q := range map[string]questionFlags{
		"mean": {mean: "age"}, "sum": {sum: "age"}, "variance": {variance: "age"}, "count": {count: true},
		"by city": {mean: "age", by: []string{"city"}}, "by both": {mean: "age", by: []string{"city", "id"}},
		"median": {quantiles: "age", levels: []float64{0.5}}, "quartile": {quantiles: "age", levels: []float64{0.25}},
		"bars": {histogram: "age"}, "few bars": {histogram: "age", edges: []float64{0, 50, 100}},
		"table": {crosstab: []string{"city"}}, "larger table": {crosstab: []string{"city", "id"}}, "summary": {},
	} {
		q.confidence = 0.95
		_, name, err := q.query()
		if other, there := names[name]; err != nil || there {
			t.Errorf("%s is released under %q, as %s is (%v)", what, name, other, err)
		}
		names[name] = what
	}
	df, table := visits(t)
	price := must.Get(explore.Mean("age").By("city").Planned(300).Within(df,
		learn.NewBudget(2, 1e-6, learn.Named("priced")).Share(0.1), 0.95))
	said, err := call(t, newPriceCommand(), append(table, "--mean", "age", "--by", "city", "--records", "300",
		"--share", "0.1")...)
	if want := price.Display().Text(); err != nil || said != want {
		t.Errorf("%s (%v), in code %s", said, err, want)
	}
}
