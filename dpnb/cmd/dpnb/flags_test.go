package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/internal/registry"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/paper"
)

// ofBefore is what is said of an answer that was released before.
var ofBefore = regexp.MustCompile(`This is what was released before, .*\n`)

// apart is a text but for what it says of whether it was released before.
func apart(text string) string {
	return regexp.MustCompile(`Released once, .*\n`).ReplaceAllString(ofBefore.ReplaceAllString(text, ""), "")
}

// said runs the command line and returns what it prints.
func said(args ...string) (string, error) {
	registry.ForgetAll() // every command is a program of its own
	root := newRootCommand()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(args)
	err := root.Execute()
	return out.String(), err
}

// call runs one command, and returns what it printed.
func call(t *testing.T, c *cobra.Command, args ...string) (string, error) {
	t.Helper()
	registry.Forget("main") // every command is a program of its own
	var said bytes.Buffer
	c.SetOut(&said)
	c.SilenceUsage, c.SilenceErrors = true, true
	c.SetArgs(args)
	err := c.Execute()
	return said.String(), err
}

// What no command can mean is refused by every command, by whatever flag, before it does anything: outside a clone,
// where the others would complain of that.
func TestNonsenseFlagsAreRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	nonsense := map[string][]string{
		"float64": {"NaN", "Inf", "-Inf"}, "string": {""}, "stringSlice": {"", "a,"}, "stringArray": {""},
	}
	ranged := map[string][]string{"jobs": {"0", "-1"}, "timeout": {"-1s", "-1ns"}, "port": {"0", "-1"}}
	tried := 0
	var visit func(cmd *cobra.Command, path []string)
	visit = func(cmd *cobra.Command, path []string) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			for _, v := range append(nonsense[f.Value.Type()], ranged[f.Name]...) {
				tried++
				args := append(append([]string(nil), path...), "--"+f.Name+"="+v)
				for _, needed := range []string{"records", "features", "epsilon", "delta"} {
					if n := cmd.Flags().Lookup(needed); n != nil && needed != f.Name {
						args = append(args, "--"+needed+"=1")
					}
				}
				args = append(args, map[string][]string{"data": {"adult"}, "predict": {"m.json", "t.csv"},
					"export": {"m.json"}, "shapes": {"m.json"}, "evaluate": {"m.json", "t.csv"},
					"sweep": {"noise"}, "fit": {"t.csv"}, "describe": {"t.csv"}, "check": {"t.csv"},
					"price": {"t.csv"}, "new": {"t"}, "schema": {"s.json"},
					"study": {"tables"}}[path[0]]...)
				if out, err := said(args...); err == nil || !strings.Contains(err.Error(), "--"+f.Name) ||
					!strings.Contains(err.Error(), "leave it out") {
					t.Errorf("%q: %v\n%s", args, err, out)
				}
			}
		})
		for _, c := range cmd.Commands() {
			visit(c, append(append([]string(nil), path...), c.Name()))
		}
	}
	visit(newRootCommand(), nil)
	if tried < 50 {
		t.Errorf("only %d flags were tried", tried)
	}
}

// The commands that the pages show exist, their flags too, and claims that are chosen with --only.
func TestCommandsInPagesExist(t *testing.T) {
	tried := 0
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/theory/*.md"} {
		pages := must.Get(filepath.Glob(filepath.Join("..", "..", "..", pattern)))
		for _, page := range pages {
			text := must.Get(os.ReadFile(page))
			n, problems := unknownCommands(string(text))
			tried += n
			for _, p := range problems {
				t.Errorf("%s: %s", page, p)
			}
		}
	}
	if tried < 25 {
		t.Errorf("only %d commands were found", tried)
	}
	_, problems := unknownCommands("`dpnb claim --list`, `dpnb claims --onyl x`,\n" +
		"    go run ./dpnb/cmd/dpnb fit \\\n        --epsilom 1\n`dpnb claims --only dpnb/nothing`")
	if len(problems) != 4 {
		t.Errorf("of four faults: %q", problems)
	}
}

// unknownCommands returns how many commands a page shows, and what is not there of them.
func unknownCommands(text string) (n int, problems []string) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	for _, m := range regexp.MustCompile("(?:`|cmd/)dpnb ([a-z][^`\n#]*)").FindAllStringSubmatch(text, -1) {
		n++
		words := strings.Fields(m[1])
		cmd, _, err := newRootCommand().Find(words[:min(2, len(words))])
		if err != nil || cmd.Name() == "dpnb" {
			problems = append(problems, "there is no dpnb "+words[0])
			continue
		}
		for i, w := range words {
			name, isFlag := strings.CutPrefix(w, "--")
			name, _, _ = strings.Cut(name, "=")
			switch {
			case !isFlag:
			case cmd.Flags().Lookup(name) == nil:
				problems = append(problems, "dpnb "+words[0]+" has no --"+name)
			case name == "only" && words[0] == "claims" && i+1 < len(words):
				if _, err := claim.Select(paper.Register(), words[i+1]); err != nil {
					problems = append(problems, err.Error())
				}
			}
		}
	}
	return n, problems
}

// A zero that is given is a zero. It is not taken for a flag that was left out.
func TestZeroIsZero(t *testing.T) {
	plan := []string{"forecast", "--records", "100", "--features", "5", "--epsilon", "1"}
	gaussian := []string{"delta", "--type", "gaussian", "--epsilon", "1"}
	objective := []string{"delta", "--type", "objective-perturbation", "--radius", "1", "--lambda", "2", "--sigma", "3",
		"--epsilon", "1"}
	for _, c := range []struct {
		args []string
		want string // in the error, or in the answer after a "="
	}{
		{append(plan, "--delta", "0"), "--delta"},
		{append(plan, "--signal", "0"), "--signal"},
		{append(plan, "--noise", "0"), "--noise"},
		{append(plan, "--noise", "1", "--threshold", "0"), "--threshold"},
		{append(gaussian, "--sigma", "2", "--epsilon-error", "0"), "epsilon-error"},
		{append(gaussian, "--sigma", "0"), "--sigma"},
		{append(gaussian, "--sigma", "2", "--count", "0"), "count"},
		// At sensitivity 0 nothing is told, at ε = 0 δ is the total variation.
		{append(gaussian, "--sigma", "2", "--sensitivity", "0"), "=δ = 0)"},
		{append(gaussian[:3:3], "--sigma", "2", "--epsilon", "0"), "=(ε = 0, δ = 0.19741"},
		{append(objective, "--loss", "huber", "--threshold", "0"), "--threshold"},
		{append(objective, "--loss", "logistic", "--threshold", "0"), "threshold"},
		{append(objective, "--loss", "logistic", "--threshold", "7"), "threshold"},
		{[]string{"epsilon", "--type", "dp", "--event-epsilon", "0", "--delta", "1e-5"}, "=ε = 0, δ = 1e-05)"},
		{[]string{"epsilon", "--type", "gaussian", "--sigma", "1", "--delta", "0"}, "δ = 0"},
		{[]string{"sigma", "--type", "gaussian", "--epsilon", "1", "--delta", "0"}, "delta"},
	} {
		out, err := said(c.args...)
		if answer, ok := strings.CutPrefix(c.want, "="); ok {
			if err != nil || !strings.Contains(out, answer) {
				t.Errorf("%q: %v, %s", c.args, err, out)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want it to mention %q\n%s", c.args, err, c.want, out)
		}
	}
}
