//go:build unix

package ledger

import (
	"os"
	"syscall"
)

// links returns how many names a file has, 0 if it was deleted meanwhile.
func links(_ string, info os.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}
