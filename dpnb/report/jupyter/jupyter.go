// Package jupyter finds Jupyter on this machine, or installs it in the least intrusive way that works.
package jupyter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/dpnb/notebooks/dpnb/internal/lockfile"
)

// Jupyter is a Python interpreter that can run and convert notebooks.
type Jupyter struct {
	Python string // path of the interpreter
	// Versions of what it has: nbclient, nbconvert, and of notebook and jupyterlab those that are there.
	Versions map[string]string
}

// Frontend returns the Python module that opens notebooks in a browser, or false where only the parts for running them
// are installed.
func (j *Jupyter) Frontend() (module string, ok bool) {
	for _, module := range []string{"jupyterlab", "notebook"} {
		if j.Versions[module] != "" {
			return module, true
		}
	}
	return "", false
}

// Machine is what this package asks of the computer, so that a test can play one.
type Machine struct {
	OS       string // as in runtime.GOOS
	Root     bool   // whether the user may install packages
	LookPath func(name string) (string, error)
	ReadFile func(name string) ([]byte, error)
	// Output runs a program and returns what it wrote; Run runs one that may take minutes, with its output in the
	// error.
	Output func(ctx context.Context, name string, args ...string) ([]byte, error)
	Run    func(ctx context.Context, name string, args ...string) error
}

// ThisMachine returns the computer that the program runs on.
func ThisMachine() Machine {
	return Machine{
		OS:       runtime.GOOS,
		Root:     os.Geteuid() == 0,
		LookPath: exec.LookPath,
		ReadFile: os.ReadFile,
		Output:   output,
		Run:      run,
	}
}

// probe prints, as JSON, the versions of what matters here, and fails unless the interpreter can run and convert
// notebooks.
const probe = `
import json, nbformat, nbclient, nbconvert, jupyter_client
from importlib import metadata
found = {}
for name in "nbclient", "nbconvert", "notebook", "jupyterlab":
    try:
        found[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
`

// Find returns a Jupyter that is already there: the one whose command is on PATH, else one of another Python 3, else
// the one that Ensure made in cache.
func Find(ctx context.Context, m Machine, cache string) (*Jupyter, bool) {
	for _, python := range candidates(m, cache) {
		out, err := m.Output(ctx, python, "-c", probe)
		if err != nil {
			continue
		}
		j := &Jupyter{Python: python}
		if err := json.Unmarshal(out, &j.Versions); err == nil {
			return j, true
		}
	}
	return nil, false
}

// candidates lists interpreters to try. The first line of the jupyter command names the one that it was installed for,
// which need not be the python3 on PATH.
func candidates(m Machine, cache string) []string {
	var list []string
	if command, err := m.LookPath("jupyter"); err == nil {
		if text, err := m.ReadFile(command); err == nil {
			line, _, _ := strings.Cut(string(text), "\n")
			if python, ok := strings.CutPrefix(line, "#!"); ok && strings.Contains(filepath.Base(python), "python") {
				list = append(list, strings.TrimSpace(python))
			}
		}
	}
	if python, err := m.LookPath("python3"); err == nil {
		list = append(list, python)
	}
	list = append(list, "/usr/bin/python3")
	if _, err := m.ReadFile(venvMark(cache)); err == nil {
		list = append(list, venvPython(cache))
	}
	return list
}

// Ensure returns a Jupyter, installing one if there is none: into a virtual environment in the cache folder, else with
// Debian's package manager where that is possible and allowed. Where neither works, the error says what to type. The
// ways, in the order in which they will be tried, are put to agree first, whose error is returned; nil agrees.
func Ensure(ctx context.Context, m Machine, cache string, agree func(plans []string) error,
	progress func(string)) (*Jupyter, error) {
	if j, ok := Find(ctx, m, cache); ok {
		return j, nil
	}
	var ways []way
	var plans []string
	for _, w := range allWays {
		if w.applicable(m) {
			ways, plans = append(ways, w), append(plans, w.plan(cache))
		}
	}
	if agree != nil && plans != nil {
		if err := agree(plans); err != nil {
			return nil, err
		}
	}
	lock, err := lockfile.Wait(ctx, filepath.Join(cache, "jupyter.lock"), func() {
		progress("waiting for another dpnb that is installing Jupyter")
	})
	if err != nil {
		return nil, err
	}
	defer lock.Unlock()
	if j, ok := Find(ctx, m, cache); ok { // made while this one waited
		return j, nil
	}
	var failures []error
	for _, w := range ways {
		progress(w.what)
		err := w.install(ctx, m, cache)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			if j, ok := Find(ctx, m, cache); ok {
				return j, nil
			}
			err = errors.New("it was installed but cannot be loaded")
		}
		failures = append(failures, fmt.Errorf("%s: %w", w.what, err))
	}
	return nil, &missingError{Advice: advice(m), Tried: errors.Join(failures...)}
}
