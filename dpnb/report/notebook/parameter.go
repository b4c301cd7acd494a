package notebook

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Inject sets the parameters of a notebook by papermill's convention: after the cell tagged "parameters", whose Go
// variables are the parameters, it puts a cell tagged "injected-parameters" that declares them anew with the given
// values, and it records the values in the notebook's metadata. An injected cell that is there already is replaced.
//
// In GoNB a declaration replaces an earlier one of the same name in every later cell, which is how the new values reach
// the notebook. The type of a variable stays that of its first declaration. Values are Go expressions without
// functions; for strings the quotes may be left out.
//
// Errors: a name that the notebook does not declare, a value that its type does not hold, a notebook without a
// parameters cell.
func (nb *Notebook) Inject(values map[string]string) error {
	if len(values) == 0 {
		return nil
	}
	at := slices.IndexFunc(nb.Cells, func(c *Cell) bool { return c.HasTag(tagParameters) })
	if at < 0 {
		return fmt.Errorf("it has no parameters: tag the cell that declares them (var name = value) with %q",
			tagParameters)
	}
	declared, err := parameters(nb.Cells[at].Source())
	if err != nil {
		return fmt.Errorf("cell %d, tagged %q: %w", at+1, tagParameters, err)
	}
	var source strings.Builder
	source.WriteString("// Parameters")
	record := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		t, ok := declared[name]
		if !ok {
			return fmt.Errorf("it has no parameter %q; it has %s", name,
				strings.Join(slices.Sorted(maps.Keys(declared)), ", "))
		}
		expression, err := literal(name, t, values[name])
		if err != nil {
			return err
		}
		fmt.Fprintf(&source, "\nvar %s %s = %s", name, t, expression)
		record[name] = recorded(values[name])
	}
	nb.Cells = slices.DeleteFunc(nb.Cells, func(c *Cell) bool { return c.HasTag(TagInjected) })
	at = slices.IndexFunc(nb.Cells, func(c *Cell) bool { return c.HasTag(tagParameters) })
	nb.Cells = slices.Insert(nb.Cells, at+1, newCode(TagInjected, source.String(), TagInjected))
	object(nb.Metadata(), "papermill")["parameters"] = record
	return nil
}

// Declares reports whether the cell tagged "parameters" declares the name.
func (nb *Notebook) Declares(name string) bool {
	at := slices.IndexFunc(nb.Cells, func(c *Cell) bool { return c.HasTag(tagParameters) })
	if at < 0 {
		return false
	}
	declared, err := parameters(nb.Cells[at].Source())
	_, ok := declared[name]
	return err == nil && ok
}

// parameters returns the variables that a cell declares, with their types.
func parameters(source string) (map[string]types.Type, error) {
	// Lines for the kernel are not Go; blank ones keep the line numbers.
	kept := strings.Split(source, "\n")
	for i, line := range kept {
		if strings.HasPrefix(line, "!") || strings.HasPrefix(line, "%") {
			kept[i] = ""
		}
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "cell", "package p;"+strings.Join(kept, "\n"), parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); !ok || g.Tok != token.VAR && g.Tok != token.CONST {
			return nil, fmt.Errorf("line %d: only var declarations may stand here, so that their types are known",
				files.Position(d.Pos()).Line)
		}
	}
	pkg, err := (&types.Config{}).Check("p", files, []*ast.File{file}, nil)
	if err != nil {
		return nil, err
	}
	found := map[string]types.Type{}
	for _, name := range pkg.Scope().Names() {
		if v, ok := pkg.Scope().Lookup(name).(*types.Var); ok {
			found[name] = v.Type()
		}
	}
	return found, nil
}

// literal returns value as a Go expression of type t.
func literal(name string, t types.Type, value string) (string, error) {
	basic, isBasic := t.Underlying().(*types.Basic)
	if isBasic && basic.Info()&types.IsString != 0 {
		if _, err := strconv.Unquote(value); err != nil {
			return strconv.Quote(value), nil
		}
		return value, nil
	}
	// The quotes of a shell around a value are gone by now, so what remains is Go.
	bad := fmt.Errorf("parameter %s: %q is no value of type %s", name, value, t)
	if _, err := parser.ParseExpr(value); err != nil {
		return "", bad
	}
	files := token.NewFileSet()
	source := fmt.Sprintf("package p; var x %s = %s", t, value)
	file, err := parser.ParseFile(files, "value", source, parser.SkipObjectResolution)
	if err != nil {
		return "", bad
	}
	if _, err := (&types.Config{}).Check("p", files, []*ast.File{file}, nil); err != nil {
		return "", bad
	}
	return value, nil
}

// recorded returns a value as papermill keeps it: a number, a truth value or a list as such, all else as a string.
func recorded(value string) any {
	if json.Valid([]byte(value)) {
		return json.RawMessage(value)
	}
	return value
}
