package report

import (
	"context"
	"errors"
	"runtime"

	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/report/jupyter"
	"github.com/dpnb/notebooks/dpnb/report/toolchain"
)

// Setup is what notebooks need to run: the kernel and Jupyter.
type Setup struct {
	Root    string // of the project
	Cache   string
	Kernel  *toolchain.Kernel
	Jupyter *jupyter.Jupyter
}

// Prepare returns the set-up for the project at root, building and installing
// what is missing. With editor it includes what only a person at the keyboard
// needs.
func Prepare(ctx context.Context, root string, editor bool, progress func(string)) (*Setup, error) {
	if runtime.GOOS == "windows" { // without the named pipes that the kernel needs
		return nil, errors.New("notebooks run on Linux, macOS and Windows' WSL only")
	}
	cache, err := project.CacheDir()
	if err != nil {
		return nil, err
	}
	j, err := jupyter.Ensure(ctx, jupyter.ThisMachine(), cache, progress)
	if err != nil {
		return nil, err
	}
	k, err := toolchain.Ensure(ctx, toolchain.Settings{Root: root, Cache: cache, Editor: editor, Progress: progress})
	if err != nil {
		return nil, err
	}
	return &Setup{Root: root, Cache: cache, Kernel: k, Jupyter: j}, nil
}
