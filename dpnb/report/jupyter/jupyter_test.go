package jupyter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

const (
	probed = `{"nbclient": "0.7.2", "nbconvert": "6.5.3", "notebook": "6.4.12"}`
	debian = "ID=debian\nVERSION_ID=\"12\"\n"
	mint   = "NAME=\"Linux Mint\"\nID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"
	fedora = "ID=fedora\n"
	arch   = "ID=arch\n"
	suse   = "ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n"
)

// played is a machine in a test.
type played struct {
	commands map[string]string // on PATH: name to path
	files    map[string]string
	able     map[string]bool                  // interpreters that have Jupyter
	does     map[string]func(p *played) error // what a run of the command that begins so does
	ran      []string
}

func (p *played) machine(root bool) Machine {
	return Machine{
		OS: "linux", Root: root,
		LookPath: func(name string) (string, error) {
			if path, ok := p.commands[name]; ok {
				return path, nil
			}
			return "", fmt.Errorf("%s: not found", name)
		},
		ReadFile: func(name string) ([]byte, error) {
			if text, ok := p.files[name]; ok {
				return []byte(text), nil
			}
			return os.ReadFile(filepath.Join("/absent", name))
		},
		Output: func(_ context.Context, name string, _ ...string) ([]byte, error) {
			if p.able[name] {
				return []byte(probed), nil
			}
			return nil, errors.New("no module named nbclient")
		},
		Run: func(_ context.Context, name string, args ...string) error {
			line := strings.Join(append([]string{name}, args...), " ")
			p.ran = append(p.ran, line)
			for prefix, do := range p.does {
				if strings.HasPrefix(line, prefix) {
					return do(p)
				}
			}
			return errors.New("failed")
		},
	}
}

func ensure(t *testing.T, p *played, root bool, cache string) (*Jupyter, error) {
	t.Helper()
	return Ensure(context.Background(), p.machine(root), cache, nil, func(string) {})
}

func TestFoundByItsCommand(t *testing.T) {
	p := &played{
		commands: map[string]string{"jupyter": "/opt/bin/jupyter", "python3": "/other/python3"},
		files:    map[string]string{"/opt/bin/jupyter": "#!/opt/bin/python3.12\nimport sys\n"},
		able:     map[string]bool{"/opt/bin/python3.12": true, "/other/python3": true},
	}
	j, err := ensure(t, p, false, t.TempDir())
	if err != nil || j.Python != "/opt/bin/python3.12" || p.ran != nil {
		t.Fatalf("%+v, %v, ran %q", j, err, p.ran)
	}
	if front, ok := j.Frontend(); !ok || front != "notebook" {
		t.Errorf("front end %q, %v", front, ok)
	}
}

func TestCommandThatIsAShellScript(t *testing.T) {
	p := &played{
		commands: map[string]string{"jupyter": "/shims/jupyter"},
		files:    map[string]string{"/shims/jupyter": "#!/usr/bin/env bash\nexec pyenv\n"},
		able:     map[string]bool{"/usr/bin/python3": true},
	}
	if j, err := ensure(t, p, false, t.TempDir()); err != nil || j.Python != "/usr/bin/python3" {
		t.Fatalf("%+v, %v", j, err)
	}
}

// withPip plays a machine on which venv and pip work as far as said.
func withPip(cache string, pipErr error) *played {
	p := &played{commands: map[string]string{"python3": "/usr/bin/python3"},
		files: map[string]string{"/etc/os-release": fedora}, able: map[string]bool{}}
	p.does = map[string]func(*played) error{
		"python3 -m venv": func(p *played) error { return os.MkdirAll(filepath.Join(venvDir(cache), "bin"), 0o755) },
		venvPython(cache): func(p *played) error {
			if pipErr == nil {
				p.able[venvPython(cache)] = true
				p.files[venvMark(cache)] = ""
			}
			return pipErr
		},
	}
	return p
}

func TestVirtualEnvironment(t *testing.T) {
	cache := t.TempDir()
	p := withPip(cache, nil)
	j, err := ensure(t, p, false, cache)
	if err != nil || j.Python != venvPython(cache) {
		t.Fatalf("%+v, %v", j, err)
	}
	for _, want := range pinned {
		if !strings.Contains(p.ran[1], want) || !strings.Contains(want, "==") {
			t.Errorf("pip is not asked for %s: %s", want, p.ran[1])
		}
	}
	if _, err := os.Stat(venvMark(cache)); err != nil {
		t.Error(err)
	}
	if _, err := ensure(t, p, false, cache); err != nil || len(p.ran) != 2 {
		t.Errorf("second time: %v, ran %q", err, p.ran)
	}
}

func TestUnfinishedEnvironmentIsNotUsed(t *testing.T) {
	cache := t.TempDir()
	p := withPip(cache, errors.New("no network"))
	p.able[venvPython(cache)] = true // as pip left it when it was killed, some of it loads
	if j, ok := Find(context.Background(), p.machine(false), cache); ok {
		t.Errorf("found %+v", j)
	}
}

func TestFailedEnvironmentIsRemoved(t *testing.T) {
	cache := t.TempDir()
	_, err := ensure(t, withPip(cache, errors.New("no network")), false, cache)
	var missing *missingError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "no network") {
		t.Errorf("error: %v", err)
	}
	if _, err := os.Stat(venvDir(cache)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the environment is still there: %v", err)
	}
}

func onDebian() *played {
	p := &played{commands: map[string]string{"apt-get": "/usr/bin/apt-get"},
		files: map[string]string{"/etc/os-release": debian}, able: map[string]bool{}}
	p.does = map[string]func(*played) error{
		"apt-get install": func(p *played) error { p.able["/usr/bin/python3"] = true; return nil },
	}
	return p
}

func TestDebianAsRoot(t *testing.T) {
	p := onDebian()
	j, err := ensure(t, p, true, t.TempDir())
	if err != nil || j.Python != "/usr/bin/python3" {
		t.Fatalf("%+v, %v", j, err)
	}
	// The update failed on this machine, which did not matter.
	want := []string{"apt-get update -q",
		"apt-get install -y -q --no-install-recommends jupyter-notebook jupyter-nbconvert python3-nbclient"}
	if !slices.Equal(p.ran, want) {
		t.Errorf("ran %q", p.ran)
	}
}

func TestPipFailsAndDebianHelps(t *testing.T) {
	cache := t.TempDir()
	p := onDebian()
	p.commands["python3"] = "/usr/bin/python3"
	must.Get(ensure(t, p, true, cache))
	if !strings.HasPrefix(p.ran[0], "python3 -m venv") || !strings.HasPrefix(p.ran[2], "apt-get install") {
		t.Errorf("ran %q", p.ran)
	}
}

func TestInstalledButUseless(t *testing.T) {
	p := onDebian()
	p.does["apt-get install"] = func(*played) error { return nil }
	if _, err := ensure(t, p, true, t.TempDir()); err == nil || !strings.Contains(err.Error(), "cannot be loaded") {
		t.Errorf("error: %v", err)
	}
}

func TestNothingIsInstalledWithoutPermission(t *testing.T) {
	p := onDebian()
	_, err := ensure(t, p, false, t.TempDir())
	if err == nil || p.ran != nil {
		t.Fatalf("%v, ran %q", err, p.ran)
	}
	want := "Type this, then run the same command again:\n\n" +
		"    sudo apt-get install -y jupyter-notebook jupyter-nbconvert python3-nbclient\n"
	if !strings.Contains(err.Error(), want) {
		t.Errorf("message:\n%s", err)
	}
}

func TestAdvice(t *testing.T) {
	for _, c := range []struct {
		os, release string
		root        bool
		commands    map[string]string
		want        string
	}{
		{"linux", debian, true, nil, "apt-get install"},
		{"linux", mint, false, nil, "sudo apt-get install"},
		{"linux", fedora, false, nil, "sudo dnf install"},
		{"linux", arch, false, nil, "sudo pacman -S"},
		{"linux", suse, true, nil, "zypper install"},
		{"linux", "", false, map[string]string{"python3": "/usr/bin/python3"},
			"python3 -m pip install --user nbclient=="},
		{"linux", "", false, nil, "install Python 3.9"},
		{"darwin", "", false, nil, "brew install jupyterlab"},
	} {
		p := &played{commands: c.commands, files: map[string]string{}}
		if c.release != "" {
			p.files["/etc/os-release"] = c.release
		}
		m := p.machine(c.root)
		m.OS = c.os
		if got := advice(m); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %q: %q, want %q", c.os, c.release, got, c.want)
		}
	}
}

// What would be installed is said before it is, in the order in which it is tried; nothing where Jupyter is there.
func TestWhatIsMissingIsSaid(t *testing.T) {
	cache, p := t.TempDir(), onDebian()
	p.commands["python3"] = "/usr/bin/python3"
	declined := errors.New("declined")
	said := func(root bool) (said []string) {
		_, err := Ensure(context.Background(), p.machine(root), cache, func(plans []string) error {
			said = plans
			return declined
		}, func(text string) { t.Errorf("began with %q", text) })
		if (said == nil) != (err == nil) || err != nil && !errors.Is(err, declined) || p.ran != nil {
			t.Errorf("said %q, then %v, and ran %q", said, err, p.ran)
		}
		return said
	}
	if said := said(true); len(said) != 2 || !strings.Contains(said[0], venvDir(cache)) ||
		!strings.Contains(said[0], pinned[0]) || !strings.HasPrefix(said[1], "as root") ||
		!strings.Contains(said[1], debianPackages[0]) {
		t.Errorf("said %q", said)
	}
	if said := said(false); len(said) != 1 {
		t.Errorf("without the right to install packages: %q", said)
	}
	p.able["/usr/bin/python3"] = true
	if said := said(true); said != nil {
		t.Errorf("of a machine that has it: %q", said)
	}
}

func TestInterruptedInstallation(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := onDebian()
	p.does["apt-get install"] = func(*played) error { cancel(); return errors.New("signal: interrupt") }
	if _, err := Ensure(ctx, p.machine(true), t.TempDir(), nil, func(string) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("error: %v", err)
	}
}

func TestRunTellsTheEndOfTheOutput(t *testing.T) {
	err := run(context.Background(), "sh", "-c", "for i in 1 2 3 4 5 6 7 8; do echo line $i; done; exit 3")
	if err == nil || !strings.Contains(err.Error(), "line 8") || strings.Contains(err.Error(), "line 3\n") {
		t.Errorf("error: %v", err)
	}
}
