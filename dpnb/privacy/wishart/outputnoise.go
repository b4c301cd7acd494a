package wishart

import (
	"cmp"
	"math"
)

// sensitivity bounds how far apart the approximate minimisers of two neighbours are for the two W that the proof
// compares, which give the same exact minimiser θ_priv: W′ and W = W′ + U/σ², −L ⪯ U ⪯ L. a = θ̃⋆ − θ⋆ is a fixed
// vector of norm at most η. Proof: docs/theory/quadratic.md, section 6.
//
// The solver's errors are at most √(2τ/(σ²λ_min)) each. The anchor's: each minimiser is off by e, ‖e‖_W ≤ ‖a‖_W, where
// ‖a‖²_W is at most η²χ²_m; and, as the two objectives are nearly the same, they are apart by at most (‖U‖η + (L +
// ‖U‖)‖e‖)/(σ²λ_min(W)). The smaller of the two bounds is taken. For least squares the two objectives have the same
// Hessian σ²M ⪰ σ²W′, and it is Lη/(σ²λ_min(M)).
func (s Setting) sensitivity(split Split, p perturbation) float64 {
	sigma2, ratio, eta := p.Sigma2, s.Smoothness/p.Sigma2, s.AnchorError
	solver := func(smallest float64) float64 { return math.Sqrt(2 * s.Accuracy / (smallest * sigma2)) }
	first := p.alpha + s.Shift
	if s.accounting() == Exact {
		return (2*solver(first) + ratio*eta/first) * roundUp
	}
	second := p.moved + s.Shift
	if !(second > 0) {
		return math.Inf(1)
	}
	d := solver(first) + solver(second)
	if eta > 0 {
		move := ratio // ‖U‖/σ²
		if s.accounting() == Theorem31 {
			move *= 2 // the paper's U is twice as large
		}
		stretch := s.Shift + chiUpperQuantile(float64(s.M), math.Log(split.Delta4))
		e1, e2 := math.Sqrt(stretch/first)*eta, math.Sqrt((stretch+move)/second)*eta
		near := math.Min((move*eta+(ratio+move)*e1)/second, (move*eta+(ratio+move)*e2)/first)
		d += math.Min(e1+e2, near)
	}
	return d * roundUp
}

// printedOutput returns the paper's sensitivity and σ̃ (Theorem 3.1),
//
//	σ̃ = (√(2τ/(ασ²)) + βη/α)·(2/ε₂)√(2 ln(1.25/δ₂)).
func (s Setting) printedOutput(split Split, n Noise) (sensitivity, sigmaOut float64) {
	e := math.Sqrt(2 * s.Accuracy / (n.Alpha * n.Sigma2))
	if s.AnchorError > 0 {
		e += s.largest(split.Delta3, split.Delta4) * s.AnchorError / n.Alpha
	}
	return 2 * e, 2 * e / split.Epsilon2 * math.Sqrt(2*math.Log(1.25/split.Delta2))
}

// Printed returns the noise exactly as Theorem 3.1 of the paper prints it, for comparison: its σ² and its σ̃, whose
// formula is proved for ε₂ < 1 only, with a β for which the step that removes the condition on λ_max has a gap
// (docs/theory/quadratic.md). Use Setting.Noise for a release.
//
// Errors: as Noise.
func Printed(s Setting, split Split) (Noise, error) {
	s.Accounting = Theorem31
	s.Shift, s.Certified = 0, nil
	if err := cmp.Or(s.Validate(), split.validate(s)); err != nil {
		return Noise{}, err
	}
	return s.printed(split), nil
}

// printed is Printed without checks.
func (s Setting) printed(split Split) Noise {
	n := s.perturbation(split, 0).Noise
	if !s.exact() {
		n.Sensitivity, n.SigmaOut = s.printedOutput(split, n)
	}
	return n
}
