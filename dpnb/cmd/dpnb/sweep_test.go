package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

func TestSweepCommand(t *testing.T) {
	path := filepath.Join(t.TempDir(), "noise.parquet")
	text, err := call(t, newSweepCommand(), "noise", "--trials", "5", "--out", path)
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
	// Nor does a sweep leave anything that was killed, whatever it was writing then, once it has gone on.
	killed := filepath.Join(t.TempDir(), "noise.parquet")
	must.Do(os.Mkdir(killed+".parts", 0o755))
	for _, left := range []string{killed + ".parts/.dpnb-part-sweep.json-00000077",
		filepath.Join(filepath.Dir(killed), ".dpnb-part-noise.parquet-00000077")} {
		must.Do(os.WriteFile(left, nil, 0o600))
	}
	if text, err := call(t, newSweepCommand(), "noise", "--trials", "5", "--out", killed); err != nil {
		t.Fatal(text, err)
	}
	if files, err := os.ReadDir(filepath.Dir(killed)); err != nil || len(files) != 1 {
		t.Errorf("a sweep that was killed left %v, %v", files, err)
	}
	// A folder of the user's keeps what else is in it.
	folder := t.TempDir()
	ledger := filepath.Join(folder, "ledger.json")
	for _, name := range []string{ledger, filepath.Join(folder, "pass-words.txt"),
		filepath.Join(folder, "pass-0123456789abcdef01234567.sums"),
		filepath.Join(folder, ".dpnb-part-pass-0123456789abcdef01234567.1-00000077")} {
		must.Do(os.WriteFile(name, nil, 0o600))
	}
	if text, err := call(t, newSweepCommand(), "noise", "--trials", "5", "--out", path,
		"--folder", folder); err != nil {
		t.Fatal(text, err)
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 4 {
		t.Errorf("sweep left %v, %v", files, err)
	}
	must.Do(removeSums(folder))
	if files, err := os.ReadDir(folder); err != nil || len(files) != 2 || files[0].Name() != "ledger.json" {
		t.Errorf("a fit left %v, %v", files, err)
	}
	for _, args := range [][]string{{}, {"none"}, {"noise", "--processes", "2"}, {"noise", "--workers", "a"},
		{"noise", "--endpoint", "localhost:1", "--jobs", "2"}, {"noise", "--trials", "1"}} {
		if _, err := call(t, newSweepCommand(), append(args, "--out", path)...); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}
