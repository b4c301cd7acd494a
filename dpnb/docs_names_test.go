package dpnb_test

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/crossref"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// What the pages name in code exists: symbols, tests, files, claims. The changelog names what was.
func TestNamesInPagesExist(t *testing.T) {
	testscale.Slow(t)
	h := parseHouse(t)
	pages := readPages(t)
	for id := range statements(t) {
		h.claims[id] = true
	}
	names := 0
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		if name == "docs/CHANGELOG.md" {
			continue
		}
		n, problems := h.problems(name, pages[name])
		names += n
		for _, p := range problems {
			t.Error(p)
		}
	}
	if names < 150 {
		t.Errorf("only %d names of the house were found", names)
	}
}

// Where the pages give a command of go test, the packages are there, and its patterns match something in them;
// variables that it sets are read.
func TestCommandsInPagesRun(t *testing.T) {
	tree := must.Get(checkout())
	read := map[string]bool{}
	for name := range tree.Paths {
		if path.Ext(name) != ".go" {
			continue
		}
		text := must.Get(os.ReadFile(filepath.Join("..", filepath.FromSlash(name))))
		for _, m := range regexp.MustCompile(`"(DPNB_\w+)"`).FindAllStringSubmatch(string(text), -1) {
			read[m[1]] = true
		}
	}
	pages := readPages(t)
	commands := 0
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		n, problems := commandProblems(tree, read, pages[name])
		commands += n
		for _, p := range problems {
			t.Errorf("%s: %s", name, p)
		}
	}
	if commands < 15 {
		t.Errorf("only %d commands and variables were found", commands)
	}
	// It must be able to fail.
	_, problems := commandProblems(tree, read, "`DPNB_FUL=1 go test -run xxx -bench 'Nothing|Paper' "+
		"./dpnb/erm/composite`, `go test ./dpnb/erm -run=TestNothing -v`, `go test -run Exact ./dpnb/priv/...`")
	if len(problems) != 4 {
		t.Errorf("of four faults: %q", problems)
	}
}

// commandProblems checks the commands of a page, and returns how many there are, variables among them.
func commandProblems(tree *crossref.Tree, read map[string]bool, text string) (n int, problems []string) {
	for _, name := range regexp.MustCompile(`\bDPNB_\w+`).FindAllString(text, -1) {
		if n++; !read[name] {
			problems = append(problems, name+" is read by nothing")
		}
	}
	for _, m := range regexp.MustCompile("\\bgo test ([^`\n]*)").FindAllStringSubmatch(text, -1) {
		n++
		words := strings.Fields(strings.ReplaceAll(m[1], "=", " "))
		var packages, patterns []string
		for i, w := range words {
			switch {
			case strings.HasPrefix(w, "./"):
				packages = append(packages, strings.TrimPrefix(w, "./"))
			case (w == "-run" || w == "-bench") && i+1 < len(words) && words[i+1] != "xxx":
				patterns = append(patterns, strings.Split(strings.Trim(words[i+1], "'"), "|")...)
			}
		}
		names := map[string]bool{} // of tests and benchmarks in the packages
		for _, p := range packages {
			dir, below := strings.CutSuffix(p, "/...")
			if !tree.Paths[dir] {
				problems = append(problems, p+" is not there")
				patterns = nil
			}
			for symbol, file := range tree.Symbols {
				if at := path.Dir(file); at == dir || below && strings.HasPrefix(at, dir+"/") {
					names[path.Ext(symbol)[1:]] = true
				}
			}
		}
		for _, p := range patterns {
			match := regexp.MustCompile(p)
			if !slices.ContainsFunc(slices.Collect(maps.Keys(names)), func(name string) bool {
				return test.MatchString(name) && match.MatchString(name)
			}) {
				problems = append(problems, fmt.Sprintf("nothing in %q is called %s", packages, p))
			}
		}
	}
	return n, problems
}

// house knows the names in the code.
type house struct {
	// symbols has package.Symbol and package.Type.Member of the house, tests included; rooms its packages by name and
	// foreign those that it imports.
	symbols, rooms, foreign map[string]bool
	// tests, files and claims by name; paths from the top.
	tests, files, paths, claims map[string]bool
}

// parseHouse reads every file of Go below this directory.
func parseHouse(t *testing.T) *house {
	t.Helper()
	tree := must.Get(checkout())
	h := &house{symbols: map[string]bool{}, rooms: map[string]bool{}, foreign: map[string]bool{},
		tests: map[string]bool{},
		files: map[string]bool{}, paths: tree.Paths, claims: map[string]bool{}}
	for name := range tree.Paths {
		h.files[path.Base(name)] = true
	}
	for name := range tree.Symbols {
		dir, symbol, _ := strings.Cut(name, ".")
		h.symbols[tree.Packages[dir]+"."+symbol] = true
		if test.MatchString(symbol) {
			h.tests[symbol] = true
		}
	}
	for _, room := range tree.Packages {
		h.rooms[room] = true
	}
	for address := range tree.Imports {
		if !strings.HasPrefix(address, "github.com/dpnb/") {
			h.foreign[path.Base(address)] = true
		}
	}
	return h
}

// checkout is read once for all tests.
var checkout = sync.OnceValues(func() (*crossref.Tree, error) { return crossref.Read("..") })

var (
	symbol = regexp.MustCompile(`^([a-z][a-z0-9]*)\.([A-Z]\w*)(\.[A-Z]\w*)?$`)
	test   = regexp.MustCompile(`^(Test|Benchmark)[A-Z]\w*$`)
	file   = regexp.MustCompile(`^([\w/]+/)?\w+\.go$`)
	place  = regexp.MustCompile(`^(dpnb|rkw23|qop|cop|heavytail|dtz24)/[\w./-]+$`)
)

// problems checks what a page names in backticks, and returns how many names look like ones of the house.
func (h *house) problems(page, text string) (n int, problems []string) {
	for _, code := range inline.FindAllString(prose(text), -1) {
		name := strings.Trim(code, "`")
		ok := true
		switch m := symbol.FindStringSubmatch(name); {
		case m != nil:
			ok = h.symbols[name] || h.foreign[m[1]] && !h.rooms[m[1]]
		case test.MatchString(name):
			ok = h.tests[name]
		case file.MatchString(name):
			ok = h.paths[name] || h.paths["dpnb/"+name] || !strings.Contains(name, "/") && h.files[name]
		case place.MatchString(name):
			ok = h.paths[name] || h.claims[name]
		default:
			continue
		}
		n++
		if !ok {
			problems = append(problems, fmt.Sprintf("%s names %s, which is not in the house", page, code))
		}
	}
	return n, problems
}
