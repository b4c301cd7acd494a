//go:build unix

package entropy

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"
)

// device reads /dev/urandom.
func device(b []byte) error { return character(b, "/dev/urandom") }

// character fills b from a device of characters.
func character(b []byte, path string) error {
	fd, err := retried(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return err
	}
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil || info.Mode&unix.S_IFMT != unix.S_IFCHR {
		return errors.Join(errors.New(path+" is no device"), err, unix.Close(fd))
	}
	for len(b) > 0 && err == nil {
		var n int
		if n, err = retried(func() (int, error) { return unix.Read(fd, b) }); n > 0 {
			b = b[n:]
		} else if err == nil {
			err = io.ErrUnexpectedEOF
		}
	}
	return errors.Join(err, unix.Close(fd))
}

// retried calls what a signal can interrupt.
func retried(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); err != unix.EINTR {
			return n, err
		}
	}
}
