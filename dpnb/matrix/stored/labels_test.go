package stored

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// Labels that cannot be mapped are read, whole blocks and a part of one, if they are what was written.
func TestLabelsInMemory(t *testing.T) {
	const before = 24
	f := must.Get(os.Create(filepath.Join(t.TempDir(), "labels")))
	defer f.Close()
	for _, n := range []int{0, 3, labelBlock, 2*labelBlock + 5} {
		text, want := make([]byte, before), make([]float64, n)
		for i := range want {
			want[i] = math.Sqrt(float64(i))
			text = binary.LittleEndian.AppendUint64(text, math.Float64bits(want[i]))
		}
		var sums []uint32
		for block := range slices.Chunk(text[before:], 8*labelBlock) {
			sums = append(sums, crc32.Checksum(block, castagnoli))
		}
		must.Get(f.WriteAt(text, 0))
		got := must.Get(readLabels(f, before, n, sums))
		if !slices.Equal(got.values, want) || got.bytes(0, n) != nil {
			t.Errorf("%d labels are read as %d others", n, len(got.values))
		}
		if n > 0 {
			sums[len(sums)-1]++
			if _, err := readLabels(f, before, n, sums); err == nil {
				t.Errorf("%d labels: those of the last block are not what was written", n)
			}
			must.Do(f.Truncate(int64(len(text) - 1)))
			if _, err := readLabels(f, before, n, sums); err == nil {
				t.Errorf("%d labels: the last is cut short", n)
			}
		}
	}
}
