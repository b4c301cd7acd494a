package toolchain

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

func settings(t *testing.T) Settings {
	t.Helper()
	root := must.Get(project.Root("."))
	return Settings{Module: root, Cache: t.TempDir(), Progress: func(string) {}}
}

func TestKernelIsBuiltOnce(t *testing.T) {
	testscale.InTurn(t)
	s := settings(t)
	var said []string
	s.Progress = func(text string) { said = append(said, text) }
	abandoned := filepath.Join(s.Cache, "kernel", partPrefix+"killed")
	must.Do(os.MkdirAll(abandoned, 0o755))
	k := must.Get(Ensure(context.Background(), s))
	if len(said) != 2 {
		t.Errorf("said %q", said)
	}
	if out, err := exec.Command(filepath.Join(k.Bin, "gonb"), "-V").Output(); err != nil || len(out) == 0 {
		t.Errorf("gonb -V: %q, %v", out, err)
	}
	if _, err := os.Stat(filepath.Join(k.Bin, "gopls")); err == nil {
		t.Error("gopls is there, which notebooks only pay for")
	}
	if _, err := os.Stat(abandoned); err == nil {
		t.Error("the remains of a killed build are still there")
	}
	said = nil
	again, err := Ensure(context.Background(), s)
	if err != nil || *again != *k || said != nil {
		t.Errorf("second time: %+v, %v, said %q", again, err, said)
	}
	s.Editor = true
	if other, err := Ensure(context.Background(), s); err != nil || other.Bin == k.Bin || said != nil {
		t.Errorf("for the other use: %v, said %q", err, said)
	}
}

// The package by which a cell speaks to the kernel is of the kernel's version.
func TestKernelOfOneVersion(t *testing.T) {
	root, tools := settings(t).Module, t.TempDir()
	must.Do(Unpack(tools))
	version := func(dir string) string {
		t.Helper()
		return must.Get(goOutput(context.Background(), dir, "list", "-m", kernelTool.module))
	}
	if ours, pinned := version(root), version(tools); ours != pinned {
		t.Errorf("go.mod has %s, tools.mod %s", ours, pinned)
	}
}

func TestKernelSpec(t *testing.T) {
	for _, interactive := range []bool{false, true} {
		dir := t.TempDir()
		k := &Kernel{Path: filepath.Join(dir, "jupyter"), Bin: filepath.Join(dir, "bin")}
		must.Do(writeKernelSpec(k, interactive))
		content := must.Get(os.ReadFile(filepath.Join(k.Path, "kernels", "gonb", "kernel.json")))
		var spec kernelSpec
		must.Do(json.Unmarshal(content, &spec))
		if spec.DisplayName != "Go (gonb)" || spec.Language != "go" || spec.InterruptMode != "message" {
			t.Errorf("%+v", spec)
		}
		if spec.Argv[0] != filepath.Join(k.Bin, "gonb") || !slices.Contains(spec.Argv, "{connection_file}") {
			t.Errorf("argv %q", spec.Argv)
		}
		if slices.Contains(spec.Argv, "-raw_error") == interactive {
			t.Errorf("interactive %v: argv %q", interactive, spec.Argv)
		}
		if !strings.HasPrefix(spec.Env["PATH"], k.Bin+":") {
			t.Errorf("PATH %q", spec.Env["PATH"])
		}
	}
}

// The kernel is described to every Jupyter of the user's, again where it is ours, and one of the user's own stays as it
// is.
func TestRegister(t *testing.T) {
	user := t.TempDir()
	t.Setenv("JUPYTER_DATA_DIR", user)
	k := &Kernel{Path: filepath.Join(t.TempDir(), "jupyter"), Bin: "/cache/bin", Module: "/clone"}
	for range 2 {
		must.Do(writeKernelSpec(k, true))
		dir, ok, err := k.Register()
		if err != nil || !ok || dir != filepath.Join(user, "kernels", "gonb") {
			t.Fatalf("%s, %v, %v", dir, ok, err)
		}
		content, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
		if err != nil || !strings.Contains(string(content), k.Module+`"`) {
			t.Fatalf("%s, %v", content, err)
		}
		k.Module = "/another"
	}
	own := []byte(`{"argv": ["gonb"], "display_name": "mine"}`)
	must.Do(os.WriteFile(specFile(user), own, 0o600))
	if _, ok, err := k.Register(); err != nil || ok {
		t.Errorf("the user's own: %v, %v", ok, err)
	}
	if content, _ := os.ReadFile(specFile(user)); string(content) != string(own) {
		t.Errorf("the user's own became %s", content)
	}
}

func TestEnvironPutsTheProjectFirst(t *testing.T) {
	t.Setenv("JUPYTER_PATH", "/mine")
	t.Setenv("PATH", "/usr/bin")
	k := &Kernel{Path: "/cache/jupyter", Bin: "/cache/bin"}
	got := k.Environ([]string{"A=b"})
	want := []string{"A=b", "JUPYTER_PATH=/cache/jupyter:/mine", "PATH=/cache/bin:/usr/bin"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	t.Setenv("JUPYTER_PATH", "")
	if got := k.Environ(nil)[0]; got != "JUPYTER_PATH=/cache/jupyter" {
		t.Errorf("got %q", got)
	}
}

func TestMissingGoIsExplained(t *testing.T) {
	s := settings(t)
	t.Setenv("PATH", t.TempDir())
	if _, err := Ensure(context.Background(), s); err == nil || !strings.Contains(err.Error(), "install Go 1.26") {
		t.Errorf("error: %v", err)
	}
}
