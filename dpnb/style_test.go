package dpnb_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// allowed are exported names that no other package, notebook or example uses, with the reason.
var allowed = map[string]string{
	"audit.PureLaw.LogRatio":                        "what the law is for",
	"erm.Auto":                                      "a value of Method",
	"erm.NewtonCG":                                  "a value of Method",
	"erm/internal/descent.MostProved":               "the bound on records that the proof of arrival has",
	"learn.TaskError":                               "an error to ask for",
	"loss.BlockSlopes":                              "one of what a loss offers beside its methods",
	"loss.Curved":                                   "an interface that losses have",
	"loss.ErrNoCurve":                               "an error to ask for",
	"loss.PreciseSlope":                             "one of what a loss offers beside its methods",
	"mechanism/objpert.CentreOf":                    "the centre of Objective.Suited, which its comments name",
	"mechanism/objpert/convolution.NoWidthError":    "an error to ask for",
	"mechanism/objpert/interval.Curvature.Together": "the profile that its proof is about",
	"mechanism.ForReplacement":                      "a choice beside ForPeople, for records that are replaced",
	"mechanism.Replaced":                            "what it makes",
	"mechanism/pure.MostRecords":                    "a limit of Config.Records",
	"mechanism/sgd.MaxLevels":                       "a limit of Quantiles.Levels",
	"mechanism/sgd.Momentum":                        "a rule beside Plain and Adam",
	"mechanism/ssp.AdaSSP.NoiseNorm":                "B of the mechanism's formula",
	"dataset.Checksum":                              "what ChecksumError says of a file, for who fetches one",
	"internal/testing/bigref.Pi":                    "one of the functions to 512 bits",
	"matrix.SumSquares":                             "its lower-case name is the loop of one block",
	"noise/exact.Largest":                           "the range of scales, with ValidScale",
	"noise/exact.Least":                             "the range of scales, with ValidScale",
	"privacy/calculator.Caveat":                     "an interface that events have",
	"privacy/internal/elementary.Ulps":              "what every slack in privacy is made of",
	"privacy/objective.PureFlat":                    "one of the bounds of pure ε",
	"privacy/wishart.Wishart.LogD":                  "a claim names it",
	"report/notebook.Notebook.Metadata":             "a field of the format",
	"sim/population.Result.Iterates":                "the iterates of a descent, for a figure of one's own",
	"smoothing.ErrRank":                             "an error to ask for",
	"smoothing.Polyhedral.Diameter":                 "the constant of its bound",
	"smoothing.Radial":                              "kernels on all of space",
	"theory/proportional.ErrAccuracy":               "an error to ask for",
}

// experiments are functions and their settings: they are there for a notebook of one's own.
const experiments = "paper/"

// The house has one style: docs/architecture.md.
func TestStyle(t *testing.T) {
	testscale.Slow(t)
	s := readSource(t)
	for _, name := range s.unused() {
		if allowed[name] == "" && !strings.HasPrefix(name, experiments) {
			t.Errorf("%s is exported, and no other package, notebook or example uses it", name)
		}
	}
	for dir := range s.files {
		for _, p := range s.introduces(dir) {
			t.Error(p)
		}
		if texts := s.texts(dir, chosen); len(texts) > 0 && dir != "mechanism" {
			t.Errorf("%q: %q, which mechanism.Chosen and ChosenFrom say", dir, texts)
		}
	}
	must.Do(filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || filepath.Ext(file) != ".go" {
			return err
		}
		text, err := os.ReadFile(file)
		for _, p := range faults(string(text)) {
			t.Errorf("%s: %s", file, p)
		}
		if blind := blindToNaN.FindString(string(text)); blind != "" && strings.HasSuffix(file, "_test.go") {
			t.Errorf("%s: %q does not fail where that is NaN; write !(… <= …)", file, blind)
		}
		return err
	}))
}

// chosen is what a guarantee says of parameters, and must be made from how they were chosen.
const chosen = "without looking at the " + "records"

// blindToNaN is a comparison of what is measured in a test that NaN passes.
var blindToNaN = regexp.MustCompile(`(?m)^\s*if (.*; |.*\|\| )?math\.Abs\([^;|&{]*\) > [^;|&{]*(\|\|.*)?\{\n` +
	`\s*(t|b)\.(Error|Fatal).*`)

// texts returns the string literals of a package that contain a text.
func (s *source) texts(dir, text string) (all []string) {
	for _, f := range s.files[dir] {
		ast.Inspect(f, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && strings.Contains(l.Value, text) {
				all = append(all, l.Value)
			}
			return true
		})
	}
	return all
}

// longest is the number of columns of a line, a tab being four.
const longest = 120

// forbidden words speak of where and by whom the code is made.
var forbiddenWord = regexp.MustCompile(`(?i)\b(` + strings.Join([]string{"git" + "hub issue",
	"sess" + "ion[s]? of work",
	"co-auth" + "ored", "work" + "tree", "cla" + "ude", "anthro" + "pic", "chat" + "gpt", "as an a" + "i\b"},
	"|") + `)\b|/wo` + `rk/|/tmp/b` + `rief`)

// faults returns what is wrong with the text of a file of Go.
func faults(text string) (problems []string) {
	for i, line := range strings.Split(text, "\n") {
		if n := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t"); n > longest {
			problems = append(problems, fmt.Sprintf("line %d has %d columns, more than %d", i+1, n, longest))
		}
		if w := forbiddenWord.FindString(line); w != "" {
			problems = append(problems, fmt.Sprintf("line %d says %q", i+1, w))
		}
	}
	return problems
}

// introduces returns what a package lacks for whoever comes to it first: a comment that says what it is for and, at the
// top of a room, who may enter and an example that runs.
func (s *source) introduces(dir string) (problems []string) {
	comment := ""
	for _, f := range s.files[dir] {
		if f.Doc != nil {
			comment += f.Doc.Text()
		}
	}
	name := s.files[dir][0].Name.Name
	if name != "main" && !strings.HasPrefix(comment, "Package "+name+" ") {
		problems = append(problems, fmt.Sprintf("%q: no package comment", dir))
	}
	if !regexp.MustCompile(`(?s)^Package \w+ .{40,}`).MatchString(comment) && name != "main" {
		problems = append(problems, fmt.Sprintf("%q: its comment says next to nothing", dir))
	}
	return problems
}

// Every room has an example that runs, in one of its packages.
func TestEveryRoomHasAnExample(t *testing.T) {
	testscale.Slow(t)
	s := readSource(t)
	has := map[string]bool{}
	for dir, files := range s.tests {
		has[room(module+"/"+dir)] = has[room(module+"/"+dir)] || slices.ContainsFunc(files, examples)
	}
	for r := range mayImport {
		if !has[r] && r != "cmd" {
			t.Errorf("the room %q has no example", r)
		}
	}
}

// The checks see what they are for.
func TestStyleCanFail(t *testing.T) {
	for text, want := range map[string]int{
		"package p\n":                                     0,
		strings.Repeat("x", longest):                      0,
		strings.Repeat("é", longest):                      0,
		strings.Repeat("x", longest+1):                    1,
		"\t" + strings.Repeat("x", longest-3):             1,
		"\t// Output:\n\t// " + strings.Repeat("x ", 90):  1,
		"\t// Outside:\n\t// " + strings.Repeat("x ", 90): 1,
		"// as cla" + "ude says":                          1,
		`const dir = "/wo` + `rk/trees"`:                  1,
	} {
		if got := faults(text); len(got) != want {
			t.Errorf("%q: %v, want %d faults", text, got, want)
		}
	}
	parse := func(text string) *ast.File {
		t.Helper()
		return must.Get(parser.ParseFile(token.NewFileSet(), "x.go", text, parser.ParseComments))
	}
	s := &source{files: map[string][]*ast.File{}, tests: map[string][]*ast.File{}}
	s.add("a", parse("package a\ntype T struct{ F U }\ntype U int\nconst One U = 1\nfunc (T) Used() {}\n"+
		"func (T) Alone() {}\nfunc (T) String() string { return \"\" }\nfunc New() T { return T{} }\n"+
		"func Shown() {}\nfunc Lonely() {}\nfunc Tested() {}\nfunc celled() {}\nfunc Celled() {}\n"), false)
	s.add("b", parse("package b\nimport \""+module+"/a\"\nvar x = a.New()\nfunc f() { x.Used() }\n"), false)
	s.add("a", parse("package a_test\nimport \""+module+"/a\"\nfunc ExampleShown() { a.Shown() }\n"), true)
	s.add("a", parse("package a_test\nimport \""+module+"/a\"\nfunc TestTested() { a.Tested() }\n"), true)
	s.add("d", parse("package d\n// "+chosen+"\nvar x = \"λ was chosen "+chosen+"\"\n"), false)
	if got := s.texts("d", chosen); len(got) != 1 {
		t.Errorf("%q", got)
	}
	s.cells = []string{"a.Celled()"}
	if got := strings.Join(s.unused(), " "); got != "a.Lonely a.T.Alone a.Tested" {
		t.Errorf("unused: %s", got)
	}
	for text, want := range map[string]int{
		"// Package c is for what nobody else does, and all may enter.\npackage c": 0,
		"package c":                     2,
		"// Package c is c.\npackage c": 1,
	} {
		s.files["c"] = []*ast.File{parse(text)}
		if got := s.introduces("c"); len(got) != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
