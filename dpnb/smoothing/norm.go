package smoothing

// Norm is ‖·‖₁ on ℝᵐ convolved with a kernel, coordinate by coordinate:
//
//	g(x) = Σⱼ E|xⱼ + μKⱼ|.
//
// It depends on the kernel of ℝᵐ only through the law of a coordinate: pass NewExponential(m) for e^{−‖v‖₂}, and the
// same kernel as for |x| for products.
type Norm struct {
	Kernel Kernel
	// Width is μ > 0.
	Width float64
}

// absolute is |x|, made once.
var absolute = Absolute()

func (n Norm) coordinate() Smooth { return absolute.Convolve(n.Kernel, n.Width) }

// ValueGradient returns g(x) and writes ∇g(x) to grad, unless that is nil. It panics if grad has another length than x.
func (n Norm) ValueGradient(grad, x []float64) float64 {
	checkLength(grad, x)
	s, value := n.coordinate(), 0.0
	for j, v := range x {
		value += s.Value(v)
		if grad != nil {
			grad[j] = s.Slope(v)
		}
	}
	return value
}

// Curvature writes the diagonal of ∇²g(x), which has no other entries, to dst.
func (n Norm) Curvature(dst, x []float64) {
	checkLength(dst, x)
	s := n.coordinate()
	for j, v := range x {
		dst[j] = s.Curvature(v)
	}
}

// Gap returns g(x) − ‖x‖₁ ≥ 0.
func (n Norm) Gap(x []float64) float64 {
	s, gap := n.coordinate(), 0.0
	for _, v := range x {
		gap += s.Gap(v)
	}
	return gap
}

// Smoothness returns sup ‖∇²g‖₂ = 2k(0)/μ, whatever m is. In θ, x = Aθ, it is times sup‖A‖₂².
func (n Norm) Smoothness() float64 { return n.coordinate().Smoothness() }

// LargestGap returns sup (g − ‖·‖₁) on ℝᵐ, which is at 0.
func (n Norm) LargestGap(m int) float64 { return float64(m) * n.coordinate().LargestGap() }
