package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
)

// answering is a conversation with one who says these lines.
func answering(lines ...string) (*asking, *bytes.Buffer) {
	var said bytes.Buffer
	return &asking{bufio.NewReader(strings.NewReader(strings.Join(lines, "\n") + "\n")), &said}, &said
}

// Asked again with a flag that was forgotten, what says how it can be done is said, and a draft is written anew unless
// something was filled in.
func TestNewAgain(t *testing.T) {
	root := must.Get(project.Root("."))
	t.Chdir(t.TempDir())
	must.Do(os.WriteFile("p.csv", []byte("An export\nage,city\n30,Bern\n"), 0o600))
	again := func(lines int) (schema string, err error) {
		d := drafting{table: tableFlags{separator: ",", decimal: ".", csv: frame.CSVSettings{Skip: lines}}}
		_, _, err = d.write(project.Tree{Dir: root}, "p.csv", nil)
		return string(must.Get(os.ReadFile("p.schema.json"))), err
	}
	if schema, err := again(0); err != nil || !strings.Contains(schema, "An export") {
		t.Fatal(schema, err)
	}
	if schema, err := again(1); err == nil || !strings.Contains(err.Error(), "move or delete it") ||
		!strings.Contains(schema, "city") || strings.Contains(schema, "An export") {
		t.Error(schema, err)
	}
	draft, _ := again(1)
	edited := strings.Replace(draft, `"type": ""`, `"type": "ignore"`, 1)
	must.Do(os.WriteFile("p.schema.json", []byte(edited), 0o600))
	must.Do(os.Remove("p.ipynb"))
	if schema, _ := again(0); schema != edited {
		t.Error(schema)
	}
}

// A new notebook for a table has a schema with the names of its columns, which is completed by whoever is asked, or by
// a codebook, and is the same whatever the records are.
func TestNewForATable(t *testing.T) {
	root := must.Get(project.Root("."))
	tree := project.Tree{Dir: root}
	write := func(path, text string) {
		t.Helper()
		must.Do(os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(os.WriteFile(path, []byte(text), 0o600))
	}
	const header = "age;city;id;since;happy\n"
	dir := t.TempDir()
	var drafts []string
	for _, records := range []string{"", "1;Bern;7;2020-01-01;yes\n", "not;a;table\n"} {
		file := filepath.Join(dir, "people.csv")
		for _, old := range []string{"people.schema.json", "people.ipynb"} {
			must.Do(os.RemoveAll(filepath.Join(dir, old)))
		}
		write(file, header+records)
		d := drafting{target: "happy", table: tableFlags{separator: ";", decimal: ","}}
		path, blank, err := d.write(tree, file, nil)
		if err != nil || path != filepath.Join(dir, "people.ipynb") || blank == nil ||
			!strings.Contains(blank.Error(), "says nothing yet of age, city, id, since, happy") {
			t.Fatalf("%s, %v, %v", path, blank, err)
		}
		draft := must.Get(os.ReadFile(filepath.Join(dir, "people.schema.json")))
		drafts = append(drafts, string(draft))
	}
	if drafts[0] != drafts[1] || drafts[0] != drafts[2] {
		t.Errorf("records change the draft: %q", drafts)
	}
	nb := must.Get(notebook.ReadFile(filepath.Join(dir, "people.ipynb")))
	for _, c := range nb.Cells {
		if strings.Contains(c.Source(), "09_your_data") {
			t.Errorf("it names the notebook that it was made of: %s", c.Source())
		}
		if c.ID() == "parameters" {
			for _, want := range []string{`= "people.csv"`, `= "people.schema.json"`, `= ";", ","`, `= "happy"`,
				`= "people.budget.json"`, "within         = 0.0 "} {
				if !strings.Contains(c.Source(), want) {
					t.Errorf("no %s in\n%s", want, c.Source())
				}
			}
		}
	}
	schema := filepath.Join(dir, "people.schema.json")
	a, said := answering("?", "n", "90", "18", "", "l", "18", "90", "own", "c", "Bern|Rome|other", "other", "x",
		"date", "b", "date", "", "1970-01-01", "2024-12-31", "c", "no|yes", "")
	s, err := completed(schema, "", a)
	if err != nil || len(s.Fields) != 4 || !strings.Contains(said.String(), `There is no type "?"`) {
		t.Fatalf("%+v, %v\n%s", s, err, said)
	}
	if f, _ := s.Field("age"); f == nil || !f.Log || !f.Missing || f.Fill != nil {
		t.Errorf("%+v", f)
	}
	if f, _ := s.Field("city"); f == nil || f.Else != "other" || len(f.Levels) != 3 {
		t.Errorf("%+v", f)
	}
	if again, err := frame.LoadSchema(schema); err != nil || len(again.Fields) != 4 {
		t.Errorf("%+v, %v", again, err)
	}
	write(schema, drafts[0])
	const values = `phone, tablet, "a TV, or so`
	commas, said := answering("n", "18", "90", "40", "c", values, values+`"`, "", "x", "d",
		"dd.mm.yyyy", "02.01.2006", "01.02.1970", "31.12.2024", "c", "no,yes", "")
	s, err = completed(schema, "", commas)
	if err != nil || !slices.Equal(s.Fields[1].Levels, []string{"phone", "tablet", "a TV, or so"}) ||
		s.Fields[2].Lower != 31 || s.Fields[2].Layout != "02.01.2006" || !slices.Equal(s.Fields[3].Levels,
		[]string{"no", "yes"}) || s.Fields[0].Fill == nil || !strings.Contains(said.String(), `"since"`) {
		t.Errorf("values with commas between them, and a layout at the second go: %+v, %v\n%s", s, err, said)
	}
	write(schema, drafts[0])
	half, _ := answering("n", "18")
	if _, err := completed(schema, "", half); err == nil || !strings.Contains(err.Error(), "input ended") {
		t.Errorf("half the answers: %v", err)
	}
	more, _ := answering("x", "c", "Bern|Rome", "", "d", "")
	if _, err := completed(schema, "", more); err == nil {
		t.Error("half the answers are a schema")
	}
	rest, asked := answering("x", "d", "", "1970-01-01", "2024-12-31", "c", "no|yes", "")
	if s, err := completed(schema, "", rest); err != nil || len(s.Fields) != 3 || len(s.Ignored) != 2 ||
		strings.Contains(asked.String(), "city:") {
		t.Errorf("the rest of the answers: %+v, %v\n%s", s, err, asked)
	}
	write(schema, drafts[0])
	check := filepath.Join(dir, "checked.json")
	for text, want := range map[string]string{
		`"type":"date, in days","lower":"2020-01-01","upper":"2021-01-01"`: "how a CSV file writes the dates of " +
			"since",
		`"type":"number","lower":0,"upper":1}, {"name":"id","type":"ignore"`: "2 columns, 1 of which to be left out"} {
		write(check, `{"version":1,"fields":[{"name":"since",`+text+`}]}`)
		if said, err := call(t, newSchemaCommand(), "check", check); !strings.Contains(fmt.Sprint(said, err), want) {
			t.Errorf("%s (%v), want %q", said, err, want)
		}
	}
	codebook := filepath.Join(dir, "codebook.csv")
	write(codebook, "name,type,lower,upper,categories\nage,number,18,90,\ncity,category,,,Bern|Rome\n")
	if _, err := completed(schema, codebook, nil); err == nil ||
		!strings.Contains(err.Error(), "yet of id, since, happy") {
		t.Errorf("with half a codebook: %v", err)
	}
	if text, _ := os.ReadFile(schema); string(text) != drafts[0] {
		t.Errorf("what is not complete was written: %s", text)
	}
	d := drafting{codebook: codebook, table: tableFlags{separator: ";"}}
	other := filepath.Join(dir, "new folder", "others.csv")
	write(other, header)
	if _, blank, err := d.write(tree, other, nil); blank != nil || err != nil {
		t.Errorf("from a codebook: %v, %v", blank, err)
	}
	for name, want := range map[string]string{filepath.Join(dir, "none.csv"): "there is no file",
		filepath.Join(dir, "people.csv"): "left as it is"} {
		d := drafting{table: tableFlags{separator: ";"}}
		if _, _, err := d.write(tree, name, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	listed := filepath.Join(dir, "listed.csv")
	write(listed, "age,\"Comment, free\"\n")
	for _, d := range []drafting{{target: "free"}, {}} {
		_, blank, err := d.write(tree, listed, nil)
		if !strings.Contains(fmt.Sprint(blank, err), `"age", "Comment, free"`) {
			t.Errorf("names with commas are listed as %v, %v", blank, err)
		}
	}
	marked := filepath.Join(dir, "marked.csv")
	write(marked, "of 2024\nage;city;id;since;happy\n")
	args := []string{marked, "--no-setup", "--schema", schema, "--target", "happy", "--separator", ";",
		"--thousands", "'", "--missing", "n/a,none", "--skip", "1", "--encoding", "Latin-1",
		"--number-duplicates", "--trim-suffix", ".", "--trim-prefix", "£"}
	const marks = `--thousands "'" --encoding Latin-1 --skip 1 --number-duplicates --trim-suffix . --trim-prefix '£' ` +
		`--missing n/a,none`
	if said := must.Get(call(t, newNewCommand(), args...)); !strings.Contains(said, "check "+marked+" --schema "+schema+
		" --separator ';' "+marks+"\n") {
		t.Errorf("new says %q", said)
	}
	source := ""
	for _, c := range must.Get(notebook.ReadFile(filepath.Join(dir, "marked.ipynb"))).Cells {
		source += c.Source()
	}
	for _, want := range []string{"`dpnb check marked.csv --schema people.schema.json --separator ';' " + marks + "`",
		`Thousands: '\'', Encoding: "Latin-1", Skip: 1, NumberDuplicates: true, Missing: []string{"n/a", "none"}, ` +
			`TrimSuffix: ".", TrimPrefix: "£"}`} {
		if !strings.Contains(source, want) {
			t.Errorf("no %s in the notebook", want)
		}
	}
	// All that read a table have the same flags for it.
	var all tableFlags
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	all.add(flags)
	schemaCheck, _, err := newSchemaCommand().Find([]string{"check"})
	for _, c := range []*cobra.Command{newNewCommand(), newFitCommand(), newDescribeCommand(), newPriceCommand(),
		newEvaluateCommand(), newPredictCommand(), newCheckCommand(), schemaCheck} {
		flags.VisitAll(func(f *pflag.Flag) {
			if c.Flags().Lookup(f.Name) == nil || err != nil {
				t.Errorf("%s lacks --%s (%v)", c.Name(), f.Name, err)
			}
		})
	}
	wrong := drafting{target: "hapy", table: tableFlags{separator: ";"}}
	if _, _, err := wrong.write(tree, filepath.Join(dir, "people.csv"), nil); err == nil ||
		!strings.Contains(err.Error(), "there is no such column") {
		t.Errorf("a target that is not there: %v", err)
	}
}
