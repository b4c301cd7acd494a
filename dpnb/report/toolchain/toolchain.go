// Package toolchain builds the notebook kernel and its helpers from the versions that tools.mod pins, and describes
// them to Jupyter. That is a module of its own, so that who imports this one does not get the requirements of a kernel
// and an editor; it is in the program, which builds them anywhere.
//
// They are built once for each version into the user's cache folder. The kernel that a user installed by other means is
// neither used nor touched.
package toolchain

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/internal/lockfile"
	"github.com/dpnb/notebooks/dpnb/internal/procgroup"
)

// The module that pins the tools. It is called so because a folder with a go.mod would be in no program and no released
// module. To change it, Unpack it, use go get there, and copy it back.
var (
	//go:embed tools.mod
	modFile string
	//go:embed tools.sum
	sumFile string
)

// Unpack writes the module that pins the tools into a folder.
func Unpack(dir string) error {
	return errors.Join(atomicfile.WriteBelow(filepath.Join(dir, "go.mod"), []byte(modFile)),
		atomicfile.WriteBelow(filepath.Join(dir, "go.sum"), []byte(sumFile)))
}

// A tool is a program that tools.mod pins.
type tool struct {
	name, pkg, module string
}

var (
	kernelTool  = tool{"gonb", "github.com/janpfeifer/gonb", "github.com/janpfeifer/gonb"}
	importsTool = tool{"goimports", "golang.org/x/tools/cmd/goimports", "golang.org/x/tools"}
	editorTool  = tool{"gopls", "golang.org/x/tools/gopls", "golang.org/x/tools/gopls"}
)

// Kernel is a built kernel, ready for Jupyter.
type Kernel struct {
	Version   string // of the kernel's module, such as v0.11.4
	GoVersion string // such as go1.26.0
	Key       string // changes whenever one of the tools may
	// Path is a folder for JUPYTER_PATH, in which Jupyter finds the kernel named gonb.
	Path string
	// Bin is a folder for the front of PATH, with the helpers that the kernel calls.
	Bin string
	// Module is what notebooks in other folders are told of this module: its folder, or its version.
	Module string

	dir string // of the module that pins the tools
}

// Settings of Ensure.
type Settings struct {
	Module string // the folder of this module, or its version
	Cache  string // folder to build into
	// Editor asks for a kernel for people, who may have gopls too, once Completion has built it: it completes and
	// explains code as it is typed. Notebooks run without it: it only costs them time and memory, and a process that
	// outlives a killed kernel.
	Editor bool
	// Progress is told what is being done, where it takes longer than a moment.
	Progress func(string)
}

// Ensure returns the kernel, built if need be. Programs that run at the same time wait for one another, and a killed
// build leaves nothing that a later one would take for finished.
func Ensure(ctx context.Context, s Settings) (*Kernel, error) {
	k, err := describe(ctx, s)
	if err != nil {
		return nil, err
	}
	lock, err := lockfile.Wait(ctx, filepath.Join(s.Cache, "kernel", "lock"), func() {
		s.Progress("waiting for another dpnb that is building the kernel")
	})
	if err != nil {
		return nil, err
	}
	defer lock.Unlock()

	if err := removeParts(filepath.Join(s.Cache, "kernel")); err != nil {
		return nil, err
	}
	// Two kernels for two uses: one folder of helpers with gopls and one without.
	use := uses[0]
	if s.Editor {
		use = uses[1]
	}
	k.Bin = filepath.Join(k.dir, k.GoVersion, use, "bin")
	k.Path = filepath.Join(s.Cache, "kernel", k.Key, use, "jupyter")
	for _, t := range []tool{kernelTool, importsTool} {
		if err := k.build(ctx, s, t); err != nil {
			return nil, err
		}
	}
	if err := writeGoCommand(ctx, s, k); err != nil {
		return nil, err
	}
	if err := writeKernelSpec(k, s.Editor); err != nil {
		return nil, err
	}
	return k, nil
}

// Completion builds gopls beside a kernel for people, which takes minutes: kernels that start later have it.
func (k *Kernel) Completion(ctx context.Context, s Settings) error {
	s.Cache = filepath.Join(s.Cache, "completion") // so that nobody waits for it who builds a kernel
	lock, err := lockfile.Wait(ctx, filepath.Join(s.Cache, "kernel", "lock"), func() {})
	if err != nil {
		return err
	}
	defer lock.Unlock()
	if err := removeParts(filepath.Join(s.Cache, "kernel")); err != nil {
		return err
	}
	return k.build(ctx, s, editorTool)
}

// describe asks Go which versions tools.mod pins.
func describe(ctx context.Context, s Settings) (*Kernel, error) {
	pinned := sha256.Sum256([]byte(modFile + sumFile))
	k := &Kernel{Module: s.Module, dir: filepath.Join(s.Cache, "kernel", fmt.Sprintf("tools-%x", pinned[:4]))}
	if err := Unpack(k.dir); err != nil {
		return nil, err
	}
	goVersion, err := goOutput(ctx, k.dir, "env", "GOVERSION")
	if err != nil {
		return nil, err
	}
	listed, err := goOutput(ctx, k.dir, "list", "-m", "-f", "{{.Path}}@{{.Version}}",
		kernelTool.module, importsTool.module, editorTool.module)
	if err != nil {
		return nil, err
	}
	k.GoVersion = strings.TrimSpace(goVersion)
	for _, line := range strings.Fields(listed) {
		if path, version, _ := strings.Cut(line, "@"); path == kernelTool.module {
			k.Version = version
		}
	}
	sum := sha256.Sum256([]byte(listed + goVersion + runtime.GOOS + runtime.GOARCH + k.Module))
	k.Key = fmt.Sprintf("gonb-%s-%s-%x", k.Version, k.GoVersion, sum[:4])
	return k, nil
}

func goOutput(ctx context.Context, root string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := procgroup.Run(ctx, cmd, 5*time.Second)
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("the go command is not on PATH: install Go 1.26 or later, or add its bin folder to PATH")
	}
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, &stderr)
	}
	return stdout.String(), nil
}

const partPrefix = ".part-"

// uses of a kernel: to run notebooks, and for people.
var uses = [2]string{"run", "edit"}

// build makes a tool in k.Bin unless it is there. What was built for the other use is taken from there.
func (k *Kernel) build(ctx context.Context, s Settings, t tool) error {
	path := filepath.Join(k.Bin, t.name)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(k.Bin, 0o755); err != nil {
		return err
	}
	for _, use := range uses {
		if os.Link(filepath.Join(k.dir, k.GoVersion, use, "bin", t.name), path) == nil {
			return nil
		}
	}
	s.Progress("building " + t.name + " (once for each version)")
	return place(s, path, func(part string) error {
		if _, err := goOutput(ctx, k.dir, "build", "-o", part, t.pkg); err != nil {
			return fmt.Errorf("cannot build %s: %w", t.name, err)
		}
		return nil
	})
}

// place has write make a program and gives it its name, path, when it is finished: until then it has another in the
// same folder tree, so that path only ever names a complete program.
func place(s Settings, path string, write func(part string) error) error {
	dir, err := os.MkdirTemp(filepath.Join(s.Cache, "kernel"), partPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	part := filepath.Join(dir, filepath.Base(path))
	if err := write(part); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.Rename(part, path)
}

// removeParts deletes what killed builds left.
func removeParts(dir string) error {
	parts, err := filepath.Glob(filepath.Join(dir, partPrefix+"*"))
	for _, part := range parts {
		err = errors.Join(err, os.RemoveAll(part))
	}
	return err
}
