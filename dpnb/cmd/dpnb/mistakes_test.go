//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// Mistakes that people make with a table of their own, in a shell and in Go: each is an error of a sentence that has a
// word of its cure, nothing panics, and no budget is charged.
func TestMistakes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must.Do(os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	people := write("people.csv", "age,city,happy\n30,Bern,yes\n40,Rome,no\n50,Oslo,\n")
	schema := write("schema.json", `{"version":1,"fields":[{"name":"age","type":"number","lower":0,"upper":100},
		{"name":"city","type":"category","categories":["Bern","Rome"]},
		{"name":"happy","type":"category","categories":["no","yes"]}]}`)
	ledger := filepath.Join(dir, "mistakes.ledger")
	one := 0
	fields := func(text string) string {
		one++
		return write(fmt.Sprintf("one%d.json", one), `{"version":1,"fields":[`+text+`]}`)
	}
	fit := func(more ...string) []string {
		return append([]string{people, "--schema", schema, "--target", "happy", "--budget", ledger, "--epsilon", "1",
			"--delta", "1e-6", "--store", dir}, more...)
	}
	ask := func(more ...string) []string {
		return append([]string{people, "--schema", schema, "--budget", ledger, "--epsilon", "1", "--delta", "1e-6"},
			more...)
	}
	ignoring := fields(`{"name":"age","type":"number","lower":0,"upper":100},{"name":"city","type":"ignore"},
		{"name":"happy","type":"category","categories":["no","yes"]}`)
	pipe := filepath.Join(dir, "pipe.csv")
	must.Do(syscall.Mkfifo(pipe, 0o600))
	columnar, model := filepath.Join(dir, "people.parquet"), filepath.Join(dir, "model.json")
	must.Do(parquet.Write(columnar, must.Get(frame.ScanCSV(people, nil))))
	known := learn.ReadCSV(people).WithSchemaFile(schema)
	must.Do(must.Get(learn.SVM{}.Fit(learn.Binary(known, "happy"), learn.NewBudget(1, 1e-6,
		learn.Named(t.TempDir())).Spend(1))).Save(model))
	linear := filepath.Join(dir, "linear.json")
	must.Do(must.Get(learn.Load(model)).Export(linear))
	calls := []struct {
		name string
		of   *cobra.Command
		args []string
		cure string
	}{
		{"no such " +
			"file", newFitCommand(), append([]string{filepath.Join(dir, "peeple.csv")}, fit()[1:]...), "peeple.csv"},
		{"a folder for a file", newFitCommand(), append([]string{dir}, fit()[1:]...), "folder"},
		{"no such target", newFitCommand(), fit("--target", "hapy"), "happy"},
		{"no such learner", newFitCommand(), fit("--learner", "forest"), "logistic"},
		{"a learner of numbers for classes", newFitCommand(), fit("--learner", "huber"), "logistic"},
		{"a share in percent", newFitCommand(), fit("--share", "50"), "0.1"},
		{"a negative ε", newFitCommand(), fit("--epsilon", "-1"), "a number in (0"},
		{"δ and ε exchanged", newFitCommand(), fit("--epsilon", "1e-6", "--delta", "1"), "[0, 1)"},
		{"no schema", newFitCommand(), []string{people, "--target", "happy", "--budget", ledger, "--epsilon", "1"},
			"schema"},
		{"a seed and a budget", newFitCommand(), fit("--seed", "1"), "leave out"},
		{"an interval of 95", newFitCommand(), fit("--intervals", "95"), "0.95"},
		{"a table for its schema", newFitCommand(), fit("--schema", people), "line 1"},
		{"steps beyond the bounds", newFitCommand(), fit("--steps", "age=200"), "bounds"},
		{"steps of a city", newFitCommand(), fit("--steps", "city=3"), "number"},
		{"a column of nobody", newFitCommand(), fit("--person", "id"), "id"},
		{"the mean of a city", newDescribeCommand(), ask("--mean", "city"), "categories"},
		{"a mean of what is not there", newDescribeCommand(), ask("--mean", "height"), "height"},
		{"two questions", newDescribeCommand(), ask("--mean", "age", "--histogram", "age"), "one"},
		{"quantiles in percent", newDescribeCommand(), ask("--quantiles", "age", "--levels", "25"), "(0, 1)"},
		{"levels of a mean", newDescribeCommand(), ask("--mean", "age", "--levels", "0.1"), "--quantiles"},
		{"edges of a summary", newPriceCommand(), []string{people, "--schema", schema, "--epsilon", "1", "--edges",
			"0,1", "--share", "0.1"}, "--histogram"},
		{"a name without a ledger", newDescribeCommand(), []string{people, "--schema", schema, "--epsilon", "1",
			"--count", "--name", "once"}, "--budget"},
		{"by a number", newDescribeCommand(), ask("--mean", "age", "--by", "age"), "categor"},
		{"a bound exchanged", newCheckCommand(), []string{people, "--schema",
			fields(`{"name":"age","type":"number","lower":100,"upper":0}`)}, "lower < upper"},
		{"a type in capitals", newCheckCommand(), []string{people, "--schema",
			fields(`{"name":"age","type":"Number","lower":0,"upper":1}`)}, "number"},
		{"a category twice", newCheckCommand(), []string{people, "--schema",
			fields(`{"name":"city","type":"category","categories":["Bern","Bern"]}`)}, "twice"},
		{"a key misspelt", newCheckCommand(), []string{people, "--schema",
			fields(`{"name":"age","type":"number","lowr":0,"upper":1}`)},
			`"lowr" is not known, but name, type, lower, upper,`},
		{"a layout in letters", newCheckCommand(), []string{people, "--schema",
			fields(`{"name":"age","type":"year of a date","lower":1,"upper":2,"layout":"YYYY"}`)}, "2006"},
		{"rows of nobody", newDescribeCommand(), ask("--mean", "age", "--rows-of-a-person", "3"), "--person"},
		{"by the target", newFitCommand(), fit("--by", "happy"), "another column"},
		{"out into a folder", newFitCommand(), fit("--out", dir), "name a file in it"},
		{"a folder for a schema", newFitCommand(), fit("--schema", dir), "name the file in it"},
		{"no file", newRootCommand(), append([]string{"fit"}, fit()[1:]...), "dpnb fit --help"},
		{"no schema and no ε", newRootCommand(), []string{"fit", people, "--target", "happy"},
			"dpnb fit needs --epsilon and --schema"},
		{"no precision", newRootCommand(), []string{"price", people, "--schema", schema, "--epsilon", "1"},
			"needs --within or --share"},
		{"lines that are curves", newRootCommand(), append([]string{"fit"}, fit("--lines", "--curves")...),
			"--curves and --lines are alternatives"},
		{"steps without cuts", newFitCommand(), fit("--steps", "age"), "age=18,65"},
		{"classes of a number", newRootCommand(), append([]string{"fit"},
			fit("--target", "age", "--learner", "svm")...), "--learner linear, huber or quantile"},
		{"a column that the schema calls otherwise", newRootCommand(), append([]string{"fit"}, fit("--schema",
			write("upper.json", `{"version":1,"fields":[{"name":"Age","type":"number","lower":0,"upper":100},
				{"name":"happy","type":"category","categories":["no","yes"]}]}`))...), `which has "Age"`},
		{"two classes of three", newFitCommand(), fit("--learner", "svm", "--schema",
			fields(`{"name":"age","type":"ignore"},{"name":"city","type":"ignore"},
				{"name":"happy","type":"category","categories":["no","yes","so so"]}`)),
			"--learner softmax or onevsrest"},
		{"a confidence in percent", newRootCommand(), append([]string{"describe"},
			ask("--mean", "age", "--confidence", "95")...), "--confidence 95: give it a number between"},
		{"a mean of what is not there, in a shell", newRootCommand(), append([]string{"describe"},
			ask("--mean", "height")...), "state its public bounds (--schema)"},
		{"another budget", newRootCommand(), append([]string{"describe"}, ask("--mean", "age", "--epsilon", "2")...),
			"name another for other data (--budget)"},
		{"a ledger that is not there", newBudgetCommand(), []string{filepath.Join(dir, "none.ledger")},
			"there is none in"},
		{"the ledger of nobody", newBudgetCommand(), []string{people}, "no file of a dpnb ledger"},
		{"two files", newRootCommand(), append([]string{"describe", people}, ask("--mean", "age")...),
			"quotation marks"},
		{"a decimal comma", newRootCommand(), append([]string{"describe"}, ask("--mean", "age", "--share", "0,5")...),
			"a point before its decimals"},
		{"a negative seed", newRootCommand(), append([]string{"describe"}, ask("--mean", "age", "--seed", "-1")...),
			"whole number that is not negative"},
		{"a flag misspelt", newRootCommand(), append([]string{"describe"}, ask("--maen", "age")...), "--help"},
		{"semicolons", newRootCommand(), append([]string{"describe", write("semi.csv", "age;city\n30;Bern\n")},
			ask("--mean", "age")[1:]...), "read it with --separator ';', and --decimal ','"},
		{"semicolons, and a quoted name", newRootCommand(), append([]string{"describe", write("quoted.csv",
			"age;\"town; where\"\n30;Bern\n")}, ask("--mean", "age")[1:]...), "read it with --separator ';'"},
		{"a title above the names", newRootCommand(), append([]string{"describe", write("title.csv",
			"of 2024,\nage,city\n30,Bern\n")}, ask("--mean", "age")[1:]...), "a title above that of the names, " +
			"leave it out with --skip 1"},
		{"a period that the schema has", newFitCommand(), fit("--periodic", "age", "--schema",
			fields(`{"name":"age","type":"number","lower":0,"upper":100,"period":100},
				{"name":"city","type":"ignore"},{"name":"happy","type":"category","categories":["no","yes"]}`)),
			`"age" has a period, as its schema says`},
		{"several classes of a number", newFitCommand(), fit("--target", "age", "--learner", "softmax"),
			"--learner linear, huber or quantile"},
		{"an exported model", newPredictCommand(), []string{linear, people, "-o", filepath.Join(dir, "p.csv")},
			"it is an exported model"},
		{"no ε", newRootCommand(), []string{"fit", people, "--target", "happy", "--schema", schema},
			"dpnb fit needs --epsilon: dpnb fit --help says what it is"},
		{"a column twice", newRootCommand(), append([]string{"describe", write("twice.csv", "age,age\n30,31\n")},
			ask("--mean", "age")[1:]...), "set --number-duplicates"},
		{"a column of a setting's name", newRootCommand(), append([]string{"describe",
			write("named.csv", "age\n30\n")}, ask("--mean", "Comment")[1:]...), `"Comment"`},
		{"a pipe", newDescribeCommand(), append([]string{pipe}, ask("--mean", "age")[1:]...), "into a file"},
		{"predictions by a table", newPredictCommand(), []string{people, people}, "model"},
		{"predictions for a table that lacks a column", newPredictCommand(), []string{model,
			write("less.csv", "city\nBern\n"), "-o", filepath.Join(dir, "p.csv")}, `less.csv lacks "age"`},
		{"predictions into no folder", newRootCommand(), []string{"predict", model, people, "-o",
			filepath.Join(dir, "x", "p.csv")}, "make it"},
		{"sums of a runner without one", newFitCommand(), fit("--checkpoints", dir), "--endpoint"},
		{"sums of a runner without one, of an answer", newDescribeCommand(), ask("--count", "--checkpoints", dir),
			"--endpoint"},
		{"a separator of Parquet", newDescribeCommand(), append([]string{columnar}, ask("--count", "--separator",
			";")[1:]...), "--separator is for CSV files"},
		{"texts of CSV", newDescribeCommand(), ask("--count", "--texts", "age"), "--texts is for Parquet"},
		{"a norm of records of any length", newFitCommand(), fit("--target", "age", "--learner", "heavytails",
			"--row-norm", "2"), "leave it out"},
		{"a list of categories that is the table", newFitCommand(), fit("--schema", fields(`{"name":"age","type":
			"number","lower":0,"upper":100},{"name":"city","type":"category","categoriesFrom":"people.csv"},
			{"name":"happy","type":"category","categories":["no","yes"]}`)), "a list that is public without the table"},
		{"a notebook of a pattern", newRootCommand(), []string{"new", filepath.Join(dir, "people.*"), "--no-setup"},
			"name one of them, " + people},
		{"weights of several classes", newFitCommand(), fit("--learner", "softmax", "--weights", "age=9"),
			"leave out --weights and --class-weight"},
		{"a class that is none", newFitCommand(), fit("--class-weight", "maybe=2"), `--class-weight: "maybe"`},
		{"the population of a count", newDescribeCommand(), ask("--count", "--population"),
			"--population is for means"},
		{"a price without records", newPriceCommand(), []string{people, "--schema", schema, "--epsilon", "2", "--delta",
			"1e-6", "--mean", "age", "--share", "0.1"}, "--records 10000"},
		{"an edge alone", newDescribeCommand(), ask("--histogram", "age", "--edges", "5"), "--edges 5: one edge"},
		{"others of a number", newCheckCommand(), []string{people, "--schema",
			fields(`{"name":"age","type":"number","lower":0,"upper":1,"else":"1"}`)}, `"missingAs" in the schema`},
		{"a model without bounds of a number", newFitCommand(), fit("--learner", "svm", "--schema",
			fields(`{"name":"age","type":"number, open","lower":0,"upper":100},{"name":"city","type":"ignore"},
				{"name":"happy","type":"category","categories":["no","yes"]}`)), `"number, open"`},
		{"groups of people with several rows", newFitCommand(), fit("--by", "city", "--person", "age",
			"--rows-of-a-person", "2"), "from a table of its rows, and pay for each"},
		{"a mean of a column to ignore", newDescribeCommand(), ask("--mean", "city", "--schema", ignoring),
			`but for the type "ignore"`},
		{"weights in a column to ignore", newFitCommand(), fit("--weights", "city=5", "--schema", ignoring),
			`type "ignore"`},
		{"a target to ignore", newFitCommand(), fit("--target", "city", "--schema", ignoring), `type "ignore"`},
		{"nearly a column to ignore", newDescribeCommand(), ask("--count", "--person", "cty", "--schema", ignoring),
			"(city?)"},
		{"a share by group", newDescribeCommand(), ask("--mean", "happy", "--by", "city"), `--crosstab "happy"`},
		{"quantiles by group", newDescribeCommand(), ask("--quantiles", "age", "--by", "city"),
			`--histogram "age" --by "city"`},
		{"an export of nothing", newExportCommand(), []string{filepath.Join(dir, "none.json")}, "none.json"},
	}
	for _, c := range calls {
		_, err := call(t, c.of, c.args...)
		plainly(t, c.name, err, c.cure)
		if err != nil && inGo.MatchString(err.Error()) {
			t.Errorf("%s: %q is a word of Go: %v", c.name, inGo.FindString(err.Error()), err)
		}
	}
	if text, err := os.ReadFile(ledger); err == nil {
		t.Errorf("a mistake begins a ledger: %s", text)
	}
	// A schema of an editor that marks its files is read, and a file that ends in a record's middle costs nothing.
	marked := write("marked.json", "\ufeff"+string(must.Get(os.ReadFile(schema))))
	broken := write("broken.csv", "age,city,happy\n30,\"Bern,yes\n")
	question := []string{broken, "--schema", marked, "--budget", filepath.Join(dir, "broken.ledger"), "--epsilon", "1",
		"--delta", "1e-6", "--mean", "age"}
	_, err := call(t, newDescribeCommand(), question...)
	plainly(t, "a quotation mark without its other", err, "line 2")
	if _, err := os.Stat(filepath.Join(dir, "broken.ledger")); err == nil {
		t.Error("a file that cannot be read begins a ledger")
	}
	write("broken.csv", "age,city,happy\n30,\"Bern\",yes\n")
	if said, err := call(t, newDescribeCommand(), question...); err != nil || !strings.Contains(said, "mean of age") {
		t.Errorf("mended: %s (%v)", said, err)
	}
	df := learn.ReadCSV(people).WithSchemaFile(schema)
	budget := learn.NewBudget(1, 1e-6, learn.Named(t.TempDir()))
	for _, c := range []struct {
		name, cure string
		of         func() error
	}{
		{"a model that is nil", "err", func() error { var m *learn.Model; _, err := m.Predict(df); return err }},
		{"a target that is a feature of a number", "happy", func() error {
			_, err := learn.Linear{}.Fit(learn.Regression(df, "happy"), budget.Spend(0.5))
			return err
		}},
		{"more than there is", "left", func() error {
			_, err := learn.SVM{}.Fit(learn.Binary(df, "happy"), budget.Spend(3))
			return err
		}},
		{"a positive class that is none", "yes", func() error {
			_, err := learn.SVM{}.Fit(learn.Binary(df, "happy", learn.Positive("ja")), budget.Spend(0.5))
			return err
		}},
		{"an empty question", "Mean", func() error { _, err := explore.Query{}.Of(df, budget.Spend(0.1)); return err }},
		{"a histogram that falls", "rise", func() error {
			_, err := explore.Histogram("age", 90, 10).Of(df, budget.Spend(0.1))
			return err
		}},
		{"a confidence in percent", "0.95", func() error {
			_, err := explore.Mean("age").Confidence(95).Of(df, budget.Spend(0.1))
			return err
		}},
		{"the accuracy of nothing", "err", func() error {
			_, err := explore.ConfusionOf(nil).Of(df, budget.Spend(0.1))
			return err
		}},
		{"a split in percent", "(0, 1)", func() error { a, _ := df.Split(80, "key"); return a.Err() }},
	} {
		plainly(t, c.name, c.of(), c.cure)
	}
	if s := must.Get(budget.State()); s.SpentEpsilon != 0 {
		t.Errorf("a mistake was charged: %+v", s)
	}
}

// inGo matches what settings are called in Go and not in a shell.
var inGo = regexp.MustCompile(`CurvatureShare|RowNorm|ClassWeights|WeightsFrom|PerPerson|ForPopulation|Unbounded|Or` +
	`Else|OrMissing|FitBy|PassesBy|MemoryLimit|Histogram\(|[a-z]Of\b|DropMissing|Check |Planned|Straightened|Dir\b`)

// plainly wants an error of a sentence or two with a word of the cure.
func plainly(t *testing.T, name string, err error, cure string) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("%s: no error", name)
	case !strings.Contains(err.Error(), cure) || len(err.Error()) > 600 || strings.Contains(err.Error(), "runtime "+
		"error"):
		t.Errorf("%s: want %q in: %v", name, cure, err)
	}
}
