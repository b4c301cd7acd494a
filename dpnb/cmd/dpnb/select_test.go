package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/report"
)

// clone makes a folder that looks like the project, with empty notebooks.
func clone(t *testing.T, notebooks ...string) string {
	t.Helper()
	root := t.TempDir()
	t.Chdir(root)
	for _, name := range append(notebooks, "../go.mod") {
		path := filepath.Join(root, "notebooks", name)
		must.Do(os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(os.WriteFile(path, []byte("module github.com/dpnb/notebooks\n"), 0o644))
	}
	return root
}

func TestChooseNotebooks(t *testing.T) {
	root := clone(t, "00_start.ipynb", "10_paper.ipynb", "11_paper.ipynb", "notes.txt")
	all, err := projectNotebooks(root)
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	for _, c := range []struct {
		named, only []string
		want        string // names, or part of the error after a "!"
	}{
		{nil, nil, "00_start 10_paper 11_paper"},
		{nil, []string{"1*"}, "10_paper 11_paper"},
		{nil, []string{"00*", "11_paper.ipynb"}, "00_start 11_paper"},
		{[]string{"11_paper"}, nil, "11_paper"},
		{[]string{"notebooks/10_paper.ipynb"}, nil, "10_paper"},
		{nil, []string{"2*"}, "!matches none of 00_start, 10_paper, 11_paper"},
		{nil, []string{"["}, "!syntax error"},
		{[]string{"12_paper"}, nil, "!no notebook 12_paper"},
	} {
		chosen, err := chooseNotebooks(root, all, c.named, c.only)
		if want, fails := strings.CutPrefix(c.want, "!"); fails {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q, %q: %v, want %q", c.named, c.only, err, want)
			}
			continue
		}
		var names []string
		for _, path := range chosen {
			names = append(names, report.Name(path))
		}
		if err != nil || strings.Join(names, " ") != c.want {
			t.Errorf("%q, %q: %q, %v", c.named, c.only, names, err)
		}
	}
	if _, err := chooseNotebooks(root, nil, nil, nil); err == nil || !strings.Contains(err.Error(), "no notebook in") {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestParseParameters(t *testing.T) {
	got, err := parseParameters([]string{"epsilon=0.5", "name=a=b", "empty="})
	if err != nil || len(got) != 3 || got["name"] != "a=b" || got["empty"] != "" {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range [][]string{{"epsilon"}, {"=1"}, {"a=1", "a=2"}} {
		if _, err := parseParameters(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// Outside a clone only what works on the source wants one.
func TestCommandsOutsideAClone(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{"test"}, {"faults"}, {"claims", "--renew"}} {
		if _, err := said(args...); err == nil || !strings.Contains(err.Error(), "change to its folder") {
			t.Errorf("%q: %v", args, err)
		}
	}
	if _, file, _, _ := runtime.Caller(0); !filepath.IsAbs(file) {
		t.Skip("built with -trimpath, it does not know where its source is, and has no version")
	}
	for _, args := range [][]string{{"report", "nowhere"}, {"lab", "nowhere"}, {"claims", "--only", "no/claim"}} {
		if _, err := said(args...); err == nil || strings.Contains(err.Error(), "clone") {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestWrongUse(t *testing.T) {
	clone(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"report"}, "no notebook in"},
		{[]string{"report", "-p", "x"}, "name=value"},
		{[]string{"data"}, "adult"},
		{[]string{"data", "other"}, "adult"},
		{[]string{"test", "extra"}, "unknown command"},
		{[]string{"nonsense"}, "unknown command"},
	} {
		if _, err := said(c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.args, err, c.want)
		}
	}
}

func TestWithoutPassed(t *testing.T) {
	text := "ok  \ta\t0.1s\n?   \tb\t[no test files]\n--- FAIL: TestX\nFAIL\tc\t0.2s\ngo: downloading x v1"
	if got := withoutPassed(text); got != "--- FAIL: TestX\nFAIL\tc\t0.2s" {
		t.Errorf("%q", got)
	}
}

// TestChecksCanFail lets each check of the code judge a project with one mistake.
func TestChecksCanFail(t *testing.T) {
	testscale.InTurn(t)
	good := "package dpnb\n\n// F returns 1.\nfunc F() int { return 1 }\n"
	mistakes := map[string]string{
		"gofmt":         "package dpnb\nfunc  F() int { return 1 }\n",
		"go mod tidy":   "package dpnb\n\nimport _ \"golang.org/x/term\"\n",
		"go vet":        "package dpnb\n\nimport \"fmt\"\n\nfunc F() { fmt.Printf(\"%d\", \"x\") }\n",
		"go test ./...": "package dpnb\n\nfunc F() int { return 2 }\n",
	}
	root := clone(t)
	write := func(name, content string) {
		t.Helper()
		path := filepath.Join(root, "dpnb", name)
		must.Do(os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(os.WriteFile(path, []byte(content), 0o644))
	}
	write("../go.mod", "module github.com/dpnb/notebooks\n\ngo 1.26\n")
	write("f_test.go", `package dpnb

import "testing"

func TestF(t *testing.T) {
	if F() != 1 {
		t.Fatal("F")
	}
}
`)
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOPROXY", "off")
	checks := (&tester{}).checks()
	for name := range mistakes {
		if !slices.ContainsFunc(checks, func(c check) bool { return c.name == name }) {
			t.Errorf("there is no check %q", name)
		}
	}
	for _, c := range checks {
		mistake, ok := mistakes[c.name]
		if !ok {
			continue
		}
		write("f.go", good)
		err := c.run(t.Context(), root)
		if unmade(err) {
			t.Logf("%s: %v", c.name, err)
			continue
		}
		if err != nil {
			t.Errorf("%s fails without a mistake: %v", c.name, err)
		}
		write("f.go", mistake)
		if err := c.run(t.Context(), root); err == nil {
			t.Errorf("%s passes a mistake", c.name)
		}
	}
}

// A check that wants modules which cannot be fetched is left out, with the reason, and one that finds something else as
// well has failed.
func TestChecksWithoutModules(t *testing.T) {
	gone := errors.New("a imports\n\tb: module lookup disabled by GOPROXY=off\n")
	no := errors.New(`b@v1: Get "https://localhost/b.zip": dial tcp: connection refused`)
	tt := &tester{display: newDisplay(os.Stderr)}
	for _, err := range []error{fetched(gone), errors.Join(fetched(no), errors.Join(nil, fetched(gone))), nil,
		errors.New("b: undefined"), errors.Join(fetched(gone), fetched(errors.New("b: undefined")))} {
		tt.check(t.Context(), check{name: "tidy", run: func(context.Context, string) error { return err }})
	}
	if tt.skipped != 2 || tt.passed != 1 || tt.failed != 2 {
		t.Errorf("%d left out, %d passed, %d failed; want 2, 1, 2", tt.skipped, tt.passed, tt.failed)
	}
}
