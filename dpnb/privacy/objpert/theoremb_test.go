package objpert

import (
	"math"
	"testing"
	"time"
)

func TestTheoremB(t *testing.T) {
	for _, r := range []float64{1, .75, .5, .4, .35, .3, .29, .28} {
		t0 := time.Now()
		n, ok := ProveGaussianCase(r, 0, math.Inf(1), 150000)
		t.Log(r, n, ok, time.Since(t0))
		if !ok {
			break
		}
	}
}
