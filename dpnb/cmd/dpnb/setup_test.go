package main

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// What is to be installed is said to everybody, before; a person in a terminal is asked, and nobody else.
func TestWhatIsInstalledIsAgreedTo(t *testing.T) {
	for answer, want := range map[string]error{"\n": nil, "y\n": nil, "Yes\n": nil, "n\n": errDeclined,
		"what?\n": errDeclined, "": errDeclined} {
		var out bytes.Buffer
		err := agreedTo("by apt-get", false, &asking{bufio.NewReader(strings.NewReader(answer)), &out}, &out)
		if !errors.Is(err, want) || out.String() != "by apt-get\nGo on? [Y/n] " {
			t.Errorf("%q: %v, said %q", answer, err, out.String())
		}
		out.Reset()
		if err := agreedTo("by apt-get", true, &asking{bufio.NewReader(strings.NewReader(answer)), &out}, &out); err !=
			nil || out.String() != "by apt-get\n" {
			t.Errorf("--yes: %v, said %q", err, out.String())
		}
	}
	var out bytes.Buffer
	if err := agreedTo("by apt-get", false, nil, &out); err != nil || out.String() != "by apt-get\n" {
		t.Errorf("without a terminal: %v, said %q", err, out.String())
	}
}

// A notebook and a schema are written without any set-up where that is wanted.
func TestNewWithoutSetup(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", filepath.Dir(must.Get(os.Executable()))) // so that nothing could be found or installed
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	table := filepath.Join(dir, "people.csv")
	must.Do(os.WriteFile(table, []byte("age,happy\n30,yes\n"), 0o600))
	out, err := said("new", table, "--target", "happy", "--no-setup")
	if err != nil || !strings.Contains(out, "people.ipynb") {
		t.Fatalf("%v: %s", err, out)
	}
	folder := filepath.Join(dir, "years")
	must.Do(os.Mkdir(folder, 0o700))
	if out, err := said("new", folder, "--no-setup"); err != nil || !strings.Contains(out, "years.ipynb") {
		t.Errorf("the name of a folder: %v: %s", err, out)
	}
	for _, name := range []string{"people.ipynb", "people.schema.json", "years.ipynb"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "cache", "dpnb", "jupyter")); err == nil {
		t.Error("Jupyter was set up")
	}
}
