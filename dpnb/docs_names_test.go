package dpnb_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What the pages on theory name in code exists: symbols, tests, files, claims.
func TestNamesInTheoryExist(t *testing.T) {
	h := parseHouse(t)
	pages := readPages(t)
	for _, m := range regexp.MustCompile(`(?m)^#+ ([a-z0-9]+/\S+)$`).FindAllStringSubmatch(pages["docs/claims.md"], -1) {
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
	h := &house{symbols: map[string]bool{}, rooms: map[string]bool{}, foreign: map[string]bool{}, tests: map[string]bool{},
		files: map[string]bool{}, paths: map[string]bool{}, claims: map[string]bool{}}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		slashed := path.Join("dpnb", filepath.ToSlash(file))
		h.paths[slashed] = true
		h.files[path.Base(slashed)] = true
		if d.IsDir() || filepath.Ext(file) != ".go" {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		h.add(f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *house) add(f *ast.File) {
	room := strings.TrimSuffix(f.Name.Name, "_test")
	h.rooms[room] = true
	for _, i := range f.Imports {
		address := strings.Trim(i.Path.Value, `"`)
		if !strings.HasPrefix(address, "github.com/dpnb/") {
			h.foreign[path.Base(address)] = true
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = typeName(d.Recv.List[0].Type) + "." + name
			} else if strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Benchmark") {
				h.tests[name] = true
			}
			h.symbols[room+"."+name] = true
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, n := range s.Names {
						h.symbols[room+"."+n.Name] = true
					}
				case *ast.TypeSpec:
					h.symbols[room+"."+s.Name.Name] = true
					for _, member := range members(s.Type) {
						h.symbols[room+"."+s.Name.Name+"."+member] = true
					}
				}
			}
		}
	}
}

// typeName returns the name of a receiver's type without pointer and parameters.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// members returns the fields of a struct and the methods of an interface.
func members(e ast.Expr) (names []string) {
	var list *ast.FieldList
	switch e := e.(type) {
	case *ast.StructType:
		list = e.Fields
	case *ast.InterfaceType:
		list = e.Methods
	default:
		return nil
	}
	for _, f := range list.List {
		for _, n := range f.Names {
			names = append(names, n.Name)
		}
	}
	return names
}

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
