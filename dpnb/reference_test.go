package dpnb_test

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/printer"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// docs/reference.md says of every name of the front door what its comment says, with its example, fields and methods.
// DPNB_GOLDEN=1 writes it.
func TestReference(t *testing.T) {
	var r reference
	r.write(must.Get(parser.ParseFile(token.NewFileSet(), "dpnb.go", nil, parser.ParseComments)))
	golden.Compare(t, "../docs/reference.md", "# Reference\n\nEvery name that `import . \"github.com/dpnb/notebooks/"+
		"dpnb\"` gives, as `go doc` has it, with what each type's fields and methods are for. [The guide](guide.md) "+
		"says how to choose.\n\n"+strings.Join(r.contents, " · ")+"\n"+r.String())
	if r.names < 100 || r.members < 200 {
		t.Errorf("only %d names and %d fields and methods", r.names, r.members)
	}
}

// reference is the page as it is written.
type reference struct {
	strings.Builder
	contents       []string
	packages       map[string]*doc.Package
	names, members int
}

// write writes all of the file, in its order. Comments "# Title" between declarations are titles of sections.
func (r *reference) write(f *ast.File) {
	attached := map[*ast.CommentGroup]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			attached[n.Doc] = true
		case *ast.FuncDecl:
			attached[n.Doc] = true
		}
		return true
	})
	nodes := []ast.Node{}
	for _, c := range f.Comments {
		if !attached[c] && strings.HasPrefix(c.Text(), "# ") {
			nodes = append(nodes, c)
		}
	}
	for _, d := range f.Decls {
		nodes = append(nodes, d)
	}
	slices.SortStableFunc(nodes, func(a, b ast.Node) int { return cmp.Compare(a.Pos(), b.Pos()) })
	for _, n := range nodes {
		switch n := n.(type) {
		case *ast.CommentGroup:
			title := strings.TrimSpace(strings.TrimPrefix(n.Text(), "# "))
			anchor := strings.ToLower(strings.ReplaceAll(title, " ", "-"))
			r.contents = append(r.contents, fmt.Sprintf("[%s](#%s)", title, anchor))
			fmt.Fprintf(r, "\n## %s\n", title)
		case *ast.FuncDecl:
			n.Body = nil
			text := n.Doc.Text()
			n.Doc = nil
			r.entry(n.Name.Name, strings.TrimPrefix(inLine(n), "func "), text)
		case *ast.GenDecl:
			if n.Tok == token.IMPORT {
				continue
			}
			if n.Lparen.IsValid() && n.Doc != nil {
				r.WriteString("\n")
				r.text(n.Doc.Text())
			}
			for _, s := range n.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					r.entry(s.Name.Name, s.Name.Name, either(s.Doc, n.Doc, n.Lparen))
					r.membersOf(s.Type)
				case *ast.ValueSpec:
					r.value(s, either(s.Doc, n.Doc, n.Lparen))
				}
			}
		}
	}
}

// either is the comment of a specification, or of its declaration if that has no other.
func either(own, whole *ast.CommentGroup, group token.Pos) string {
	if own == nil && !group.IsValid() {
		own = whole
	}
	return own.Text()
}

// value writes a name that stands for a function or a constant elsewhere.
func (r *reference) value(s *ast.ValueSpec, text string) {
	for i, name := range s.Names {
		head := name.Name
		if of, ok := s.Values[i].(*ast.SelectorExpr); ok {
			p := r.of(of.X.(*ast.Ident).Name)
			all := p.Funcs
			for _, t := range p.Types {
				all = append(all, t.Funcs...)
			}
			for _, f := range all {
				if f.Name == of.Sel.Name {
					f.Decl.Body, f.Decl.Doc = nil, nil
					head = strings.TrimPrefix(inLine(f.Decl), "func ")
				}
			}
		}
		r.entry(name.Name, head, text)
	}
}

// entry writes a name with its comment.
func (r *reference) entry(name, head, text string) {
	r.names++
	fmt.Fprintf(r, "\n<a id=\"%s\"></a>**`%s`**", strings.ToLower(name), strings.Join(strings.Fields(head), " "))
	if text == "" {
		r.WriteString("\n")
		return
	}
	r.WriteString("  \n")
	r.text(text)
}

// text writes a comment, in which indented lines are Go.
func (r *reference) text(text string) {
	p := comment.Printer{TextWidth: -1}
	for i, block := range new(comment.Parser).Parse(text).Content {
		if code, ok := block.(*comment.Code); ok {
			fmt.Fprintf(r, "\n```go\n%s```\n", code.Text)
			continue
		}
		if i > 0 {
			r.WriteString("\n")
		}
		r.Write(p.Text(&comment.Doc{Content: []comment.Block{block}}))
	}
}

// membersOf writes the exported fields and methods of what a type stands for, with the first sentence of each.
func (r *reference) membersOf(of ast.Expr) {
	at, ok := of.(*ast.SelectorExpr)
	if !ok {
		return
	}
	p := r.of(at.X.(*ast.Ident).Name)
	for _, t := range p.Types {
		if t.Name != at.Sel.Name {
			continue
		}
		spec := t.Decl.Specs[0].(*ast.TypeSpec)
		var lines []string
		line := func(head, text string) {
			if text = p.Synopsis(text); text != "" {
				text = ": " + text
			}
			lines = append(lines, fmt.Sprintf("- `%s`%s", head, text))
			r.members++
		}
		switch is := spec.Type.(type) {
		case *ast.SelectorExpr:
			r.membersOf(is)
		case *ast.StructType:
			for _, f := range is.Fields.List {
				for _, n := range f.Names {
					if n.IsExported() {
						line(n.Name+" "+inLine(f.Type), f.Doc.Text()+f.Comment.Text())
					}
				}
			}
		case *ast.InterfaceType:
			for _, f := range is.Methods.List {
				for _, n := range f.Names {
					line(n.Name+strings.TrimPrefix(inLine(f.Type), "func"), f.Doc.Text())
				}
			}
		}
		for _, m := range t.Methods {
			if m.Level == 0 {
				m.Decl.Body, m.Decl.Doc, m.Decl.Recv = nil, nil, nil
				line("."+strings.TrimPrefix(inLine(m.Decl), "func "), m.Doc)
			}
		}
		if len(lines) > 0 {
			fmt.Fprintf(r, "\n%s\n", strings.Join(lines, "\n"))
		}
	}
}

// of returns the documentation of a package below this folder that the front door, or what it stands for, imports.
func (r *reference) of(name string) *doc.Package {
	if r.packages[name] == nil {
		set, files := token.NewFileSet(), []*ast.File{}
		dir := map[string]string{"qop": "mechanism/qop"}[name]
		for _, path := range must.Get(filepath.Glob(filepath.Join(cmp.Or(dir, name), "*.go"))) {
			if !strings.HasSuffix(path, "_test.go") {
				files = append(files, must.Get(parser.ParseFile(set, path, nil, parser.ParseComments)))
			}
		}
		if r.packages == nil {
			r.packages = map[string]*doc.Package{}
		}
		r.packages[name] = must.Get(doc.NewFromFiles(set, files, "github.com/dpnb/notebooks/dpnb/"+name))
	}
	return r.packages[name]
}

// inLine returns the text of a node, in a line.
func inLine(n ast.Node) string {
	var b bytes.Buffer
	must.Do(printer.Fprint(&b, token.NewFileSet(), n))
	return strings.Join(strings.Fields(b.String()), " ")
}
