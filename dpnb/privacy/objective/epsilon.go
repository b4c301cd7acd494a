package objective

import (
	"math"
	"sync"

	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/internal/elementary"
)

const (
	// roughTolerance is the relative gap of δ at which a first look stops.
	roughTolerance = 0.06
	// nearTarget is the distance in ln δ, a fortieth of the gap, at which an ε is taken for the one asked for.
	nearTarget = 1e-4
)

// EpsilonBounds returns bounds on the smallest ε ≥ 0 with δ(ε) ≤ delta: the upper one satisfies it by LogDeltaUpper,
// the lower one does not by LogDeltaLower. Both are as far from where those cross delta as nearTarget is. ok is false
// where the profile is in closed form, so that a search to the last place costs nothing, and for a delta that is not in
// (0, 1).
//
// δ is looked at roughly until the ε is known to some percent, and only then as well as it can be had.
func (p *Profile) EpsilonBounds(delta float64) (lower, upper float64, ok bool) {
	if !p.cfg.Bound.computed() || !(delta > 0 && delta < 1) || IsGaussian(p.cfg.Curve, p.cfg.Lambda, p.cfg.Sigma) {
		return 0, 0, false
	}
	known := p.epsilons.Of(delta, func() [2]float64 {
		lower, upper := p.findEpsilon(delta)
		return [2]float64{lower, upper}
	})
	return known[0], known[1], true
}

func (p *Profile) findEpsilon(delta float64) (lower, upper float64) {
	want := elementary.Log(delta)
	above, below := want-4e-16*math.Abs(want), want+4e-16*math.Abs(want)
	// Nothing is better than the Gaussian mechanism; DTZ24 is worse.
	gauss := privacy.GaussianProfile(Slope(p.cfg.Curve)/p.cfg.Sigma*(1-4e-16), privacy.AddRemove)
	low, err := privacy.EpsilonUpper(gauss, delta)
	if err != nil {
		low = 0
	}
	high := math.Inf(1)
	cfg := p.cfg
	cfg.Bound = DTZ24
	if loose, err := New(cfg); err == nil {
		if v, err := privacy.EpsilonUpper(loose, delta); err == nil {
			high = v
		}
	}
	start := bracket{lo: math.Min(low*(1-1e-12), high), hi: high}
	rough := start.search(func(eps float64) float64 {
		v := p.both(p.rough, eps)
		return 0.5*(math.Max(v.lower, -1e6)+v.upper) - want
	}, rightEnd(0.02), 1e-3)
	near := nearTarget
	if p.cfg.Bound != Tight {
		near = 1e-7 // these have no gap of their own, and are held against each other
	}
	up := start.near(rough, func(eps float64) float64 { return p.both(p.at, eps).upper - above }, rightEnd(near))
	lower = math.Max(0, start.lo)
	if p.cfg.Bound == Tight {
		b := start.near(rough, func(eps float64) float64 { return p.both(p.at, eps).lower - below },
			leftEnd(nearTarget))
		lower = math.Max(lower, b.lo)
	}
	return math.Min(lower, up.hi), up.hi
}

// both returns the larger of the two directions' bounds by at.
func (p *Profile) both(at func(privacy.Direction, float64) enclosure, eps float64) enclosure {
	var wg sync.WaitGroup
	var add enclosure
	wg.Go(func() { add = at(privacy.Add, eps) })
	remove := at(privacy.Remove, eps)
	wg.Wait()
	return enclosure{math.Max(add.lower, remove.lower), math.Max(add.upper, remove.upper)}
}

// RoughLogDeltaUpper is LogDeltaUpper for less time: some percent of δ more in the remove direction, at most twice δ in
// the add direction.
func (p *Profile) RoughLogDeltaUpper(d privacy.Direction, eps float64) float64 {
	if p.cfg.Bound != Tight || eps <= 0 {
		return p.at(d, eps).upper
	}
	if d == privacy.Add {
		return p.pointwiseAdd(eps)
	}
	return p.roughly.Of(key{d, eps}, func() float64 { return p.rough(d, eps).upper })
}

// quickTolerance is the relative gap of δ at which a quick look stops.
const quickTolerance = 0.01

// Where ln δ of the Gaussian mechanism is above largeDelta, the tolerance is less: there a part of δ is as much of μ.
const (
	largeDelta    = -4
	bulkTolerance = 0.005
)

// QuickLogDeltaUpper implements privacy.QuickProfile. The integral of Integral, of the paths of each side, with few
// cells is as a rule within a percent of the lower values; the lattice is only asked where it is not, nor below what
// the add direction is known to be.
func (p *Profile) QuickLogDeltaUpper(eps float64) float64 {
	switch {
	case p.cfg.Bound != Tight || !(eps > -math.MaxFloat64 && eps < math.MaxFloat64) || p.gaussian(privacy.Remove, eps):
		return privacy.LogDeltaUpper(p, eps)
	case eps < 0:
		return mirror(eps, enclosure{math.Inf(-1), p.QuickLogDeltaUpper(-eps)}).upper
	}
	return p.quick.Of(eps, func() float64 { return p.quickly(eps) })
}

// quickly returns an upper bound on ln δ(ε), ε ≥ 0, of both directions.
func (p *Profile) quickly(eps float64) float64 {
	g, most := p.quickest, 600
	if _, gauss := gaussBounds(eps)(Slope(p.cfg.Curve) / p.cfg.Sigma); gauss > largeDelta {
		g, most = p.bulk, 3000
	}
	tol := g.tol()
	known, add := g.addAt(eps)
	if eps == 0 {
		return add // the total variation distance
	}
	quad := g.integral(eps, tol, most)
	remove := math.Inf(-1)
	for _, side := range g.sides() {
		remove = math.Max(remove, g.sideIntegral(eps, side, quad))
	}
	remove = math.Min(0, math.Min(remove, quad.logUpper))
	if shift := -quad.logUpper; remove > known+tol {
		if scaled := g.greedy(eps, shift, quad.cells()); scaled > 0 {
			known = math.Max(known, math.Log(scaled)-shift)
		}
	}
	for _, finer := range []*grids{p.coarse, g} {
		if remove <= known+tol {
			break
		}
		low, up := finer.removeAt(eps)
		known, remove = math.Max(known, low), math.Min(remove, up)
	}
	return math.Max(add, remove)
}

// rough is at with the tolerance roughTolerance.
func (p *Profile) rough(d privacy.Direction, eps float64) enclosure {
	if p.cfg.Bound != Tight || d == privacy.Add || eps <= 0 || p.gaussian(d, eps) {
		return p.at(d, eps)
	}
	lo, up := p.coarse.removeAt(eps)
	return enclosure{lo, up}
}

// proves reports whether ln δ at ε in direction d is proved to be at most want. It looks closely only where a rough
// look does not settle it.
func (p *Profile) proves(d privacy.Direction, eps, want float64) bool {
	if v := p.rough(d, eps); v.upper <= want || v.lower > want {
		return v.upper <= want
	}
	return p.at(d, eps).upper <= want
}

// bracket holds where a falling function is positive and where it is not, with the values there.
type bracket struct{ lo, hi, flo, fhi float64 }

// target says which end of a bracket is wanted, and how near to zero f has to be there.
type target struct {
	left bool
	tol  float64
}

func leftEnd(tol float64) target  { return target{true, tol} }
func rightEnd(tol float64) target { return target{false, tol} }

func (t target) met(b bracket) bool {
	if t.left {
		return b.flo <= t.tol
	}
	return b.fhi >= -t.tol
}

// aim is the value to aim at: a little inside the end that is wanted.
func (t target) aim() float64 {
	if t.left {
		return 0.3 * t.tol
	}
	return -0.3 * t.tol
}

// search returns a smaller bracket of the root of f: until the target is met, or the bracket is relatively narrow. The
// left end is known to be left of the root; the right end may be infinite.
func (b bracket) search(f func(float64) float64, t target, narrow float64) bracket {
	if b.flo = f(b.lo); b.flo <= 0 {
		return bracket{b.lo, b.lo, b.flo, b.flo}
	}
	if math.IsInf(b.hi, 1) {
		b.hi = 2 * math.Max(b.lo, 1e-3)
	}
	for b.fhi = f(b.hi); b.fhi > 0; b.fhi = f(b.hi) {
		if b.lo, b.flo = b.hi, b.fhi; b.hi > 1e9 {
			b.hi = math.Inf(1)
			return b
		}
		b.hi *= 2
	}
	return b.narrow(f, t, narrow)
}

// narrow takes the secant's steps with Illinois' safeguard, and halves where f jumps over the target, which what is
// computed of δ does.
func (b bracket) narrow(f func(float64) float64, t target, narrow float64) bracket {
	flo, fhi := b.flo, b.fhi
	before := math.Inf(1)
	for k := range 60 {
		width := b.hi - b.lo
		if t.met(b) || width <= narrow*b.hi {
			break
		}
		x := b.lo + width*(flo-t.aim())/(flo-fhi)
		x = math.Min(math.Max(x, b.lo+0.01*width), b.hi-0.01*width)
		if k%2 == 1 {
			if width > 0.5*before {
				x = b.lo + 0.5*width
			}
			before = width
		}
		if v := f(x); v > 0 {
			b.lo, b.flo, flo = x, v, v
			fhi *= 0.5
		} else {
			b.hi, b.fhi, fhi = x, v, v
			flo *= 0.5
		}
	}
	return b
}

// near is search from where a rough one has ended: steps with its slope until the target is met or there is a bracket.
func (b bracket) near(rough bracket, f func(float64) float64, t target) bracket {
	x, slope := rough.hi, (rough.fhi-rough.flo)/(rough.hi-rough.lo)
	narrow := 1e-6
	if slope < 0 {
		narrow = math.Min(narrow, t.tol/(-slope*x))
	}
	var out bracket
	var left, right bool
	for range 8 {
		v := f(x)
		if v > 0 {
			out.lo, out.flo, left = x, v, true
		} else {
			out.hi, out.fhi, right = x, v, true
			if x <= b.lo {
				return bracket{x, x, v, v}
			}
		}
		if t.left && left && v > 0 && v <= t.tol || !t.left && right && v <= 0 && v >= -t.tol {
			if !left {
				out.lo = b.lo
			}
			return out
		}
		if left && right {
			return out.narrow(f, t, narrow)
		}
		if !(slope < 0) || math.IsInf(x, 1) {
			break
		}
		x = math.Max(b.lo, x-(v-t.aim())/slope)
	}
	return b.search(f, t, narrow)
}
