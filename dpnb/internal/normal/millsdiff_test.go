package normal

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// testdata/millsdiff.txt: m, h, R(m−h) − R(m+h) from mpmath 1.2.1, 60 and more digits.
func TestMillsDiff(t *testing.T) {
	f := must.Get(os.Open("testdata/millsdiff.txt"))
	defer f.Close()
	worst, n := 0.0, 0
	for s := bufio.NewScanner(f); s.Scan(); n++ {
		var m, h, want float64
		must.Get(fmt.Sscan(s.Text(), &m, &h, &want))
		rel := math.Abs(millsDiff(m, h)/want - 1)
		worst = math.Max(worst, rel)
		if rel > 2e-14 {
			t.Errorf("millsDiff(%g, %g): relative error %.2g", m, h, rel)
		}
	}
	if n < 100 {
		t.Errorf("only %d values read", n)
	}
	t.Logf("largest relative error %.2g over %d values", worst, n)
}
