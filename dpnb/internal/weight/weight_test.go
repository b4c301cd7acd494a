package weight

import (
	"math"
	"testing"
)

// A label keeps its value, to 32 digits, and the weight to a millionth; no weight is beyond [0, 1].
func TestWeightsAreWithinLabels(t *testing.T) {
	for _, y := range []float64{-1, 1, 0, 7, 0.3, -0.99999, 1e-9} {
		for _, w := range []float64{0, 0.1, 0.5, 1 - 1e-9, 1, 1.1, 40, -1, math.NaN(), math.Inf(1)} {
			want := math.Max(0, math.Min(1, w))
			if math.IsNaN(w) {
				want = 0
			}
			label, got := Of(With(y, w))
			if !(math.Abs(got-want) <= 0.5/(1<<20)) || got > 1 || !(math.Abs(label-y) <= math.Abs(y)*0x1p-31) ||
				y == math.Trunc(y) && label != y {
				t.Errorf("With(%v, %v) says %v and %v", y, w, label, got)
			}
			if again, same := Of(With(label, got)); again != label || same != got {
				t.Errorf("With(%v, %v) is not kept", y, w)
			}
		}
	}
}
