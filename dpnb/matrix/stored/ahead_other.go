//go:build !linux

package stored

import "os"

// willNeed leaves it to the operating system what will be read next.
func willNeed(_ *os.File, _, _ int64) {}
