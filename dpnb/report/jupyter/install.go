package jupyter

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/procgroup"
)

// pinned are the versions that a virtual environment gets.
var pinned = []string{"nbclient==0.10.2", "nbconvert==7.16.6", "notebook==7.3.2"}

// debianPackages are the same by Debian's names.
var debianPackages = []string{"jupyter-notebook", "jupyter-nbconvert", "python3-nbclient"}

func venvDir(cache string) string    { return filepath.Join(cache, "jupyter") }
func venvPython(cache string) string { return filepath.Join(venvDir(cache), "bin", "python3") }

// venvMark names the file that is written last: without it, the environment is the remains of a killed installation.
func venvMark(cache string) string { return filepath.Join(venvDir(cache), "complete") }

// A way installs Jupyter. It is applicable where its tools are there.
type way struct {
	what       string
	plan       func(cache string) string
	applicable func(Machine) bool
	install    func(ctx context.Context, m Machine, cache string) error
}

var allWays = []way{
	{
		what: "installing Jupyter into the cache folder with python3 -m venv and pip",
		plan: func(cache string) string {
			return "python3 -m venv " + venvDir(cache) + ", into which pip installs " + strings.Join(pinned, ", ")
		},
		applicable: func(m Machine) bool { return has(m, "python3") },
		install:    installVenv,
	},
	{
		what: "installing Jupyter with apt-get",
		plan: func(string) string {
			return "as root, for the whole system: apt-get update; apt-get install --no-install-recommends " +
				strings.Join(debianPackages, " ")
		},
		applicable: func(m Machine) bool {
			return m.Root && debianLike(m) && has(m, "apt-get")
		},
		install: installDebian,
	},
}

func has(m Machine, command string) bool {
	_, err := m.LookPath(command)
	return err == nil
}

// installVenv leaves a complete environment or none. Python's own venv command is often there without pip, or without
// the network that pip needs.
func installVenv(ctx context.Context, m Machine, cache string) error {
	dir := venvDir(cache)
	err := m.Run(ctx, "python3", "-m", "venv", "--clear", dir)
	if err == nil {
		args := []string{"-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check",
			"--retries", "1", "--timeout", "15"}
		err = m.Run(ctx, venvPython(cache), append(args, pinned...)...)
	}
	if err == nil {
		err = os.WriteFile(venvMark(cache), []byte(strings.Join(pinned, "\n")+"\n"), 0o644)
	}
	if err != nil {
		if left := os.RemoveAll(dir); left != nil {
			return fmt.Errorf("%w; delete %s by hand: %w", err, dir, left)
		}
	}
	return err
}

func installDebian(ctx context.Context, m Machine, _ string) error {
	// An update that fails, as with one mirror of several away, need not matter.
	updateErr := m.Run(ctx, "apt-get", "update", "-q")
	args := append([]string{"install", "-y", "-q", "--no-install-recommends"}, debianPackages...)
	if err := m.Run(ctx, "apt-get", args...); err != nil {
		if updateErr != nil {
			return fmt.Errorf("%w (and before it %w)", err, updateErr)
		}
		return err
	}
	return nil
}

func output(ctx context.Context, name string, args ...string) ([]byte, error) {
	return exec.CommandContext(ctx, name, args...).Output()
}

// run runs a program that must not be cut off in the middle: a package manager that is interrupted gets the time to put
// its affairs in order.
func run(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := procgroup.Run(ctx, cmd, 30*time.Second); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(append([]string{name}, args...), " "), err,
			lastLines(said.String(), 5))
	}
	return nil
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
