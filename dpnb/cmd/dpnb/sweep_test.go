package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame/parquet"
)

func runSweep(args ...string) (string, error) {
	c := newSweepCommand()
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetErr(&out)
	c.SilenceUsage, c.SilenceErrors = true, true
	c.SetArgs(args)
	err := c.Execute()
	return out.String(), err
}

func TestSweepCommand(t *testing.T) {
	path := filepath.Join(t.TempDir(), "noise.parquet")
	text, err := runSweep("noise", "--trials", "5", "--out", path)
	if err != nil || !strings.Contains(text, "10 rows") {
		t.Fatal(text, err)
	}
	table, err := parquet.Open(path, nil)
	if err != nil || len(table.Names()) != 5 {
		t.Error(err)
	}
	if _, err := os.Stat(path + ".parts"); !os.IsNotExist(err) {
		t.Errorf("the parts are still there: %v", err)
	}
	for _, args := range [][]string{{}, {"none"}, {"noise", "--processes", "2"}, {"noise", "--workers", "a:1"},
		{"noise", "--runner", "prism", "--jobs", "2"}, {"noise", "--trials", "1"}} {
		if _, err := runSweep(append(args, "--out", path)...); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}
