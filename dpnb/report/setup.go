package report

import (
	"context"
	"errors"
	"runtime"
	"strings"

	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/report/jupyter"
	"github.com/dpnb/notebooks/dpnb/report/toolchain"
)

// Setup is what notebooks need to run: the kernel and Jupyter.
type Setup struct {
	Tree    project.Tree
	Cache   string
	Kernel  *toolchain.Kernel
	Jupyter *jupyter.Jupyter
}

// Prepare returns the set-up for the project's tree, building and installing what is missing. With editor it is for a
// person at the keyboard, who may have Completion as well. Where Jupyter has to be installed, agree is told by what
// before anything is done, and its error is returned; nil agrees.
func Prepare(ctx context.Context, tree project.Tree, editor bool, agree func(plan string) error,
	progress func(string)) (*Setup, error) {
	if runtime.GOOS == "windows" { // without the named pipes that the kernel needs
		return nil, errors.New("notebooks run on Linux, macOS and Windows' WSL only")
	}
	cache, err := project.CacheDir()
	if err != nil {
		return nil, err
	}
	j, err := jupyter.Ensure(ctx, jupyter.ThisMachine(), cache, func(plans []string) error {
		if agree == nil {
			return nil
		}
		return agree("Jupyter is not on this machine. To set it up:\n  " +
			strings.Join(plans, "\n  or, if that fails, ") + "\nThe kernel for Go is built into " + cache +
			", and its description written to the folder of yours for kernels.")
	}, progress)
	if err != nil {
		return nil, err
	}
	k, err := toolchain.Ensure(ctx,
		toolchain.Settings{Module: tree.Module(), Cache: cache, Editor: editor, Progress: progress})
	if err != nil {
		return nil, err
	}
	return &Setup{Tree: tree, Cache: cache, Kernel: k, Jupyter: j}, nil
}

// Completion builds what completes code as it is typed, where it is not there yet, for kernels that start after it.
func (s *Setup) Completion(ctx context.Context, progress func(string)) error {
	return s.Kernel.Completion(ctx, toolchain.Settings{Cache: s.Cache, Progress: progress})
}
