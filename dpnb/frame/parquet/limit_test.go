package parquet

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// Memory is handed out up to 64 MB, up to what the best compression makes of the file beyond that, and of a column no
// more than twice what its footer says; files of many sizes that take no room on the disk.
func TestLimits(t *testing.T) {
	f := must.Get(os.Create(filepath.Join(t.TempDir(), "sparse")))
	defer f.Close()
	for _, c := range []struct{ size, column, want int64 }{
		{10, math.MaxInt64, 64 << 20}, {1 << 20, math.MaxInt64, 1100 << 20}, {1 << 20, 100 << 20, 200 << 20},
		{1 << 20, 10, 64 << 20}, {1 << 40, math.MaxInt64, 1100 << 40},
	} {
		must.Do(f.Truncate(c.size))
		l := must.Get(fileLimit(f, c.column)).(limited)
		refused := func(size int64) (yes bool) {
			defer func() { yes = recover() != nil }()
			l.check(int(size))
			return
		}
		if refused(c.want) || !refused(c.want+1) {
			t.Errorf("of %d bytes, %d in the column: at most %d, want %d", c.size, c.column, l.most, c.want)
		}
	}
}
