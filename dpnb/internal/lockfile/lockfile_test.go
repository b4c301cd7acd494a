package lockfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

func TestOneHolderAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "lock")
	first := must.Get(TryLock(path))
	if _, err := TryLock(path); !errors.Is(err, ErrHeld) {
		t.Fatalf("second TryLock: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	waited := 0
	notice := func() {
		waited++
		time.AfterFunc(50*time.Millisecond, cancel) // a few attempts later
	}
	if _, err := Wait(ctx, path, notice); !errors.Is(err, context.Canceled) || waited != 1 {
		t.Fatalf("Wait: %v after %d notices", err, waited)
	}
	must.Do(first.Unlock())
	second := must.Get(Wait(context.Background(), path, func() { t.Error("waited for a free lock") }))
	second.Unlock()
}

// Who holds a file that was deleted holds nothing that others can see: the lock is the file that is at the path.
func TestDeletedLockIsNoLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	old := must.Get(os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600))
	defer old.Close()
	must.Do(os.Remove(path))
	first := must.Get(TryLock(path))
	defer first.Unlock()
	must.Do(flock(old))
	if err := current(old, path); !errors.Is(err, ErrHeld) {
		t.Errorf("a deleted file is taken for the lock: %v", err)
	}
}

// counted is a context that counts how often it was asked whether it is done.
type counted struct {
	context.Context
	asked int
}

func (c *counted) Done() <-chan struct{} { c.asked++; return c.Context.Done() }

// Who waits looks more and more seldom, up to a fifth of a second apart, and nobody else may open the lock.
func TestWaitingIsPatient(t *testing.T) {
	testscale.Slow(t)
	path := filepath.Join(t.TempDir(), "lock")
	first := must.Get(TryLock(path))
	defer first.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	c := &counted{Context: ctx}
	if _, err := Wait(c, path, func() {}); !errors.Is(err, context.DeadlineExceeded) || c.asked > 10 {
		t.Errorf("%v after %d looks in 300 ms", err, c.asked) // 1 + 2 + 4 + … + 128 is 255
	}
	if info := must.Get(first.File().Stat()); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the lock has mode %v", info.Mode())
	}
}
