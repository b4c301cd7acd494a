package report

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/report/jupyter"
	"github.com/dpnb/notebooks/dpnb/report/toolchain"
)

// TestLabIsNotOpenToTheNetwork: but in a container, whose host publishes the port or does not.
func TestLabIsNotOpenToTheNetwork(t *testing.T) {
	for ip, open := range map[string]bool{"localhost": false, "127.0.0.1": false, "::1": false, "0.0.0.0": true,
		"::": true, "": true, "*": true, "192.0.2.7": true, "example.org": true} {
		o := LabOptions{IP: ip}
		if err := o.reachable(false); (err != nil) != open {
			t.Errorf("%q: %v", ip, err)
		}
		if err := o.reachable(true); err != nil {
			t.Errorf("%q in a container: %v", ip, err)
		}
	}
}

// TestLabArguments: what is asked for is Jupyter's to do, and nothing else; root is asked for a word of consent.
func TestLabArguments(t *testing.T) {
	o := LabOptions{Folder: t.TempDir(), IP: "::1", Port: 1, NoBrowser: true}
	want := []string{"-m", "notebook", "--notebook-dir=" + o.Folder, "--ip=::1",
		"--MultiKernelManager.default_kernel_name=gonb", "--port=1", "--no-browser", "--allow-root"}
	if os.Geteuid() != 0 {
		want = want[:7]
	}
	if got := o.arguments("notebook"); !slices.Equal(got, want) || o.Valid() != nil {
		t.Errorf("%q, want %q", got, want)
	}
	o.Port, o.NoBrowser = 0, false
	if got := o.arguments("notebook"); !slices.Equal(got, append(want[:5:5], want[7:]...)) {
		t.Errorf("%q: a port or no browser", got)
	}
	if o.Folder += "/none"; o.Valid() == nil {
		t.Error("a folder that is not there is opened")
	}
}

// That there is no completion is said with the reason while Jupyter runs, and nothing where there is one.
func TestLabSaysWhyThereIsNoCompletion(t *testing.T) {
	testscale.Slow(t)
	t.Setenv("TMPDIR", t.TempDir())
	defer func(was *os.File) { os.Stderr = was }(os.Stderr)
	for there, want := range map[bool]string{true: "", false: "no completion of code: mkdir "} {
		dir := t.TempDir()
		bin, python, said := filepath.Join(dir, "bin"), filepath.Join(dir, "python"), filepath.Join(dir, "said")
		// A Jupyter that is open for half a second, or until something is said.
		script := "#!/bin/sh\nfor i in 1 2 3 4 5; do test -s " + said + " && exit; sleep 0.1; done\n"
		tool := os.WriteFile(bin, nil, 0o600) // no folder
		if there {
			tool = errors.Join(os.Remove(bin), os.Mkdir(bin, 0o700),
				os.WriteFile(filepath.Join(bin, "gopls"), nil, 0o700))
		}
		must.Do(errors.Join(tool, os.WriteFile(python, []byte(script), 0o700)))
		os.Stderr = must.Get(os.Create(said))
		err := Lab(context.Background(), &Setup{Cache: dir, Kernel: &toolchain.Kernel{Bin: bin},
			Jupyter: &jupyter.Jupyter{Python: python, Versions: map[string]string{"notebook": "7"}}},
			LabOptions{Folder: dir, IP: "::1"})
		must.Do(os.Stderr.Close())
		got := string(must.Get(os.ReadFile(said)))
		if err != nil || !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("there is one, %v: %q, %v", there, got, err)
		}
	}
}
