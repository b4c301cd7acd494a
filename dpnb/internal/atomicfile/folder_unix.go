//go:build unix

package atomicfile

import (
	"os"
	"syscall"
)

// ours reports whether nobody but this user, and who may do everything, can put files into a folder.
func ours(folder os.FileInfo) bool {
	s, ok := folder.Sys().(*syscall.Stat_t)
	return ok && (int(s.Uid) == os.Geteuid() || s.Uid == 0) && folder.Mode().Perm()&0o022 == 0
}
