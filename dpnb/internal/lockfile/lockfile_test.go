package lockfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
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
