//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/paper/scale"
)

// A fit and a summary by the command: released once under a budget that is kept, refused where it is spent, simulated
// by a seed, and refused by name where a learner does not fit into memory.
func TestFitAndDescribeCommands(t *testing.T) {
	testscale.Slow(t)
	dir := t.TempDir()
	file, schema := filepath.Join(dir, "people.parquet"), filepath.Join(dir, "schema.json")
	must.Do(parquet.Write(file, scale.Invented{Rows: 3000}))
	must.Do(scale.Schema().Save(schema))
	ledger, model := filepath.Join(dir, "ledger.json"), filepath.Join(dir, "model.json")
	public := []string{"--schema", schema, "--epsilon", "4", "--delta", "1e-6", "--memory", "100MiB"}
	kept := append([]string{file, "--budget", ledger}, public...)
	fit := append([]string{"--target", "ill", "--store", dir, "--learner", "logistic", "--share", "0.5"}, kept...)
	first, err := call(t, newFitCommand(), append(fit, "--out", model)...)
	if err != nil || !strings.Contains(first, "model.json has the model") {
		t.Fatal(first, err)
	}
	spent := must.Get(os.ReadFile(ledger))
	again, err := call(t, newFitCommand(), fit...)
	if after, _ := os.ReadFile(ledger); err != nil || !strings.HasPrefix(apart(first), apart(again)) ||
		!ofBefore.MatchString(again) || ofBefore.MatchString(first) || !bytes.Equal(spent, after) {
		t.Errorf("the second time: %s (%v)\n%s", again, err, after)
	}
	wide := append(fit, "--intervals", "0.9", "--curvature-share", "0")
	if said, err := call(t, newFitCommand(), wide...); err != nil || !strings.Contains(said, "level 0.9") {
		t.Errorf("intervals of what was released without a share for them: %s (%v)", said, err)
	}
	if _, err := call(t, newFitCommand(), wide[:len(wide)-2]...); err == nil ||
		!strings.Contains(err.Error(), "--curvature-share is 0.05 and was not set. Nothing was charged; use another "+
			"--name") {
		t.Errorf("intervals that were not paid for: %v", err)
	}
	t.Chdir(dir)
	there, err := call(t, newFitCommand(), append(fit, "--budget", "./ledger.json")...)
	if err != nil || there != again {
		t.Errorf("by another path to the ledger: %s (%v)", there, err)
	}
	described, err := call(t, newDescribeCommand(), append(kept, "--share", "0.25")...)
	if err != nil || !strings.Contains(described, "x18: upper quartile") {
		t.Errorf("%s (%v)", described, err)
	}
	if _, err := call(t, newDescribeCommand(), append(kept, "--share", "0.9", "--name", "another")...); err == nil {
		t.Error("more was spent than there is")
	}
	seeded := append([]string{file, "--seed", "3"}, public...)
	simulated, err := call(t, newFitCommand(), append(seeded, "--target", "ill", "--store", dir, "--learner", "svm")...)
	if err != nil || !strings.Contains(simulated, "SIMULATION") {
		t.Errorf("%s (%v)", simulated, err)
	}
	for learner, want := range map[string]string{"heavytails": "something for every record", "tree": "there are"} {
		target := map[string]string{"heavytails": "x0"}[learner]
		if target == "" {
			target = "ill"
		}
		_, err := call(t, newFitCommand(), append(seeded, "--target", target, "--store", dir, "--learner", learner)...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", learner, err)
		}
	}
	if listed, err := call(t, newCacheCommand(), "--store", dir); err != nil ||
		strings.Count(listed, "people.parquet") != 1 || !strings.Contains(listed, "dpnb cache remove --store "+dir) {
		t.Errorf("%s (%v)", listed, err)
	}
	if _, err := call(t, newCacheCommand(), "remove", "--store", dir); err != nil {
		t.Error(err)
	}
	if listed, err := call(t, newCacheCommand(), "--store", dir); err != nil || !strings.Contains(listed, "none") {
		t.Errorf("%s (%v)", listed, err)
	}
}

// The shell has what code has: learners with their settings, models of groups, intervals, the card, prices and
// questions. What a learner does not have is refused before anything is read.
func TestOptionsOfTheShell(t *testing.T) {
	testscale.InTurn(t)
	dir := t.TempDir()
	t.Chdir(dir)
	var rows strings.Builder
	for i := range 600 {
		fmt.Fprintf(&rows, "%d,%s,%d,%s\n", 20+i%50,
			[]string{"Bern", "Rome"}[i%2], 1000+i, []string{"no", "yes"}[i*i%7%2])
	}
	must.Do(os.WriteFile("people.csv", []byte("age,city,pay,happy\n"+rows.String()), 0o600))
	s := frame.Schema{Fields: []frame.Field{learn.Numeric("age", 20, 70), learn.Categorical("city", "Bern", "Rome"),
		learn.Numeric("pay", 0, 2000), learn.Categorical("happy", "no", "yes")}}
	must.Do(s.Save("schema.json"))
	towns := frame.Schema{Fields: []frame.Field{s.Fields[0], learn.Categorical("city", "Île-Verte", "St. Gallen / a"),
		s.Fields[2], s.Fields[3]}}
	must.Do(towns.Save("towns.json"))
	must.Do(os.WriteFile("towns.csv", []byte("age,city,pay,happy\n20,Île-Verte,3,no\n"), 0o600))
	table := []string{"people.csv", "--schema", "schema.json", "--epsilon", "2", "--delta", "1e-6"}
	seeded := append(slices.Clone(table), "--seed", "1")
	fit := append(slices.Clone(seeded), "--store", dir)
	var many strings.Builder // more than a table of a notebook has
	for i := range 120 {
		fmt.Fprintf(&many, ",%d", i+1)
	}
	// What says why there are no intervals for the population, and that nothing is spent on others.
	const why = "No intervals for the population: of rows that are not centred"
	const unspent = "in the fit they would be narrower"
	for _, c := range []struct {
		command *cobra.Command
		of      []string
		args    string
		want    string
	}{
		{newFitCommand(), fit, "--target pay --learner linear --clip 0.3 --intervals 0.9", why},
		{newFitCommand(), fit, "--target pay --learner linear --clip 0.3 --intervals 0.9", unspent},
		{newFitCommand(), fit, "--target pay --threshold 0.3 --intervals 0.9", unspent},
		{newFitCommand(), fit, "--target happy --lambda 50 --intervals 0.9", unspent},
		{newFitCommand(), fit, "--target pay --learner linear --clip 0.3 --intervals 0.9 --curvature-share 0.1", why},
		{newFitCommand(), fit, "--target pay --intervals 0.9 --person age --rows-of-a-person 2", "up to 2 rows"},
		{newFitCommand(), fit, "--target pay --intervals 0.9 --person age --rows-of-a-person 2", unspent},
		{newFitCommand(), fit, "--target happy --learner logistic --intervals 0.9 --person age --rows-of-a-person 2",
			unspent},
		{newFitCommand(), fit, "--target happy --learner logistic --lambda 50 --intervals 0.9", "of the population"},
		{newFitCommand(), fit, "--target happy", "Private support vector machine for happy"},
		{newFitCommand(), fit, "--target happy --intervals 0.9", "level 0.9"},
		{newFitCommand(), fit, "--target happy --share 0.25", "ε = 0.943"},
		{newFitCommand(), fit, "--target pay --learner linear --in-units --lines", "a step of 1"},
		{newFitCommand(), fit, "--target pay --learner linear --in-units --lines --intervals 0.9",
			"Estimate, lower and upper: an interval for the population of level 0.9;"},
		{newFitCommand(), fit, "--target pay --in-units --intervals 0.9 --person age --rows-of-a-person 2",
			"an interval for the same fit without noise of level 0.9;"},
		{newFitCommand(), fit, "--target happy --learner logistic --intervals 0.9", "as of --curvature-share 0.05"},
		{newFitCommand(), fit, "--target pay --learner quantile --intervals 0.9", "as of --curvature-share 0.2"},
		{newFitCommand(), fit, "--target happy --learner logistic --intervals 0.9 --curvature-share 0", "narrower"},
		{newFitCommand(), fit, "--target happy --learner softmax --intervals 0.9", "level 0.9"},
		{newFitCommand(), fit, "--target pay --learner linear --intervals 0.9 --rising age", "rise"},
		{newFitCommand(), fit, "--target pay --learner linear --intervals 0.9 --delta 0", "No intervals"},
		{newFitCommand(), fit, "--target pay --learner Quantile", "without a --curvature-share"},
		{newFitCommand(), fit, "--target happy --lambda 50 --learner logistic --curvature-share 0.2 --check", "λ = 50"},
		{newFitCommand(), fit, "--target pay --learner huber --threshold 0.1", "Private Huber regression for pay"},
		{newFitCommand(), fit, "--target pay --learner quantiles --levels 0.2,0.7", "0.7"},
		{newFitCommand(), fit, "--target happy --by city --out m.json", "m.Rome.json has the model"},
		{newFitCommand(), fit, "--target happy --by city --intervals 0.9", "\ncity = Rome:\n"},
		{newFitCommand(), append([]string{"towns.csv", "--schema", "towns.json"}, fit[3:]...),
			"--target happy --by city --out t.json", "t.Île-Verte.json has the model\nt.St. Gallen %2F a.json has"},
		{newFitCommand(), fit, "--target happy --card card.md --out m.json", "card.md has the model card"},
		{newFitCommand(), table, "--target happy --price --share 0.5", "Nothing was spent"},
		{newDescribeCommand(), seeded, "--mean age --by city", "Rome"},
		{newDescribeCommand(), seeded, "--quantiles pay --levels 0.3", "0.3"},
		{newDescribeCommand(), seeded, "--histogram age --edges 20,30 --edges 70", "30 to 70"},
		{newDescribeCommand(), seeded, "--histogram pay --edges 1970-01-02,1970-01-11", "1 to 10"},
		{newDescribeCommand(), seeded, "--crosstab city,happy", "Bern"},
		{newDescribeCommand(), seeded, "--histogram age --edges 0" + many.String(), "119 to 120"},
		{newPriceCommand(), table, "--mean age --records 600 --within 1 --memory 1GiB", "a share of 0."},
		{newPriceCommand(), table, "--mean age --by city --records 300 --share 0.1",
			"confidence in each group, of about 300 records each"},
	} {
		said, err := call(t, c.command, append(slices.Clone(c.of), strings.Fields(c.args)...)...)
		if err != nil || !strings.Contains(said, c.want) || inGo.MatchString(said) {
			t.Errorf("%s: %s (%v), want %q and not %q", c.args, said, err, c.want, inGo.FindString(said))
		}
	}
	lines := strings.SplitAfter(rows.String(), "\n")
	for k, part := range [][]string{lines[:200], nil, lines[200:]} {
		text := "age,city,pay,happy\n" + strings.Join(part, "")
		must.Do(os.WriteFile(fmt.Sprintf("part-%d.csv", k), []byte(text), 0o600))
	}
	fitted := func(file string) string {
		said, err := call(t, newFitCommand(), append([]string{file}, append(slices.Clone(fit[1:]), "--target", "happy",
			"--out", "m.json")...)...)
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		return said
	}
	if one, several := fitted("people.csv"), fitted("part-*.csv"); one != several {
		t.Errorf("of one file\n%s\nof three of the same records\n%s", one, several)
	}
	if text, err := call(t, newExportCommand(), "m.Rome.json", "-o", "plain.json"); err != nil ||
		!strings.Contains(text, "plain.json has the model") {
		t.Errorf("export: %s (%v)", text, err)
	}
	for args, want := range map[string]string{
		"--target happy --learner svm --threshold 1":    "--threshold is not for svm",
		"--target happy --lambda 0":                     "give it a positive number",
		"--target happy --intervals 95":                 "between 0 and 1",
		"--target pay --learner linear --clip 500":      "half the width of the bounds of pay, 1000",
		"--target happy --by city --card c.md":          "leave out --by",
		"--target happy --learner logistic --out x/y/z": "make it",
		"--target ag": "ag",
	} {
		if said, err := call(t, newFitCommand(), append(slices.Clone(fit), strings.Fields(args)...)...); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s (%v), want %q", args, said, err, want)
		}
	}
	must.Do(os.WriteFile("people.csv", []byte("age,city,pay,happy\n200,Bern,1,yes\n"), 0o600))
	said, err := call(t, newFitCommand(), append(slices.Clone(fit), "--target", "happy", "--check")...)
	if err == nil || !strings.Contains(said, "200") {
		t.Errorf("an age of 200: %s (%v)", said, err)
	}
}

// Who asks for intervals gets effects in units, where there are intervals for the population and nothing else was said.
func TestIntervalsAreOfEffectsInUnits(t *testing.T) {
	testscale.Slow(t)
	dir := t.TempDir()
	t.Chdir(dir)
	var rows strings.Builder
	for i := range 600 {
		fmt.Fprintf(&rows, "%d,%s,%d,%s\n", 20+i%50, []string{"Bern", "Rome"}[i%2], 1000+i,
			[]string{"no", "yes"}[i%3%2])
	}
	must.Do(os.WriteFile("people.csv", []byte("age,city,pay,happy\n"+rows.String()), 0o600))
	s := frame.Schema{Fields: []frame.Field{learn.Numeric("age", 20, 70), learn.Categorical("city", "Bern", "Rome"),
		learn.Numeric("pay", 0, 2000), learn.Categorical("happy", "no", "yes")}}
	must.Do(s.Save("schema.json"))
	s.Fields[0] = frame.Field{Name: "age", Kind: frame.Numeric, Lower: 20, Upper: 70, Open: true}
	must.Do(s.Save("open.json"))
	for args, units := range map[string]bool{
		"--target pay --learner linear --intervals 0.9":                                 true,
		"--target happy --intervals 0.9":                                                true,
		"--target happy --learner logistic --intervals 0.9 --curvature-share 0.1":       true,
		"--target happy --intervals 0.9 --schema open.json --ignore age":                true,
		"--target pay --learner linear":                                                 false,
		"--target pay --learner linear --intervals 0.9 --row-norm 1":                    false,
		"--target pay --learner linear --intervals 0.9 --in-units=false":                false,
		"--target pay --learner linear --intervals 0.9 --clip 0.3":                      false,
		"--target pay --learner linear --intervals 0.9 --rising age":                    false,
		"--target pay --learner quantile --intervals 0.9 --smooth 0.1":                  false,
		"--target happy --learner softmax --intervals 0.9":                              false,
		"--target happy --intervals 0.9 --class-weight yes=2":                           false,
		"--target happy --learner logistic --intervals 0.9 --delta 0":                   false,
		"--target happy --intervals 0.9 --person pay --rows-of-a-person 2 --ignore age": true,
	} {
		said, err := call(t, newFitCommand(), append([]string{"people.csv", "--schema", "schema.json", "--epsilon", "2",
			"--delta", "1e-6", "--seed", "1", "--store", dir, "--target", "happy"}, strings.Fields(args)...)...)
		if err != nil || strings.Contains(said, "Effects per unit of a column") != units {
			t.Errorf("%s, in units %v: %s (%v)", args, units, said, err)
		}
	}
}

// In a shell, too, records count by weights, and a model is asked about the records that were held out: at a price that
// is the ledger's, with an interval, and its probabilities are corrected by what was asked.
func TestWeightsAndEvaluationInAShell(t *testing.T) {
	testscale.Slow(t)
	dir := t.TempDir()
	t.Chdir(dir)
	var rows strings.Builder
	for i := range 4000 {
		age := 20 + i*37%50
		fmt.Fprintf(&rows, "%d,%d,%s,%d\n", age, 1+i%4, []string{"no", "yes"}[(age+i*i%29)/60], 10*age+i%997)
	}
	must.Do(os.WriteFile("people.csv", []byte("age,survey,ill,pay\n"+rows.String()), 0o600))
	s := frame.Schema{Fields: []frame.Field{learn.Numeric("age", 20, 70), learn.Numeric("survey", 0, 4),
		learn.Categorical("ill", "no", "yes"), learn.Numeric("pay", 0, 2000)}}
	must.Do(s.Save("schema.json"))
	public := []string{"people.csv", "--schema", "schema.json", "--epsilon", "4", "--delta", "1e-6"}
	kept := append(slices.Clone(public), "--budget", "l.json")
	run := func(c *cobra.Command, table []string, args string) (string, error) {
		return call(t, c, append(slices.Clone(table), strings.Fields(args)...)...)
	}
	ask := func(model string, table []string, args string) (string, error) {
		return call(t, newEvaluateCommand(), slices.Concat([]string{model}, table, strings.Fields(args))...)
	}
	fit := "--store " + dir + " --target ill --learner logistic --share 0.3 --held-out 0.5"
	fitted, err := run(newFitCommand(), kept, fit+" --out ill.json")
	if err != nil {
		t.Fatal(fitted, err)
	}
	if again, err := run(newFitCommand(), kept, fit); err != nil || !strings.HasPrefix(apart(fitted),
		apart(again)) {
		t.Errorf("the second time: %s (%v)", again, err)
	}
	rate, err := ask("ill.json", kept, "--auc --share 0.1 --records 2000 --price --base-rate 0.25")
	if err != nil || !strings.Contains(rate, "with 0.25 of the records in class yes") {
		t.Errorf("the price of a base rate: %s (%v)", rate, err)
	}
	budget := learn.NewBudget(4, 1e-6, learn.Named("l.json"), learn.KeptIn("l.json"))
	spent := func() float64 { return must.Get(budget.State()).SpentEpsilon }
	for args, want := range map[string]string{"": "predicted wrongly", "--confusion": "recall of yes", "--auc": "AUC",
		"--calibrated better.json": "better.json has the calibrated model"} {
		if said, err := ask("ill.json", kept, strings.TrimSuffix(args, " better.json")+
			" --share 0.1 --records 2000 --price"); args != "--calibrated better.json" &&
			(err != nil || !strings.Contains(said, "This buys ")) {
			t.Errorf("the price of %q: %s (%v)", args, said, err)
		}
		before := spent()
		said, err := ask("ill.json", kept, args+" --share 0.1 --held-out 0.5")
		if err != nil || !strings.Contains(said, want) || !strings.Contains(said, "95 %") {
			t.Errorf("%q: %s (%v), want %q", args, said, err, want)
		}
		after := spent()
		again, err := ask("ill.json", kept, args+" --share 0.1 --held-out 0.5")
		if apart(again) != said || again == said || err != nil || spent() != after ||
			!(after > before) {
			t.Errorf("%q again: ε from %g to %g, %g: %s (%v)", args, before, after, spent(), again, err)
		}
	}
	for model, args := range map[string]string{"ill.json": "", "better.json": "--held-out 0.4 --auc"} {
		before := spent()
		_, err := ask(model, kept, args+" --share 0.01")
		if err == nil || !strings.Contains(err.Error(), model+" was fitted with 0.5 held out: say --held-out 0.5") ||
			spent() != before {
			t.Errorf("%s: records that it has learnt from are asked about: %v", model, err)
		}
	}
	if said, err := ask("ill.json", kept, "--share 0.01 --held-out 0"); err != nil {
		t.Errorf("of all records, as of another file: %s (%v)", said, err)
	}
	if m := must.Get(learn.Load("better.json")); !strings.Contains(string(must.Get(m.Card())), "Calibrated") {
		t.Error("the model with a calibration is not calibrated")
	}
	recall := func(args string) string {
		seeded := append(slices.Clone(public), "--seed", "1")
		said, err := run(newFitCommand(), seeded, "--store "+dir+" --target ill --learner logistic "+args)
		if err != nil {
			t.Errorf("%s: %v", args, err)
		}
		return said
	}
	plain := recall("")
	for _, args := range []string{"--class-weight yes=5", "--weights survey=4"} {
		if recall(args) == plain {
			t.Errorf("%s: nothing changed", args)
		}
	}
	for args, want := range map[string]string{"--weights survey": "weight=20", "--class-weight yes": "yes=5",
		"--class-weight yes=1 --class-weight yes=2": "two weights", "--held-out 20": "0.2",
		"--learner quantiles --weights survey=4": "weights", "--class-weight ja=5": "no class"} {
		target := " --target ill"
		if strings.Contains(args, "quantiles") {
			target = " --target pay"
		}
		before := spent()
		if said, err := run(newFitCommand(), kept, "--share 0.1 "+args+target); err == nil ||
			!strings.Contains(err.Error(), want) || spent() != before {
			t.Errorf("%s: %s (%v), want %q", args, said, err, want)
		}
	}
	for args, want := range map[string]string{"--price --calibrated x.json": "leave out",
		"--auc --confusion": "none of", "--confusion --calibrated x.json": "none of",
		"--price --share 0.1": "--records", "--auc --base-rate 0.2": "it is for --price",
		"--price --records 900 --share 0.1 --base-rate 0.2": "--base-rate is for the price of an AUC"} {
		if said, err := ask("ill.json", kept, args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s (%v), want %q", args, said, err, want)
		}
	}
}

func TestByteSize(t *testing.T) {
	for text, want := range map[string]byteSize{"1GiB": 1 << 30, "500MB": 5e8, "0.5 GiB": 1 << 29, "64MiB": 64 << 20,
		"1": 0, "GiB": 0, "10kB": 0, "-1GiB": 0, "NaNGiB": 0, "1e30TB": 0} {
		var b byteSize
		if err := b.Set(text); b != want || (err == nil) != (want != 0) {
			t.Errorf("%q: %d, %v", text, b, err)
		}
	}
}

// Two files of one name are told apart; a study that moves with its ledger keeps its names.
func TestNamesOfReleases(t *testing.T) {
	for _, c := range [][3]string{
		{"/a/l.json", "/a/people.csv", "people.csv"}, {"/b/l.json", "/b/people.csv", "people.csv"},
		{"/a/l.json", "/a/jan/people.csv", "jan/people.csv"}, {"/a/l.json", "/a/feb/people.csv", "feb/people.csv"}} {
		if got := beside(c[0], c[1]); got != c[2] {
			t.Errorf("%s beside %s is called %s, want %s", c[1], c[0], got, c[2])
		}
	}
	names := map[string]bool{}
	for _, p := range []privateFlags{{}, {heldOut: 0.2}, {heldOut: 0.3}, {name: "mine"},
		{name: "mine", chosen: map[string]string{"city": "Rome"}},
		{name: "mine", chosen: map[string]string{"city": "Bern"}}} {
		p.budget = "/a/l.json"
		names[p.once("fit", "/a/people.csv")] = true
	}
	if len(names) != 6 || !names["mine"] {
		t.Errorf("six releases, of which three have the name of one, are called %v", names)
	}
}

// Terms are said by flags, and are those of the model; what is no term costs nothing.
func TestTermFlags(t *testing.T) {
	dir := t.TempDir()
	file, schema := filepath.Join(dir, "people.parquet"), filepath.Join(dir, "schema.json")
	must.Do(parquet.Write(file, scale.Invented{Rows: 2000}))
	must.Do(scale.Schema().Save(schema))
	fit := []string{file, "--schema", schema, "--epsilon", "4", "--delta", "1e-6", "--target", "ill",
		"--memory", "100MiB", "--store", dir, "--learner", "svm", "--seed", "1"}
	said, err := call(t, newFitCommand(), append(fit, "--line", "x0", "--steps", "x1=0.3,0.6", "--periodic", "x2",
		"--periodic", "x3=1", "--cross", "x0,x1")...)
	for _, want := range []string{"x1=0.3 to 0.6", "x2: 0 → 0.25", "x3: 0 → 0.75", "x0: 0 → 1, x1=0.6 to 1"} {
		if err != nil || !strings.Contains(said, want) {
			t.Errorf("%q is not in %s (%v)", want, said, err)
		}
	}
	for want, flags := range map[string][]string{"is not a number": {"--steps", "x1=a"},
		"want two columns": {"--cross", "x1"}, "for another two": {"--cross", "x0,x1,x2"},
		"not one period":  {"--periodic", "x2=24"},
		"no column \"y\"": {"--line", "x0,y"}, "no column \"z\"": {"--rising", "x0,z"}} {
		_, err := call(t, newFitCommand(), append(fit, flags...)...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", flags, err, want)
		}
	}
}
