// Package lockfile keeps two runs of the program from doing the same work at the same time. The operating system drops
// a lock with the process that holds it, so a killed run leaves none behind.
package lockfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ErrHeld is returned by TryLock when another process holds the lock.
var ErrHeld = errors.New("lockfile: held by another process")

// Lock is a held lock.
type Lock struct{ f *os.File }

// TryLock takes the lock at path, or returns ErrHeld. A file that is not at path any more is no lock: the next who
// comes would make a new one and hold that.
func TryLock(path string) (*Lock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := current(f, path); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Lock{f}, nil
}

// current returns ErrHeld if f is not the file at path.
func current(f *os.File, path string) error {
	held, err := f.Stat()
	if err != nil {
		return err
	}
	if now, err := os.Stat(path); err != nil || !os.SameFile(held, now) {
		return ErrHeld
	}
	return nil
}

// Wait takes the lock at path, waiting for it if need be. It calls waiting once, before it starts to wait.
func Wait(ctx context.Context, path string, waiting func()) (*Lock, error) {
	pause := time.Millisecond
	for first := true; ; first = false {
		lock, err := TryLock(path)
		if !errors.Is(err, ErrHeld) {
			return lock, err
		}
		if first {
			waiting()
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for %s: %w", path, ctx.Err())
		case <-time.After(pause):
			pause = min(2*pause, 200*time.Millisecond)
		}
	}
}

// File is the open file that carries the lock. A child process that inherits it shares the lock, which is then free
// only when both have ended.
func (l *Lock) File() *os.File { return l.f }

// Unlock gives the lock back.
func (l *Lock) Unlock() error { return errors.Join(unlock(l.f), l.f.Close()) }
