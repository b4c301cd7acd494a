package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// A model that was saved by one program predicts in another, which knows nothing else.
func TestPredictCommand(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must.Do(os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	df := learn.ReadCSV(write("old.csv", "age,city,ward\n20,Bern,a\n60,Rome,b\n40,Bern,c\n")).WithSchema(
		learn.Numeric("age", 18, 98), learn.Categorical("city", "Bern", "Rome"),
		learn.Categorical("ward", "a", "b", "c"))
	budget := learn.NewBudget(1, 1e-5, learn.Named(t.TempDir()))
	m := must.Get(learn.Softmax{}.Fit(learn.Classes(df, "ward"), budget.Spend(1)))
	model := filepath.Join(dir, "ward.json")
	must.Do(m.Save(model))
	table, out := write("new.csv", "id,city,age\n7,Rome,30\n8,–,50\n"), filepath.Join(dir, "out.csv")
	run := func(args ...string) (string, error) {
		return call(t, newPredictCommand(), append(args, "--force")...)
	}
	left := filepath.Join(dir, ".dpnb-part-out.csv-01234567")
	write(filepath.Base(left), "7,b")
	said, err := run(model, table, "-o", out, "--keep", "id", "--missing", "–", "--memory", "1GiB")
	if err != nil || !strings.Contains(said, "about single records") {
		t.Fatalf("%q, %v", said, err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("what a killed run left of the predictions is there: %v", err)
	}
	written, err := os.ReadFile(out)
	lines := strings.Split(strings.TrimSpace(string(written)), "\n")
	if err != nil || len(lines) != 3 || !strings.HasPrefix(lines[2], "8,") ||
		lines[0] != "id,prediction,probability of a,probability of b,probability of c" {
		t.Errorf("%s (%v)", written, err)
	}
	// The same people in files of other forms are predicted in the same way.
	strange := filepath.Join(dir, "strange.csv")
	text := "people\tof today\nNr;Stadt;age\n7;Rome;3'0,5\n8;–;50,25\n9;Z\xfcrich;1'050\n"
	must.Do(os.WriteFile(strange, []byte(strings.ReplaceAll(text, "–", "")), 0o600))
	flags := []string{"--separator", ";", "--decimal", ",", "--thousands", "'", "--encoding", "Latin-1", "--skip", "1",
		"--rename", "Stadt=city,Nr=id"}
	plain := write("plain.csv", "id,city,age\n7,Rome,none\n8,,50.25\n9,Zürich,1050\n")
	people := must.Get(frame.ScanCSV(plain, nil))
	columnar := filepath.Join(dir, "people.parquet")
	must.Do(parquet.Write(columnar, people))
	var want string
	for i, args := range [][]string{{plain}, {columnar}, append(flags, strange)} {
		must.Get(run(append([]string{model, "-o", out, "--keep", "id"}, args...)...))
		got, err := os.ReadFile(out)
		if err != nil || i > 0 && string(got) != want {
			t.Errorf("%s, want %s (%v)", got, want, err)
		}
		want = string(got)
	}
	for _, bad := range [][]string{{"--separator", ";;", plain}, {"--decimal", "3", plain},
		{"--encoding", "EBCDIC", plain}, {"--skip", "-1", plain}, {"--rename", "x=y", plain},
		{"--texts", "city", columnar + "x"}} {
		if _, err := run(append([]string{model, "-o", out}, bad...)...); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
	for _, bad := range [][]string{{}, {model}, {table, table, "-o", out}, {model, model, "-o", out},
		{model, filepath.Join(dir, "nowhere.csv"), "-o", out}, {model, table, "-o", out, "--keep", "name"}} {
		if _, err := run(bad...); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}
