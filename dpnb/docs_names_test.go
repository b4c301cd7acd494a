package dpnb_test

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/whereis"
)

// What the pages on theory name in code exists: symbols, tests, files, claims.
func TestNamesInTheoryExist(t *testing.T) {
	h := parseHouse(t)
	pages := readPages(t)
	for _, m := range regexp.MustCompile(`(?m)^#+ ([a-z0-9]+/\S+)$`).FindAllStringSubmatch(pages["docs/claims.md"],
		-1) {
		h.claims[m[1]] = true
	}
	for id := range statements(t) {
		h.claims[id] = true
	}
	names := 0
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		if path.Dir(name) != "docs/theory" && name != "docs/architecture.md" {
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

// house knows the names in the code.
type house struct {
	// symbols has package.Symbol and package.Type.Member of the house, tests
	// included; rooms its packages by name and foreign those that it imports.
	symbols, rooms, foreign map[string]bool
	// tests, files and claims by name; paths from the top.
	tests, files, paths, claims map[string]bool
}

// parseHouse reads every file of Go below this directory.
func parseHouse(t *testing.T) *house {
	t.Helper()
	tree, err := checkout()
	if err != nil {
		t.Fatal(err)
	}
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
var checkout = sync.OnceValues(func() (*whereis.Tree, error) { return whereis.Read("..") })

var (
	symbol = regexp.MustCompile(`^([a-z][a-z0-9]*)\.([A-Z]\w*)(\.[A-Z]\w*)?$`)
	test   = regexp.MustCompile(`^(Test|Benchmark)[A-Z]\w*$`)
	file   = regexp.MustCompile(`^([\w/]+/)?\w+\.go$`)
	place  = regexp.MustCompile(`^(dpnb|rkw23|qop|cop|heavytail|dtz24)/[\w./-]+$`)
)

// problems checks what a page names in backticks, and returns how many names
// look like ones of the house.
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
