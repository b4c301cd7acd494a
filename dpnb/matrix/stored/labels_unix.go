//go:build linux || darwin

package stored

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/dpnb/notebooks/dpnb/internal/mapped"
)

// mapping is the labels as they lie in the file, which the operating system reads when they are asked for and forgets
// when it wants.
type mapping struct {
	values []float64
	raw    []byte
}

// littleEndian says that float64 lie in memory as they do in the file.
var littleEndian = func() bool { one := uint16(1); return *(*byte)(unsafe.Pointer(&one)) == 1 }()

func mapLabels(f *os.File, at int64, n int, sums []uint32) (mapping, error) {
	if n == 0 || !littleEndian {
		return readLabels(f, at, n, sums)
	}
	raw, err := unix.Mmap(int(f.Fd()), at, 8*n, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return readLabels(f, at, n, sums)
	}
	mapped.Add(raw)
	return mapping{unsafe.Slice((*float64)(unsafe.Pointer(&raw[0])), n), raw}, nil
}

// bytes returns the given labels as they lie in the file, nil where they are in memory.
func (m mapping) bytes(lo, hi int) []byte {
	if m.raw == nil {
		return nil
	}
	return m.raw[8*lo : 8*hi]
}

// done lets go of the pages within the given labels.
func (m mapping) done(lo, hi int) {
	page := os.Getpagesize() / 8
	lo, hi = (lo+page-1)/page*page, min(hi, len(m.values))/page*page
	if m.raw != nil && lo < hi {
		_ = unix.Madvise(m.raw[8*lo:8*hi], unix.MADV_DONTNEED) // a hint
	}
}

// reserve makes room for n labels in a file that has no name any more, and maps it.
func reserve(f *os.File, n int) (mapping, error) {
	if err := allocate(f, 8*int64(n)); err != nil {
		return mapping{}, err
	}
	raw, err := unix.Mmap(int(f.Fd()), 0, 8*n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return mapping{}, err
	}
	mapped.Add(raw)
	return mapping{unsafe.Slice((*float64)(unsafe.Pointer(&raw[0])), n), raw}, nil
}

func (m mapping) free() {
	if m.raw != nil {
		mapped.Remove(m.raw)
		_ = unix.Munmap(m.raw) // nobody reads it any more
	}
}
