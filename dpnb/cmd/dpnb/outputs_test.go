package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// Nothing is written over what the same command reads, by whatever name the file is called, nor over its ledger.
func TestOutputsKeepInputs(t *testing.T) {
	t.Chdir(t.TempDir())
	names := []string{"people.csv", "more.csv", "schema.json", "ledger.json", "model.json"}
	for _, name := range names {
		must.Do(os.WriteFile(name, []byte(name), 0o600))
	}
	must.Do(os.Symlink("people.csv", "link.csv"))
	here := filepath.Join(must.Get(os.Getwd()), ".")
	private := []string{"--schema", "schema.json", "--budget", "ledger.json", "--epsilon", "1"}
	fit := func(file string, more ...string) []string {
		return append(append([]string{"fit", file, "--target", "happy"}, private...), more...)
	}
	for _, args := range [][]string{
		fit("people.csv", "--out", "link.csv"),
		fit("*.csv", "--out", "more.csv"),
		fit("people.csv", "--out", "../"+filepath.Base(here)+"/ledger.json"),
		fit("people.csv", "--budget", "new.json", "--out", filepath.Join(here, "new.json")),
		fit("people.csv", "--card", "schema.json"),
		fit("people.csv", "--out", "happy", "--card", "./happy"),
		append([]string{"evaluate", "model.json", "people.csv", "--calibrated", "model.json"}, private...),
		{"predict", "model.json", "people.csv", "-o", "people.csv"},
		{"predict", "model.json", "people.csv", "-o", "model.json"},
		{"export", "model.json", "-o", "model.json"},
		{"shapes", "model.json", "-o", "model.json"},
	} {
		if _, err := said(args...); err == nil || !strings.Contains(err.Error(), "would be written over") {
			t.Errorf("%q: %v", args, err)
		}
	}
	for _, name := range names {
		if text := must.Get(os.ReadFile(name)); string(text) != name {
			t.Errorf("%s was written over: %s", name, text)
		}
	}
	// What is not read by the command goes on to be looked at.
	if _, err := said("export", "model.json", "-o", "schema.json"); err == nil ||
		strings.Contains(err.Error(), "written over") {
		t.Errorf("an output beside its inputs: %v", err)
	}
}

// What is made of a model is not written over what was made of another, unless that is said; what it makes again is.
func TestResultsAreNotWrittenOver(t *testing.T) {
	_, table := visits(t)
	table = append(table, "--person", "id")
	for _, city := range []string{"Bern", "Rome"} {
		must.Get(said(append(append([]string{"fit"}, table...), strings.Fields("--seed 1 --store . --lines --learner "+
			"logistic --target city --positive "+city+" --out "+city+".json")...)...))
	}
	for _, c := range []struct{ args, out string }{{"export MODEL", "linear.json"},
		{"shapes MODEL", "shapes.html"}, {"predict MODEL visits.csv", "predictions.csv"}} {
		of := func(city, more string) error {
			_, err := said(strings.Fields(strings.Replace(c.args, "MODEL", city+".json", 1) + more)...)
			return err
		}
		must.Do(of("Bern", ""))
		if _, err := os.Stat("Bern." + c.out); err != nil {
			t.Errorf("%s: %v", c.args, err)
		}
		c.args += " --out " + c.out
		must.Do(of("Bern", ""))
		was := must.Get(os.ReadFile(c.out))
		if err := of("Bern", ""); err != nil {
			t.Errorf("the same again: %v", err)
		}
		if err := of("Rome", ""); err == nil || !strings.Contains(err.Error(), "say --force") ||
			!bytes.Equal(was, must.Get(os.ReadFile(c.out))) {
			t.Errorf("%s: %v", c.args, err)
		}
		for _, other := range [][]byte{append(slices.Clone(was), '1'), was[:len(was)-1]} {
			must.Do(os.WriteFile(c.out, other, 0o600))
			if err := of("Bern", ""); err == nil || !bytes.Equal(other, must.Get(os.ReadFile(c.out))) {
				t.Errorf("%s over a file of %d bytes in place of %d: %v", c.args, len(other), len(was), err)
			}
		}
		must.Do(os.WriteFile(c.out, was, 0o600))
		if err := of("Rome", " --force"); err != nil || bytes.Equal(was, must.Get(os.ReadFile(c.out))) {
			t.Errorf("%s --force: %v", c.args, err)
		}
	}
	fit := func(more string) error {
		_, err := said(append(append([]string{"fit"}, table...), strings.Fields("--store . --lines --learner logistic "+
			"--target city --card card.md "+more)...)...)
		return err
	}
	for _, c := range []struct {
		more string
		ok   bool
	}{{"--seed 1", true}, {"--seed 2", true}, {"--budget card.budget.json --share 0.1", true},
		{"--budget card.budget.json --share 0.1", true}, {"--seed 1", false},
		{"--budget card.budget.json --share 0.1 --name x", false}} {
		if err := fit(c.more); (err == nil) != c.ok || err != nil &&
			!strings.Contains(err.Error(), "--card card.md: another") {
			t.Errorf("%s: %v", c.more, err)
		}
	}
}

// A fit says that encoded records stay, and how they are removed; cache lists of which table they are, and what was
// learnt of it. Nothing of how many there are is in what a fit says.
func TestCacheSaysOfWhat(t *testing.T) {
	_, table := visits(t)
	must.Do(os.Mkdir("kept", 0o700))
	fit := func(more string) string {
		return must.Get(said(append(append([]string{"fit"}, table...), strings.Fields("--person id --seed 1 --lines "+
			"--store kept --learner "+more)...)...))
	}
	const says = "records, which are raw, stay on this machine for the next fit: dpnb cache --store kept"
	for _, more := range []string{"logistic --target city", "logistic --target city", "huber --target age",
		"huber --target age --held-out 0.3"} {
		if text := fit(more); !strings.Contains(text, says) {
			t.Errorf("%s: %s", more, text)
		}
	}
	listed := must.Get(said("cache", "--store", "kept"))
	if n := strings.Count(listed, must.Get(filepath.Abs("visits.csv"))); n < 2 ||
		strings.Count(listed, "  city  ") != 1 || strings.Contains(listed, "not known") {
		t.Errorf("%d files: %s", n, listed)
	}
	must.Get(said("cache", "remove", "--store", "kept"))
	if left := must.Get(os.ReadDir("kept")); len(left) > 0 {
		t.Errorf("left is %v", left)
	}
}

// A model that was paid for is not written over by another, and is by itself, when the ledger gives it back; a fit that
// is refused for its weights begins no ledger.
func TestModelsAreNotWrittenOver(t *testing.T) {
	t.Chdir(t.TempDir())
	var rows strings.Builder
	for i := range 400 {
		fmt.Fprintf(&rows, "%d,%s,%s\n", 20+i%50, []string{"a", "b"}[i%2], []string{"no", "yes"}[i%3/2])
	}
	must.Do(os.WriteFile("people.csv", []byte("age,city,ill\n"+rows.String()), 0o600))
	s := frame.Schema{Fields: []frame.Field{learn.Numeric("age", 20, 70), learn.Categorical("city", "a", "b"),
		learn.Categorical("ill", "no", "yes")}}
	must.Do(s.Save("schema.json"))
	fit := func(more string) error {
		_, err := said(append([]string{"fit", "people.csv"}, strings.Fields("--schema schema.json --epsilon 3.5 "+
			"--delta 1e-6 --target ill --learner logistic --lines --store . --out m.json "+more)...)...)
		return err
	}
	const kept = "--budget over.json --share 0.1 "
	if err := fit(kept + "--weights age=-2"); err == nil || !strings.Contains(err.Error(), "public bound") {
		t.Errorf("a negative bound of weights: %v", err)
	}
	if _, err := os.Stat("over.json"); err == nil {
		t.Error("a fit that is refused has begun a ledger")
	}
	must.Do(os.WriteFile("m.json", []byte("{}"), 0o600))
	if err := fit(kept); err == nil || !strings.Contains(err.Error(), "another file is there") {
		t.Errorf("over what is no model: %v", err)
	}
	must.Do(os.Remove("m.json"))
	for _, same := range []string{"--seed 1", "--seed 2", kept + "--held-out 0.1", kept + "--held-out 0.1",
		kept + "--by city", kept + "--by city"} { // a simulation may be written over
		if err := fit(same); err != nil {
			t.Errorf("%s: %v", same, err)
		}
	}
	models, charged := must.Get(os.ReadFile("m.json")), must.Get(os.ReadFile("over.json"))
	for more, path := range map[string]string{"--seed 1": "m.json", "": "m.json", kept: "m.json",
		kept + "--held-out 0.2": "m.json", "--budget over2.json": "m.json", kept + "--by city --name x": "m."} {
		if err := fit(more); err == nil || !strings.Contains(err.Error(), "--out "+path) ||
			!strings.Contains(err.Error(), "another model is there; name another file, or delete it") {
			t.Errorf("%q: %v", more, err)
		}
	}
	if !bytes.Equal(models, must.Get(os.ReadFile("m.json"))) ||
		!bytes.Equal(charged, must.Get(os.ReadFile("over.json"))) {
		t.Error("the model or the ledger has changed")
	}
	calibrate := func(more string) error {
		_, err := said(append([]string{"evaluate", "m.json", "people.csv"}, strings.Fields("--schema schema.json "+
			"--epsilon 3.5 --delta 1e-6 --held-out 0.1 --calibrated better.json "+more)...)...)
		return err
	}
	must.Do(os.WriteFile("better.json", models, 0o600))
	for _, more := range []string{kept, "--seed 1"} {
		if err := calibrate(more); err == nil || !strings.Contains(err.Error(), "--calibrated better.json: another") ||
			!bytes.Equal(charged, must.Get(os.ReadFile("over.json"))) {
			t.Errorf("a calibrated model over another, %s: %v", more, err)
		}
	}
	for _, more := range []string{"--force ", "", ""} {
		if err := calibrate(more + kept); err != nil {
			t.Errorf("a calibrated model, %s: %v", more, err)
		}
	}
	better := must.Get(os.ReadFile("better.json"))
	if must.Do(os.WriteFile("better.json", models, 0o600)); calibrate(kept) == nil {
		t.Error("a model is written over by one whose curve is kept")
	}
	if err := calibrate(kept + "--force"); err != nil || !bytes.Equal(better, must.Get(os.ReadFile("better.json"))) {
		t.Errorf("what is kept gives another model: %v", err)
	}
}
