// Package project knows where the project lies on this machine and in which state it is.
package project

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
)

// ModulePath is the path of this module.
const ModulePath = "github.com/dpnb/notebooks"

// Release is the version that this tree is, or becomes when it is released.
const Release = "v0.1.0"

// tagged are versions that only a release has: a program that is built in a clone may have one that tells its commit,
// which no proxy knows.
var tagged = regexp.MustCompile(`^v\d+\.\d+\.\d+(-(alpha|beta|rc|test)[.\w]*)?$`)

// installedVersion returns the version of this module with which the program was installed, or "" of one that was built
// in a clone, or from a folder.
func installedVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return installed(info)
}

func installed(info *debug.BuildInfo) string {
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path == ModulePath && m.Replace == nil && (m.Sum != "" || tagged.MatchString(m.Version)) {
			return m.Version
		}
	}
	return ""
}

// Version returns what the program calls itself.
func Version() string {
	if v := installedVersion(); v != "" {
		return v
	}
	return Release + "-devel"
}

// Command returns how the command line is called: by its name if it is installed, runs by it, or is called outside a
// clone, where nothing else is there.
func Command() string {
	_, outside := Root(".")
	if outside != nil || installedVersion() != "" ||
		filepath.Base(os.Args[0]) == "dpnb" && !strings.Contains(os.Args[0], "go-build") {
		return "dpnb"
	}
	return "go run ./dpnb/cmd/dpnb"
}

// A Tree has the project's files: its notebooks, its docs, the statements of the papers.
type Tree struct {
	Dir string
	// Version is of a tree in the cache of Go's modules, where nothing may be written; "" of a clone.
	Version string
}

// Module returns what names the module to Go: the folder of a clone, or the version.
func (t Tree) Module() string {
	if t.Version != "" {
		return t.Version
	}
	return t.Dir
}

// Has reports whether a file is one of the tree's.
func (t Tree) Has(path string) bool {
	file, err := filepath.Rel(t.Dir, path)
	return err == nil && filepath.IsLocal(file)
}

// Find returns the clone at or above the current folder, else the files of the version that is installed, which Go has
// in its cache or fetches, else the clone that the program was built in.
func Find(ctx context.Context) (Tree, error) {
	root, err := Root(".")
	if err == nil {
		return Tree{Dir: root}, nil
	}
	if v := installedVersion(); v != "" {
		dir, err := moduleDir(ctx, v)
		return Tree{Dir: dir, Version: v}, err
	}
	if _, file, _, ok := runtime.Caller(0); ok {
		if root, err := Root(filepath.Dir(file)); err == nil {
			return Tree{Dir: root}, nil
		}
	}
	return Tree{}, err
}

// moduleDir returns where the cache of Go's modules has a version of this one.
func moduleDir(ctx context.Context, version string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", ModulePath+"@"+version)
	cmd.Dir = os.TempDir() // outside of any module, whose settings would count
	out, err := cmd.Output()
	var m struct{ Dir, Error string }
	if e := json.Unmarshal(out, &m); e == nil && m.Error == "" && m.Dir != "" {
		return m.Dir, nil
	}
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("the go command is not on PATH: install Go 1.26 or later, or add its bin folder to PATH")
	}
	return "", fmt.Errorf("cannot fetch the notebooks of %s %s: %s (%w)", ModulePath, version, m.Error, err)
}

// Root returns the folder of the project: the nearest one at or above dir whose go.mod declares this module.
func Root(dir string) (string, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if declaresModule(filepath.Join(dir, "go.mod")) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("this needs the source, and %s is not inside a clone of https://%s: clone it, and "+
				"change to its folder", start, ModulePath)
		}
	}
}

func declaresModule(goMod string) bool {
	f, err := os.Open(goMod)
	if err != nil {
		return false
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) >= 2 && fields[0] == "module" {
			return fields[1] == ModulePath
		}
	}
	return false
}

// CacheDir returns the project's folder in the user's cache, which holds what can be built again: the kernel and its
// helpers, and Jupyter where there was none.
func CacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder for caches: set HOME or XDG_CACHE_HOME (%w)", err)
	}
	return filepath.Join(dir, "dpnb"), nil
}

// Revision is the state of the working copy.
type Revision struct {
	Commit string // empty where Git cannot tell
	Dirty  bool   // files differ from the commit, or are not in it
}

// ReadRevision asks Git for the commit and whether anything differs from it. The zero Revision means that Git cannot
// tell, as in a downloaded archive.
func ReadRevision(ctx context.Context, root string) Revision {
	commit, err := git(ctx, root, "rev-parse", "HEAD")
	if err != nil {
		return Revision{}
	}
	status, err := git(ctx, root, "status", "--porcelain")
	return Revision{Commit: strings.TrimSpace(commit), Dirty: err != nil || status != ""}
}

func git(ctx context.Context, root string, args ...string) (string, error) {
	// A clone owned by another user is still this project: reading its state runs no hooks.
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "safe.directory=*", "-C", root}, args...)...)
	out, err := cmd.Output()
	return string(out), err
}

// String returns a short commit, marked where the working copy differs from it.
func (r Revision) String() string {
	switch {
	case r.Commit == "":
		return "unknown (not a Git clone)"
	case r.Dirty:
		return r.Commit[:12] + " with uncommitted changes"
	default:
		return r.Commit[:12]
	}
}
