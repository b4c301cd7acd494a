package stored

import (
	"os"

	"golang.org/x/sys/unix"
)

// willNeed tells the operating system what will be read next.
func willNeed(f *os.File, at, length int64) {
	_ = unix.Fadvise(int(f.Fd()), at, length, unix.FADV_WILLNEED) // a hint
}
