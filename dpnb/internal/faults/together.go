package faults

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// variable of the environment that has the number of the mutant which functions are to be.
const variable = "DPNB_MUTANT"

var (
	// errAlone is what is said of a mutant that is in no function.
	errAlone  = errors.New("needs a binary of its own")
	errInCopy = regexp.MustCompile(`(?m)^\S*mutant-(\d+):\d+:\d+: (.*)$`)
)

// RunMutants is Run for mutants of one package, their first check, by the tests that execute their places: in lots of
// which each takes some times as long as all before, so that most mutants are caught by the quickest tests, and tests
// that share what is costly to prepare share it still. All mutants are in one test binary: a function that has some
// first asks which it is to be, and goes on with a copy of its body that has the change. What is in no function has a
// binary of its own. An error of one mutant is told with it; a test that fails without any is one.
func RunMutants(ctx context.Context, root string, list []Fault, r Reach, tell func(Fault, Result, error)) error {
	if len(list) == 0 {
		return nil
	}
	dir, err := os.MkdirTemp("", "dpnb-mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	errs := make([]error, len(list))
	all, own := filepath.Join(dir, "all"), filepath.Join(dir, "own")
	for built := false; !built; { // each time without those that were found not to build
		files, err := copies(root, list, r, errs)
		if err != nil {
			return err
		}
		said, err := buildTests(ctx, root, list[0].Checks[0], all, files, "-gcflags=-e")
		wrong := errInCopy.FindAllStringSubmatch(said, -1)
		for _, m := range wrong {
			n, _ := strconv.Atoi(m[1])
			errs[n-1] = fmt.Errorf("%s %w: %s", list[n-1].ID, errBuild, m[2])
		}
		if built = err == nil; !built && len(wrong) == 0 {
			return fmt.Errorf("mutants of %s together: %w: %s", list[0].Checks[0], err, said)
		}
	}
	sound := map[string]bool{}
	for k, f := range list {
		res, binary := Result{ID: f.ID, Hash: f.Hash()}, all
		start := time.Now()
		if errs[k] == errAlone {
			content, _ := f.planted(root)
			if said, err := buildTests(ctx, root, f.Checks[0], own, map[string][]byte{f.File: content}); err != nil {
				errs[k] = fmt.Errorf("%s %w: %s", f.ID, errBuild, said)
			} else {
				errs[k], binary = nil, own
			}
		}
		if errs[k] == nil {
			os.Setenv(variable, strconv.Itoa(k+1))
			ask(ctx, root, f, binary, r.of(f), &res)
			os.Unsetenv(variable)
		}
		if name, _, _ := strings.Cut(res.Test, "/"); name != "" && !sound[name] {
			said, _, err := runTests(ctx, root, f.Checks[0], all, "-test.run", "^"+name+"$")
			if sound[name] = err == nil; err != nil {
				errs[k] = fmt.Errorf("%s fails without any fault: %s", name, said)
			}
		}
		res.Seconds = time.Since(start).Seconds()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		tell(f, res, errs[k])
	}
	return nil
}

// ask runs tests with a mutant until one notices.
func ask(ctx context.Context, root string, f Fault, binary string, tests []reached, res *Result) {
	for len(tests) > 0 {
		var lot []string
		seconds := 0.0
		for budget := 1 + 4*tests[0].Seconds; len(tests) > 0 && seconds < budget; tests = tests[1:] {
			lot, seconds = append(lot, tests[0].Name), seconds+tests[0].Seconds
		}
		limit := min(f.Limit, time.Duration((20+6*seconds)*float64(time.Second)))
		text, _, err := runTests(ctx, root, f.Checks[0], binary, "-test.failfast", "-test.timeout",
			limit.String(), "-test.run", "^("+strings.Join(lot, "|")+")$")
		if err != nil {
			res.Check = f.Checks[0]
			res.Test, res.Message = firstFailure(text)
			return
		}
	}
}

// copies returns the files of mutants that tests execute and of which no error is known: each function has a copy of
// its body for each of its mutants. It says of those that are no Go, and of those that are in no function, that they
// are.
func copies(root string, list []Fault, r Reach, errs []error) (map[string][]byte, error) {
	files := map[string][]byte{}
	for k, f := range list {
		if errs[k] != nil || len(r.of(f)) == 0 {
			continue
		}
		content, err := f.planted(root)
		if err != nil {
			return nil, err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, f.File, content, parser.SkipObjectResolution)
		if err != nil {
			errs[k] = fmt.Errorf("%s %w: %w", f.ID, errBuild, err)
			continue
		}
		_, place, _ := at(f.ID)
		which := slices.IndexFunc(file.Decls, func(d ast.Decl) bool {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				return false
			}
			begin := set.Position(fn.Body.Lbrace)
			return begin.Line<<16+begin.Column < place && place>>16 <= set.Position(fn.End()).Line
		})
		if which < 0 {
			errs[k] = errAlone
			continue
		}
		fn := file.Decls[which].(*ast.FuncDecl)
		part := func(n ast.Node) []byte {
			return content[set.Position(n.Pos()).Offset:set.Position(n.End()).Offset]
		}
		call := fmt.Sprintf("func() %s(); return", part(fn.Body))
		if fn.Type.Results != nil {
			call = fmt.Sprintf("return func() %s %s()", part(fn.Type.Results), part(fn.Body))
		}
		text := files[f.File]
		if text == nil {
			if text, err = os.ReadFile(filepath.Join(root, "dpnb", f.File)); err != nil {
				return nil, err
			}
			files[path.Dir(f.File)+"/mutant.go"] = fmt.Appendf(nil, "package %s\nimport (\"os\"; \"strconv\")\n"+
				"var theMutant, _ = strconv.Atoi(os.Getenv(%q))\n", file.Name.Name, variable)
		}
		if file, err = parser.ParseFile(set, f.File, text, parser.SkipObjectResolution); err != nil {
			return nil, err
		}
		body := set.Position(file.Decls[which].(*ast.FuncDecl).Body.Lbrace).Offset + 1
		files[f.File] = fmt.Appendf(nil, "%s/*line mutant-%d:1:1*/ if theMutant == %d { %s }\n%s", text[:body], k+1,
			k+1, call, text[body:])
	}
	return files, nil
}
