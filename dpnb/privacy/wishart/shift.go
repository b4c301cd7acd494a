package wishart

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// shift is the exact add/remove-one profile of W + xxᵀ/σ² against W: that of χ²_ν + s against χ²_ν, ν = m − d + 1, s =
// ‖x‖²/σ², to which the statistic 1/(xᵀM⁻¹x) reduces it. χ² has a log-concave density for ν ≥ 2, so that s of the
// longest admissible record dominates all shorter ones.
//
// With k = ν/2 − 1, q_s(t)/q(t) = (1 − s/t)^k e^{s/2} for t > s rises with t, so that the sets of Neyman and Pearson
// are half-lines. Proof: docs/theory/quadratic.md.
type shift struct{ nu, s float64 }

func (h shift) Adjacency() privacy.Adjacency { return privacy.AddRemove }

func (h shift) LogDeltaUpper(d privacy.Direction, eps float64) float64 {
	switch {
	case math.IsInf(eps, 1):
		if d == privacy.Remove {
			return math.Inf(-1)
		}
		l := logChiBelow(h.nu, h.s)
		return math.Min(0, l+chiSlack(h.nu, l)+1e-12)
	case math.IsInf(eps, -1):
		return 0
	case eps < 0:
		// δ_d(ε) = 1 − e^ε + e^ε δ_opposite(−ε)
		back := math.Exp(h.LogDeltaUpper(d.Opposite(), -eps))
		return math.Min(0, math.Log(-math.Expm1(eps)+math.Exp(eps)*back)+1e-14)
	case d == privacy.Remove:
		return h.present(eps)
	}
	return h.absent(eps)
}

// absent draws from χ² alone: P(χ² < c) − e^ε P(χ² + s < c), c where the ratio of the densities is e^{−ε}; below s
// there is no mass on the other side at all.
func (h shift) absent(eps float64) float64 {
	k := 0.5*h.nu - 1
	c := h.s
	if k > 0 {
		c = h.s / -math.Expm1(-(eps+0.5*h.s)/k)
	}
	la := logChiBelow(h.nu, c)
	lb := eps + logChiBelow(h.nu, c-h.s)
	return differenceUp(la, lb, math.Max(chiSlack(h.nu, la), chiSlack(h.nu, lb))+1e-12+4e-16*eps)
}

// present draws from χ² + s: P(χ² + s > c) − e^ε P(χ² > c), c where the ratio is e^ε. The ratio is at most e^{s/2}.
func (h shift) present(eps float64) float64 {
	k := 0.5*h.nu - 1
	if 0.5*h.s <= eps {
		return math.Inf(-1)
	}
	c := h.s
	if k > 0 {
		c = h.s / -math.Expm1(-(0.5*h.s-eps)/k)
	}
	a, _ := logChiAbove(h.nu, c-h.s)
	b, exact := logChiAbove(h.nu, c)
	if !exact {
		b = math.Inf(-1) // a bound on b would be one in the wrong direction
	}
	return differenceUp(a, eps+b, 1e-10)
}

// differenceUp returns an upper bound on ln(e^a − e^b) if each is known to a relative error of slack.
func differenceUp(a, b, slack float64) float64 {
	share := 1 + slack - math.Exp(b-a)*(1-slack)
	if !(share > 0) {
		return a + math.Log(2*slack)
	}
	return math.Min(0, a+math.Log(share))
}

// replaced returns an upper bound on ln δ(ε) for W + xxᵀ/σ² against W + x′x′ᵀ/σ², both of the largest norm, at any
// angle: taking x away after adding x′, for every ε₁
//
//	δ(ε) ≤ δ_absent(ε₁) + e^{ε₁} δ_present(ε − ε₁),
//
// and the second is zero from ε − ε₁ = s/2 on. ε₁ is searched for in so many steps.
func (h shift) replaced(eps float64, steps int) float64 {
	bound := func(e1 float64) float64 {
		a, b := h.absent(e1), e1+h.present(eps-e1-1e-15*(1+eps))
		if math.IsInf(b, -1) {
			return a
		}
		if a < b {
			a, b = b, a
		}
		return a + math.Log1p(math.Exp(b-a)) + 1e-14
	}
	lo := math.Max(0, eps-0.5*h.s)
	_, v := univariate.Golden(bound, lo, eps, steps)
	best := math.Min(0, math.Min(bound(lo), v))
	// Where e^{ε₁} is large only a δ_present of exactly zero will do.
	if e1 := eps - 0.5*h.s*(1+1e-15) - 1e-15*(1+eps); e1 >= 0 {
		best = math.Min(best, h.absent(e1))
	}
	return best
}
