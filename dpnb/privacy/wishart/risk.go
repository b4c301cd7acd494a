package wishart

import "math"

// Risk is what the bound on the excess risk needs to know besides the noise. None of it may depend on the records.
type Risk struct {
	// Records n, public under replace-one.
	Records int
	// Distance bounds ‖θ_exact − θ⋆‖, θ_exact the minimiser without noise.
	Distance float64
	// RegulariserSlope G bounds the subgradients of the regulariser.
	RegulariserSlope float64
}

// ExcessRisk bounds E J(θ_final) − J(θ_exact):
//
//	ndLσ̃²/2 + G√d·σ̃ + τ + (μσ²/2)(‖θ_exact − θ⋆‖ + η)²,  μ = m + c.
//
// It is Theorem 3.3 of qop with (a + η)²/2 in place of a² + η², from which Corollary 3.4 follows at τ = η = 0. θ_final
// may lie outside the constraint set.
// Proof: docs/theory/quadratic.md#qop-thm3.3.
func (s Setting) ExcessRisk(n Noise, r Risk) float64 {
	a := r.Distance + s.AnchorError
	return s.outputRisk(n, r) + 0.5*(float64(s.M)+s.Shift)*n.Sigma2*a*a
}

// PrintedExcessRisk is the right-hand side of Theorem 3.3 as it is printed, or that of Corollary 3.4 if anchor and
// solver are exact.
func (s Setting) PrintedExcessRisk(n Noise, r Risk) float64 {
	mu := float64(s.M) + s.Shift
	if s.exact() {
		return 0.5 * mu * n.Sigma2 * r.Distance * r.Distance
	}
	return s.outputRisk(n, r) + mu*n.Sigma2*(r.Distance*r.Distance+s.AnchorError*s.AnchorError)
}

func (s Setting) outputRisk(n Noise, r Risk) float64 {
	d := float64(s.D)
	return 0.5*float64(r.Records)*d*s.Smoothness*n.SigmaOut*n.SigmaOut + r.RegulariserSlope*math.Sqrt(d)*n.SigmaOut +
		s.Accuracy
}
