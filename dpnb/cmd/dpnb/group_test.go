package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// A model of a group is asked about its group's records, of which it is wrong for a quarter, and not about others, for
// whom it is the opposite of right; what does not say who is in the group is said, or refused before it is paid for.
func TestModelOfAGroupInAShell(t *testing.T) {
	t.Chdir(t.TempDir())
	var rows, only strings.Builder
	for i := range 4000 {
		x, town := (37*i+i/100)%100, []string{"Bern", "Rome", "elsewhere"}[i%3]
		sick := (x < 50) == (i%3 == 1) // in Rome of small x, else of large ones
		if i/3%4 == 0 {
			sick = !sick
		}
		line := fmt.Sprintf("%d,%s\n", x, map[bool]string{true: "yes", false: "no"}[sick])
		rows.WriteString(town + "," + line)
		if town == "Rome" {
			only.WriteString(line)
		}
	}
	must.Do(os.WriteFile("g.csv", []byte("town,x,ill\n"+rows.String()), 0o600))
	must.Do(os.WriteFile("rome.csv", []byte("x,ill\n"+only.String()), 0o600))
	s := frame.Schema{Fields: []frame.Field{learn.Categorical("town", "Bern", "Rome"), learn.Numeric("x", 0, 100),
		learn.Categorical("ill", "no", "yes")}}
	must.Do(s.Save("g.json"))
	s.Fields, s.Ignored = s.Fields[1:], []string{"town"}
	must.Do(s.Save("ignored.json"))
	run := func(c *cobra.Command, args string) (string, error) {
		return call(t, c, strings.Fields(args+" --epsilon 20 --delta 1e-6 --budget group.ledger")...)
	}
	if said, err := run(newFitCommand(), "g.csv --schema g.json --target ill --by town --learner logistic --out m.json"+
		" --share 0.3 --store ."); err != nil {
		t.Fatal(said, err)
	}
	spent := func() float64 {
		b := learn.NewBudget(20, 1e-6, learn.Named("group.ledger"), learn.KeptIn("group.ledger"))
		return must.Get(b.State()).SpentEpsilon
	}
	for args, want := range map[string][]string{
		"g.csv --schema g.json --share 0.1": {
			"m.Rome.json is of the records with town = Rome: they alone are asked about",
			"share of 0.2", "these records alone were asked about"},
		"g.csv --schema g.json --share 0.1 --confusion": {"accuracy"},
		"rome.csv --schema ignored.json --share 0.1": {"rome.csv has no such column", "share of 0.2",
			"the table does not say which"},
	} {
		if said, err := run(newEvaluateCommand(), "m.Rome.json "+args); err != nil ||
			slices.ContainsFunc(want, func(w string) bool { return !strings.Contains(said, w) }) {
			t.Errorf("%s: %s (%v), want %q", args, said, err, want)
		}
	}
	before := spent()
	if said, err := run(newEvaluateCommand(), "m.Rome.json g.csv --schema ignored.json --share 0.1"); err == nil ||
		!strings.Contains(err.Error(), "state it as a category") || spent() != before {
		t.Errorf("the schema ignores the column: %s (%v)", said, err)
	}
	said, err := said("predict", "m.Rome.json", "g.csv")
	if err != nil || !strings.Contains(said, "with town = Rome: what it predicts for others is a guess") ||
		!strings.Contains(said, "every record of g.csv, of town = Rome or not;") {
		t.Errorf("%s (%v)", said, err)
	}
}

// Records that a fit has held out are asked about as it has divided them, by the same people or by rows: else it has
// learnt from some of them. Nothing is then paid.
func TestHeldOutOfTheSamePeople(t *testing.T) {
	t.Chdir(t.TempDir())
	var rows strings.Builder
	for i := range 600 {
		fmt.Fprintf(&rows, "%d,%d,%d,%s\n", i/4, i/8, i%50, []string{"no", "yes"}[i/4%7%2])
	}
	must.Do(os.WriteFile("p.csv", []byte("id,house,x,ill\n"+rows.String()), 0o600))
	s := frame.Schema{Fields: []frame.Field{learn.Numeric("x", 0, 50), learn.Categorical("ill", "no", "yes")},
		Ignored: []string{"id", "house"}}
	must.Do(s.Save("p.json"))
	run := func(c *cobra.Command, args string) (string, error) {
		return call(t, c, strings.Fields(args+" --schema p.json --epsilon 9 --delta 1e-6 --seed 1")...)
	}
	people := " --person id --rows-of-a-person 4"
	for out, args := range map[string]string{"people.json": people, "one.json": " --person id", "rows.json": ""} {
		if said, err := run(newFitCommand(), "p.csv --target ill --learner logistic --held-out 0.3 --store . --out "+
			out+args); err != nil {
			t.Fatal(said, err)
		}
	}
	for args, want := range map[string]string{
		"people.json p.csv --held-out 0.3":                             "say --person id --rows-of-a-person 4",
		"people.json p.csv --held-out 0.3 --person house":              "say --person id --rows-of-a-person 4",
		"people.json p.csv --held-out 0.3" + people:                    "",
		"people.json p.csv --held-out 0":                               "",
		"one.json p.csv --held-out 0.3 --auc":                          "say --person id --rows-of-a-person 1",
		"one.json p.csv --held-out 0.3 --person id":                    "",
		"rows.json p.csv --held-out 0.3" + people:                      "leave out --person",
		"rows.json p.csv --held-out 0.3":                               "",
		"people.json p.csv --held-out 0" + people + " --confidence .9": "",
	} {
		said, err := run(newEvaluateCommand(), args)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s (%v), want %q", args, said, err, want)
		}
	}
}
