package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// keepInputs refuses to write to a file that the same command reads, keeps its ledger in or writes something else to:
// a model over the only copy of the records, or over what says how much was spent.
func keepInputs(cmd *cobra.Command, args []string) error {
	switch cmd.Name() {
	case "fit", "evaluate", "predict", "export", "shapes":
	default:
		return nil
	}
	type use struct{ path, is string }
	var used []use
	for _, arg := range args {
		paths, _ := filepath.Glob(arg)
		for _, path := range append(paths, arg) {
			used = append(used, use{path, "is read"})
		}
	}
	value := func(flag string) string {
		if f := cmd.Flags().Lookup(flag); f != nil {
			return f.Value.String()
		}
		return ""
	}
	if path := value("schema"); path != "" {
		used = append(used, use{path, "has the schema"})
	}
	if path := value("budget"); path != "" {
		used = append(used, use{path, "has the ledger"})
	}
	for _, flag := range []string{"out", "card", "calibrated"} {
		path := value(flag)
		if path == "" {
			continue
		}
		if err := placed(flag, path); err != nil {
			return err
		}
		for _, u := range used {
			if sameFile(path, u.path) {
				return fmt.Errorf("--%s %s: that file %s, and would be written over: name another", flag, path, u.is)
			}
		}
		used = append(used, use{path, "is what --" + flag + " names"})
	}
	return nil
}

// placed refuses a file, unless its name is "", that is a folder or in none.
func placed(flag, path string) error {
	if folder, err := os.Stat(filepath.Dir(path)); path != "" && (err != nil || !folder.IsDir()) {
		return fmt.Errorf("--%s %s: the folder %s is not there: make it", flag, path, filepath.Dir(path))
	}
	if folder, err := os.Stat(path); path != "" && err == nil && folder.IsDir() {
		return fmt.Errorf("--%s %s: it is a folder: name a file in it", flag, path)
	}
	return nil
}

// spares refuses to write a fit's models over another that was paid for: over none that is simulated, which its seed
// gives again, or that the ledger gives back under the name of this fit.
func (p *fitFlags) spares(file string) error {
	name := p.once(p.learner+" fit for "+p.target, file)
	if err := p.sparesCard(p.card, name); err != nil {
		return err
	}
	names := map[string]string{p.out: name} // by file
	if p.by != "" {
		s, err := p.stated()
		if err != nil {
			return err
		}
		names = map[string]string{}
		if f, ok := s.Field(p.by); ok {
			for _, group := range f.Levels {
				names[p.modelOf(group)] = fmt.Sprintf("%s: %s = %s", name, p.by, group) // as FitByOnce has it
			}
		}
	}
	for path, name := range names {
		if _, err := os.Stat(path); p.out == "" || errors.Is(err, os.ErrNotExist) {
			continue
		}
		m, err := learn.Load(path)
		if err != nil {
			return fmt.Errorf("--out %s: another file is there; name another, or delete it", path)
		}
		if !m.Release.Simulated() && (p.budget == "" || !m.KeptAs(name, p.budget)) {
			return fmt.Errorf("--out %s: another model is there; name another file, or delete it", path)
		}
	}
	return nil
}

// addMade adds the flags of a file that is made of a model, and returns which it is, of the current folder and named
// after the model unless --out says another, and whether to write over one that is there.
func addMade(f *pflag.FlagSet, ending, usage string) (file func(model string) string, force *bool) {
	var out string
	addOut(f, &out, "", usage+" (default MODEL"+ending+")")
	return func(model string) string {
		return cmp.Or(out, strings.TrimSuffix(filepath.Base(model), ".json")+ending)
	}, addForce(f)
}

// addForce adds the flag by which a command writes over what is there.
func addForce(f *pflag.FlagSet) *bool {
	return f.Bool("force", false, "write over a file that is there")
}

// unlike refuses to write over a file that has something else, as of another model; what makes the same may be run
// again.
func unlike(flag, path string, content []byte, force bool) error {
	old, err := os.ReadFile(path)
	if force || errors.Is(err, os.ErrNotExist) || err == nil && bytes.Equal(old, content) {
		return nil
	}
	return another(flag, path)
}

// another refuses to write over a file without --force.
func another(flag, path string) error {
	return fmt.Errorf("--%s %s: another file is there; name another, or say --force to write over it", flag, path)
}

// contentOf is what write writes to a file, which it is given the name of.
func contentOf(write func(path string) error) ([]byte, error) {
	dir, err := os.MkdirTemp("", "dpnb-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "made")
	if err := write(path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// written writes what --out names, but not over another file.
func written(path string, content []byte, force bool) error {
	if err := unlike("out", path, content, force); err != nil {
		return err
	}
	return atomicfile.Write(path, content)
}

// sparesCard refuses to write a card over one of another release: over none that is simulated, and none that the ledger
// gives back under the name of this one.
func (p *privateFlags) sparesCard(path, name string) error {
	text, err := os.ReadFile(path)
	if path == "" || errors.Is(err, os.ErrNotExist) || bytes.Contains(text, []byte("this is a simulation")) ||
		p.budget != "" && learn.Kept(name, p.budget) {
		return nil
	}
	return fmt.Errorf("--card %s: another file is there; name another, or delete it", path)
}

// modelOf is the file of the model of a group, whose name is in it but for what a file's name does not take.
func (p *fitFlags) modelOf(group string) string {
	var name strings.Builder
	for _, r := range group {
		if unicode.In(r, unicode.L, unicode.M, unicode.N) || strings.ContainsRune(" -_.,+=()", r) {
			name.WriteRune(r)
		} else {
			name.WriteString(url.PathEscape(string(r)))
		}
	}
	return strings.TrimSuffix(p.out, ".json") + "." + name.String() + ".json"
}

// sameFile reports whether two names are of one file, which need not be there.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, e := os.Stat(b)
	if err == nil && e == nil {
		return os.SameFile(x, y)
	}
	a, err = filepath.Abs(a)
	b, e = filepath.Abs(b)
	return err == nil && e == nil && a == b
}
