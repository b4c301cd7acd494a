//go:build !unix

package lockfile

import (
	"errors"
	"os"
)

// The kernel itself needs named pipes of the Unix kind, so there is nothing to
// guard elsewhere.
func flock(*os.File) error {
	return errors.New("notebooks run on Linux, macOS and Windows' WSL only")
}
