package matrix

import (
	"math"
	"testing"
)

// The float32 next to a number towards zero, or it itself: nothing is between them.
func TestShorter(t *testing.T) {
	for _, v := range []float64{0, 1, 0.1, 1.0 / 3, math.Pi, 1e-46, 1e-40, 3e-39, 1e39, math.MaxFloat64,
		math.MaxFloat32, 1 - 0x1p-25, 1 + 0x1p-25} {
		for _, v := range []float64{v, -v} {
			f := Shorter(v)
			out := math.Nextafter32(f, float32(math.Copysign(math.Inf(1), v)))
			if !(math.Abs(float64(f)) <= math.Abs(v)) || math.Abs(float64(out)) <= math.Abs(v) {
				t.Errorf("Shorter(%v) = %v", v, f)
			}
		}
	}
}
