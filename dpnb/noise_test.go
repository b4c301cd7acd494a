package dpnb_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// floatNoise lists what draws float64 noise in a Go file: methods that do, with arguments (objpert's Gaussian() has
// none), and imports of generators.
func floatNoise(t *testing.T, name string, source any) (found []string) {
	t.Helper()
	files := token.NewFileSet()
	file := must.Get(parser.ParseFile(files, name, source, 0))
	for _, i := range file.Imports {
		if p := strings.Trim(i.Path.Value, `"`); strings.HasPrefix(p, "math/rand") || p == "crypto/rand" {
			found = append(found, name+" imports "+p)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if s, ok := call.Fun.(*ast.SelectorExpr); ok {
			switch s.Sel.Name {
			case "NormFloat64", "ExpFloat64":
				found = append(found, files.Position(n.Pos()).String()+": "+s.Sel.Name)
			case "Gaussian", "Laplace":
				if len(call.Args) > 0 {
					found = append(found, files.Position(n.Pos()).String()+": "+s.Sel.Name)
				}
			}
		}
		return true
	})
	return found
}

// No package that releases draws float64 noise: its last bits tell of what it was added to. They draw by noise.Exact.
func TestReleasesDrawExactNoise(t *testing.T) {
	count := 0
	check := func(path string) {
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			count++
			for _, f := range floatNoise(t, path, nil) {
				t.Error(f)
			}
		}
	}
	must.Do(filepath.WalkDir("mechanism", func(path string, _ fs.DirEntry, err error) error {
		check(path)
		return err
	}))
	own := must.Get(filepath.Glob("*.go"))
	for _, path := range own {
		check(path)
	}
	if count < 30 {
		t.Errorf("only %d files were read", count)
	}
	wrong := `package p; import "math/rand/v2"; func f(src g) { src.Gaussian(x, 1); m.Gaussian(); rand.NormFloat64() }`
	if found := floatNoise(t, "wrong.go", wrong); len(found) != 3 {
		t.Errorf("of three faults %v are found", found)
	}
}
