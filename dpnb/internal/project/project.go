// Package project knows where the project lies on this machine and in which
// state it is.
package project

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// modulePath is the path of this module.
const modulePath = "github.com/dpnb/notebooks"

// Root returns the folder of the project: the nearest one at or above dir whose
// go.mod declares this module.
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
			return "", fmt.Errorf("%s is not inside a clone of %s: change to its folder first", start, modulePath)
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
			return fields[1] == modulePath
		}
	}
	return false
}

// CacheDir returns the project's folder in the user's cache, which holds what
// can be built again: the kernel and its helpers, and Jupyter where there was
// none.
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

// ReadRevision asks Git for the commit and whether anything differs from it. The
// zero Revision means that Git cannot tell, as in a downloaded archive.
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
