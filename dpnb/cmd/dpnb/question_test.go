package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
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

// withoutID has the schema leave the column out of which the shell says whose row it is.
func withoutID() {
	must.Do(os.WriteFile("schema.json", []byte(`{"version":1,"fields":[{"name":"id","type":"ignore"},
		{"name":"age","type":"number","lower":20,"upper":70},
		{"name":"city","type":"category","categories":["Bern","Rome"]}]}`), 0o600))
}

// Of each person so many rows count as was said, of one person one; what is asked without a ledger says so, and a
// simulation has none.
func TestRowsOfAPersonInTheShell(t *testing.T) {
	_, table := visits(t)
	withoutID()
	count := append(table, "--count")
	for rows := 1; rows <= 3; rows++ {
		said, err := call(t, newDescribeCommand(), append(count, "--seed", "1", "--person", "id", "--rows-of-a-person",
			fmt.Sprint(rows))...)
		var n int
		_, after, _ := strings.Cut(said, "There are ")
		counted := "records (one of each person);"
		if rows > 1 {
			counted = fmt.Sprintf("records (at most %d of each person);", rows)
		}
		if !strings.Contains(after, counted) {
			t.Errorf("%d rows of a person: %s", rows, said)
		}
		if _, e := fmt.Sscanf(after, "%d records", &n); err != nil || e != nil || n < 200*rows-80 || n > 200*rows+80 {
			t.Errorf("%d rows of a person: %s (%v)", rows, said, err)
		}
		if strings.Contains(said, "No ledger was kept") {
			t.Errorf("a simulation says: %s", said)
		}
	}
	const whole = "It is of the records (at most 2 of each person) that count."
	if said, err := call(t, newDescribeCommand(), append(table, "--mean", "age", "--by", "city", "--seed", "1",
		"--person", "id", "--rows-of-a-person", "2")...); err != nil || !strings.Contains(said, whole) {
		t.Errorf("two rows of a person: %s (%v)", said, err)
	}
	if said, err := call(t, newDescribeCommand(), count...); err != nil || strings.Contains(said, "of each person") ||
		!strings.Contains(said, "No ledger was kept") {
		t.Errorf("without a ledger: %s (%v)", said, err)
	}
	if said, err := call(t, newDescribeCommand(), append(count, "--seed", "1", "--budget", "l.json")...); err == nil {
		t.Errorf("a simulation under a ledger: %s", said)
	}
}

// Questions that differ are released under names that differ, and what a share buys is what it buys in code.
func TestQuestionsOfTheShell(t *testing.T) {
	edges := func(text string) (p places) { must.Do(p.Set(text)); return p }
	names := map[string]string{}
	for what, q := range map[string]questionFlags{
		"mean": {mean: "age"}, "sum": {sum: "age"}, "variance": {variance: "age"}, "count": {count: true},
		"by city": {mean: "age", by: []string{"city"}}, "by both": {mean: "age", by: []string{"city", "id"}},
		"median": {quantiles: "age", levels: []float64{0.5}}, "quartile": {quantiles: "age", levels: []float64{0.25}},
		"bars": {histogram: "age"}, "few bars": {histogram: "age", edges: edges("0,50,1e2")},
		"dates": {histogram: "since", edges: edges("1995-01-01,2005-01-01")},
		"table": {crosstab: []string{"city"}}, "larger table": {crosstab: []string{"city", "id"}}, "summary": {},
	} {
		q.confidence = 0.95
		_, name, err := q.query()
		if other, there := names[name]; err != nil || there {
			t.Errorf("%s is released under %q, as %s is (%v)", what, name, other, err)
		}
		names[name] = what
	}
	for _, name := range []string{"histogram of age [0 50 100]", "histogram of since [1995-01-01 2005-01-01]"} {
		if names[name] == "" {
			t.Errorf("nothing is released under %q: %v", name, names)
		}
	}
	df, table := visits(t)
	price := must.Get(explore.Mean("age").By("city").Planned(300).Within(df,
		learn.NewBudget(2, 1e-6, learn.Named(t.TempDir())).Share(0.1), 0.95))
	said, err := call(t, newPriceCommand(), append(table, "--mean", "age", "--by", "city", "--records", "300",
		"--share", "0.1")...)
	if want := price.Display().Text(); err != nil || said != want {
		t.Errorf("%s (%v), in code %s", said, err, want)
	}
}

// The two parts are all records, each once, the smaller one held out; the rows of a person are in one of them.
func TestPartsInTheShell(t *testing.T) {
	df, _ := visits(t)
	for _, person := range []string{"", "id"} {
		part := func(rest bool) []string {
			p := privateFlags{heldOut: 0.2, rest: rest, person: person}
			return must.Get(must.Get(p.part(df).Collect().Table()).Column("id")).Texts
		}
		fitted, held := part(false), part(true)
		if n := len(fitted); n+len(held) != 600 || n < 420 || n > 540 {
			t.Errorf("person %q: parts of %d and %d rows", person, n, len(held))
		}
		both := func(id string) bool { return slices.Contains(fitted, id) }
		if i := slices.IndexFunc(held, both); person != "" && i >= 0 {
			t.Errorf("rows of %s are in both parts", held[i])
		}
	}
}

// What was paid for is answered again for nothing, and said to be the answer of then.
func TestAskedOnceInTheShell(t *testing.T) {
	_, table := visits(t)
	var said [2]string
	var spent [2][]byte
	for i := range said {
		said[i] = must.Get(call(t, newDescribeCommand(), append(table, "--count", "--budget", "asked.json",
			"--share", "0.4")...))
		spent[i] = must.Get(os.ReadFile("asked.json"))
	}
	then := "before, on " + time.Now().Format(time.DateOnly) + `, as "count of visits.csv"`
	if apart(said[1]) != said[0] || !strings.Contains(said[1], then) ||
		strings.Contains(said[0], "before, on") || string(spent[0]) != string(spent[1]) {
		t.Errorf("%s\nand\n%s, with the ledgers\n%s\nand\n%s", said[0], said[1], spent[0], spent[1])
	}
}

// --where asks about the rows of one category alone, under a name of its own, and a model about them, too.
func TestRowsOfACategory(t *testing.T) {
	df, table := visits(t)
	table = append(table, "--budget", "b.json", "--person", "id")
	if df.OfCategory("city", "Rom").Err() == nil || df.OfCategory("age", "1").Err() == nil {
		t.Error("rows of what is no category")
	}
	exact := func(where ...string) (n int) {
		said := must.Get(call(t, newDescribeCommand(), slices.Concat(table[:1], []string{"--schema", "schema.json",
			"--epsilon", "1000", "--delta", "0", "--seed", "1", "--count"}, where)...))
		must.Get(fmt.Sscanf(said[strings.Index(said, "  records"):], "  records %d", &n))
		return n
	}
	if all, in := exact(), exact("--where", "city=Rome"); all != 600 || in != 300 {
		t.Errorf("%d of %d records, want 300 of 600", in, all)
	}
	mean := append(table, "--mean", "age", "--share", "0.1", "--where")
	first := must.Get(call(t, newDescribeCommand(), append(mean, "city=Rome")...))
	other := must.Get(call(t, newDescribeCommand(), append(mean, "city=Bern")...))
	again := must.Get(call(t, newDescribeCommand(), append(mean, "city=Rome")...))
	if !strings.HasPrefix(first, "Of the rows where city = Rome alone:") || again == other ||
		!strings.Contains(again, `where city = Rome"`) {
		t.Errorf("%s\nand again\n%s\nand of Bern\n%s", first, again, other)
	}
	must.Get(call(t, newFitCommand(), append(table, strings.Fields("--target city --store . --lines --share 0.3 "+
		"--out m.json")...)...))
	said := must.Get(call(t, newEvaluateCommand(), append([]string{"m.json"}, append(table, "--share", "0.1", "--where",
		"city=Rome")...)...))
	if !strings.Contains(said, "Of the rows where city = Rome alone:") {
		t.Error(said)
	}
	if _, err := call(t, newDescribeCommand(), append(mean, "city=Rom")...); err == nil ||
		!strings.Contains(err.Error(), `no category "Rom"`) {
		t.Error(err)
	}
}

// An evaluation that would say nothing is refused before it is paid for, by what is public, and one that says something
// is not.
func TestEvaluationsThatSayNothing(t *testing.T) {
	_, table := visits(t)
	withoutID()
	table = append(table, "--budget", "says-nothing.json", "--held-out", "0.2")
	must.Get(call(t, newFitCommand(), append(table, strings.Fields("--target city --store . --lines --learner "+
		"logistic --share 0.5 --out m.json")...)...))
	fitted := must.Get(must.Get(learn.Load("m.json")).Losses(true)).Records()
	of := fmt.Sprintf("for about %.0f records", math.Floor(fitted/4)) // four fifths were fitted to, one is left
	for i, share := range []string{"0.001", "0.45"} {
		charges := i + 1
		before := len(must.Get(learn.NewBudget(2, 1e-6, learn.KeptIn("says-nothing.json")).State()).Entries)
		said, err := call(t, newEvaluateCommand(), slices.Concat([]string{"m.json"}, table, []string{"--auc", "--share",
			share})...)
		refused := err != nil && strings.HasPrefix(err.Error(), "nothing was asked or paid for: This share buys")
		paid := len(must.Get(learn.NewBudget(2, 1e-6, learn.KeptIn("says-nothing.json")).State()).Entries) - before
		if refused != (charges == 1) || paid != charges-1 || refused && !strings.Contains(err.Error(), of) {
			t.Errorf("--share %s, %s: %d charges, %v\n%s", share, of, paid, err, said)
		}
	}
}

// A column that is ignored is no feature, and a model without it wants none; the target is none that can be.
func TestIgnoredColumns(t *testing.T) {
	_, table := visits(t)
	must.Do(os.WriteFile("visits.csv", []byte("id,age,city,hours\n"+strings.Repeat("p,30,Bern,3\nq,50,Rome,4\n", 300)),
		0o600))
	must.Do(os.WriteFile("schema.json", []byte(`{"version":1,"fields":[{"name":"id","type":"ignore"},
		{"name":"age","type":"number","lower":20,"upper":70},{"name":"hours","type":"number","lower":0,"upper":9},
		{"name":"city","type":"category","categories":["Bern","Rome"]}]}`), 0o600))
	fit := append(table, "--target", "city", "--store", ".", "--seed", "1", "--lines", "--ignore")
	said := must.Get(call(t, newFitCommand(), append(fit, "hours", "--out", "m.json")...))
	if m := must.Get(learn.Load("m.json")); strings.Contains(said, "hours") || m.Coefficients().Nrow() != 2 {
		t.Errorf("hours are no feature: %s", said)
	}
	if _, err := call(t, newFitCommand(), append(fit, "city")...); err == nil ||
		!strings.Contains(err.Error(), "--ignore city: it is what is to be predicted") {
		t.Error(err)
	}
}

// An option that is given changes what is released, or what is said of it; the same command says the same.
func TestOptionsAreNotIgnored(t *testing.T) {
	testscale.InTurn(t)
	_, table := visits(t)
	seeded := append(slices.Clone(table), "--seed", "1")
	const fit = "--store . --person id --target "
	for out, of := range map[string][]string{"seeded.json": seeded, "m.json": table} {
		must.Get(call(t, newFitCommand(), slices.Concat(of, strings.Fields(fit+"city --lines --out "+out))...))
	}
	for _, c := range []struct {
		command func() *cobra.Command
		given   []string
		args    string
		options []string
	}{
		{newDescribeCommand, seeded, "--mean age", []string{"--confidence 0.5", "--population", "--seed 2",
			"--share 0.5", "--by city"}},
		{newDescribeCommand, seeded, "--quantiles age", []string{"--levels 0.2,0.3", "--confidence 0.5",
			"--population"}},
		{newDescribeCommand, seeded, "--histogram age", []string{"--edges 20,40,70", "--confidence 0.5"}},
		{newPriceCommand, table, "--mean age --records 1000 --within 0.5", []string{"--confidence 0.5", "--records 500",
			"--within 1", "--by city"}},
		{newPriceCommand, table, "--quantiles age --records 1000 --share 0.1", []string{"--confidence 0.5",
			"--records 500", "--share 0.2", "--levels 0.1"}},
		{newForecastCommand, nil, "--records 5000 --features 100", []string{"--epsilon 2", "--delta 1e-5", "--signal 1",
			"--records 4000", "--features 90"}},
		{newForecastCommand, nil, "--records 500 --features 100 --epsilon 0.1 --noise 1", []string{"--threshold 2",
			"--noise 0.5"}},
		{newFitCommand, seeded, fit + "city --learner logistic --intervals 0.9", []string{
			"--positive Bern", "--row-norm 0.5", "--curvature-share 0.3", "--intervals 0.5", "--lambda 50",
			"--records 900", "--seed 2", "--share 0.5"}},
		{newFitCommand, seeded, fit + "city --learner logistic --lines", []string{"--steps age=40", "--rising age",
			"--class-weight Rome=0.5", "--held-out 0.3", "--in-units"}},
		{newFitCommand, seeded, fit + "age --learner quantile --smooth 0.1", []string{"--tau 0.8", "--smooth 0.3"}},
		{newFitCommand, seeded, fit + "age --learner quantiles", []string{"--levels 0.2,0.7"}},
		{newFitCommand, seeded, fit + "age --learner huber", []string{"--threshold 0.5"}},
		{newFitCommand, seeded, fit + "age --learner linear", []string{"--clip 0.5"}},
		{newEvaluateCommand, append([]string{"seeded.json"}, seeded...), "--person id", []string{"--confidence 0.5",
			"--auc", "--confusion", "--calibration", "--share 0.5", "--seed 2"}},
		{newEvaluateCommand, append([]string{"m.json"}, table...), "--person id --price --records 500", []string{
			"--confidence 0.5", "--records 900", "--share 0.5", "--auc"}},
	} {
		say := func(option string) string {
			said, err := call(t, c.command(), slices.Concat(c.given, strings.Fields(c.args), strings.Fields(option))...)
			if err != nil {
				t.Errorf("%s %s: %v", c.args, option, err)
			}
			return said
		}
		plain := say("")
		if slices.Contains(c.options, "--seed 2") {
			if again := say(""); again != plain {
				t.Errorf("%s and %s of one seed", plain, again)
			}
		}
		for _, option := range c.options {
			said := say(option)
			if said == plain {
				t.Errorf("%s %s says what it says without: %s", c.args, option, said)
			}
			if option == "--share 0.5" && strings.Contains(said, "ε = 2,") {
				t.Errorf("half of the budget: %s", said)
			}
		}
	}
}

// A simulation is of exactly the release that the same command makes of a new budget: the same guarantee, by noise of
// the same law and size.
func TestSimulationsAreOfTheRelease(t *testing.T) {
	testscale.Slow(t)
	_, table := visits(t)
	withoutID()
	of := func(said string) (same []string) {
		for line := range strings.Lines(said) { // of a fit the rest depends on a noisy count
			if strings.Contains(line, "Guarantee") || strings.Contains(line, "statistics.md") {
				same = append(same, line)
			}
		}
		return same
	}
	must.Get(call(t, newFitCommand(), append(table, "--store", ".", "--target", "city", "--lines", "--out",
		"m.json")...))
	for _, delta := range []string{"1e-6", "0"} {
		for _, c := range []struct {
			command func() *cobra.Command
			args    string
		}{
			{newDescribeCommand, "visits.csv --count"}, {newDescribeCommand, "visits.csv"},
			{newDescribeCommand, "visits.csv --mean age --by city --person id --rows-of-a-person 2"},
			{newFitCommand, "visits.csv --target age --learner huber --threshold 0.2 --store ."},
			{newEvaluateCommand, "m.json visits.csv --auc"},
		} {
			for _, share := range []string{"0.01", "0.2", "1"} {
				args := append(strings.Fields(c.args), "--schema", "schema.json", "--epsilon", "2", "--delta", delta,
					"--share", share)
				real, err := call(t, c.command(), args...)
				simulated, e := call(t, c.command(), append(args, "--seed", "4")...)
				if a, b := of(real), of(simulated); len(a) == 0 && err == nil || !slices.Equal(a, b) ||
					(err == nil) != (e == nil) {
					t.Errorf("%s, %s of it, δ = %s: %q (%v), simulated %q (%v)", c.args, share, delta, a, err, b, e)
				}
			}
		}
	}
}

// Whose row it is can stand in a column that the schema ignores, whichever rows are asked about; a model of a group is
// not asked about another one's rows, of which there are none.
func TestPeopleOfACategory(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	var rows strings.Builder
	for i := range 900 {
		fmt.Fprintf(&rows, "p%d,%d,%s,%s\n", i/2, 20+i%50, []string{"Bern", "Rome"}[i%2], []string{"no", "yes"}[i%3%2])
	}
	must.Do(os.WriteFile("people.csv", []byte("id,age,city,happy\n"+rows.String()), 0o600))
	s := frame.Schema{Fields: []frame.Field{learn.Numeric("age", 20, 70), learn.Categorical("city", "Bern", "Rome"),
		learn.Categorical("happy", "no", "yes")}, Ignored: []string{"id"}}
	must.Do(s.Save("schema.json"))
	public := []string{"people.csv", "--schema", "schema.json", "--epsilon", "2", "--delta", "1e-6", "--seed", "1",
		"--person", "id"}
	said, err := call(t, newDescribeCommand(), append(slices.Clone(public), "--mean", "age", "--where", "city=Rome")...)
	if err != nil || !strings.Contains(said, "Mean of age") {
		t.Errorf("%s (%v)", said, err)
	}
	fit := append(slices.Clone(public), "--target", "happy", "--store", dir)
	if said, err = call(t, newFitCommand(), append(fit, "--by", "city", "--out", "m.json")...); err != nil {
		t.Fatalf("%s (%v)", said, err)
	}
	asked := append([]string{"m.Rome.json"}, public...)
	said, err = call(t, newEvaluateCommand(), append(slices.Clone(asked), "--where", "city=Bern")...)
	if err == nil || !strings.Contains(err.Error(), "of which none has city=Bern") {
		t.Errorf("%s (%v)", said, err)
	}
	if said, err = call(t, newEvaluateCommand(), append(slices.Clone(asked), "--where", "city=Rome")...); err != nil {
		t.Errorf("%s (%v)", said, err)
	}
	if said, err = call(t, newFitCommand(), append(fit, "--by", "age")...); err == nil ||
		!strings.Contains(err.Error(), `"age" is a number in the schema`) {
		t.Errorf("%s (%v)", said, err)
	}
}
