package exact

import "math"

// Scales of Geometrics: an integer is then below 2⁵³ but for a probability of exp(−2¹³).
const (
	leastGeometric   = 0x1p-20
	largestGeometric = 0x1p40
)

// Geometrics fills dst with independent integers of the law P(x) ∝ e^{−|x|/scale}: the difference of two ⌊scale·E⌋, E
// exponential, of which each is at least k with probability e^{−k/scale}. The law is exact for the real number that
// scale is.
//
// It panics unless 2⁻²⁰ ≤ scale ≤ 2⁴⁰.
func (s *Sampler) Geometrics(dst []float64, scale float64) {
	if !(scale >= leastGeometric && scale <= largestGeometric) {
		panic("exact: the scale of Geometrics must be between 2^-20 and 2^40")
	}
	// To round scale·E − g/2 to a multiple of g is to round scale·E down to one, and whole numbers are multiples of g.
	grid := math.Min(1, Step(scale, 0))
	pair := s.noise(2, (*Sampler).exponential)
	for j := range dst {
		two := [2]float64{-grid / 2, -grid / 2}
		if j > 0 {
			pair.Redraw()
		}
		pair.AddRounded(two[:], scale, grid)
		dst[j] = math.Floor(two[0]) - math.Floor(two[1])
	}
}
