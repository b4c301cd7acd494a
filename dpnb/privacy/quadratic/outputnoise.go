package quadratic

import "math"

// sensitivity bounds ‖e − e′‖, e = θ_app − θ_priv the error that anchor and solver
// leave, for two neighbours and the two W that the proof compares: W′ and W = W′ +
// U/σ² with −L ⪯ U ⪯ L. In the norm of W,
//
//	‖e‖_W ≤ √(2τ)/σ + ‖a‖_W,  a = θ̃⋆ − θ⋆,
//
// the second because the minimisers for two anchors are as close in that norm
// as the anchors are. a is a fixed vector of norm at most η, so that ‖a‖²_W is
// at most η²χ²_m, and not only η²λ_max. For a linear model −U ⪯ xxᵀ·L/‖x‖², so
// that λ_min(W) ≥ λ_min(W′)(1 − (L/σ²)/χ), χ = 1/(xᵀW′⁻¹x) for a unit x; in general
// it is at least λ_min(W′) − L/σ². Proof: docs/theory/quadratic.md.
func (s Setting) sensitivity(split Split, p perturbation) float64 {
	sigma2 := p.Sigma2
	move := s.Smoothness / sigma2
	if s.accounting() == Theorem31 {
		move *= 2 // its U is twice as large
	}
	if !(p.moved+s.Shift > 0) {
		return math.Inf(1)
	}
	error := func(smallest, stretch float64) float64 {
		e := math.Sqrt(2 * s.Accuracy / (smallest * sigma2))
		if s.AnchorError > 0 {
			e += math.Sqrt(stretch/smallest) * s.AnchorError
		}
		return e
	}
	stretch := s.Shift
	if s.AnchorError > 0 {
		stretch += chiUpperQuantile(float64(s.M), math.Log(split.Delta4))
	}
	return (error(p.alpha+s.Shift, stretch) + error(p.moved+s.Shift, stretch+move)) * roundUp
}

// printedOutput returns the paper's sensitivity and σ̃ (Theorem 3.1),
//
//	σ̃ = (√(2τ/(ασ²)) + βη/α)·(2/ε₂)√(2 ln(1.25/δ₂)).
func (s Setting) printedOutput(split Split, sigma2 float64) (sensitivity, sigmaOut float64) {
	k, err := s.Constants(split.Delta1, split.Delta3, split.Delta4)
	if err != nil {
		return math.Inf(1), math.Inf(1)
	}
	e := math.Sqrt(2 * s.Accuracy / (k.Alpha * sigma2))
	if s.AnchorError > 0 {
		e += k.Beta * s.AnchorError / k.Alpha
	}
	return 2 * e, 2 * e / split.Epsilon2 * math.Sqrt(2*math.Log(1.25/split.Delta2))
}

// Printed returns the noise exactly as Theorem 3.1 of the paper prints it, for
// comparison: its σ² and its σ̃, whose formula is proved for ε₂ < 1 only, with a
// β for which the step that removes the condition on λ_max has a gap
// (docs/theory/quadratic.md). Use Setting.Noise for a release.
//
// Errors: as Noise.
func Printed(s Setting, split Split) (Noise, error) {
	s.Accounting = Theorem31
	s.Shift, s.Certified = 0, nil
	if err := s.Validate(); err != nil {
		return Noise{}, err
	}
	if err := split.validate(s); err != nil {
		return Noise{}, err
	}
	return s.printed(split), nil
}

// printed is Printed without checks.
func (s Setting) printed(split Split) Noise {
	n := s.perturbation(split, 0).Noise
	if !s.exact() {
		n.Sensitivity, n.SigmaOut = s.printedOutput(split, n.Sigma2)
	}
	return n
}
