package faults

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// swapped says by what an operator is replaced.
var swapped = map[token.Token]string{
	token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*",
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==",
	token.LAND: "||", token.LOR: "&&",
}

// tells are functions that make a text, of which a wrong one is no wrong number, and those of a sign, of which 2 means
// what 1 means.
var tells = map[string]bool{"String": true, "Describe": true, "Errorf": true, "Sprintf": true, "Inf": true,
	"IsInf": true}

// Mutants returns the changes of one place in the package at dir below dpnb, in the order of the code: operators are
// swapped, whole numbers get one more, others a tenth more, a minus sign goes, a statement is dropped, or a function
// returns before it. What makes texts and errors or stands beside an error is left alone, the sign of an
// infinity, and so is a line that is not the only one of its kind in the file.
func Mutants(root, dir string, checks []string) (all []Fault, err error) {
	names, err := filepath.Glob(filepath.Join(root, "dpnb", dir, "*.go"))
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		some, err := mutantsOf(root, name, checks)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

func mutantsOf(root, name string, checks []string) (all []Fault, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(filepath.Join(root, "dpnb"), name)
	if err != nil {
		return nil, err
	}
	change := func(pos token.Pos, length int, by, what string) {
		p := set.Position(pos)
		from := strings.LastIndexByte(string(text[:p.Offset]), '\n') + 1
		to := p.Offset + strings.IndexByte(string(text[p.Offset:]), '\n')
		line := string(text[from:to])
		at := p.Offset - from
		all = append(all, Fault{
			ID:   fmt.Sprintf("%s:%d:%d", filepath.ToSlash(rel), p.Line, p.Column),
			File: filepath.ToSlash(rel), Text: strings.TrimSpace(line),
			Replacement: strings.TrimSpace(line[:at] + by + line[at+length:]), What: what, Checks: checks,
		})
	}
	// Statements of one line are dropped, if nothing is declared in them.
	drop := func(list []ast.Stmt) {
		for _, st := range list {
			switch e := st.(type) {
			case *ast.AssignStmt:
				if e.Tok == token.DEFINE {
					continue
				}
			case *ast.ExprStmt, *ast.IncDecStmt:
			default:
				continue
			}
			if set.Position(st.Pos()).Line == set.Position(st.End()).Line {
				change(st.Pos(), int(st.End()-st.Pos()), "", "statement")
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch e := n.(type) {
		case *ast.BlockStmt:
			drop(e.List)
		case *ast.CaseClause:
			drop(e.Body)
		case *ast.UnaryExpr:
			if e.Op == token.SUB {
				change(e.OpPos, 1, "", "sign")
			}
		case *ast.ImportSpec, *ast.CompositeLit:
			_, literal := n.(*ast.CompositeLit)
			return literal && !isError(n.(*ast.CompositeLit))
		case *ast.ReturnStmt:
			// What stands beside an error means nothing.
			return len(e.Results) < 2 || !fails(e.Results)
		case *ast.FuncDecl:
			if tells[e.Name.Name] {
				return false
			}
			if early(e) {
				for _, st := range e.Body.List[1:] {
					if sameResults(e, st) {
						continue
					}
					change(st.Pos(), 0, "return; ", "return")
				}
			}
		case *ast.CallExpr:
			f, ok := e.Fun.(*ast.SelectorExpr)
			return !ok || !tells[f.Sel.Name]
		case *ast.BinaryExpr:
			if isText(e.X) || isText(e.Y) {
				return false
			}
			if by, ok := swapped[e.Op]; ok && !isNil(e.Y) {
				change(e.OpPos, len(e.Op.String()), by, "operator")
			}
		case *ast.BasicLit:
			if by, ok := changed(e); ok {
				change(e.Pos(), len(e.Value), by, "number")
			}
		}
		return true
	})
	return slices.DeleteFunc(all, func(f Fault) bool { return strings.Count(string(text), f.Text) != 1 }), nil
}

// fails reports whether the last result is an error that is made, or passed on beside plain numbers.
func fails(results []ast.Expr) bool {
	switch x := results[len(results)-1].(type) {
	case *ast.Ident:
		computes := func(e ast.Expr) bool { _, plain := e.(*ast.BasicLit); return !plain }
		return x.Name == "err" && !slices.ContainsFunc(results[:len(results)-1], computes)
	case *ast.UnaryExpr:
		l, ok := x.X.(*ast.CompositeLit)
		return ok && isError(l)
	case *ast.CallExpr:
		switch f := x.Fun.(type) {
		case *ast.Ident:
			return strings.HasSuffix(f.Name, "rrorf")
		case *ast.SelectorExpr:
			return f.Sel.Name == "Errorf"
		}
	}
	return false
}

// sameResults reports whether a statement returns the results of a function by their names, as a bare return does.
func sameResults(f *ast.FuncDecl, st ast.Stmt) bool {
	r, ok := st.(*ast.ReturnStmt)
	if !ok || f.Type.Results == nil {
		return false
	}
	var names []string
	for _, p := range f.Type.Results.List {
		for _, n := range p.Names {
			names = append(names, n.Name)
		}
	}
	for i, e := range r.Results {
		if id, ok := e.(*ast.Ident); !ok || i >= len(names) || id.Name != names[i] {
			return false
		}
	}
	return true
}

// early reports whether a function may return anywhere without saying what.
func early(f *ast.FuncDecl) bool {
	results := f.Type.Results
	return f.Body != nil && len(f.Body.List) > 1 && (results == nil || len(results.List[0].Names) > 0)
}

// changed returns another value for a number.
func changed(l *ast.BasicLit) (string, bool) {
	switch l.Kind {
	case token.INT:
		if v, err := strconv.ParseInt(l.Value, 0, 64); err == nil {
			return strconv.FormatInt(v+1, 10), true
		}
	case token.FLOAT:
		if v, err := strconv.ParseFloat(l.Value, 64); err == nil {
			return strconv.FormatFloat(1.1*v, 'g', -1, 64), true
		}
	}
	return "", false
}

func isNil(e ast.Expr) bool { id, ok := e.(*ast.Ident); return ok && id.Name == "nil" }

// isText reports whether an operand of + or a comparison is a text.
func isText(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.BasicLit:
		return x.Kind == token.STRING
	case *ast.BinaryExpr:
		return isText(x.X) || isText(x.Y)
	}
	return false
}

// isError reports whether a literal is that of an error, whose values are shown and not used.
func isError(l *ast.CompositeLit) bool {
	switch t := l.Type.(type) {
	case *ast.Ident:
		return strings.HasSuffix(t.Name, "Error")
	case *ast.SelectorExpr:
		return strings.HasSuffix(t.Sel.Name, "Error")
	}
	return false
}
