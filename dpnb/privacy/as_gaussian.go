package privacy

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
)

// MuOf returns the largest μ, rounded down, at which a μ-GDP mechanism is (ε, δ)-DP: what a budget of (ε, δ) is worth
// in Gaussian mechanisms, whose μ² add up.
//
// Errors: *ParamError unless ε ≥ 0 is finite and 0 < δ < 1.
// Proof: docs/theory/ledger.md, section 3.
func MuOf(eps, delta float64) (float64, error) {
	sigma, err := GaussianSigma(eps, delta)
	if err != nil {
		return 0, err
	}
	return 1 / sigma, nil // GaussianSigma has proved it for the next float above 1/σ, too
}

// pureMu returns the smallest μ, rounded up, at which every ε-DP mechanism is μ-GDP: −2Φ⁻¹(1/(1 + e^ε)).
//
// Panics: unless ε ≥ 0.
// Proof: docs/theory/ledger.md, section 4.
func pureMu(eps float64) float64 {
	if !(eps >= 0) {
		panic("privacy: pureMu: ε must be a number ≥ 0")
	}
	if eps < 1e-6 {
		// Φ̄(μ/2) is next to ½ and has no digits left; μ ≤ ε√(π/2), a bit more than it is.
		return math.Nextafter(1.2533141373155003*eps, math.Inf(1))
	}
	// ln(1/(1 + e^ε)), without overflow.
	want := -eps - math.Log1p(math.Exp(-eps))
	_, mu := univariate.Bisect(func(mu float64) bool { return normal.LogSurvival(mu/2) <= want },
		0, 4*math.Max(eps, math.Sqrt(eps)), univariate.Arithmetic, 0)
	return mu * (1 + 1e-13 + 1e-15/math.Min(1, eps))
}

// GaussianCost is implemented by profiles that know better than by their values what they cost as Gaussian mechanisms:
// see AsGaussian.
type GaussianCost interface {
	AsGaussian(tail float64) (mu, delta float64, err error)
}

// AsGaussian returns the smallest μ that it can prove, and a δ′ ≤ tail, such that a mechanism with profile p is μ-GDP
// but for a probability of δ′: composed with others it costs μ² and δ′, whatever they are and however they are chosen.
//
// δ′ is zero where p is a Gaussian mechanism's or pure, δ for an (ε, δ) guarantee, and what is left of δ(ε) far out
// elsewhere: on [0, ε₁] δ(ε) is below δ_G(ε; μ), and δ(ε₁) ≤ δ′.
//
// Method: δ is convex in x = e^ε, so that between two knots it is at most the chord; δ_G is convex in x, too, so that
// it is at least its tangent. Where a tangent is above the chord at both knots, δ_G is above δ between them. Knots are
// added where most is lost. Whatever is not resolved enlarges μ: one percent at most. A QuickProfile is asked for its
// quick values, and they are resolved to half a percent.
//
// Errors: *ParamError unless 0 < tail < 1; one that wraps ErrUnsupported where δ(ε) does not fall to tail, or no μ up
// to 1000, or 1000 ε, was found to be enough.
// Proof: docs/theory/ledger.md, sections 5 and 6.
func AsGaussian(p Profile, tail float64) (mu, delta float64, err error) {
	if !(tail > 0 && tail < 1) {
		return 0, 0, &ParamError{Name: "tail", Value: tail, Want: "a number in (0, 1)"}
	}
	if _, high, ok := GaussianMu(p); ok {
		return high, 0, nil
	}
	if a, ok := p.(approxProfile); ok && a.a.Delta <= tail {
		return pureMu(a.a.Epsilon), a.a.Delta, nil
	}
	switch p := p.(type) {
	case withGaussian:
		return besideGaussian(p.of, p.mu, tail)
	case halfNormalGaussianProfile:
		alone, err := p.w.HalfNormal.Profile(p.Adjacency())
		if err != nil {
			return 0, 0, err
		}
		return besideGaussian(alone, p.w.Mu, tail)
	case GaussianCost:
		return p.AsGaussian(tail)
	}
	var sides []func(eps float64) float64
	left := unresolved
	if q, ok := p.(QuickProfile); ok {
		sides, left = append(sides, q.QuickLogDeltaUpper), quickUnresolved
	} else {
		directions := Directions[:]
		if IsSymmetric(p) {
			directions = directions[:1]
		}
		for _, d := range directions {
			sides = append(sides, func(eps float64) float64 { return p.LogDeltaUpper(d, eps) })
		}
	}
	for _, side := range sides {
		c, err := newComparison(side, math.Log(tail))
		if err != nil {
			return 0, 0, err
		}
		mu = math.Max(mu, c.refine(mu, left))
		delta = math.Max(delta, math.Min(tail, ExpUp(c.knots[len(c.knots)-1].log)))
	}
	if math.IsInf(mu, 1) {
		return 0, 0, fmt.Errorf("%w: no Gaussian mechanism of a sensible μ is at least as costly", ErrUnsupported)
	}
	return mu, delta, nil
}

// besideGaussian is AsGaussian of p together with a Gaussian mechanism of μ. Where the cost of p is not known, neither
// is that of both: μ alone would be too little.
func besideGaussian(p Profile, gaussian, tail float64) (mu, delta float64, err error) {
	if mu, delta, err = AsGaussian(p, tail); err != nil {
		return 0, 0, err
	}
	return math.Hypot(mu, gaussian) * (1 + 4e-16), delta, nil
}

// comparison holds one direction of a profile against Gaussian mechanisms: δ at knots.
type comparison struct {
	logDelta func(eps float64) float64
	end      float64 // ln δ that is small enough
	knots    []knot
}

// knot is a point of a profile, with what the cell to its right needs.
type knot struct {
	eps, log float64
	// mu is the smallest with δ_G(ε; μ) ≥ δ at this ε, need that for all ε of the cell.
	mu, need float64
}

// Settings of the comparison. None of them has a part in the proof.
const (
	knotsAtFirst    = 12
	mostKnots       = 200
	unresolved      = 1.01 // need is at most this times what the knots themselves ask for
	quickUnresolved = 1.005
	mostEpsilon     = 1e6
	leastEpsilon    = 1e-9
	largestChange   = 1e3
)

// newComparison takes the first knots, from ε = 0 to where ln δ ≤ end.
func newComparison(logDelta func(eps float64) float64, end float64) (*comparison, error) {
	c := &comparison{logDelta: logDelta, end: end}
	first := c.at(0)
	// As far as the Gaussian mechanism of the same δ(0) would need.
	last := math.Max(leastEpsilon, first.mu*(math.Sqrt(-2*end)+first.mu/2))
	for grow := 1.25; ; grow *= 1.25 { // to losses that have nothing to do with δ(0) in few steps
		k := c.at(last)
		if c.knots = append(c.knots, k); k.log <= end {
			break
		}
		if last *= grow; last > mostEpsilon {
			return nil, fmt.Errorf("%w: δ(ε) does not fall to %.2g: no Gaussian mechanism is at least as costly",
				ErrUnsupported, math.Exp(end))
		}
	}
	inner := make([]knot, knotsAtFirst)
	parallel.Each(knotsAtFirst, 0, func(i int) {
		inner[i] = first
		if i > 0 {
			inner[i] = c.at(c.knots[0].eps * float64(i) / knotsAtFirst)
		}
	})
	c.knots = slices.Concat(inner, c.knots)
	c.cut()
	return c, nil
}

// cut ends the knots where δ is small enough by far: what falls faster than a Gaussian's δ is so long before the last,
// and so far out exponentials overflow.
func (c *comparison) cut() {
	if i := slices.IndexFunc(c.knots, func(k knot) bool { return k.log <= 2*c.end }); i > 0 {
		c.knots = c.knots[:i+1]
		c.knots[i].need = 0 // of the cell that began there
	}
}

// at returns the knot at ε. Its μ is +Inf where none is large enough.
func (c *comparison) at(eps float64) knot {
	k := knot{eps: eps, log: c.logDelta(eps)}
	if math.IsNaN(k.log) {
		k.log = 0
	}
	enough := func(mu float64) bool { return gaussianBelow(eps, mu) >= k.log }
	k.mu = math.Inf(1)
	if most := largestChange * math.Max(1, eps); enough(most) {
		_, k.mu = univariate.Bisect(enough, 0, most, univariate.Arithmetic, 1e-9)
	}
	return k
}

// gaussianBelow is a lower bound on ln δ_G(ε; μ).
func gaussianBelow(eps, mu float64) float64 {
	l := logDeltaGaussian(eps, mu)
	return roundDown(l, gaussianSlack(l))
}

// refine adds knots where most is lost and returns a μ ≥ least that suffices from the first knot to the last; +Inf if
// none was found. It is unresolved times what the knots themselves ask for at most, unless there are mostKnots of them.
func (c *comparison) refine(least, unresolved float64) float64 {
	cells := make([]int, len(c.knots)-1)
	for i := range cells {
		cells[i] = i
	}
	for {
		for _, i := range cells {
			c.settle(i, least)
		}
		need, asked := least, least
		for _, k := range c.knots {
			need, asked = math.Max(need, k.need), math.Max(asked, k.mu)
		}
		need = math.Max(need, asked)
		if !(need > unresolved*asked) || len(c.knots) >= mostKnots {
			return math.Nextafter(need, math.Inf(1))
		}
		// The cells that need the most are halved, all at once.
		var wide []int
		for i, k := range c.knots {
			if k.need > math.Min(math.Sqrt(asked*need), math.MaxFloat64) {
				wide = append(wide, i)
			}
		}
		middle := make([]knot, len(wide))
		parallel.Each(len(wide), 0, func(j int) {
			middle[j] = c.at((c.knots[wide[j]].eps + c.knots[wide[j]+1].eps) / 2)
		})
		cells = cells[:0]
		for j, i := range wide {
			c.knots = slices.Insert(c.knots, i+1+j, middle[j])
			cells = append(cells, i+j, i+j+1)
		}
		c.cut()
		cells = slices.DeleteFunc(cells, func(i int) bool { return i+1 >= len(c.knots) })
	}
}

// settle finds what the cell from knot i to the next needs; +Inf if nothing was found.
func (c *comparison) settle(i int, least float64) {
	a, b := c.knots[i], c.knots[i+1]
	b.log = math.Min(a.log, b.log) // δ does not rise
	low := math.Max(least, math.Max(a.mu, b.mu))
	if covers(low, a, b) {
		c.knots[i].need = low
		return
	}
	high, most := low, 1.1*largestChange*math.Max(1, b.eps)
	for high = 1.01 * low; !covers(high, a, b); {
		if low, high = high, high*(high/low)*1.01; !(high < most) {
			c.knots[i].need = math.Inf(1)
			return
		}
	}
	_, c.knots[i].need = univariate.Bisect(func(mu float64) bool { return covers(mu, a, b) }, low, high,
		univariate.Arithmetic, 1e-4)
}

// covers reports whether δ_G(ε; μ) is proved to be at least the chord in e^ε from a to b, for all ε between them: by a
// tangent of δ_G, in x = e^ε − e^{a.eps}, in units of δ at a.
func covers(mu float64, a, b knot) bool {
	if math.IsInf(a.log, -1) {
		return true
	}
	if mu == 0 || math.IsInf(mu, 1) {
		return mu > 0
	}
	// The tangent that is parallel to the chord is the best: its slope −Φ̄(t/μ + μ/2).
	drop := a.log + math.Log(-math.Expm1(b.log-a.log)) // ln of δ(a) − δ(b)
	slope := drop - b.eps - math.Log(-math.Expm1(a.eps-b.eps))
	_, t := univariate.Bisect(func(t float64) bool { return normal.LogSurvival(t/mu+mu/2) <= slope }, a.eps, b.eps,
		univariate.Arithmetic, 1e-6)
	touch := math.Exp(gaussianBelow(t, mu) - a.log)
	steep := math.Exp(normal.LogSurvival(t/mu+mu/2) + t - a.log)
	left := -steep * math.Expm1(a.eps-t)
	right := steep * math.Expm1(b.eps-t)
	slack := 1e-12 * (touch + left + right)
	return touch+left-slack >= 1 && touch-right-slack >= math.Exp(b.log-a.log)
}
