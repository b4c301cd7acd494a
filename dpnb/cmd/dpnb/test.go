package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/internal/procgroup"
	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/report"
	"github.com/dpnb/notebooks/dpnb/report/toolchain"
)

// What package testscale reads: whether every test was asked for, and whose turn it is.
const (
	fullVariable = "DPNB_FULL"
	turnVariable = "DPNB_TURN"
)

// errToldAlready ends the program with exit code 1 when everything has been said.
var errToldAlready = errors.New("")

func newTestCommand() *cobra.Command {
	var (
		short, full, update bool
		only                []string
		jobs                int
		timeout             time.Duration
	)
	cmd := &cobra.Command{
		Use:   "test",
		Short: "Run every check: code, tests, notebooks",
		Long: `Run every check that a change has to pass: format, go vet, staticcheck, tidy
go.mod, go test (the register of claims included), and each notebook, run in a clean kernel, whose
outputs must be those that are committed. What is missing is set up first.

Some tests that take seconds and see what others see in part have their turn in every fourth state of
the code, and one system in every second for which the code is vetted. --full makes all of it, and runs
the tests as well that are slow and rarely fail.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := source()
			if err != nil {
				return err
			}
			if full {
				os.Setenv(fullVariable, "1")
			}
			t := &tester{root: root, short: short, full: full, display: newDisplay(os.Stderr)}
			o := report.Options{Jobs: jobs, Timeout: timeout, Progress: t.display}
			if o.All, err = projectNotebooks(root); err != nil {
				return err
			}
			o.Notebooks = o.All
			if len(o.All) > 0 {
				if o.Notebooks, err = chooseNotebooks(root, o.All, nil, only); err != nil {
					return err
				}
			}
			if update {
				return t.update(cmd, o)
			}
			return t.run(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&short, "short", false, "leave out the notebooks and the slow tests")
	f.BoolVar(&full, "full", false, "run the slow tests, too, that rarely fail")
	cmd.MarkFlagsMutuallyExclusive("short", "full")
	f.BoolVar(&update, "update", false, "instead of checking, run the notebooks and write their outputs into them")
	f.StringSliceVar(&only, "only", nil, "of the notebooks, take only those whose name matches this `pattern`")
	f.IntVar(&jobs, "jobs", 0, "run this `number` of notebooks at a time (default: one for each processor)")
	f.DurationVar(&timeout, "timeout", 30*time.Minute, "stop a cell after this `time`; 0 waits without end")
	return cmd
}

type tester struct {
	root        string
	short, full bool
	// seed is hashOfCode, and turn says whose turn it is: the same, or what was asked for; "" is nobody's.
	seed           uint64
	turn           string
	display        *display
	passed, failed int
	// skipped counts notebooks that ran but could not be compared, and checks whose modules could not be fetched.
	skipped int
}

// A check is one thing that must hold. Its error is what to show.
type check struct {
	name string
	run  func(ctx context.Context, root string) error
}

// unfetched is how the go command says that it has no module and cannot fetch one.
var unfetched = regexp.MustCompile(`: (module lookup disabled by GOPROXY=off|Get "https?://.*)`)

// offline is why something was not checked that wants modules of which nothing is built: those of the tests of others
// (go mod tidy), or of the modules below.
type offline string

func (o offline) Error() string {
	return "not made: it wants modules that are not on this machine, and they could not be fetched" + string(o)
}

// fetched returns err, as an offline if that is what it says.
func fetched(err error) error {
	if err != nil {
		if why := unfetched.FindString(err.Error()); why != "" {
			return offline(why)
		}
	}
	return err
}

// unmade reports whether all that is wrong is that modules could not be fetched.
func unmade(err error) bool {
	if all, several := err.(interface{ Unwrap() []error }); several {
		return !slices.ContainsFunc(all.Unwrap(), func(e error) bool { return !unmade(e) })
	}
	_, is := err.(offline)
	return is
}

// checks lists what is checked about the code, in the order in which a mistake is cheapest to find.
func (t *tester) checks() []check {
	// Ten minutes, which a package has by default, are not enough for the slowest where others use the machine.
	name, limit, planted := "go test ./...", "40m", "a handful"
	switch {
	case t.short:
		name, planted = "go test -short ./...", "the list"
	case t.full:
		limit, planted = "3h", "all"
	}
	tests := func(ctx context.Context, dir string, more ...string) error {
		args := append(append(strings.Fields(name), "-timeout", limit), more...)
		_, err := outputWith(ctx, dir, []string{turnVariable + "=" + t.turn}, args...)
		return err
	}
	list := []check{
		{"gofmt", formatted},
		{"go mod tidy", tidy},
		{"go vet", command("go", "vet", "./...")},
		{"staticcheck", func(ctx context.Context, root string) error {
			check := func(dir string) error {
				_, err := output(ctx, dir, "go", "tool", "-modfile="+filepath.Join(root, "dpnb", "report", "toolchain",
					"tools.mod"), "staticcheck", "./...")
				return err
			}
			if !t.full { // what a module below requires, which it reads too, is many times what there is of ours
				return check(root)
			}
			return errors.Join(check(root), inModulesBelow(root, check))
		}},
		{name, func(ctx context.Context, root string) error {
			return tests(ctx, root, "-vet=off") // it is vetted
		}},
		{"planted faults: " + planted, func(ctx context.Context, root string) error {
			return t.plant(ctx, root)
		}},
		{name + ", in the modules below", func(ctx context.Context, root string) error {
			return inModulesBelow(root, func(dir string) error {
				return tests(ctx, dir)
			})
		}},
	}
	if !t.short {
		list = append(list, check{"go vet for other systems", t.vetElsewhere})
	}
	return list
}

// vetElsewhere vets for systems of other kinds, of which no machine is needed: another one of the Unix kind with other
// processors, and one that is neither, with 32 bits; by turns, where there are any.
func (t *tester) vetElsewhere(ctx context.Context, root string) (all error) {
	kinds := [][]string{{"GOOS=windows", "GOARCH=386"}, {"GOOS=darwin", "GOARCH=arm64"}}
	if turn, err := strconv.ParseUint(t.turn, 10, 64); err == nil && !t.full {
		kinds = kinds[turn%2 : turn%2+1]
	}
	for _, kind := range kinds {
		if _, err := outputWith(ctx, root, kind, "go", "vet", "./..."); err != nil {
			all = errors.Join(all, fmt.Errorf("%s: %w", strings.Join(kind, " "), err))
		}
	}
	return all
}

// plant plants faults in the code and sees that they are caught: with --short none, of which the tests have looked at
// the list, with --full all.
func (t *tester) plant(ctx context.Context, root string) error {
	list, results, err := readFaults(root)
	switch {
	case err != nil || t.short:
		return err
	case t.full:
		return plantAll(ctx, io.Discard, root, list, list, results)
	}
	return plantHandful(ctx, io.Discard, root, list, results, handful, t.seed)
}

// hashOfCode is a number of the code: what is chosen at random by it is the same for the same tree, so that its verdict
// is, and other things are chosen whenever a line has changed.
func hashOfCode(root string) (uint64, error) {
	h := fnv.New64a()
	err := filepath.WalkDir(filepath.Join(root, "dpnb"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		content, err := os.ReadFile(path)
		h.Write(content)
		return err
	})
	return h.Sum64(), err
}

// inModulesBelow does something in the folder of every module below the project's, which are apart so that their
// requirements are nobody else's.
func inModulesBelow(root string, do func(dir string) error) error {
	found, err := filepath.Glob(filepath.Join(root, "*", "go.mod"))
	rooms, also := filepath.Glob(filepath.Join(root, "dpnb", "*", "go.mod"))
	err = errors.Join(err, also)
	for _, mod := range append(found, rooms...) {
		err = errors.Join(err, fetched(do(filepath.Dir(mod))))
	}
	return err
}

func (t *tester) run(ctx context.Context, o report.Options) error {
	defer t.display.close()
	seed, err := hashOfCode(t.root)
	if err != nil {
		return err
	}
	t.seed, t.turn = seed, cmp.Or(os.Getenv(turnVariable), strconv.FormatUint(seed, 10))
	var setup *report.Setup
	if !t.short {
		// First, so that the tests of the runner have something to run on.
		t.check(ctx, check{"kernel and Jupyter", func(ctx context.Context, root string) (err error) {
			setup, err = report.Prepare(ctx, project.Tree{Dir: root}, false, nil, t.display.Step)
			return err
		}})
	}
	for _, c := range t.checks() {
		t.check(ctx, c)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	switch {
	case t.short:
	case len(o.Notebooks) == 0:
		t.display.say("there are no notebooks in notebooks/")
	case setup == nil:
		for _, path := range o.Notebooks {
			t.count(report.Name(path), errors.New("not run: there is no kernel or no Jupyter, see above"), 0)
		}
	default:
		results, err := report.Rerun(ctx, setup, o)
		if err != nil {
			return err
		}
		for i, path := range o.Notebooks {
			t.count(report.Name(path), results[i], 0)
		}
	}
	t.display.close()
	fmt.Printf("%d passed, %d failed, %d skipped\n", t.passed, t.failed, t.skipped)
	if t.failed > 0 {
		return errToldAlready
	}
	return nil
}

func (t *tester) check(ctx context.Context, c check) {
	t.display.Step(c.name)
	start := time.Now()
	err := c.run(ctx, t.root)
	if ctx.Err() == nil {
		t.count(c.name, err, time.Since(start))
	}
}

// count says how a check ended; a notebook's time has been told before.
func (t *tester) count(name string, err error, took time.Duration) {
	verdict := "ok    "
	_, ran := errors.AsType[*report.NotCompared](err)
	switch {
	case unmade(err):
		verdict = "skip  "
		t.skipped++
	case ran:
		verdict = "ran   "
		t.skipped++
	case err != nil:
		verdict = "FAILED"
		t.failed++
	default:
		t.passed++
	}
	text := verdict + " " + name
	if took > 0 {
		text += fmt.Sprintf(" (%.1f s)", took.Seconds())
	}
	if err != nil {
		text += "\n       " + strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "\n       ")
	}
	t.display.say(text)
}

// update writes the outputs of a run into the notebooks. The reports that come with it are of no use here.
func (t *tester) update(cmd *cobra.Command, o report.Options) error {
	t.display.close()
	if len(o.Notebooks) == 0 {
		return errors.New("there are no notebooks in notebooks/")
	}
	out, err := os.MkdirTemp("", "dpnb-update-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(out)
	o.Out, o.Update = out, true
	records, err := runReports(cmd, project.Tree{Dir: t.root}, true, o)
	if err != nil {
		return err
	}
	return report.Failed(records)
}

// formatted passes if gofmt would change no file.
func formatted(ctx context.Context, root string) error {
	out, err := output(ctx, root, "gofmt", "-l", "dpnb")
	if err == nil && out != "" {
		err = fmt.Errorf("run `gofmt -w` on\n%s", out)
	}
	return err
}

// tidy passes if go mod tidy would change nothing, in this module and in those below it.
func tidy(ctx context.Context, root string) error {
	in := func(dir string) error {
		_, err := output(ctx, dir, "go", "mod", "tidy", "-diff")
		if err = fetched(err); err != nil && !unmade(err) {
			text := strings.Split(err.Error(), "\n")
			return fmt.Errorf("run `go mod tidy` in %s\n%s", dir, strings.Join(text[:min(len(text), 20)], "\n"))
		}
		return err
	}
	tools, err := os.MkdirTemp("", "dpnb-tools-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tools)
	return errors.Join(in(root), inModulesBelow(root, in), toolchain.Unpack(tools), in(tools))
}

// command returns a check that passes if the command does.
func command(args ...string) func(context.Context, string) error {
	return func(ctx context.Context, root string) error {
		_, err := output(ctx, root, args...)
		return err
	}
}

// output runs a command and returns what it writes, which is also its error's text.
func output(ctx context.Context, root string, args ...string) (string, error) {
	return outputWith(ctx, root, nil, args...)
}

// outputWith is output with more in the environment.
func outputWith(ctx context.Context, root string, environ []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = root
	cmd.Env = append(cmd.Environ(), environ...)
	if os.Getenv("GOGC") == "" && os.Getenv(fullVariable) == "" {
		// As package testscale has it for the tests that use it: for vet, staticcheck and the modules below, too.
		cmd.Env = append(cmd.Env, "GOGC=400")
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := procgroup.Run(ctx, cmd, 10*time.Second)
	text := strings.TrimSpace(out.String())
	if err != nil {
		return "", fmt.Errorf("%s\n%s: %w", withoutPassed(text), strings.Join(args, " "), err)
	}
	return text, nil
}

// withoutPassed leaves the lines out with which the go command tells what went well.
func withoutPassed(text string) string {
	var kept []string
	for _, line := range strings.Split(text, "\n") {
		noise := strings.HasPrefix(line, "ok  \t") || strings.HasSuffix(line, "[no test files]") ||
			strings.HasPrefix(line, "go: downloading ")
		if !noise {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}
