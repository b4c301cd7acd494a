package report

import (
	"os"
	"slices"
	"testing"
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
