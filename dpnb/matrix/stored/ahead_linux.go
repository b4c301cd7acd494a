package stored

import (
	"os"

	"golang.org/x/sys/unix"
)

// willNeed tells the operating system what will be read next.
func willNeed(f *os.File, at, length int64) {
	_ = unix.Fadvise(int(f.Fd()), at, length, unix.FADV_WILLNEED) // a hint
}

// allocate has the disk keep room for a file: who writes to a mapping of it cannot be told that there is none.
func allocate(f *os.File, size int64) error {
	if err := unix.Fallocate(int(f.Fd()), 0, 0, size); err != unix.EOPNOTSUPP {
		return err
	}
	return f.Truncate(size)
}
