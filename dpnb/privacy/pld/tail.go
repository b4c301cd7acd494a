package pld

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/logspace"
)

// tail is the profile of a composed law on a lattice, bounded on one side. With s = (first + m)·step, ln δ(s) is
// between
//
//	κ − θs + ln(d_m ± err)   (and the mass at infinity on top),
//
// d_m = Σ_{j>m} r_j e^{−θ(s_j−s)}(1 − e^{−(s_j−s)}) and r the tilted law.
type tail struct {
	lat   lattice
	theta float64
	kappa float64 // rounded to the tail's side
	lnInf float64
	side  float64
	// value returns d_m with a bound on its error, 0 ≤ m < n − 1.
	value   func(m int) (d, err float64)
	release func() // of what value uses
}

// window chooses the lattice: from, to enclose the tilted law but for mass e^{lnMass} on each side, by Chernoff's bound
// with the same cumulants.
func (ts terms) window(theta, lnMass float64) (from, to float64) {
	k, mean, variance := ts.cumulant(theta)
	sd := math.Sqrt(variance)
	base := math.Sqrt(-2*lnMass) / math.Max(sd, 1e-300)
	// The bound by every t > 0 is valid; as κ is convex it falls and then rises with t.
	best := func(sign float64) float64 {
		at := func(f float64) float64 {
			t := math.Min(base*f, 1e12)
			l, _, _ := ts.cumulant(theta + sign*t)
			return (l - k - lnMass) / t
		}
		least := math.Inf(1)
		for _, fs := range [2][]float64{{0.7, 0.85, 1, 1.2}, {0.5, 0.35}} {
			for _, f := range fs {
				b := at(f)
				if !(b < least) {
					break
				}
				least = b
			}
		}
		return least
	}
	from, to = -best(-1), best(+1)
	return math.Min(from, mean), math.Max(to, mean)
}

// compose returns the composed profile on one side. lnMass is the logarithm of the mass that is allowed to wrap around
// the lattice at either end. The tail is valid until it is released.
func compose(ts terms, theta float64, lat lattice, lnMass, side float64) *tail {
	c := ts.tilt(theta, lat, side)
	t := &tail{
		lat: lat, theta: theta, side: side,
		kappa: c.kappa + side*c.kappaErr,
		lnInf: ts.lnInfinity(side),
	}
	a := c.band(lat.n)
	if a*(c.atoms+rootSteps) < sumSteps*lat.n*(len(ts)+1) {
		t.few(c, a)
	} else {
		t.all(c)
	}
	value := t.value
	t.value = func(m int) (d, err float64) {
		d, err = value(m)
		return d, err + 2.02*math.Exp(lnMass) // what wraps around from below the lattice or from beyond its reach
	}
	return t
}

// all fills in the value of t by a transform of the whole lattice.
func (t *tail) all(c *tiltedLaws) {
	p := acquire(t.lat.n)
	t.release = p.release
	err2 := p.convolve(c)
	// Upwards through the lattice from its top: s is Σ_{j>m} r_j e^{−θ(s_j−s_m)}.
	r, n := p.time, t.lat.n
	q := math.Exp(-t.theta * t.lat.step)
	shrink, grow := math.Exp(-t.lat.step), -math.Expm1(-t.lat.step)
	var s, d, weight2 float64
	decay, rise := 1.0, 0.0
	for m := n - 2; m >= 0; m-- {
		i := t.at(m)
		s = q * (s + r[i])
		d = q*shrink*d + grow*s
		r[i] = d // d_m takes the place of r_{m+1}, read just before
		// The 2-norm of the weights e^{−θx}(1 − e^{−x}), of which 1 − e^{−x} errs by a part in 10¹⁰ at most.
		if decay > 1e-30 {
			decay *= q
			rise = rise*shrink + grow
			weight2 += decay * decay * rise * rise
		}
	}
	err := 1.01 * err2 * math.Sqrt(weight2)
	rel := 8 * unit * float64(n+16) // seven roundings a step
	t.value = func(m int) (float64, float64) {
		d := r[t.at(m)]
		return d, rel*math.Abs(d) + err
	}
}

// at returns where the circular array has the value for lattice point m + 1.
func (t *tail) at(m int) int { return circle(t.lat.first+m+1, t.lat.n) }

// lnDelta returns the bound on ln δ at lattice point m.
func (t *tail) lnDelta(m int) float64 {
	d, err := t.value(m)
	above := float64(t.lat.n-m) * t.lat.step // from here to what is off the lattice
	if t.side > 0 {
		if t.s(t.lat.n) < t.lat.reach {
			// Mass between the lattice and its reach is not in the sum.
			err += math.Exp(-t.theta*above) * (1 + 1e-9)
		}
	} else if t.s(m)+float64(t.lat.n)*t.lat.step < t.lat.reach {
		return t.lnInf // such mass, wrapped around, could be in the sum
	}
	d += t.side * err
	l := math.Inf(-1)
	if d > 0 {
		s := t.s(m)
		l = t.kappa - t.theta*s + math.Log(d)
		l += t.side * 4e-16 * (math.Abs(t.kappa) + t.theta*math.Abs(s) + math.Abs(l) + 1)
	}
	return math.Min(0, logspace.Add(l, t.lnInf))
}

func (t *tail) s(m int) float64 { return float64(t.lat.first+m) * t.lat.step }

// epsilon returns the ε at which the bound falls to lnDelta, linear in e^ε between lattice points as the profile of a
// law on the lattice is. above says that it is still higher at the top of the lattice; ok is false then, and where it
// is lower all the way down. The search starts at from.
//
// The exact profile falls, so the bound at any point is also one to its right (upper) or left (lower): the point taken
// is the lowest below which the upper bound has not been seen to hold, or the highest at which the lower one does.
func (t *tail) epsilon(lnDelta, from float64) (eps float64, above, ok bool) {
	lnDelta -= t.side * 4e-16 * math.Abs(lnDelta) // the logarithm's own rounding
	hi := t.lat.n - 2
	if x := math.Ceil(from/t.lat.step) - float64(t.lat.first) + 2; x < float64(hi) && x > 0 {
		hi = int(x)
	}
	if t.lnDelta(hi) > lnDelta {
		return t.s(hi), true, false
	}
	// Down, in strides that double, to a point where the bound exceeds lnDelta, and back up to where it begins to. The
	// lower one drops again, but further down, to where the error is all there is.
	lo := hi
	for stride := 1; ; stride *= 2 {
		if hi == 0 {
			return t.s(0), false, false
		}
		if lo = max(0, hi-stride); t.lnDelta(lo) > lnDelta {
			break
		}
		hi = lo
	}
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; t.lnDelta(mid) > lnDelta {
			lo = mid
		} else {
			hi = mid
		}
	}
	a, b := math.Exp(t.lnDelta(lo)-lnDelta), math.Exp(t.lnDelta(hi)-lnDelta)
	f := 1.0
	if a > b {
		f = (a - 1) / (a - b)
		// a and b err by their last places and by those of the logarithms: where the bound is flat that moves ε by more
		// than ε's own last place.
		f += t.side * 1e-15 * (1 + a + math.Abs(lnDelta)) / (a - b)
		f = math.Min(1, math.Max(0, f))
	}
	eps = t.s(lo) + math.Log1p(f*math.Expm1(t.lat.step))
	return eps + t.side*(1e-15*(math.Abs(eps)+t.lat.step)), false, true
}

// deltaAt returns the bound on ln δ at eps, linear in e^ε between lattice points; ok is false if eps is not on the
// lattice.
func (t *tail) deltaAt(eps float64) (ln float64, ok bool) {
	x := eps/t.lat.step - float64(t.lat.first)
	m := int(math.Floor(x))
	if !(x >= 0) || m >= t.lat.n-2 {
		return 0, false
	}
	f := math.Expm1(eps-t.s(m)) / math.Expm1(t.lat.step)
	f -= t.side * 1e-15 // the profile falls: towards the left is up
	f = math.Min(1, math.Max(0, f))
	l := logspace.Add(math.Log1p(-f)+t.lnDelta(m), math.Log(f)+t.lnDelta(m+1))
	return math.Min(0, l+t.side*2e-15*(1+math.Abs(l))), true
}
