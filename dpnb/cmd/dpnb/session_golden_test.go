package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/dataset"
	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// What the commands say in a session with invented patients, the noise of one seed, is as it was: testdata/session.txt
// has each command and what it said or why it refused.
func TestWhatCommandsSay(t *testing.T) {
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
		"shapes odds.json -o shapes.html", "budget none.json",
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
	for _, file := range []string{"ill.md", "out.csv", "linear.json", "bare.csv"} {
		content, _ := os.ReadFile(file)
		fmt.Fprintf(&all, "== %s\n%s\n", file, content)
	}
	golden.Compare(t, kept, all.String())
}
