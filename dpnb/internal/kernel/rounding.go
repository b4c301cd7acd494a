package kernel

import "math"

const unit = 0x1p-53

// NormError bounds, relatively, how far the norm of d numbers that gonum's floats.Norm computes is from theirs, with
// enough to spare for three roundings more: adding a bound to it, a difference in the tolerance, the comparison.
//
// floats.Norm carries s = Σ(xⱼ/scale)². Each term errs by 3u (a quotient, a product, the sum), and a larger entry
// rescales s: (scale/x)², times s, plus 1, 5u at most. After d entries s errs by 5du, its root by half of that, the
// product with the scale by 2u more; second-order terms and the three roundings have 6u.
func NormError(d int) float64 { return (2.5*float64(d) + 8) * unit }

// Underflow bounds the Euclidean norm of what n records lose below the range of float64 when their gradients are formed
// and added: R bounds their norm, β the curvature and L the slopes that were met, d is the number of coordinates that
// one record adds to.
//
//   - a product of a margin errs by at most 2⁻¹⁰⁷⁵, of which d move a slope by β each;
//   - e^{−|t|} errs by up to e⁻⁷⁰⁸ < 2⁻¹⁰²¹ beyond 708, and a slope by at most L times
//     that or what underflows in its own few operations;
//   - a product of a slope errs by at most 2⁻¹⁰⁷⁵ in each coordinate.
func Underflow(n, d int, norm, curvature, slope float64) float64 {
	return float64(n) *
		(norm*curvature*float64(d)*0x1p-1074 + math.Sqrt(float64(d))*(norm*math.Max(1, slope)+1)*0x1p-1020)
}
