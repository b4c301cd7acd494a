package wishart

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/internal/elementary"
)

// Noise is how much of it there is.
type Noise struct {
	// Sigma2 is σ², which multiplies W in the objective.
	Sigma2 float64
	// SigmaOut is σ̃, the standard deviation of each coordinate of the output noise; zero if anchor and solver are
	// exact.
	SigmaOut float64
	// Alpha: with probability 1 − δ₃, λ_min(W) + c ≥ α for the W that was drawn and for the one that the proof compares
	// it with under the neighbour, which may be L/σ² smaller; zero where nothing needs it. Both perturbed objectives
	// are then ασ²-strongly convex, and qop's criterion (7) at α implies accuracy τ for both.
	Alpha float64
	// Sensitivity is what σ̃ was calibrated for: a bound on how far apart the errors of two neighbours' outputs can be.
	Sensitivity float64
}

// Noise returns the smallest σ², and for it the smallest σ̃, with which the release is (ε₁ + ε₂, δ₁ + δ₂ + δ₃ +
// δ₄)-differentially private under the setting's adjacency, by its accounting. Both are rounded up.
//
// Errors: as Validate; *privacy.ParamError for a split that the setting cannot use; an error that wraps
// privacy.ErrUnsupported where no finite noise will do.
// Source: qop, Theorem 3.1, for Theorem31 with a repaired and sharper output noise; docs/theory/quadratic.md for the
// others.
func (s Setting) Noise(split Split) (Noise, error) {
	if err := cmp.Or(s.Validate(), split.validate(s)); err != nil {
		return Noise{}, err
	}
	n := s.noise(split, 1e-9)
	if !(n.Sigma2 < math.Inf(1)) || !(n.SigmaOut < math.Inf(1)) {
		return n, fmt.Errorf("%w: no finite noise satisfies this split for %v; give δ₁ and δ₃ more, or take a larger m",
			privacy.ErrUnsupported, s.Wishart)
	}
	if n.Sigma2 < least || !s.exact() && n.Sensitivity < least {
		return n, fmt.Errorf("%w: the noise (σ² = %g for L = %g, η = %g, τ = %g) is too small for float64 to round it "+
			"up; take larger units", privacy.ErrUnsupported, n.Sigma2, s.Smoothness, s.AnchorError, s.Accuracy)
	}
	return n, nil
}

// least is the smallest noise whose arithmetic has full precision with room to spare: below 2⁻¹⁰²² a factor of roundUp
// rounds nothing up.
const least = 1e-290

// roundUp is what the figures of noise are multiplied by at the end: the constants are rounded to the safe side, the
// arithmetic after them is not.
const roundUp = 1 + 1e-12

// noise is Noise without checks; infinite where nothing will do. tolerance is how far above the smallest σ² a search by
// exact accounting may end, relatively.
func (s Setting) noise(split Split, tolerance float64) Noise {
	p := s.perturbation(split, tolerance)
	if s.exact() {
		return p.Noise
	}
	n := p.Noise
	n.Sensitivity = s.sensitivity(split, p)
	unit, err := privacy.GaussianSigma(split.Epsilon2, split.Delta2)
	if err != nil || math.IsInf(n.Sensitivity, 1) {
		n.SigmaOut = math.Inf(1)
		return n
	}
	n.SigmaOut = n.Sensitivity * unit * roundUp
	return n
}

// perturbation is σ² with what is known of W on the event that δ₁ and δ₃ leave.
type perturbation struct {
	Noise
	// alpha: λ_min(W′) ≥ alpha. Zero where nothing needs it.
	alpha float64
	// moved: λ_min(W) ≥ moved for the W that the proof compares W′ with; exact accounting has no use for it.
	moved float64
}

func (s Setting) perturbation(split Split, tolerance float64) perturbation {
	var p perturbation
	l := s.Smoothness
	switch s.accounting() {
	case Theorem31:
		var k Constants
		k, p.alpha = s.theorem31(split)
		rank := float64(2*s.Rank + 2)
		p.Sigma2 = math.Max(2*l/split.Epsilon1*(k.F(2)+2*rank/(k.Alpha+s.Shift)), 2*l/k.Alpha1) * roundUp
		p.moved = p.alpha // both are on the event
	case Spectral:
		p.alpha = s.smallest(split.Delta1 + split.Delta3)
		p.Sigma2 = l / (p.alpha * s.spectralRatio(split.Epsilon1, p.alpha)) * roundUp
		p.moved = remainder(p.alpha, l/p.Sigma2/p.alpha)
	case Directional:
		ratio, floor := s.directionalRatio(split.Epsilon1, split.Delta1)
		// In very low dimension no direction is better off than the worst one, and δ₁ need not be cut in three.
		worst := s.SmallestQuantile(split.Delta1)
		if v := worst * s.spectralRatio(split.Epsilon1, worst); v > ratio {
			ratio, floor = v, worst
		}
		p.Sigma2 = l / ratio * roundUp
		if !s.exact() {
			p.alpha = s.smallest(split.Delta3)
			p.moved = remainder(p.alpha, l/p.Sigma2/floor)
		}
	case Exact:
		p.Sigma2 = l / s.exactRatio(split.Epsilon1, split.Delta1, tolerance) * roundUp
		if !s.exact() {
			p.alpha = s.smallest(split.Delta3)
		}
	}
	if p.alpha > 0 {
		p.moved = math.Max(p.moved, remainder(p.alpha, l/p.Sigma2/p.alpha))
		p.Alpha = p.alpha + s.Shift
		if s.accounting() != Exact { // there both objectives have the Hessian σ²M ⪰ σ²W′
			p.Alpha = math.Max(0, p.moved+s.Shift)
		}
	}
	return p
}

// remainder returns α(1 − share) rounded down, with a share that a few operations have rounded: at large ε it is so
// near to one that nothing but rounding is left.
func remainder(alpha, share float64) float64 { return alpha * (1 - share - 1e-15) * (1 - 1e-15) }

// smallest returns α of Lemma D.2, or that of the draws if they are for no more δ.
func (s Setting) smallest(delta float64) float64 {
	if c := s.Certified; c != nil && c.Wishart == s.Wishart && c.Delta3 <= delta {
		return c.Alpha
	}
	return s.SmallestQuantile(delta)
}

// theorem31 returns the constants of Lemma D.4 and the α of the setting.
func (s Setting) theorem31(split Split) (Constants, float64) {
	k := Constants{P: s.P(), Alpha: s.smallest(split.Delta3)}
	if c := s.Certified; c != nil && k.Alpha == c.Alpha && c.Delta1 > 0 && c.Delta1 <= split.Delta1 &&
		c.Delta3 == split.Delta3 {
		k.Alpha1 = c.Alpha1
	} else {
		k.Alpha1 = s.gap(k.Alpha, split.Delta1*(1-split.Delta3))
	}
	return k, k.Alpha
}

// spectralRatio returns the largest y = L/(a₀σ²) with
//
//	−p·ln(1 − y) + ρ·ln(1 + y·a₀/(a₀ + c)) ≤ ε₁  and  y·a₀/2 + ρ·ln(1 + …) ≤ ε₁,
//
// where P(λ_min < a₀) ≤ δ₁ + δ₃. The shift c helps the determinants of Hessians, not those of densities.
func (s Setting) spectralRatio(eps, a0 float64) float64 {
	p, rank := s.P(), float64(s.Rank)
	relief := a0 / (a0 + s.Shift)
	cost := func(y float64) float64 {
		hessians := rank * math.Log1p(y*relief)
		return math.Max(-(p-1)*math.Log1p(-y)-math.Log1p(-y*relief)+hessians, 0.5*a0*y+hessians)
	}
	return largestBelow(cost, 0, 1, eps)
}

// directionalRatio returns the largest s = L/σ² for which, outside an event of probability δ₁, the ratio of the
// densities is at most e^{ε₁}: with ν = m − d + 1, p = ν/2, χ and χ′ of law χ²_ν for the two records,
//
//	max(0, −p ln(1 − s/χ) − s/2) + max(ln(1 + s/χ′), s/2 − (p−1) ln(1 + s/χ′)) ≤ ε₁,
//
// and the floor below which χ does not fall outside that event. Under add/remove-one there is only one of the two
// records, and the larger of the two terms counts.
func (s Setting) directionalRatio(eps, delta float64) (ratio, floor float64) {
	nu, p := s.freedom(), s.P()
	log := elementary.Log(delta)
	first, second, third := 0.8, 0.1, 0.1
	if s.addRemove() {
		first, second, third = 1, 0.5, 0.5
	}
	low := chiLowerQuantile(nu, log+math.Log(first))
	other := chiLowerQuantile(nu, log+math.Log(second))
	high := chiUpperQuantile(nu, log+math.Log(third))
	cost := func(v float64) float64 {
		// −p ln(1 − v/low) − v/2 and v/2 − (p−1) ln(1 + v/high), the first order by itself: low and high are near 2p,
		// where most of it cancels.
		lost := math.Max(0, p*logRest(-v/low)+0.5*v*((2*p-low)/low))
		gained := math.Max(math.Log1p(v/other), 0.5*v*((high-2*(p-1))/high)+(p-1)*logRest(v/high))
		if s.addRemove() {
			return math.Max(lost, gained)
		}
		return lost + gained
	}
	return largestBelow(cost, 0, low, eps), low
}

// logRest returns x − ln(1 + x) ≥ 0, relative error below 1e-14.
func logRest(x float64) float64 {
	if math.Abs(x) > 0.1 {
		return x - math.Log1p(x)
	}
	sum, power := 0.0, x*x
	for n := 2.0; math.Abs(power) > 1e-18*sum; n++ {
		sum += power / n
		power *= -x
	}
	return sum
}

// exactRatio returns the largest s = L/σ², rounded down, at which the exact profile, composed for a replacement unless
// the adjacency is add/remove-one, is at most δ₁ at ε₁.
func (s Setting) exactRatio(eps, delta, tolerance float64) float64 {
	nu, want := s.freedom(), elementary.Log(delta)
	steps := 16
	if tolerance > 1e-6 {
		steps = 6
	}
	excess := func(v float64) float64 { return shift{nu, v}.replaced(eps, steps) - want }
	if s.addRemove() {
		excess = func(v float64) float64 {
			h := shift{nu, v}
			return math.Max(h.absent(eps), h.present(eps)) - want
		}
	}
	// Below s the other law has no mass: P(χ² < s) ≤ δ bounds s from above.
	hi := chiLowerQuantile(nu, want)
	lo := hi
	for excess(lo) > 0 {
		hi = lo
		lo /= 2
		if lo < 1e-300 {
			return 0
		}
	}
	// ln δ is nearly linear in ln s here: false position, with halving where it stalls.
	fl, fh := excess(lo), excess(hi)
	for range 40 {
		if !(hi > lo*(1+tolerance)) || fh <= 0 {
			break
		}
		mid := lo + (hi-lo)*math.Min(0.9, math.Max(0.1, -fl/(fh-fl)))
		if f := excess(mid); f > 0 {
			hi, fh = mid, f
		} else {
			lo, fl = mid, f
		}
	}
	return lo
}

// largestBelow returns x in (lo, hi), rounded down, up to which an increasing cost is at most the limit.
func largestBelow(cost func(float64) float64, lo, hi, limit float64) float64 {
	lo, _ = univariate.Bisect(func(x float64) bool { return !(cost(x) <= limit*(1-1e-14)) }, lo, hi,
		univariate.Arithmetic, 0)
	return lo
}
