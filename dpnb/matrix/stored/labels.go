package stored

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
)

// readLabels has the labels in memory, where they cannot be mapped, if they have their checksums.
func readLabels(f *os.File, at int64, n int, sums []uint32) (mapping, error) {
	values, raw := make([]float64, n), make([]byte, 8*min(n, labelBlock))
	in := io.NewSectionReader(f, at, 8*int64(n))
	for lo := 0; lo < n; lo += labelBlock {
		part := raw[:8*min(labelBlock, n-lo)]
		if _, err := io.ReadFull(in, part); err != nil {
			return mapping{}, err
		}
		if crc32.Checksum(part, castagnoli) != sums[lo/labelBlock] {
			return mapping{}, fmt.Errorf("the labels of %s are damaged", f.Name())
		}
		for i := range len(part) / 8 {
			values[lo+i] = math.Float64frombits(binary.LittleEndian.Uint64(part[8*i:]))
		}
	}
	return mapping{values: values}, nil
}
