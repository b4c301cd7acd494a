package objective

import "math"

// Objective perturbation with noise of density ∝ e^{−‖b‖/β} is ε-DP under add/remove-one with
//
//	ε = sup |γ|/β + ln(1 + S/Λ)
//
// over the pairs of slope and curvature that a record can have, |γ| ≤ C, but at least C/β; under replace-one with C/β
// more. That is exact where labels put every pair everywhere.
// Proof: docs/theory/heavytail.md, dpnb-pure-objective and dpnb-free-jacobian.

// PureFlat returns that ε, rounded up, for the pairs |γ| ≤ C, S ≤ s: C/β + ln(1 + s/Λ), as of Huber's loss.
func PureFlat(c, beta, s, lambda float64) float64 {
	return roundedUp(c/beta + math.Log1p(s/lambda))
}

// PureParabola returns it for S ≤ s(1 − γ²/C²), as of ln cosh: C/β if Λ ≥ 2sβ/C, else with e₀ = C/β and a = s/Λ
//
//	e₀q + ln(1 + a(1 − q²)),  q = (√(1 + e₀²(1+a)/a) − 1)/e₀.
func PureParabola(c, beta, s, lambda float64) float64 {
	e0, a := c/beta, s/lambda
	if a*2 <= e0 {
		return roundedUp(e0)
	}
	// x/(√(1+x) + 1) for √(1+x) − 1, which has no cancellation.
	x := e0 * e0 * (1 + a) / a
	q := min(1, x/(math.Sqrt(1+x)+1)/e0)
	return roundedUp(e0*q + math.Log1p(a*(1-q)*(1+q)))
}

// PureFree returns it for S ≤ Λ(e^{(C−|γ|)/β} − 1), the largest curvature that costs nothing: C/β.
func PureFree(c, beta float64) float64 { return roundedUp(c / beta) }

// roundedUp pays for some roundings of positive terms.
func roundedUp(eps float64) float64 { return math.Nextafter(eps*(1+0x1p-48), math.Inf(1)) }
