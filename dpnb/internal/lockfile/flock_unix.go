//go:build unix

package lockfile

import (
	"errors"
	"os"
	"syscall"
)

func flock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrHeld
	}
	return err
}

// unlock does nothing: the lock goes with the last process that has the file open, and a child may.
func unlock(*os.File) error { return nil }
