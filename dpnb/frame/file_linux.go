package frame

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// stateOf returns what is different of every two files, and of one before and after a change of its content, and when
// it was last changed. The last is set by the system alone: a program that writes and puts the old time of modification
// back changes it.
func stateOf(info os.FileInfo) (state string, changed time.Time) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", time.Time{}
	}
	changed = time.Unix(s.Ctim.Unix())
	return fmt.Sprint(s.Dev, s.Ino, s.Size, s.Mtim.Nano(), changed.UnixNano()), changed
}
