package objective

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
)

// In units of σ, for the remove direction at ε ≥ 0 and one sign of γ > 0, the reward of a path is a line integral ∫
// M(u(γ), γ)dγ of the rate
//
//	M(u, γ) = φ(c)                          for u ≥ c = ε/γ − γ/2,
//	M(u, γ) = φ(u)·[1 − m(e^{γx} − 1)/γ]₊    for u = c − x < c,
//
// m = γλ/S̄(γ). See docs/theory/objective_perturbation.md, section 4. In u it rises up to c if c ≤ m; otherwise it is
// log-concave where positive, has its peak at one u⋆ ∈ (m, c), falls to φ(c), and stays there.

// edge returns c = ε/γ − γ/2.
func edge(eps, gamma float64) float64 {
	if gamma == 0 {
		return math.Inf(1)
	}
	return eps/gamma - gamma/2
}

// peakRate returns an upper bound on ln sup_u M(u, γ), tight to 1e-9, and where it is attained (c itself if M only
// rises up to c).
func peakRate(gamma, k, c float64) (logPeak, at float64) {
	m := gamma * k
	if c <= m || c <= 0 {
		return normal.LogPDF(c), c
	}
	// x in (0, min(c − m, ln(1+1/k)/γ)); the left side of γx − ln[(1+γ/m)/(1+γ/(c−x))] = 0 is increasing and convex
	// enough for a guarded Newton step. After one of relative size 1e-6 the error is below 1e-12 of x and of u: f″/2f′
	// ≤ 1/u. Where the tangent below is taken decides how tight it is, not whether it is a bound.
	top := math.Log1p(1 / k)
	width := top / gamma
	lo, hi := 0.0, math.Min(c-m, width)
	x := (top - math.Log1p(gamma/c)) / gamma // as if u were c
	if !(x > lo && x < hi) {
		x = 0.5 * hi
	}
	for i := 0; i < 60; i++ {
		u := c - x
		res := gamma*x - top + math.Log1p(gamma/u)
		if res > 0 {
			hi = x
		} else {
			lo = x
		}
		next := x - res/(gamma+gamma/(u*(u+gamma)))
		enough := 1e-6 * math.Min(x, u)
		if !(next > lo && next < hi) {
			next, enough = 0.5*(lo+hi), 1e-11*x
		}
		done := math.Abs(next-x) <= enough
		x = next
		if done || hi-lo <= 1e-16*c {
			break
		}
	}
	// M ≤ φ(u), and the peak is above both m and c − width.
	plain := normal.LogPDF(max(m, c-width))
	// ln M is concave in x, so its tangent at any x bounds it.
	grow := math.Exp(gamma * x)
	rest := 1 - k*(grow-1)
	slope := (c - x) - gamma*k*grow/rest
	tangent := normal.LogPDF(c-x) + math.Log(rest) + math.Abs(slope)*width
	if !(rest > 0) || !(tangent <= plain) {
		return plain, c - x
	}
	return tangent, c - x
}
