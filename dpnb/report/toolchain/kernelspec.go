package toolchain

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
)

// Names under which Jupyter and the notebooks know the kernel. They are the ones
// that GoNB's own installer uses, so a notebook opens with either.
const (
	KernelName     = "gonb"
	KernelDisplay  = "Go (gonb)"
	KernelLanguage = "go"
)

// kernelSpec is Jupyter's description of a kernel:
// https://jupyter-client.readthedocs.io/en/stable/kernels.html
type kernelSpec struct {
	Argv          []string          `json:"argv"`
	DisplayName   string            `json:"display_name"`
	Language      string            `json:"language"`
	InterruptMode string            `json:"interrupt_mode"`
	Env           map[string]string `json:"env"`
}

func writeKernelSpec(k *Kernel, interactive bool) error {
	spec := kernelSpec{
		Argv:          []string{filepath.Join(k.Bin, kernelTool.name), "--kernel", "{connection_file}"},
		DisplayName:   KernelDisplay,
		Language:      KernelLanguage,
		InterruptMode: "message",
		// Jupyter fills in ${PATH}.
		Env: map[string]string{"PATH": k.Bin + string(os.PathListSeparator) + "${PATH}"},
	}
	if !interactive {
		// Errors as text, which can be told in a terminal, instead of HTML with tool tips.
		spec.Argv = append(spec.Argv, "-raw_error")
	}
	content, err := json.MarshalIndent(spec, "", "  ")
	if err != nil {
		return err
	}
	dir := filepath.Join(k.Path, "kernels", KernelName)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, "kernel.json"), append(content, '\n'))
}

// Environ returns env with what Jupyter needs to find the kernel, before anything
// that the user has.
func (k *Kernel) Environ(env []string) []string {
	jupyterPath, path := k.Path, k.Bin
	if old := os.Getenv("JUPYTER_PATH"); old != "" {
		jupyterPath += string(os.PathListSeparator) + old
	}
	if old := os.Getenv("PATH"); old != "" {
		path += string(os.PathListSeparator) + old
	}
	return append(env[:len(env):len(env)], "JUPYTER_PATH="+jupyterPath, "PATH="+path)
}
