package lockfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestOneHolderAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "lock")
	first, err := TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
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
	if err := first.Unlock(); err != nil {
		t.Fatal(err)
	}
	second, err := Wait(context.Background(), path, func() { t.Error("waited for a free lock") })
	if err != nil {
		t.Fatal(err)
	}
	second.Unlock()
}

// Who holds a file that was deleted holds nothing that others can see: the lock is the file that is at the path.
func TestDeletedLockIsNoLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	old, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	first, err := TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Unlock()
	if err := flock(old); err != nil {
		t.Fatal(err)
	}
	if err := current(old, path); !errors.Is(err, ErrHeld) {
		t.Errorf("a deleted file is taken for the lock: %v", err)
	}
}
