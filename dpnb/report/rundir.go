package report

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/dpnb/notebooks/dpnb/internal/lockfile"
)

// sessionEnv names the environment variable by which the processes of a run are found: it holds the run's folder.
const sessionEnv = "DPNB_SESSION"

// A runDir is the folder of one run of Jupyter. All temporary files of the kernels go there, so that nothing is left
// when it is removed. Every process of the run has the folder in its environment and can be found by it; the lock in it
// tells whether the run is still going on.
type runDir struct {
	path string
	lock *lockfile.Lock
}

const runPrefix = "dpnb-run-"

// newRunDir makes a folder, after clearing away those of runs that were killed together with everything that would have
// cleared them away.
func newRunDir(ctx context.Context, cache string) (*runDir, error) {
	// One at a time, or a folder could be taken for an abandoned one before it has its lock.
	guard, err := lockfile.Wait(ctx, filepath.Join(cache, "run.lock"), func() {})
	if err != nil {
		return nil, err
	}
	defer guard.Unlock()
	abandoned, err := filepath.Glob(filepath.Join(os.TempDir(), runPrefix+"*"))
	if err != nil {
		return nil, err
	}
	for _, path := range abandoned {
		d := &runDir{path: path}
		if d.lock, err = lockfile.TryLock(filepath.Join(path, "lock")); err == nil {
			err = d.remove()
		}
		if err != nil && !errors.Is(err, lockfile.ErrHeld) && !errors.Is(err, os.ErrPermission) {
			return nil, err
		}
	}
	path, err := os.MkdirTemp("", runPrefix)
	if err != nil {
		return nil, err
	}
	d := &runDir{path: path}
	if d.lock, err = lockfile.TryLock(filepath.Join(path, "lock")); err != nil {
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	return d, errors.Join(os.Mkdir(d.temp(), 0o700), os.Mkdir(d.runtime(), 0o700))
}

func (d *runDir) file(name string) string { return filepath.Join(d.path, name) }
func (d *runDir) temp() string            { return d.file("t") } // short: the path of a socket in it may have 100 bytes
func (d *runDir) runtime() string         { return d.file("jupyter") }

// environ returns the environment of the run's processes.
func (d *runDir) environ(base []string) []string {
	return append(base[:len(base):len(base)],
		sessionEnv+"="+d.path,
		"TMPDIR="+d.temp(),
		"JUPYTER_RUNTIME_DIR="+d.runtime(), // or connection files would be left in the user's own
		"IPYTHONDIR="+d.runtime(),          // which the converter loads, and which makes itself a home
	)
}

// remove ends what is left of the run and deletes the folder.
func (d *runDir) remove() error {
	endTagged(sessionEnv + "=" + d.path)
	return errors.Join(os.RemoveAll(d.path), d.lock.Unlock())
}
