//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/paper/scale"
)

func call(t *testing.T, c *cobra.Command, args ...string) (string, error) {
	t.Helper()
	var said bytes.Buffer
	c.SetOut(&said)
	c.SilenceUsage, c.SilenceErrors = true, true
	c.SetArgs(args)
	err := c.Execute()
	return said.String(), err
}

// A fit and a summary by the command: released once under a budget that is kept, refused where
// it is spent, simulated by a seed, and refused by name where a learner does not fit into memory.
func TestFitAndDescribeCommands(t *testing.T) {
	dir := t.TempDir()
	file, schema := filepath.Join(dir, "people.parquet"), filepath.Join(dir, "schema.json")
	if err := parquet.Write(file, scale.Invented{Rows: 3000}); err != nil {
		t.Fatal(err)
	}
	if err := scale.Schema().Save(schema); err != nil {
		t.Fatal(err)
	}
	ledger, model := filepath.Join(dir, "ledger.json"), filepath.Join(dir, "model.json")
	public := []string{"--schema", schema, "--epsilon", "4", "--delta", "1e-6", "--memory", "100MiB"}
	kept := append([]string{file, "--budget", ledger}, public...)
	fit := append([]string{"--target", "ill", "--store", dir, "--learner", "logistic", "--share", "0.5"}, kept...)
	first, err := call(t, newFitCommand(), append(fit, "--out", model)...)
	if err != nil || !strings.Contains(first, "model.json has the model") {
		t.Fatal(first, err)
	}
	spent, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	again, err := call(t, newFitCommand(), fit...)
	if after, _ := os.ReadFile(ledger); err != nil || !strings.HasPrefix(first, again) || !bytes.Equal(spent, after) {
		t.Errorf("the second time: %s (%v)\n%s", again, err, after)
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
	if listed, err := call(t, newCacheCommand(), "--store", dir); err != nil || strings.Count(listed, ".rows") != 1 {
		t.Errorf("%s (%v)", listed, err)
	}
	if _, err := call(t, newCacheCommand(), "remove", "--store", dir); err != nil {
		t.Error(err)
	}
	if listed, err := call(t, newCacheCommand(), "--store", dir); err != nil || !strings.Contains(listed, "none") {
		t.Errorf("%s (%v)", listed, err)
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
}

// Terms are said by flags, and are those of the model; what is no term costs nothing.
func TestTermFlags(t *testing.T) {
	dir := t.TempDir()
	file, schema := filepath.Join(dir, "people.parquet"), filepath.Join(dir, "schema.json")
	if err := parquet.Write(file, scale.Invented{Rows: 2000}); err != nil {
		t.Fatal(err)
	}
	if err := scale.Schema().Save(schema); err != nil {
		t.Fatal(err)
	}
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
		"want two columns": {"--cross", "x1"},
		"not one period":   {"--periodic", "x2=24"}, "no column \"y\"": {"--line", "y"}} {
		_, err := call(t, newFitCommand(), append(fit, flags...)...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", flags, err, want)
		}
	}
}
