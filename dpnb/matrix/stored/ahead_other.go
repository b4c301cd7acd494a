//go:build !linux

package stored

import "os"

// willNeed leaves it to the operating system what will be read next.
func willNeed(_ *os.File, _, _ int64) {}

func allocate(f *os.File, size int64) error { return f.Truncate(size) }
