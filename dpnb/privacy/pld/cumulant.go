package pld

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/logspace"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
)

// cumulant returns κ(θ) = ln Σ p_i e^{θw_i} of the finite part of a law, and its first two derivatives: mean and
// variance of the tilted law.
func (a *atoms) cumulant(theta float64) (k, k1, k2 float64) {
	shift := math.Inf(-1)
	for i, w := range a.w {
		shift = math.Max(shift, a.lnp[i]+theta*w)
	}
	if math.IsInf(shift, -1) {
		return shift, 0, 0
	}
	var sum, carry, m1, m2 float64
	for i, w := range a.w {
		t := a.lnp[i] + theta*w - shift
		if t < -745 {
			continue
		}
		p := math.Exp(t)
		y := p - carry // Kahan: κ is multiplied by the number of runs
		s := sum + y
		carry = (s - sum) - y
		sum = s
		m1 += p * w
		m2 += p * w * w
	}
	k1 = m1 / sum
	return shift + math.Log(sum), k1, math.Max(0, m2/sum-k1*k1)
}

// cumulantError bounds the rounding error of κ(θ) as cumulant computes it. Every term errs by that of its exponent, a
// sum of θw, ln p and the shift, and by that of the exponential; the sum errs by the mean of those under the tilted
// law. It is a part of what was summed, not of κ, which may be far smaller.
func (a *atoms) cumulantError(theta float64) float64 {
	shift := math.Inf(-1)
	for i, w := range a.w {
		shift = math.Max(shift, a.lnp[i]+theta*w)
	}
	if math.IsInf(shift, -1) {
		return 0
	}
	var sum, sizes float64
	for i, w := range a.w {
		tw := theta * w
		t := a.lnp[i] + tw - shift
		if t < -745 {
			continue
		}
		p := math.Exp(t)
		sum += p
		sizes += p * (math.Abs(tw) + math.Abs(a.lnp[i]+tw) + math.Abs(t))
	}
	// exp: 4 units; the compensated sum: 3; what was left out below e^{−745}: none.
	return unit * (1.01*sizes/sum + 9 + 3*math.Abs(math.Log(sum)) + math.Abs(shift))
}

// cumulantUpper returns κ(θ), rounded up.
func (ts terms) cumulantUpper(theta float64) float64 {
	k, _, _ := ts.cumulant(theta)
	sizes := 0.0
	for i := range ts {
		a, _, _ := ts[i].atoms.cumulant(theta)
		n := float64(ts[i].count)
		k += n * ts[i].atoms.cumulantError(theta)
		sizes += n * math.Abs(a)
	}
	return k + unit*float64(2*len(ts)+4)*sizes
}

// term is a law and how often it is composed with itself.
type term struct {
	atoms
	count int
}

// terms is a composition in one direction, all laws on the same side.
type terms []term

// cumulant is the sum of the laws' cumulants, each times its count.
func (ts terms) cumulant(theta float64) (k, k1, k2 float64) {
	for i := range ts {
		a, b, c := ts[i].atoms.cumulant(theta)
		n := float64(ts[i].count)
		k += n * a
		k1 += n * b
		k2 += n * c
	}
	return k, k1, k2
}

// lnInfinity returns ln of the composed mass at +∞, rounded to side: of all combinations of outcomes those with at
// least one at +∞,
//
//	Π(F_i + I_i)^{k_i} − ΠF_i^{k_i},
//
// F_i and I_i the finite and infinite mass of law i. With y = Σk_i I_i/F_i the factor Π(1 + I_i/F_i)^{k_i} − 1 lies
// between y and e^y − 1.
func (ts terms) lnInfinity(side float64) float64 {
	var all, finite, count, rounding float64
	lnY := math.Inf(-1)
	for i := range ts {
		n := float64(ts[i].count)
		count += n
		f, _, _ := ts[i].atoms.cumulant(0)
		rounding += n * ts[i].atoms.cumulantError(0)
		switch {
		case math.IsInf(ts[i].lnInf, -1):
			all += n * f
		case math.IsInf(f, -1):
			all += n * ts[i].lnInf
			lnY = math.Inf(1)
		default:
			all += n * (f + math.Log1p(math.Exp(ts[i].lnInf-f)))
			lnY = logspace.Add(lnY, math.Log(n)+ts[i].lnInf-f)
		}
		finite += n * f
	}
	ln := math.Inf(-1)
	switch y := math.Exp(lnY); {
	case math.IsInf(lnY, -1):
		return ln
	case y > 1e-6:
		ln = all + math.Log(-math.Expm1(finite-all)) + side*1e-9
	default:
		ln = finite + lnY
		if side > 0 {
			ln += y
		}
	}
	return math.Min(0, ln+side*(1e-13+2*rounding+unit*(8+8*count+4*math.Abs(ln))))
}

// logSub returns ln(e^a − e^b), −Inf where that is not positive.
func logSub(a, b float64) float64 {
	if !(a > b) {
		return math.Inf(-1)
	}
	return a + math.Log(-math.Expm1(b-a))
}

// logChernoffFactor returns ln max_{x≥0} e^{−θx}(1 − e^{−x}) = ln θ^θ/(1+θ)^{1+θ}.
func logChernoffFactor(theta float64) float64 {
	return -theta*math.Log1p(1/theta) - math.Log1p(theta)
}

const (
	minTheta = 1e-3
	// usualTheta ends the search unless the losses are tiny, see maxTheta.
	usualTheta = 1e6
)

// maxTheta returns where the search for a tilt ends: tilts are as large as losses are small, and a thousand times the
// inverse of their spread is beyond what any δ that float64 has asks for.
func (ts terms) maxTheta() float64 {
	_, _, v := ts.cumulant(0)
	return math.Max(usualTheta, 1e3/math.Sqrt(math.Max(v, 1e-30)))
}

// tiltForDelta returns the tilt of the sharpest Chernoff bound on ε at δ, and that bound but for rounding. A poor tilt
// costs tightness, never soundness.
func (ts terms) tiltForDelta(lnDelta float64) (theta, eps float64) {
	x, eps := goldenMin(func(x float64) float64 {
		theta := math.Exp(x)
		k, _, _ := ts.cumulant(theta)
		return (k + logChernoffFactor(theta) - lnDelta) / theta
	}, math.Log(minTheta), math.Log(usualTheta), math.Log(ts.maxTheta()))
	return math.Exp(x), eps
}

// tiltForEpsilon returns the tilt of the sharpest Chernoff bound on ln δ at eps, and that bound but for rounding.
func (ts terms) tiltForEpsilon(eps float64) (theta, lnDelta float64) {
	x, ln := goldenMin(func(x float64) float64 {
		theta := math.Exp(x)
		k, _, _ := ts.cumulant(theta)
		return k - theta*eps + logChernoffFactor(theta)
	}, math.Log(minTheta), math.Log(usualTheta), math.Log(ts.maxTheta()))
	return math.Exp(x), ln
}

// chernoffEpsilon returns an upper bound on ε at δ from the cumulants alone,
//
//	ε = min_θ (κ(θ) + ln[θ^θ/(1+θ)^{1+θ}] − ln(δ − δ_∞))/θ,
//
// +Inf if the mass at infinity is δ or more. It is the Rényi bound of order 1 + θ of the discretised law, valid for any
// number of runs.
func (ts terms) chernoffEpsilon(lnDelta float64) float64 {
	ln := logSub(lnDelta, ts.lnInfinity(+1))
	if math.IsInf(ln, -1) {
		return math.Inf(1)
	}
	theta, _ := ts.tiltForDelta(ln)
	k, f := ts.cumulantUpper(theta), logChernoffFactor(theta)
	eps := (k + f - ln + 1e-15*(1+math.Abs(k)+math.Abs(f)+math.Abs(lnDelta)+math.Abs(ln))) / theta
	return math.Max(0, math.Nextafter(eps*(1+2e-16), math.Inf(1)))
}

// chernoffDelta returns an upper bound on ln δ at ε from the cumulants alone.
func (ts terms) chernoffDelta(eps float64) float64 {
	theta, _ := ts.tiltForEpsilon(eps)
	k, f := ts.cumulantUpper(theta), logChernoffFactor(theta)
	ln := k - theta*eps + f + 1e-15*(1+math.Abs(k)+math.Abs(f)+theta*math.Abs(eps))
	l := logspace.Add(ts.lnInfinity(+1), ln)
	return math.Min(0, l+1e-15*(1+math.Abs(l)))
}

// goldenMin returns where and what is the smallest value of f met on a coarse grid over [lo, hi], continued up to most
// while f still falls at its end, and in a golden-section search about its best point.
func goldenMin(f func(float64) float64, lo, hi, most float64) (at, best float64) {
	const steps = 21
	h := (hi - lo) / steps
	best, at = math.Inf(1), lo
	for i := 0; ; i++ {
		x := lo + float64(i)*h
		if v := f(x); v < best {
			best, at = v, x
		} else if i > steps {
			break
		}
		if i >= steps && at < x || x > most {
			break
		}
	}
	if x, v := univariate.Golden(f, at-h, at+h, 18); v < best {
		at, best = x, v
	}
	return at, best
}
