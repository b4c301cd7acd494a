package dpnb_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/crossref"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

const module = "github.com/dpnb/notebooks/dpnb"

// source is the Go of the house outside tests, by package path below dpnb ("" is the front door), and what else uses
// it.
type source struct {
	files, tests map[string][]*ast.File
	// cells has the code of notebooks and of the README.
	cells []string
}

// readSource parses every file below this directory.
func readSource(t *testing.T) *source {
	t.Helper()
	s := &source{files: map[string][]*ast.File{}, tests: map[string][]*ast.File{}}
	must.Do(filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution|parser.ParseComments)
		s.add(path.Dir(filepath.ToSlash(file)), f, strings.HasSuffix(file, "_test.go"))
		return err
	}))
	notebooks := must.Get(filepath.Glob(filepath.Join("..", "notebooks", "*.ipynb")))
	for _, file := range notebooks {
		text := must.Get(os.ReadFile(file))
		var nb struct {
			Cells []struct {
				Type   string `json:"cell_type"`
				Source []string
			}
		}
		if err := json.Unmarshal(text, &nb); err != nil {
			t.Fatal(file, err)
		}
		for _, c := range nb.Cells {
			if c.Type == "code" {
				s.cells = append(s.cells, strings.Join(c.Source, ""))
			}
		}
	}
	readme := must.Get(os.ReadFile("../README.md"))
	s.cells = append(s.cells, string(readme))
	return s
}

func (s *source) add(dir string, f *ast.File, test bool) {
	if dir == "." {
		dir = ""
	}
	if test {
		s.tests[dir] = append(s.tests[dir], f)
	} else {
		s.files[dir] = append(s.files[dir], f)
	}
}

// exports are the exported names of a package and what each mentions.
type exports struct {
	// declared has, for each exported name, the names that its declaration shows to whoever uses it: types of
	// parameters, results and exported fields; of a type its methods' too.
	declared map[string][]string
	// typed has the type of constants and variables.
	typed map[string]string
	// methods has the exported methods of exported types.
	methods map[string][]string
	// interfaces has the names of methods of interfaces.
	interfaces []string
}

func exportsOf(files []*ast.File) *exports {
	e := &exports{declared: map[string][]string{}, typed: map[string]string{}, methods: map[string][]string{}}
	for _, f := range files {
		imports := importsOf(f)
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				name := d.Name.Name
				if d.Recv != nil {
					of := crossref.TypeName(d.Recv.List[0].Type)
					if ast.IsExported(name) {
						e.methods[of] = append(e.methods[of], name)
						e.declared[of] = append(e.declared[of], mentioned(d.Type, imports)...)
					}
					continue
				}
				e.declared[name] = append(e.declared[name], mentioned(d.Type, imports)...)
			case *ast.GenDecl:
				e.general(d, imports)
			}
		}
	}
	return e
}

func (e *exports) general(d *ast.GenDecl, imports map[string]string) {
	last := ""
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			e.declared[spec.Name.Name] = append(e.declared[spec.Name.Name], mentioned(spec.Type, imports)...)
			if i, ok := spec.Type.(*ast.InterfaceType); ok {
				for _, m := range i.Methods.List {
					for _, n := range m.Names {
						e.interfaces = append(e.interfaces, n.Name)
					}
				}
			}
		case *ast.ValueSpec:
			if spec.Type != nil {
				last = crossref.TypeName(spec.Type)
			} else if len(spec.Values) > 0 {
				last = ""
			}
			for _, n := range spec.Names {
				shown := mentioned(spec.Type, imports)
				for _, v := range spec.Values {
					shown = append(shown, mentioned(v, imports)...)
				}
				e.declared[n.Name], e.typed[n.Name] = shown, last
			}
		}
	}
}

// mentioned returns the names in what a declaration shows, those of other packages with their directories:
// "erm.Settings".
func mentioned(n ast.Node, imports map[string]string) (names []string) {
	if n == nil || n == ast.Expr(nil) {
		return nil
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				if dir, ok := imports[x.Name]; ok {
					names = append(names, dir+"."+n.Sel.Name)
				}
			}
			return false
		case *ast.Ident:
			names = append(names, n.Name)
		}
		return true
	})
	return names
}

// standard are methods by which the standard library and gonum call a type.
var standard = strings.Fields(`String Error Unwrap Is As Len Less Swap MarshalJSON UnmarshalJSON Read Write Close Seek
	Uint64 Seed At Dims T Symmetric SymmetricDim Set Type Plot DataRange Thumbnail Ticks XY GlyphBoxes`)

var qualified = regexp.MustCompile(`\b([a-z]\w*)\.([A-Z]\w*)`)
var member = regexp.MustCompile(`\.([A-Z]\w*)`)

// unused returns the exported names that no other package of the house and no cell uses: "privacy/pld.Name" or
// "privacy/pld.Type.Method".
func (s *source) unused() (names []string) {
	packages, called := map[string]string{}, map[string]map[string]bool{} // by name; users of .Name
	all, used := map[string]*exports{}, map[string]bool{}
	call := func(name, by string) {
		if called[name] == nil {
			called[name] = map[string]bool{}
		}
		called[name][by] = true
	}
	interfaces := slices.Clone(standard)
	for dir, files := range s.files {
		packages[files[0].Name.Name] = dir
		all[dir] = exportsOf(files)
		interfaces = append(interfaces, all[dir].interfaces...)
	}
	var front []string // what the front door shows
	for dir := range s.files {
		for i, f := range append(slices.Clone(s.files[dir]), s.tests[dir]...) {
			test := i >= len(s.files[dir])
			imports := importsOf(f)
			ast.Inspect(f, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && imports["."] != "" {
					used[imports["."]+"."+id.Name] = true
				}
				sel, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				call(sel.Sel.Name, dir)
				if x, ok := sel.X.(*ast.Ident); ok {
					if from, ok := imports[x.Name]; ok {
						if from != dir || examples(f) { // else its own tests have it by its name
							used[from+"."+sel.Sel.Name] = true
						}
						if dir == "" && !test {
							front = append(front, from+"."+sel.Sel.Name)
						}
					}
				}
				return true
			})
		}
	}
	for _, cell := range s.cells {
		for _, m := range qualified.FindAllStringSubmatch(cell, -1) {
			if dir, ok := packages[m[1]]; ok {
				used[dir+"."+m[2]] = true
			}
		}
		for _, m := range member.FindAllStringSubmatch(cell, -1) {
			call(m[1], "a notebook")
		}
	}
	shown := func(from []string) map[string]bool {
		seen := map[string]bool{}
		for len(from) > 0 {
			name := from[len(from)-1]
			from = from[:len(from)-1]
			if seen[name] {
				continue
			}
			seen[name] = true
			dir, symbol, _ := cutLast(name)
			if all[dir] == nil {
				continue
			}
			for _, m := range all[dir].declared[symbol] {
				if strings.Contains(m, ".") {
					from = append(from, m)
				} else if _, ok := all[dir].declared[m]; ok {
					from = append(from, dir+"."+m)
				}
			}
		}
		return seen
	}
	public := shown(front)
	var roots []string
	for name := range used {
		roots = append(roots, name)
	}
	used = shown(roots)
	for dir, e := range all {
		if dir == "" || strings.HasPrefix(dir, "cmd/") && !strings.Contains(dir, "internal") {
			continue
		}
		for name := range e.declared {
			full := dir + "." + name
			if !ast.IsExported(name) {
				continue
			}
			if of := e.typed[name]; !used[full] && !(of != "" && used[dir+"."+of]) {
				names = append(names, full)
				continue
			}
			if public[full] {
				continue
			}
			for _, m := range e.methods[name] {
				others := len(called[m])
				if called[m][dir] {
					others--
				}
				if others == 0 && !slices.Contains(interfaces, m) {
					names = append(names, full+"."+m)
				}
			}
		}
	}
	slices.Sort(names)
	return names
}

// examples reports whether a file shows how a package is used.
func examples(f *ast.File) bool {
	return slices.ContainsFunc(f.Decls, func(d ast.Decl) bool {
		fn, ok := d.(*ast.FuncDecl)
		return ok && strings.HasPrefix(fn.Name.Name, "Example")
	})
}

// importsOf returns the directories of the house's packages by the name under which f has them.
func importsOf(f *ast.File) map[string]string {
	imports := map[string]string{}
	for _, i := range f.Imports {
		address := strings.Trim(i.Path.Value, `"`)
		dir, ok := strings.CutPrefix(address, module)
		if !ok {
			continue
		}
		dir = strings.TrimPrefix(dir, "/")
		name := path.Base(address)
		if i.Name != nil {
			name = i.Name.Name
		}
		imports[name] = dir
	}
	return imports
}

// cutLast cuts at the last point.
func cutLast(name string) (before, after string, ok bool) {
	i := strings.LastIndex(name, ".")
	if i < 0 {
		return name, "", false
	}
	return name[:i], name[i+1:], true
}
