// Package crossref finds in a checkout what is named elsewhere: a symbol or a test in the code, an anchor of
// docs/theory, an entry of docs/errata.md, a cell of a notebook.
package crossref

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// Tree is a checkout, its files by their paths from the top with slashes.
type Tree struct {
	// Symbols has the file of each symbol, tests included: "privacy/objective.New" and
	// "privacy/objective.Config.Lambda", the package by its directory below dpnb.
	Symbols map[string]string
	// Packages has the name of each package by its directory below dpnb; Imports what they import.
	Packages map[string]string
	Imports  map[string]bool
	// Paths has every file and directory below dpnb.
	Paths map[string]bool
	// Anchors has what stands at each anchor of docs/theory, Errata the anchors of docs/errata.md.
	Anchors map[string]Passage
	Errata  map[string]bool
	// Cells has the cells of notebooks, "02_objective_perturbation#risk-plot".
	Cells map[string]bool
}

// Passage is what an anchor stands for.
type Passage struct {
	// Page is its file without directory and extension.
	Page string
	// Text is the whole section where the anchor stands before a heading, and else reaches to the next anchor or
	// heading.
	Text string
}

// Read returns the tree below root, which has go.mod.
//
// Errors: a file that cannot be read or parsed.
func Read(root string) (*Tree, error) {
	t := &Tree{Symbols: map[string]string{}, Packages: map[string]string{}, Imports: map[string]bool{},
		Paths:   map[string]bool{},
		Anchors: map[string]Passage{}, Errata: map[string]bool{}, Cells: map[string]bool{}}
	if err := t.readCode(root); err != nil {
		return nil, err
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "theory", "*.md"))
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(filepath.Base(page), ".md")
		for _, m := range anchorTag.FindAllSubmatch(text, -1) {
			t.Anchors[string(m[1])] = Passage{Page: name, Text: passage(string(text), string(m[1]))}
		}
	}
	errata, err := os.ReadFile(filepath.Join(root, "docs", "errata.md"))
	if err != nil {
		return nil, err
	}
	for _, m := range anchorTag.FindAllSubmatch(errata, -1) {
		t.Errata[string(m[1])] = true
	}
	return t, t.readNotebooks(root)
}

func (t *Tree) readNotebooks(root string) error {
	notebooks, err := filepath.Glob(filepath.Join(root, "notebooks", "*.ipynb"))
	if err != nil {
		return err
	}
	for _, file := range notebooks {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var notebook struct{ Cells []struct{ ID string } }
		if err := json.Unmarshal(text, &notebook); err != nil {
			return err
		}
		for _, c := range notebook.Cells {
			t.Cells[strings.TrimSuffix(filepath.Base(file), ".ipynb")+"#"+c.ID] = true
		}
	}
	return nil
}

var anchorTag = regexp.MustCompile(`<a id="([^"]+)"></a>`)

var (
	marks    = regexp.MustCompile(`^(?:<a id="[^"]+"></a>\s*)+(#+ )?`)
	nextMark = regexp.MustCompile(`\n(?:#+ |<a id=")`)
	fence    = regexp.MustCompile("(?ms)^```.*?^```[^\n]*$")
)

// passage returns the text of an anchor of a page.
func passage(page, anchor string) string {
	rest := page[strings.Index(page, `<a id="`+anchor+`"></a>`):]
	m := marks.FindStringSubmatch(rest)
	rest = rest[len(m[0]):]
	// Headings are looked for where no code is, in a copy of the same length.
	plain := fence.ReplaceAllStringFunc(rest, func(code string) string { return strings.Repeat(" ", len(code)) })
	end := nextMark
	if m[1] != "" {
		end = regexp.MustCompile(`\n#{1,` + string(rune('0'+len(m[1])-1)) + `} `)
	}
	if at := end.FindStringIndex(plain); at != nil {
		rest = rest[:at[0]]
	}
	return strings.TrimSpace(rest)
}

// Hash returns eight hexadecimal digits of SHA-256 of the words of texts: it does not change with line breaks.
func Hash(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(strings.Fields(strings.Join(texts, "\n")), " ")))
	return hex.EncodeToString(sum[:4])
}

// readCode reads every file of Go below root/dpnb.
func (t *Tree) readCode(root string) error {
	top := filepath.Join(root, "dpnb")
	return filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		from, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		from = filepath.ToSlash(from)
		t.Paths[from] = true
		if d.IsDir() || filepath.Ext(file) != ".go" {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		t.add(from, f)
		return nil
	})
}

func (t *Tree) add(file string, f *ast.File) {
	dir := strings.TrimPrefix(strings.TrimPrefix(path.Dir(file), "dpnb"), "/")
	if dir == "" {
		dir = "dpnb"
	}
	t.Packages[dir] = strings.TrimSuffix(f.Name.Name, "_test")
	for _, i := range f.Imports {
		t.Imports[strings.Trim(i.Path.Value, `"`)] = true
	}
	note := func(name string) { t.Symbols[dir+"."+name] = file }
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = TypeName(d.Recv.List[0].Type) + "." + name
			}
			note(name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, n := range s.Names {
						note(n.Name)
					}
				case *ast.TypeSpec:
					note(s.Name.Name)
					for _, member := range members(s.Type) {
						note(s.Name.Name + "." + member)
					}
				}
			}
		}
	}
}

// TypeName returns the name of a receiver's type without pointer and parameters.
func TypeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return TypeName(e.X)
	case *ast.IndexExpr:
		return TypeName(e.X)
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
