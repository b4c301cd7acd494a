package report

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
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
	for _, c := range []struct {
		o    LabOptions
		want []string
	}{
		{LabOptions{Folder: "a", IP: "localhost"}, nil},
		{LabOptions{Folder: "a", IP: "::1", Port: 1, NoBrowser: true}, []string{"--port=1", "--no-browser"}},
	} {
		want := append([]string{"-m", "notebook", "--notebook-dir=a", "--ip=" + c.o.IP,
			"--MultiKernelManager.default_kernel_name=gonb"}, c.want...)
		if os.Geteuid() == 0 {
			want = append(want, "--allow-root")
		}
		if got := c.o.arguments("notebook"); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must.Do(os.WriteFile(file, nil, 0o600))
	for folder, ok := range map[string]bool{dir: true, file: false, filepath.Join(dir, "none"): false} {
		if err := (LabOptions{Folder: folder, IP: "localhost"}).Valid(); (err == nil) != ok {
			t.Errorf("%s: %v", folder, err)
		}
	}
}
