package jupyter

import (
	"strings"
)

// missingError says that there is no Jupyter, why none could be installed, and what to type.
type missingError struct {
	Advice string // a command for this system
	Tried  error  // nil if nothing could be tried
}

func (e *missingError) Error() string {
	text := "Jupyter is not installed. Type this, then run the same command again:\n\n    " + e.Advice + "\n"
	if e.Tried != nil {
		text += "\nWhat was tried:\n" + e.Tried.Error() + "\n"
	}
	return text
}

func (e *missingError) Unwrap() error { return e.Tried }

// advice returns the command that installs Jupyter on m.
func advice(m Machine) string {
	sudo := "sudo "
	if m.Root {
		sudo = ""
	}
	if m.OS == "darwin" {
		return "brew install jupyterlab"
	}
	system := osRelease(m)
	switch {
	case debianLike(m):
		return sudo + "apt-get install -y " + strings.Join(debianPackages, " ")
	case system["fedora"], system["rhel"]:
		return sudo + "dnf install -y python3-notebook python3-nbconvert python3-nbclient"
	case system["arch"]:
		return sudo + "pacman -S --needed jupyter-notebook jupyter-nbconvert python-nbclient"
	case system["suse"], system["opensuse"]:
		return sudo + "zypper install python3-notebook python3-nbconvert python3-nbclient"
	case has(m, "python3"):
		return "python3 -m pip install --user " + strings.Join(pinned, " ")
	default:
		return "install Python 3.9 or later with its venv and pip modules (python.org)"
	}
}

func debianLike(m Machine) bool {
	system := osRelease(m)
	return system["debian"] || system["ubuntu"]
}

// osRelease returns the names under which this Linux goes, its ancestors among them:
// https://www.freedesktop.org/software/systemd/man/os-release.html
func osRelease(m Machine) map[string]bool {
	names := map[string]bool{}
	text, err := m.ReadFile("/etc/os-release")
	if err != nil {
		return names
	}
	for _, line := range strings.Split(string(text), "\n") {
		key, value, _ := strings.Cut(line, "=")
		if key == "ID" || key == "ID_LIKE" {
			for _, name := range strings.Fields(strings.Trim(value, `"'`)) {
				names[name] = true
			}
		}
	}
	return names
}
