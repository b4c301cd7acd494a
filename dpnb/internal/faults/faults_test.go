package faults

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// root is the top of the checkout.
const root = "../../.."

// Every fault of the list can be planted: its text stands once where it is said to. Every survivor of the mutants, too.
func TestListIsWellFormed(t *testing.T) {
	list := must.Get(Read(root))
	if len(list) < 60 {
		t.Errorf("only %d faults", len(list))
	}
	if err := Problems(root, list); err != nil {
		t.Error(err)
	}
	mutants := must.Get(ReadMutants(root))
	for _, f := range mutants {
		if f.Reason == "" {
			t.Errorf("%s survives without a reason", f.ID)
		}
		if strings.HasPrefix(f.ID, "sample/") {
			continue
		}
		if _, err := f.planted(root); err != nil {
			t.Error(err)
		}
	}
}

// All faults were planted as they are written now, and were caught; docs/faults.md says so.
func TestAllAreCaught(t *testing.T) {
	list := must.Get(Read(root))
	results := must.Get(ReadResults(root))
	for _, f := range Missing(list, results) {
		t.Errorf("%s was not planted as it is written now: go run ./dpnb/cmd/dpnb faults", f.ID)
	}
	for _, f := range list {
		if !results[f.ID].Caught() {
			t.Errorf("nothing notices %s: %s", f.ID, f.What)
		}
	}
	want := must.Get(page(root))
	if have, err := os.ReadFile(filepath.Join(root, document)); err != nil || string(have) != want {
		t.Errorf("docs/faults.md is stale (%v): go run ./dpnb/cmd/dpnb faults", err)
	}
}

// The page has the faults of a room below one heading, wherever they are in the list.
func TestRoomsAreTogether(t *testing.T) {
	list := []Fault{{ID: "b/x"}, {ID: "a/x"}, {ID: "b/y"}, {ID: "a/y"}}
	text := markdown(list, nil, nil)
	last := -1
	for _, want := range []string{"## b\n", "`b/x`", "`b/y`", "## a\n", "`a/x`", "`a/y`"} {
		at := strings.Index(text, want)
		if at < last || strings.Count(text, want) != 1 {
			t.Errorf("%q is not where it belongs in\n%s", want, text)
		}
		last = at
	}
}

// tiny is a module with a function, a test of it and a test that notices nothing.
func tiny(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module tiny\n\ngo 1.26\n",
		"dpnb/a/a.go": "package a\n\nfunc Double(x float64) float64 { return 2 * x }\n\n" +
			"func Two() int { return 2 }\n\n" +
			"type S struct{}\n\nfunc (S) String() string { return \"xy\"[1:] }\n",
		"dpnb/a/a_test.go": "package a\n\nimport \"testing\"\n\n" +
			"func TestDouble(t *testing.T) {\n\tif y := Double(3); y != 6 {\n" +
			"\t\tt.Errorf(\"twice 3 is %v\", y)\n\t}\n}\n\n" +
			"func TestNothing(t *testing.T) {}\n",
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		must.Do(os.MkdirAll(filepath.Dir(name), 0o700))
		must.Do(os.WriteFile(name, []byte(text), 0o600))
	}
	return dir
}

// A fault is caught by the test that it breaks and by no other; what is no fault, or no test, is an error.
func TestRun(t *testing.T) {
	testscale.Slow(t)
	dir := tiny(t)
	f := Fault{ID: "a/x", File: "a/a.go", Text: "2 * x", Replacement: "1.8 * x", What: "w",
		Checks: []string{"a:TestNothing", "a"}}
	r, err := Run(t.Context(), dir, f)
	if err != nil || r.Check != "a" || r.Test != "TestDouble" || r.Message != "twice 3 is 5.4" || r.Hash != f.Hash() {
		t.Errorf("%+v, %v", r, err)
	}
	f.Checks = f.Checks[:1]
	if r, err := Run(t.Context(), dir, f); err != nil || r.Caught() {
		t.Errorf("what checks nothing has caught it: %+v, %v", r, err)
	}
	for name, c := range map[string]struct{ text, by, check, want string }{
		"a text that is not there":   {"3 * x", "x", "a", "0 times"},
		"a text that is there twice": {"x", "y", "a", "times, not once"},
		"what is no Go":              {"2 * x", "2 ** x", "a", "does not build"},
		"a check that is not there":  {"2 * x", "1 * x", "a:TestSomethingElse", "runs no test"},
	} {
		f := f
		f.Text, f.Replacement, f.Checks = c.text, c.by, []string{c.check}
		if r, err := Run(t.Context(), dir, f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	if err := Sound(t.Context(), dir, []string{"a"}, func(string) {}); err != nil {
		t.Error(err)
	}
	broken := filepath.Join(dir, "dpnb", "a", "a.go")
	text := "package a\n\nfunc Double(x float64) float64 { return x }\n"
	must.Do(os.WriteFile(broken, []byte(text), 0o600))
	if err := Sound(t.Context(), dir, []string{"a"}, func(string) {}); err == nil {
		t.Error("a check that fails without a fault is taken for one that notices")
	}
}

// A mutant is shown to the tests that execute its place, the quickest first, and to all where coverage says nothing:
// what came of it, in a binary with others, is what the whole package says. What no test executes is known without
// building anything.
func TestRunMutants(t *testing.T) {
	testscale.InTurn(t)
	// The go command goes on with what it has built.
	t.Setenv("GOCACHE", strings.TrimSpace(string(must.Get(exec.Command("go", "env", "GOCACHE").Output()))))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := tiny(t)
	must.Do(os.WriteFile(filepath.Join(dir, "dpnb/a/a.go"), []byte("package a\n\nvar factor = 2.0\n\n"+
		"func Double(x float64) float64 {\n\tif x > 1e6 {\n\t\treturn x + x\n\t}\n"+
		"\treturn factor * second(0, [2]float64{1, x})\n}\n\n"+
		"func second(_ int, pair [2]float64) (y float64) {\n\treturn pair[1]\n}\n\n"+
		"func Never() int { return 7 }\n\nfunc Exits() int { return 8 }\n"), 0o600))
	must.Do(os.WriteFile(filepath.Join(dir, "dpnb/a/more_test.go"), []byte("package a\n\nimport (\n\t\"os\"\n"+
		"\t\"os/exec\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) {\n\tif os.Getenv(\"CHILD\") != \"\" {\n"+
		"\t\tos.Exit(Exits() - 8)\n\t}\n\tos.Exit(m.Run())\n}\n\nfunc start() error {\n"+
		"\tc := exec.Command(os.Args[0])\n\tc.Env = append(os.Environ(), \"CHILD=1\")\n\treturn c.Run()\n}\n\n"+
		"func TestProcess(t *testing.T) {\n\tif err := start(); err != nil {\n\t\tt.Error(err)\n\t}\n}\n"), 0o600))
	reach := must.Get(ReachOf(t.Context(), dir, "a"))
	again := must.Get(ReachOf(t.Context(), dir, "a"))
	if len(reach.Tests) != 3 || len(again.Tests) != 3 || again.Tests[0].Seconds != reach.Tests[0].Seconds {
		t.Fatalf("%+v, then %+v", reach, again)
	}
	type outcome struct {
		executed bool
		caught   string
	}
	want := map[string]outcome{
		"var factor = 2.2": {true, "TestDouble"}, "return factor / second(0, [2]float64{1, x})": {true, "TestDouble"},
		"return x - x": {false, ""}, "if x >= 1e6 {": {true, ""}, "func Never() int { return 8 }": {false, ""},
		"func Exits() int { return 9 }": {true, "TestProcess"}, "return pair[2]": {true, "does not build"},
	}
	var list []Fault
	for _, f := range must.Get(Mutants(dir, "a", []string{"a"})) {
		if _, asked := want[f.Replacement]; asked {
			f.Limit = time.Minute
			list = append(list, f)
		}
	}
	must.Do(RunMutants(t.Context(), dir, list, reach, func(f Fault, r Result, err error) {
		w := want[f.Replacement]
		delete(want, f.Replacement)
		whole, failed := Run(t.Context(), dir, f)
		if errors.Is(err, errBuild) && errors.Is(failed, errBuild) {
			r.Test, err, failed = "does not build", nil, nil
		}
		if err != nil || failed != nil || r.Caught() != whole.Caught() ||
			(outcome{reach.Executes(f), r.Test}) != w {
			t.Errorf("%s: %+v, %v, by the whole package %+v, %v, want %+v", f.Replacement, r, err, whole, failed, w)
		}
	}))
	if len(want) > 0 {
		t.Errorf("not there: %v", want)
	}
}

// Operators and numbers are changed one at a time, and nothing else.
func TestMutants(t *testing.T) {
	list := must.Get(Mutants(tiny(t), "a", []string{"a"}))
	var all []string
	for _, f := range list {
		all = append(all, f.Replacement)
	}
	want := []string{
		"func Double(x float64) float64 { return 2 / x }", "func Double(x float64) float64 { return 3 * x }",
		"func Two() int { return 3 }",
	}
	if strings.Join(all, "; ") != strings.Join(want, "; ") {
		t.Errorf("%q", all)
	}
}

// A sign goes, a statement is dropped, a function returns before its end; what declares is left.
func TestMutantsOfStatements(t *testing.T) {
	dir := tiny(t)
	must.Do(os.WriteFile(filepath.Join(dir, "dpnb/a/a.go"), []byte("package a\n\nfunc set(x []float64) {\n"+
		"\ty := -x[0]\n\tx[0] = y\n\tclear(x)\n}\n"), 0o600))
	var all []string
	for _, f := range must.Get(Mutants(dir, "a", nil)) {
		if f.What != "number" {
			all = append(all, f.What+": "+f.Replacement)
		}
	}
	want := "return: return; x[0] = y|return: return; clear(x)|statement: |statement: |sign: y := x[0]"
	if strings.Join(all, "|") != want {
		t.Errorf("%q", all)
	}
}

// What is returned beside an error is no mutant, nor is a bare return where the results are returned by their names.
func TestMutantsBesideErrors(t *testing.T) {
	dir := tiny(t)
	must.Do(os.WriteFile(filepath.Join(dir, "dpnb/a/a.go"), []byte("package a\n\nimport \"fmt\"\n\n"+
		"type OwnError struct{ N int }\n\nfunc f(x int) (n int, err error) {\n\tn = x\n\tif x == 7 {\n"+
		"\t\treturn 5, err\n\t}\n\tif x == 9 {\n\t\treturn 6, fmt.Errorf(\"a\")\n\t}\n\tif x == 11 {\n"+
		"\t\treturn 13, &OwnError{3}\n\t}\n\tif x == 15 {\n\t\treturn 20, nil\n\t}\n"+
		"\tif x == 21 {\n\t\treturn 30 + x, err\n\t}\n\treturn n, err\n}\n"), 0o600))
	var all []string
	for _, f := range must.Get(Mutants(dir, "a", nil)) {
		if f.What == "number" || f.What == "return" && strings.Contains(f.Text, "return") {
			all = append(all, f.Replacement)
		}
	}
	if got := strings.Join(all, "|"); got != "if x == 8 {|"+
		"if x == 10 {|if x == 12 {|if x == 16 {|return 21, nil|if x == 22 {|return 31 + x, err" {
		t.Error(got)
	}
}

// Every package has its share of a sample; the same seed has the same; all is all; a table counts what came of it.
func TestStratified(t *testing.T) {
	packages := func() [][]Fault {
		all := make([][]Fault, 3)
		for i := range 40 {
			all[i%4/2] = append(all[i%4/2], Fault{ID: fmt.Sprint("ab"[i%4/2:i%4/2+1], i)})
		}
		all[2] = []Fault{{ID: "c"}}
		return all
	}
	text := func(n int, seed uint64) (first, names string) {
		for _, f := range Stratified(packages(), n, seed) {
			first, names = first+f.ID[:1], names+f.ID
		}
		return first, names
	}
	first, names := text(10, 1)
	_, again := text(10, 1)
	_, other := text(10, 2)
	all, _ := text(50, 1)
	if !strings.HasPrefix(first, "aaaa") || !strings.Contains(first, "bbbb") || len(first) != 10 || names != again ||
		names == other || all != strings.Repeat("a", 20)+strings.Repeat("b", 20)+"c" {
		t.Errorf("%s, again %s, another %s; all are %s", names, again, other, all)
	}
	var c Tally
	for i, o := range []Outcome{Killed, Survived, Killed, Unbuilt, Listed} {
		c.Add([]string{"a", "b"}[i%2], o)
	}
	if s := c.String(); !strings.Contains(s, "| a | 2 | 0 | 1 | 0 |") ||
		!strings.Contains(s, "| b | 0 | 1 | 0 | 1 |") ||
		!strings.Contains(s, "| all | 2 | 1 | 1 | 1 | 0.21 to 0.94 |") {
		t.Error(s)
	}
	// 8 of 10 by hand: (0.8 + 0.19207 ± 1.96·√(0.016 + 0.0096037))/(1.38415).
	if low, high := wilson(8, 10); !(math.Abs(low-0.4902) <= 1e-4) || !(math.Abs(high-0.9433) <= 1e-4) {
		t.Errorf("8 of 10: %.4f to %.4f", low, high)
	}
}

// What go test writes is read as a person would: the part that failed, and what it said first.
func TestFirstFailure(t *testing.T) {
	for text, want := range map[string][2]string{
		"--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/b (0.0s)\n        a_test.go:3: x is\t2\n" +
			"        a_test.go:4: y\nFAIL\n": {"TestA/b", "x is 2"},
		"panic: oh\n\ngoroutine 1\n":                                    {"", "panic: oh"},
		"--- FAIL: TestA (0.1s)\n    a_test.go:3: x\n--- FAIL: TestB\n": {"TestA", "x"},
	} {
		if test, said := firstFailure(text); test != want[0] || said != want[1] {
			t.Errorf("%q: %q %q", text, test, said)
		}
	}
}
