package toolchain

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/internal/project"
)

// Names under which Jupyter and the notebooks know the kernel. They are the ones that GoNB's own installer uses, so a
// notebook opens with either.
const (
	KernelName     = "gonb"
	KernelDisplay  = "Go (gonb)"
	KernelLanguage = "go"
)

// ModuleEnv names the environment variable in which the kernel tells notebooks where this module lies, so that one in
// any folder finds it, or which version of it was installed.
const ModuleEnv = "DPNB_MODULE"

// FindModule returns the line by which a cell has Go find this module: in the folder above, if it has the source, else
// where the kernel says, else in the given folder or version. Without a folder above, an empty text, it begins with
// what the kernel says.
func FindModule(above, module string) string {
	line := fmt.Sprintf("M=${%s:-%s}", ModuleEnv, quoted(module))
	if above != "" {
		line = fmt.Sprintf(`M="%s"; grep -qsx "module %s" "$M/go.mod" || `, above, project.ModulePath) + line
	}
	return fmt.Sprintf(`!*%s; if [ -d "$M" ]; \
then go mod edit -replace %[2]s="$M" -require %[2]s@v0.0.0 && cp "$M/go.sum" .; \
else go mod edit -require %[2]s@$M; fi`, line, project.ModulePath)
}

// kernelSpec is Jupyter's description of a kernel: https://jupyter-client.readthedocs.io/en/stable/kernels.html
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
		Env: map[string]string{
			"PATH":    k.Bin + string(os.PathListSeparator) + "${PATH}",
			ModuleEnv: k.Module,
		},
	}
	if !interactive {
		// Errors as text, which can be told in a terminal, instead of HTML with tool tips.
		spec.Argv = append(spec.Argv, "-raw_error")
	}
	content, err := json.MarshalIndent(spec, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteBelow(specFile(k.Path), append(content, '\n'))
}

// specFile returns where Jupyter looks for the kernel's description below one of its folders.
func specFile(jupyter string) string {
	return filepath.Join(jupyter, "kernels", KernelName, "kernel.json")
}

// Register describes the kernel to every Jupyter of this user, and to editors that look where Jupyter does, until it is
// unregistered by deleting the folder that is returned. A kernel of the same name that the user installed by other
// means stays as it is, and ok is false: it runs the notebooks too.
func (k *Kernel) Register() (dir string, ok bool, err error) {
	user, err := userJupyter()
	if err != nil {
		return "", false, err
	}
	file := specFile(user)
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", false, err
	}
	if old != nil {
		var spec kernelSpec
		if json.Unmarshal(old, &spec) != nil || spec.Env[ModuleEnv] == "" {
			return filepath.Dir(file), false, nil
		}
	}
	spec, err := os.ReadFile(specFile(k.Path))
	if err != nil {
		return "", false, err
	}
	return filepath.Dir(file), true, atomicfile.WriteBelow(file, spec)
}

// userJupyter returns the folder of the user's in which Jupyter looks for kernels:
// https://docs.jupyter.org/en/latest/use/jupyter-directories.html
func userJupyter() (string, error) {
	if dir := os.Getenv("JUPYTER_DATA_DIR"); dir != "" {
		return dir, nil
	}
	switch runtime.GOOS {
	case "windows":
		if dir := os.Getenv("APPDATA"); dir != "" {
			return filepath.Join(dir, "jupyter"), nil
		}
	case "linux":
		if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
			return filepath.Join(dir, "jupyter"), nil
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Jupyter"), nil
	}
	return filepath.Join(home, ".local", "share", "jupyter"), nil
}

// Environ returns env with what Jupyter needs to find the kernel, before anything that the user has.
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
