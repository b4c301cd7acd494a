//go:build linux

package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/dataset"
	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/report"
)

// A go command that tells what it was asked, with what of its environment, and in which folder. It finds fault with
// systems that are Windows, with folders that have a file "untidy", and with overlays that have a mistake in them.
// What it builds runs no test but one, which notices every second mutant, or is the program for a runner of Beam.
const goCommand = `#!/bin/sh
set_="${GOOS:+GOOS=$GOOS GOARCH=$GOARCH }GOGC=$GOGC ${DPNB_TURN:+turn $DPNB_TURN }"
echo "${PWD##*/}: $set_${0##*/} $*" >>"$WORKSHOP/asked"
case "$1 $2" in
"build "*)
	while [ "$1" != -o ]; do shift; done
	/bin/mkdir -p "${2%/*}"
	/bin/cp "$WORKSHOP/program" "$2" ;;
"test -c")
	while [ "$1" != -o ]; do shift; done
	/bin/cp "$WORKSHOP/tests" "$2" ;;
"test "*)
	for file; do case $file in */overlay.json)
		if /bin/grep -q unbuilt "${file%/*}"/*; then echo "FAIL a [build failed]"; exit 1; fi
		if /bin/grep -q wrong "${file%/*}"/*; then echo "--- FAIL: TestA (0.00s)
    a_test.go:3: it is wrong"; exit 1; fi ;;
	esac; done
	echo "ok  	a	0.1s" ;;
"mod tidy") [ ! -e untidy ] || { echo "diff of go.mod"; exit 1; }
	[ ! -e offline ] || { echo "x: module lookup disabled by GOPROXY=off"; exit 1; } ;;
"vet "*) [ "$GOOS" != windows ] || { echo "a.go:1: is for others"; exit 1; } ;;
"-l dpnb") /bin/cat ugly 2>/dev/null || : ;;
esac
`

const testBinary = `#!/bin/sh
for p; do :; done
case $* in
*test.list*) echo TestA ;;
*coverprofile*) printf 'mode: set\nx/a.go:3.25,4.14 1 1\nx/a.go:4.14,6.3 1 0\nx/a.go:7.2,7.14 1 1\n' >"$p" ;;
*) case $DPNB_MUTANT in *[13579]) echo "--- FAIL: TestA (0.00s)
    a_test.go:3: it has changed"; exit 1; esac ;;
esac
`

const beamProgramStub = `#!/bin/sh
IFS= read -r line
echo "program $* GOMEMLIMIT=$GOMEMLIMIT: $line" >>"$WORKSHOP/asked"
if [ "$1" = "$(/bin/cat "$WORKSHOP/ready")" ]; then
	echo ready
	while IFS= read -r line; do
		echo "program $*: $line" >>"$WORKSHOP/asked"
		echo '{"Parts": ["none"], "Error": "no worker answers"}'
	done
else
	exit 1
fi
`

// What the commands of the workshop say and have others do, those that check the code and those that have a runner do
// the work, is as it was, in a tree with a go command that is none: testdata/workshop.txt.
func TestWhatTheWorkshopDoes(t *testing.T) {
	testscale.Slow(t)
	kept := must.Get(filepath.Abs("testdata/workshop.txt"))
	dir := filepath.Join(must.Get(filepath.EvalSymlinks(t.TempDir())), "tree")
	must.Do(os.Mkdir(dir, 0o755))
	t.Chdir(dir)
	for name, value := range map[string]string{"PATH": filepath.Join(dir, "bin"), "WORKSHOP": dir, "TMPDIR": dir,
		"XDG_CACHE_HOME": filepath.Join(dir, "cache"), "GOGC": "", "DPNB_FULL": "", "DPNB_TURN": "", "HOME": dir,
		"GOCOVERDIR": "", "GOOS": "", "GOMEMLIMIT": ""} {
		t.Setenv(name, value)
	}
	write := func(name, text string) {
		must.Do(os.MkdirAll(filepath.Dir(name), 0o755))
		must.Do(os.WriteFile(name, []byte(text), 0o755))
	}
	write("bin/go", goCommand)
	write("bin/gofmt", goCommand)
	write("program", beamProgramStub)
	write("tests", testBinary)
	write("ready", "none")
	write("asked", "")
	const module = "module github.com/dpnb/notebooks\n"
	write("go.mod", module)
	write("dpnb/beam/go.mod", module)
	write("dpnb/beam/untidy", "")
	write("tools/go.mod", module)
	write("tools/offline", "")
	write("docs/faults.md", "")
	write("dpnb/paper/powers.tsv", "")
	write("dpnb/a/a.go", "package a\n\nfunc A(n int, m int) int {\n\tif n > 3 && m < 2 {\n\t\treturn n + 7\n\t}\n"+
		"\treturn n * 5\n}\n")
	write("dpnb/a/a_test.go", "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n")
	write("dpnb/internal/faults/faults.tsv", "fault\tfile\ttext\treplacement\twhat\tchecks\n"+
		"a/wrong\ta/a.go\tn > 3\twrong > 3\ta threshold is wrong\ta:^TestA$\n"+
		"a/silent\ta/a.go\tn + 7\tn + 8\ta number that nobody looks at\ta:^TestA$\n"+
		"b/unbuilt\ta/a.go\tn * 5\tunbuilt\tit is no Go\ta:^TestA$\n")
	results := "fault\thash\tcheck\ttest\tseconds\tmessage\n"
	write("dpnb/internal/faults/results.tsv", results)
	write("dpnb/internal/faults/mutants.tsv", "mutant\tfile\ttext\treplacement\treason\n")
	write("people.csv", "age,happy\n"+strings.Repeat("20,yes\n60,no\n", 20))
	write("schema.json", `{"version":1,"fields":[{"name":"age","type":"number","lower":18,"upper":98},
		{"name":"happy","type":"category","categories":["no","yes"]}]}`)
	served := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer served.Close()
	sets := dataset.Sets
	defer func() { dataset.Sets = sets }()
	dataset.Sets = map[string][]dataset.File{"few": {{Name: "people.csv", SHA256: fmt.Sprintf("%x",
		sha256.Sum256(must.Get(os.ReadFile("people.csv")))), URL: served.URL}},
		"changed": {{Name: "schema.json", SHA256: strings.Repeat("0", 64), URL: served.URL}},
		"adult":   {{Name: "adult.data"}}}

	var all strings.Builder
	do := func(name string, run func() (string, error)) {
		stdout, stderr := os.Stdout, os.Stderr
		file := must.Get(os.Create("shown"))
		os.Stdout, os.Stderr = file, file
		text, err := run()
		os.Stdout, os.Stderr = stdout, stderr
		must.Do(file.Close())
		fmt.Fprintf(&all, "$ %s\n%s%s", name, must.Get(os.ReadFile("shown")), text)
		if err != nil {
			fmt.Fprintln(&all, "error:", err)
		}
		if asked := string(must.Get(os.ReadFile("asked"))); asked != "" {
			fmt.Fprintf(&all, "asked:\n%s", asked)
		}
		must.Do(os.WriteFile("asked", nil, 0o600))
	}
	dpnb := func(line string) { do("dpnb "+line, func() (string, error) { return said(strings.Fields(line)...) }) }

	const public = " people.csv --schema schema.json --delta 1e-6 --seed 1 --endpoint here:1 --processes 2"
	for _, line := range []string{"data few --dir fetched", "data changed --dir fetched", "data none",
		"test --short", "test --full --only no",
		"faults", "faults --only a/*", "faults --only a/* --again", "faults --handful 2", "faults --only c/*",
		"faults --mutate a --sample 6 --seed 3", "faults --mutate a --sample 5 --seed 1 --check a:^TestA$ --limit 9s",
		"faults --mutate a --unexecuted", "faults --mutate b",
		"claims --list --only cop/ex[34]", "claims --list --json --only cop/ex3", "claims --only cop/ex3",
		"claims --only cop/ex3 --wrong --json", "claims --only cop/ex3 --power", "claims --power --full",
		"claims --only cop/none", "claims --markdown claims.md --full", "claims --markdown claims.md --only cop/ex3",
		"claims --renew --only cop/ex3",
		"sweep", "sweep none", "sweep claims --only cop/ex3 --workers a", "sweep claims --only cop/ex3 --seed 4",
		"sweep claims --only cop/ex3 --endpoint here:1 --workers a,b --out rows.parquet",
		"sweep claims --only cop/ex3 --endpoint here:1 --jobs 2",
		"describe --count --epsilon 1" + public,
		"describe --count --epsilon 2 --memory 70MB --checkpoints sums" + public,
		"fit --target happy --epsilon 3 --store kept" + public, "cache --store kept --checkpoints sums",
		"cache remove --store kept --checkpoints sums", "cache --store kept --checkpoints sums",
		"report none", "site x", "schema",
		"predict a.json people.csv --output b.csv",
	} {
		switch line {
		case "test --full --only no":
			write("ugly", "dpnb/a/a.go")
			write("notebooks/01_a.ipynb", "{}")
		case "describe --count --epsilon 2 --memory 70MB --checkpoints sums" + public:
			write("ready", "tally")
			write("sums/pass-"+strings.Repeat("a", 24)+".sum", "")
			write("sums/lock", "")
			write("kept/.dpnb-part-x.records", "")
			write("kept/few.rows", "not whole")
		}
		dpnb(line)
	}
	for _, c := range newRootCommand().Commands() {
		for _, c := range append([]*cobra.Command{c}, c.Commands()...) {
			fmt.Fprint(&all, c.CommandPath(), " ", c.ValidArgs)
			c.Flags().VisitAll(func(f *pflag.Flag) {
				fmt.Fprint(&all, " ", f.Name, f.Shorthand, "=", f.DefValue, "(", f.NoOptDefVal, ")")
			})
			fmt.Fprintln(&all)
		}
	}
	for _, file := range []string{"docs/faults.md", "dpnb/internal/faults/results.tsv"} {
		fmt.Fprintf(&all, "== %s\n%s", file, must.Get(os.ReadFile(file)))
	}
	powers := strings.SplitAfter(string(must.Get(os.ReadFile("dpnb/paper/powers.tsv"))), "\n")
	fmt.Fprint(&all, powers[0], len(powers) > 100, "\n")
	for _, ran := range []time.Duration{0, 1500 * time.Millisecond} {
		do("verdicts", func() (string, error) {
			x := &tester{display: newDisplay(os.Stderr)}
			for _, err := range []error{nil, offline(" of it"), exec.ErrNotFound} {
				x.count("a check", err, ran)
			}
			return fmt.Sprintln(x.passed, x.failed, x.skipped), nil
		})
	}
	do("a log", func() (string, error) {
		d := newDisplay(os.Stderr)
		d.Step("a step")
		d.End("c", "not run")
		d.Begin("a", 3)
		d.Cell("a", 2, 3)
		d.End("a", "passed")
		d.say("a word")
		d.close()
		show, end := transfer("a file")
		show(1, 2)
		end(true)
		return "", nil
	})
	for _, x := range []*tester{{root: dir, turn: "a turn"}, {root: dir, full: true}} {
		do(fmt.Sprint("all checks, full: ", x.full), func() (string, error) {
			x.display = newDisplay(os.Stderr)
			for _, c := range x.checks() {
				x.check(t.Context(), c)
			}
			return "", x.update(nil, report.Options{})
		})
	}
	for _, x := range []*tester{{turn: "6"}, {turn: "7"}, {turn: "7", full: true}} {
		do("vet by turns", func() (string, error) { return "", x.vetElsewhere(t.Context(), dir) })
	}
	do("powers", func() (string, error) {
		var said strings.Builder
		err := writePowers(&said, map[string][]claim.Power{"cop/ex3": {{Claim: "cop/ex3", Of: "by much"}}})
		return said.String(), err
	})
	write("tables/a.csv", "x,y\n1,2\n3,4\n")
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	must.Get(z.Write([]byte("x,y\n5,6\n")))
	must.Do(z.Close())
	write("tables/b.csv.gz", zipped.String())
	for _, listed := range []string{"", "adult", "[", `[{"name": "a", "task": "a text"}]`,
		`[{"name": "c", "task": "a number"}]`,
		`[{"name": "a", "task": "two classes"}, {"name": "b", "task": "a number"}]`,
	} {
		switch listed {
		case "":
		case "adult":
			write("tables/adult.data", "30, Private, 77516\n\n|1x3 Cross validator\n 25, Private, 226802.\n")
		default:
			write("tables/tables.json", listed)
		}
		do("study of "+listed, func() (string, error) {
			tables, err := studiedIn("tables")
			for _, x := range tables {
				err = errors.Join(err, errors.New(x.Name+": "+x.header+": "+strings.Join(x.lines, "; ")))
			}
			return "", err
		})
	}
	// What was stated by other tests, and that a command takes long, is not of this one.
	text := regexp.MustCompile(`(?m)^dpnb(: NewBudget\(| \w+: ).*\n`).ReplaceAllString(all.String(), "")
	for pattern, by := range map[string]string{`\(\d+(\.\d)? s\)`: "(so many s)",
		`"seconds": [0-9.e-]+`: `"seconds": 0`,
		regexp.QuoteMeta(dir):  "DIR", regexp.QuoteMeta(served.URL): "URL", `(dpnb-[a-z]+-)\d+`: "${1}N",
		`\t\d+\.\d\t`: "\t0.0\t", `\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`: "THEN"} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, by)
	}
	golden.Compare(t, kept, text)
}
