package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/dataset"
	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/ledger"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// What the commands say in a session with invented patients, the noise of one seed, is as it was: testdata/session.txt
// has each command and what it said or why it refused.
func TestWhatCommandsSay(t *testing.T) {
	testscale.Slow(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // where records are stored
	kept := must.Get(filepath.Abs("testdata/session.txt"))
	t.Chdir(t.TempDir())
	table := must.Get(dataset.Patients(240, 3))
	var rows strings.Builder
	fmt.Fprintln(&rows, strings.Join(table.Names(), ","))
	for i := range table.Rows() {
		var cells []string
		for _, name := range table.Names() {
			if c := must.Get(table.Column(name)); c.Texts != nil {
				cells = append(cells, c.Texts[i])
			} else {
				cells = append(cells, fmt.Sprint(c.Number(i)))
			}
		}
		fmt.Fprintln(&rows, strings.Join(cells, ","))
	}
	must.Do(os.WriteFile("people.csv", []byte(rows.String()), 0o600))
	must.Do(dataset.PatientsSchema().Save("schema.json"))
	must.Do(os.WriteFile("new.csv", []byte("id,age,weight,smoker,pressure,visits,ward\n"+
		"1,30,70,no,99,1,heart\n2,88,?,yes,150,3,lungs\n3,120,60,maybe,80,0,bones\n"), 0o600))
	must.Do(os.WriteFile("odd.csv", []byte("age,weight,smoker,pressure,visits,ill,ward\n17,70,no,1e9,1,no,heart\n"+
		"x,?,yes,100,-2,perhaps,lungs\n"), 0o600))
	must.Do(os.WriteFile("bad.csv", []byte("age\tweight\tsmoker\tpressure\tvisits\tward\n"+strings.Repeat(
		"x\t1 070\tno\t99\t1\theart\n#\n20\t70\tperhaps\t99\t1\theart\n", 7)), 0o600))
	b := must.Get(ledger.Open(ledger.Config{Name: "kept", Epsilon: 1, Delta: 1e-6, Adjacency: privacy.AddRemove,
		Path: "kept.json"}))
	must.Do(b.Charge(ledger.Entry{Label: "a mean", Mechanism: "noise", Epsilon: 0.25, Delta: 2e-7, Mu: 0.05}))
	df := learn.ReadCSV("people.csv").WithSchemaFile("schema.json")
	must.Do(must.Get(learn.SVM{}.Fit(learn.Binary(df, "ill"), learn.NewBudget(900, 1e-6).Spend(900))).Save("own.json"))
	marked := func(name, mark, text string) {
		must.Do(os.WriteFile(name, []byte(strings.ReplaceAll(text, ",", mark)), 0o600))
	}
	marked("tab.tsv", "\t", strings.Replace(rows.String(), "age", "old", 1))
	marked("bare.tsv", "\t", "1,30,70,no,99,1,heart\n2,88,?,yes,150,3,lungs\n")
	marked("many.txt", " ", "old,weight,smoker,pressure,visits,ward\n"+strings.Repeat("x,70,no,99,1,heart\n", 30))
	const public = " --schema schema.json --epsilon 2 --delta 1e-6"
	const seeded = " people.csv --seed 1" + public
	var all strings.Builder
	for _, line := range []string{
		"check people.csv --schema schema.json", "check odd.csv --schema schema.json",
		"fit" + seeded + " --target ill --learner svm --lines --out ill.json --card ill.md --intervals 0.9",
		"fit" + seeded + " --target ill --curvature-share 0.2 --intervals 0.95 --curves --held-out 0.3 --out odds.json",
		"fit" + seeded + " --target pressure --learner huber --rising age --steps weight=60,90",
		"fit" + seeded + " --target visits --learner poisson --clip 2",
		"fit" + seeded + " --target ward --learner softmax --out ward.json",
		"fit" + seeded + " --target ill --learner logistic --class-weight yes=0.5 --lines",
		"fit" + seeded + " --target pressure --learner quantiles --levels 0.2,0.7 --share 0.5 --lines",
		"fit" + seeded + " --target ill --by smoker --lines", "fit" + seeded + " --target nothing",
		"fit people.csv" + public + " --target ill --price --share 0.5 --records 1000",
		"describe" + seeded, "describe" + seeded + " --mean age --by smoker --confidence 0.8",
		"describe" + seeded + " --quantiles weight --levels 0.1,0.9 --population",
		"describe" + seeded + " --count --sum age",
		"describe" + seeded + " --histogram age --edges 18,30,90", "describe" + seeded + " --crosstab smoker,ward",
		"price people.csv" + public + " --mean age --records 1000 --within 0.5",
		"price people.csv" + public + " --variance age --records 1000 --share 0.1",
		"price people.csv" + public + " --quantiles age --within 0.05",
		"forecast --records 5000 --features 100", "forecast --records 500 --features 20 --epsilon 2 --noise 0.3",
		"predict ill.json new.csv --keep id --out out.csv", "export ill.json -o linear.json",
		"export ill.json --output again.json",
		"fit tab.tsv --seed 1" + public + " --separator tab --rename old=age --target ill --falling age --out tab.json",
		"predict tab.json bare.tsv --header id,age,weight,smoker,pressure,visits,ward --keep id --out bare.csv",
		"predict tab.json many.txt --separator space --out many.csv",
		"evaluate ill.json" + seeded + " --auc", "evaluate odds.json" + seeded + " --calibration --held-out 0.3",
		"evaluate ward.json" + seeded + " --confusion",
		"evaluate ill.json people.csv" + public + " --price --records 500",
		"fit" + seeded + " --target ill --class-weight =2", "fit" + seeded + " --target ill --class-weight yes",
		"fit" + seeded + " --target ill --weights =3", "fit" + seeded + " --target ill --weights age=x",
		"fit" + seeded + " --target ill --held-out 0", "fit" + seeded + " --target ill --held-out 1",
		"fit" + seeded + " --target ill --held-out -0.5", "describe" + seeded + " --quantiles weight",
		"fit" + seeded + " --target pressure --learner linear --falling weight --line age --cross smoker,ward " +
			"--in-units --out cross.json",
		"fit" + seeded + " --target pressure --learner linear --periodic age --intervals 0.9 --ignore ill,ward",
		"fit" + seeded + " --target pressure --learner linear --weights age=90 --intervals 0.9 --lines",
		"fit" + seeded + " --target ill --row-norm -1", "fit" + seeded + " --target ill --learner svm --tau 0.5",
		"fit" + seeded + " --target ill --learner svm --lambda 0",
		"fit odd.csv --seed 1" + public + " --target ill --check", "fit" + seeded + " --target ill --ignore ill",
		"fit" + seeded + " --target ill --by ill", "fit people.csv --target ill",
		"describe" + seeded + " --by smoker", "describe" + seeded + " --histogram age --edges 18,x",
		"describe" + seeded + " --levels 0.5", "describe" + seeded + " --mean age --variance age",
		"price people.csv" + public + " --crosstab smoker,ward --records 1000 --share 0.1",
		"price people.csv" + public + " --histogram age --edges 18,30,90 --records 1000 --confidence 0.8 --within 30",
		"price people.csv" + public + " --mean age --by smoker --records 1000 --population --share 0.1",
		"check bad.csv --schema schema.json --separator tab --thousands space --comment #",
		"predict ill.json bad.csv --separator tab --thousands space --comment # --out bad.out.csv",
		"predict ill.json new.csv --keep id --out out.csv", "predict ill.json odd.csv --out out.csv",
		"evaluate ill.json" + seeded, "evaluate cross.json" + seeded + " --confidence 0.8",
		"evaluate ill.json" + seeded + " --price --records 500",
		"evaluate own.json people.csv" + public + " --price --auc --records 500 --base-rate 0.2",
		"evaluate own.json people.csv" + public + " --price --calibration --records 500 --share 0.5",
		"evaluate own.json people.csv" + public + " --price --records 500 --confidence 0.8",
		"evaluate ill.json" + seeded + " --base-rate 0.2",
		"evaluate odds.json" + seeded + " --calibrated better.json --held-out 0.3",
		"evaluate ward.json" + seeded + " --auc", "evaluate none.json" + seeded,
		"shapes odds.json -o shapes.html", "shapes cross.json -o cross.html", "budget none.json", "budget kept.json",
		"cache --store none", "forecast --records 500 --features 20 --json", "forecast --features 20",
		"epsilon --type nothing --delta 1e-6", "epsilon --type gaussian", "claims --list --only rkw23/cor3.5",
		"claims --list --json --only rkw23/cor3.5",
		"epsilon --type gaussian --sigma 3 --delta 1e-6", "delta --type laplace --scale 2 --epsilon 0.3 --count 4",
		"epsilon --type gaussian --sigma 2 --rate 0.01 --count 100 --delta 1e-5 --json",
		"sigma --type gaussian --epsilon 1 --delta 1e-6 --count 3 --adjacency replace",
	} {
		text, err := said(strings.Fields(line)...)
		fmt.Fprintf(&all, "$ dpnb %s\n%s", line, text)
		if err != nil {
			fmt.Fprintln(&all, "error:", err)
		}
	}
	for _, file := range []string{"ill.md", "out.csv", "bad.out.csv", "bare.csv", "linear.json"} {
		content, _ := os.ReadFile(file)
		fmt.Fprintf(&all, "== %s\n%s\n", file, content)
	}
	page := string(must.Get(os.ReadFile("cross.html")))
	fmt.Fprintln(&all, "== cross.html", regexp.MustCompile("<summary>.*?</summary>").FindAllString(page, -1))
	golden.Compare(t, kept, strings.ReplaceAll(all.String(), must.Get(os.Getwd()), "DIR"))
}

// What every command says of itself and of its flags is as it was: testdata/help.txt.
func TestWhatHelpSays(t *testing.T) {
	var all strings.Builder
	var visit func(c *cobra.Command, path ...string)
	visit = func(c *cobra.Command, path ...string) {
		fmt.Fprintf(&all, "$ dpnb %s\n%s\n", strings.Join(path, " "), must.Get(said(append(path, "--help")...)))
		for _, below := range c.Commands() {
			visit(below, append(slices.Clone(path), below.Name())...)
		}
	}
	visit(newRootCommand())
	golden.Compare(t, "testdata/help.txt", all.String())
}
