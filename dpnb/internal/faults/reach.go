package faults

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/procgroup"
)

// Reach says which statements each top-level test of a package executes. A mutant need be shown only to the tests that
// execute its place: to the others it is the code as it was. What is in no block of a coverage profile, as constants,
// variables of the package and the conditions of cases, is shown to all.
type Reach struct {
	// Blocks of all files, "file.go:3.14,5.2", and the tests, the quickest first.
	Blocks []string
	Tests  []reached
}

// reached is what a test executes: blocks by index.
type reached struct {
	Name    string
	Seconds float64
	Blocks  []int
	// Process: the test starts a process. What the test binary itself executes there is in Blocks; what another program
	// does is not, so that the test is asked about every place.
	Process bool
	here    bool // whether it is known to execute the place that was asked for
}

// ReachOf runs each test of a package below dpnb by itself, once for each state of the code: what it finds is kept in
// the user's cache under the hash of the test binary, which is built of everything that the tests depend on but data.
//
// Errors: the package does not build, or a test fails.
func ReachOf(ctx context.Context, root, room string) (r Reach, err error) {
	dir, err := os.MkdirTemp("", "dpnb-reach-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	binary, profile := filepath.Join(dir, "test"), filepath.Join(dir, "profile")
	if text, err := buildTests(ctx, root, room, binary, nil, "-cover", "-covermode=set", "-trimpath"); err != nil {
		return r, fmt.Errorf("%w: %s", err, text)
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return r, nil // a package without tests has no binary: nothing is executed
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return r, err
	}
	kept := filepath.Join(cache, "dpnb-faults", fmt.Sprintf("%x.json", sha256.Sum256(content)))
	if text, err := os.ReadFile(kept); err == nil {
		return r, json.Unmarshal(text, &r)
	}
	names, _, err := runTests(ctx, root, room, binary, "-test.list", ".")
	if err != nil {
		return r, fmt.Errorf("%w: %s", err, names)
	}
	process := processes(filepath.Join(root, "dpnb", room))
	index := map[string]int{}
	for i, name := range testName.FindAllString(names, -1) {
		children := filepath.Join(dir, strconv.Itoa(i)) // a process of the test binary says there what it executed
		if err := errors.Join(os.Mkdir(children, 0o700), os.Setenv("GOCOVERDIR", children)); err != nil {
			return r, err
		}
		text, seconds, err := runTests(ctx, root, room, binary, "-test.run", "^"+name+"$",
			"-test.coverprofile", profile)
		if err != nil {
			return r, fmt.Errorf("%s fails by itself: %w: %s", name, err, text)
		}
		t := reached{Name: name, Seconds: seconds, Process: process[name]}
		lines, err := executed(ctx, profile, children)
		if err != nil {
			return r, err
		}
		for _, line := range lines {
			block, count, _ := strings.Cut(line[strings.LastIndexByte(line, '/')+1:], " ")
			if _, seen := index[block]; !seen {
				index[block], r.Blocks = len(r.Blocks), append(r.Blocks, block)
			}
			if !strings.HasSuffix(count, " 0") {
				t.Blocks = append(t.Blocks, index[block])
			}
		}
		slices.Sort(t.Blocks)
		t.Blocks = slices.Compact(t.Blocks)
		r.Tests = append(r.Tests, t)
	}
	slices.SortStableFunc(r.Tests, func(a, b reached) int { return int(1e3*a.Seconds) - int(1e3*b.Seconds) })
	if err = os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		return r, err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return r, err
	}
	return r, os.WriteFile(kept, text, 0o600)
}

// executed returns the lines of a test's profile, and of those of the processes that it started.
func executed(ctx context.Context, profile, children string) (lines []string, err error) {
	names := []string{profile}
	if some, _ := filepath.Glob(filepath.Join(children, "covcounters*")); len(some) > 0 {
		names = append(names, profile+"-children")
		text, _, err := run(ctx, children, "go", "tool", "covdata", "textfmt", "-i", children, "-o", names[1])
		if err != nil {
			return nil, fmt.Errorf("%w: %s", err, text)
		}
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		lines = append(lines, strings.Split(strings.TrimSpace(string(content)), "\n")[1:]...)
	}
	return lines, nil
}

var testName = regexp.MustCompile(`(?m)^(Test|Example|Fuzz)\w*$`)

var position = regexp.MustCompile(`^(.*):(\d+)[:.](\d+)(?:,(\d+)\.(\d+))?$`)

// at returns the file, and one number for a line and a column, of a mutant's name; of a block two.
func at(s string) (file string, from, to int) {
	m := position.FindStringSubmatch(s)
	if m == nil {
		return "", 0, 0
	}
	var n [4]int
	for i := range n {
		n[i], _ = strconv.Atoi(m[2+i])
	}
	return m[1], n[0]<<16 + n[1], n[2]<<16 + n[3]
}

// of returns the tests that execute the place of a mutant, in their order.
func (r Reach) of(f Fault) (tests []reached) {
	file, place, _ := at(f.ID)
	within := -1
	for i, b := range r.Blocks {
		if name, from, to := at(b); name == filepath.Base(file) && from <= place && place <= to {
			if within = i; place < to { // where one block ends the next may begin
				break
			}
		}
	}
	for _, t := range r.Tests {
		_, found := slices.BinarySearch(t.Blocks, within)
		if t.here = within < 0 || found; t.here || t.Process {
			tests = append(tests, t)
		}
	}
	return tests
}

// Executes reports whether any test is known to execute the place of a mutant.
func (r Reach) Executes(f Fault) bool {
	return slices.ContainsFunc(r.of(f), func(t reached) bool { return t.here })
}

// module returns the module that a package below dpnb is in and its directory there. The room of Beam is a module of
// its own.
func module(dir string) (module, room string) {
	if inner, ok := strings.CutPrefix(dir, "beam/"); ok {
		return "dpnb/beam", inner
	}
	return "dpnb", dir
}

// buildTests builds the tests of a package, with other contents of files that it writes beside the binary.
func buildTests(ctx context.Context, root, dir, binary string, files map[string][]byte, args ...string) (
	string, error) {
	in, room := module(dir)
	over, err := overlay(root, files, filepath.Dir(binary))
	if err != nil {
		return "", err
	}
	full := append([]string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", over, "-o", binary}, args...)
	text, _, err := run(ctx, filepath.Join(root, filepath.FromSlash(in)), "go", append(full, "./"+room)...)
	return text, err
}

func runTests(ctx context.Context, root, dir, binary string, args ...string) (string, float64, error) {
	return run(ctx, filepath.Join(root, "dpnb", filepath.FromSlash(dir)), binary, args...)
}

// run runs a program as checks are run: with the tests of every turn but not those of --full, and with no workspace, as
// the tree may be a copy.
func run(ctx context.Context, dir, name string, args ...string) (string, float64, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "DPNB_FULL=", "DPNB_TURN=all")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	err := procgroup.Run(ctx, cmd, 5*time.Second)
	return out.String(), time.Since(start).Seconds(), err
}

// processes returns the functions of the test files in a folder that start a process, or call one that does.
func processes(dir string) map[string]bool {
	starts, calls := map[string]bool{}, map[string][]string{}
	names, _ := filepath.Glob(filepath.Join(dir, "*_test.go"))
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			continue // it was built before
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					calls[f.Name.Name] = append(calls[f.Name.Name], id.Name)
				}
				return true
			})
		}
	}
	for _, name := range []string{"Command", "CommandContext", "StartProcess"} {
		starts[name] = true
	}
	for more := true; more; {
		more = false
		for f, list := range calls {
			if !starts[f] && slices.ContainsFunc(list, func(c string) bool { return starts[c] }) {
				starts[f], more = true, true
			}
		}
	}
	return starts
}
