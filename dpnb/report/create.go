package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dpnb/notebooks/dpnb/report/notebook"
	"github.com/dpnb/notebooks/dpnb/report/toolchain"
)

// templateName is the notebook that New copies.
const templateName = "09_your_data.ipynb"

// IDs of cells of the template: the one that tells Go where this module lies, and the one that
// declares where the ledger is kept.
const (
	moduleCell     = "module"
	parametersCell = "parameters"
)

// ledgerLine is the declaration of the ledger, with its comment.
var ledgerLine = regexp.MustCompile(`(?m)(\tledger +)= "".*$`)

// New writes a notebook for data of one's own to path: the project's template without
// outputs, whose first cell finds the module from any folder, and whose ledger is kept in a file
// beside it, NAME.budget.json.
//
// Errors: a file that is there already, which stays as it is; a folder that is not.
func New(root, path string) (err error) {
	nb, err := notebook.ReadFile(filepath.Join(root, "notebooks", templateName))
	if err != nil {
		return err
	}
	nb.ClearOutputs()
	nb.SetKernel(toolchain.KernelName, toolchain.KernelDisplay, toolchain.KernelLanguage)
	delete(nb.Metadata(), "dpnb") // which data outputs are of: there are none
	named := func(id string) int {
		return slices.IndexFunc(nb.Cells, func(c *notebook.Cell) bool { return c.ID() == id })
	}
	module, parameters := named(moduleCell), named(parametersCell)
	if module < 0 || parameters < 0 || !ledgerLine.MatchString(nb.Cells[parameters].Source()) {
		return fmt.Errorf("%s has no cell %q, or none %q that says ledger = \"\"", templateName, moduleCell,
			parametersCell)
	}
	nb.Cells[module].SetSource(findModule(root))
	kept := strings.ReplaceAll(strconv.Quote(Name(path)+".budget.json"), "$", "$$")
	// The comment behind it has an example of a name, which is not needed beside one.
	source := ledgerLine.ReplaceAllString(nb.Cells[parameters].Source(), "${1}= "+kept+
		" // where the budget and what was released are kept")
	nb.Cells[parameters].SetSource(source)
	content, err := nb.Encode()
	if err != nil {
		return err
	}
	// Not atomicfile, which would replace what is there.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already and was left as it is: choose another name", path)
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

// findModule returns the line by which a cell finds the module: where the kernel says that it
// lies, else where it lay when the notebook was made.
func findModule(root string) string {
	quoted := "'" + strings.ReplaceAll(root, "'", `'\''`) + "'"
	return fmt.Sprintf(`!*M=${%s:-%s} && go mod edit -replace github.com/dpnb/notebooks="$M" `+
		`-require github.com/dpnb/notebooks@v0.0.0 && cp "$M/go.sum" .`, toolchain.ModuleEnv, quoted)
}
