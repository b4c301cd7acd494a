package report

import (
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
	"github.com/dpnb/notebooks/dpnb/report/toolchain"
)

// templateName is the notebook that New copies.
const templateName = "09_your_data.ipynb"

// IDs of cells of the template: the one that tells Go where this module lies, and the one that declares what may be
// changed; exercises begin with a word.
const (
	moduleCell     = "module"
	parametersCell = "parameters"
	exerciseCells  = "exercise"
)

// New writes a notebook for data of one's own to path, and makes the folders above it: the tree's template without
// outputs and exercises, whose first cell finds the module from any folder, whose ledger is kept in a file beside it,
// NAME.budget.json, and whose parameters, lines of texts, have the values. What cells maps to another text is that.
//
// Errors: a file that is there already, which stays as it is; a parameter or a text that is not in the template.
func New(tree project.Tree, path string, parameters map[string][]string, cells map[string]string) (err error) {
	nb, err := notebook.ReadFile(filepath.Join(tree.Dir, "notebooks", templateName))
	if err != nil {
		return err
	}
	nb.ClearOutputs()
	nb.Cells = slices.DeleteFunc(nb.Cells, func(c *notebook.Cell) bool {
		return strings.HasPrefix(c.ID(), exerciseCells)
	})
	for _, c := range nb.Cells {
		c.SetSource(strings.ReplaceAll(c.Source(), "notebooks/"+templateName, filepath.Base(path)))
	}
	for old, text := range cells {
		at := slices.IndexFunc(nb.Cells, func(c *notebook.Cell) bool { return strings.Contains(c.Source(), old) })
		if at < 0 {
			return fmt.Errorf("%s has no %s", templateName, old)
		}
		nb.Cells[at].SetSource(strings.Replace(nb.Cells[at].Source(), old, text, 1))
	}
	nb.SetKernel(toolchain.KernelName, toolchain.KernelDisplay, toolchain.KernelLanguage)
	delete(nb.Metadata(), "dpnb") // which data outputs are of: there are none
	named := func(id string) int {
		return slices.IndexFunc(nb.Cells, func(c *notebook.Cell) bool { return c.ID() == id })
	}
	module, texts := named(moduleCell), named(parametersCell)
	if module < 0 || texts < 0 {
		return fmt.Errorf("%s has no cell %q, or none %q", templateName, moduleCell, parametersCell)
	}
	nb.Cells[module].SetSource(toolchain.FindModule("", tree.Module()))
	source := nb.Cells[texts].Source()
	source, err = stated(source, "ledger", Name(path)+".budget.json")
	for name, values := range parameters {
		if err == nil {
			source, err = stated(source, name, slices.Clone(values)...)
		}
	}
	if err != nil {
		return err
	}
	neat, err := format.Source([]byte(source))
	if err != nil {
		return err
	}
	nb.Cells[texts].SetSource(string(neat))
	content, err := nb.Encode()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	// Not atomicfile, which would replace what is there.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already and was left as it is: move or delete it, and ask again", path)
	}
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	_, err = f.Write(content)
	return err
}

// Unpack copies the notebooks of a tree into a folder, which it makes and returns. Those that are there already stay as
// they are.
func Unpack(tree project.Tree, dir string) (string, error) {
	found, err := filepath.Glob(filepath.Join(tree.Dir, "notebooks", "*.ipynb"))
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	for _, from := range found {
		to := filepath.Join(dir, filepath.Base(from))
		if exists(to) || err != nil {
			continue
		}
		var content []byte
		if content, err = os.ReadFile(from); err == nil {
			err = atomicfile.Write(to, content)
		}
	}
	return dir, err
}

// stated gives the text, or texts, or the number that a line of a cell declares other values.
func stated(source, name string, values ...string) (string, error) {
	line := regexp.MustCompile(`(?m)^(\t` + regexp.QuoteMeta(name) + ` +)= ("[^"]*"(?:, "[^"]*")*|[0-9.]+)`)
	was := line.FindStringSubmatch(source)
	if was == nil {
		return "", fmt.Errorf("%s has no parameter %s = \"…\"", templateName, name)
	}
	for i, v := range values {
		if strings.HasPrefix(was[2], `"`) {
			v = strconv.Quote(v)
		}
		values[i] = strings.ReplaceAll(v, "$", "$$")
	}
	return line.ReplaceAllString(source, "${1}= "+strings.Join(values, ", ")), nil
}
