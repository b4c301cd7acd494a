package pld

import (
	"cmp"
	"math"
	"math/cmplx"
	"slices"
	"sync"

	"github.com/dpnb/notebooks/dpnb/privacy/internal/fft"
)

const (
	// unit is the unit round-off of float64.
	unit = 0x1p-53
	// fftStage bounds the relative error, in the 2-norm, of a transform for each factor of two of its size: Higham
	// 2002, Theorem 24.2, has μ + γ₄(√2 + μ) = 1.2e-15 for radix 2 with roots of unity within μ = 6e-16; a stage of
	// radix 3, 4 or 5 errs by less than its share.
	fftStage = 2e-15
)

// fftError bounds the relative 2-norm error of a real transform of size n; the step between real and complex counts as
// two stages.
func fftError(n int) float64 { return fftStage * (2 + math.Log2(float64(n))) }

// smooth returns the smallest even number ≥ n with no prime factor above 5: the transform is quadratic in a large prime
// factor.
func smooth(n int) int {
	best := math.MaxInt
	for a := 2; a < 2*n || a == 2; a *= 2 {
		for b := a; b < best; b *= 3 {
			c := b
			for c < n {
				c *= 5
			}
			best = min(best, c)
		}
	}
	return best
}

// lattice says how the composed law is laid out: index i mod n of a circular array stands for the loss i·step, first ≤
// i < first + n.
type lattice struct {
	step  float64 // with few binary digits, so that i·step is exact
	first int
	n     int
	// reach is where the composed tilted law ends but for the mass allowed to wrap around; it may lie above the
	// lattice.
	reach float64
}

// law is a law tilted by e^{θw − κ(θ)}, so that it has mass one but for rounding: mass r[i] at the loss x[i]·step, the
// x rising.
type law struct {
	x     []int
	r     []float64
	mass  float64
	kappa float64
	// variance of the law, in squares of a loss, about.
	variance float64
	count    int
}

// tilt returns the tilted law, its masses rounded to side, +1 up or −1 down.
func (t *term) tilt(theta float64, lat lattice, side float64) law {
	a := &t.atoms
	k, _, v := a.cumulant(theta)
	l := law{x: make([]int, 0, len(a.w)), r: make([]float64, 0, len(a.w)), kappa: k, variance: v, count: t.count}
	folds := 1.0 // atoms that share an index, for the rounding of their sum
	if m := len(a.w); m > 0 {
		folds += (a.w[m-1] - a.w[0]) / (lat.step * float64(lat.n))
	}
	for i, w := range a.w {
		tw := theta * w
		e := a.lnp[i] + tw - k
		slack := 5e-16 * (2 + folds + math.Abs(tw) + math.Abs(a.lnp[i]) + math.Abs(k))
		if e < -700 {
			if side < 0 {
				continue
			}
			e = -700
		}
		// Knots are multiples of the step. One that is not goes to the bound's side.
		at := w / lat.step
		index := math.Round(at)
		if index != at {
			if index = math.Floor(at); side > 0 {
				index = math.Ceil(at)
			}
		}
		r := math.Exp(e) * (1 + side*slack)
		l.mass += r
		if n := len(l.x); n > 0 && l.x[n-1] == int(index) {
			l.r[n-1] += r
			continue
		}
		l.x, l.r = append(l.x, int(index)), append(l.r, r)
	}
	return l
}

// circle returns where on a circle of n places x is.
func circle(x, n int) int {
	if uint(x) < uint(n) {
		return x
	}
	if x %= n; x < 0 {
		x += n
	}
	return x
}

// tiltedLaws are what is composed on a lattice, with Σ count·κ with a bound on its rounding error, and how much more
// than one the product of their masses may be, in logarithms.
type tiltedLaws struct {
	each            []law
	kappa, kappaErr float64
	growth          float64
	runs            float64
	atoms           int
}

func (ts terms) tilt(theta float64, lat lattice, side float64) *tiltedLaws {
	c := &tiltedLaws{each: make([]law, len(ts))}
	for i := range ts {
		l := ts[i].tilt(theta, lat, side)
		n := float64(l.count)
		c.kappa += n * l.kappa
		c.kappaErr += unit * float64(4+len(ts)) * n * math.Abs(l.kappa)
		c.growth += n * math.Max(0, math.Log(l.mass))
		c.runs += n
		c.atoms += len(l.x)
		c.each[i] = l
	}
	// The widest first: of what is left fewer coefficients are needed.
	slices.SortStableFunc(c.each, func(a, b law) int {
		return cmp.Compare(float64(b.count)*b.variance, float64(a.count)*a.variance)
	})
	return c
}

const (
	// tiny is the modulus of a coefficient that is taken to be zero: that moves the composition by as much, in the
	// 2-norm.
	tiny = 1e-30
	// pruneEvery is after how many laws those are looked for; sumSteps·n is how many steps of a sum take as long as a
	// transform of n numbers.
	pruneEvery, sumSteps = 16, 6
	// rootSteps is how many steps of a sum take as long as what an answer does with one coefficient: the roots of unity
	// for its weight and for the values at some forty points.
	rootSteps = 1 << 9
)

// band returns an A such that the coefficients A to n/2 of the composition are at most tiny·e^{growth}.
//
// Two atoms of mass r at a distance of d places are together 2r·|cos(ωd/2)| at the frequency ω. So with P the mass that
// can be paired like this |φ(ω)| ≤ mass − P(1 − |cos(ωd/2)|), and the product over the laws is at most e^{growth −
// S(1−|cos(ωd/2)|)}, S = Σ count·P/mass: tiny where ωd/2 is not within a of a multiple of π. Distances that are powers
// of two, one after the other, cover ever lower frequencies.
//
// Proof: docs/theory/composition.md.
func (c *tiltedLaws) band(n int) int {
	low := math.Pi // from here on all are negligible, once d = 1 has said so
	for shift, next := uint(0), uint(0); ; {
		var s float64
		for i := range c.each {
			l := &c.each[i]
			s += float64(l.count) / l.mass * l.paired(next)
		}
		d := math.Ldexp(1, int(next))
		// 70 > −ln tiny; the rest is rounding.
		a := math.Max(1e-6, math.Acos(math.Max(0, 1-70/(s*(1-1e-6))))*(1+1e-12))
		if s > 70.1 && 2*(math.Pi-a) >= d*low && 2*a < d*low {
			shift, low = next, 2*a/d
			next = min(shift+max(1, uint(math.Log2((math.Pi-a)/a))), 30)
			continue
		}
		if next <= shift+1 {
			break
		}
		next--
	}
	return int(low/(2*math.Pi)*float64(n)*(1+1e-12)) + 1
}

// paired returns the mass of disjoint pairs of equal atoms at a distance of 2^shift places: of an even block of so many
// places and the odd one that follows it.
func (l *law) paired(shift uint) (sum float64) {
	j := 0
	for i, x := range l.x {
		if x>>shift&1 != 0 {
			continue
		}
		for y := x + 1<<shift; j < len(l.x) && l.x[j] < y; {
			j++
		}
		if j < len(l.x) && l.x[j] == x+1<<shift {
			sum += 2 * math.Min(l.r[i], l.r[j])
		}
	}
	return sum
}

// coefficients puts Σ_i r_i e^{−2πikx_i/n} for k < len(dst) in dst, to the power of the count; part is work space of
// the same length. It returns a bound on the error of each of them before that power.
//
// A root errs by 5e-16, and by √5·u and the root's own error with each of up to half a run of multiplications; a term
// passes through as many additions as a block has, and as there are blocks, each of which errs by u in both parts.
func (l *law) coefficients(dst, part []complex128, roots *fft.Roots, n int) (err float64) {
	const block, run = 32, 16
	clear(dst)
	clear(part)
	blocks := 0
	for i, x := range l.x {
		at, from := circle(x, n), 0
		stride := run * at % n
		z, z2 := roots.At(at), roots.At(circle(2*at, n))
		for start := 0; start < len(part); start += run {
			root := roots.At(from)
			if from += stride; from >= n {
				from -= n
			}
			c := complex(l.r[i]*real(root), l.r[i]*imag(root))
			d := c * z
			p := part[start:min(start+run, len(part))]
			for len(p) > 1 {
				p[0] += c
				p[1] += d
				c *= z2
				d *= z2
				p = p[2:]
			}
			if len(p) > 0 {
				p[0] += c
			}
		}
		if i%block == block-1 || i == len(l.x)-1 {
			for k, v := range part {
				dst[k] += v
			}
			clear(part)
			blocks++
		}
	}
	power(dst, l.count)
	return 1.01 * l.mass * (1e-15 + (run/2)*8e-16 + math.Sqrt2*unit*float64(block+blocks+2))
}

// few fills in the value of t by the coefficients below the A-th alone, the others being negligible: with ζ =
// e^{2πi/n}, q = e^{−θ·step}, s = e^{−step} and R_k the coefficients of the composition,
//
//	d_m = (1/n) Σ_k R_k ζ^{k(first+m)} Σ_{0<x<n−m} q^x(1 − s^x)ζ^{kx}
//	    = Σ_k C_k ζ^{km} − q^{n−m}T₁ + (qs)^{n−m}T₂,  C_k = (1/n)R_k ζ^{k·first}·q(1 − s)ζ^k/((1−qζ^k)(1−qsζ^k)),
//
// T₁ and T₂ the sums of (1/n)R_k ζ^{k·first}/(1−qζ^k) and of the same with qs.
//
// Proof: docs/theory/composition.md.
func (t *tail) few(c *tiltedLaws, a int) {
	n := t.lat.n
	roots := fft.NewRoots(n)
	total, one, part := make([]complex128, a), make([]complex128, a), make([]complex128, a)
	var err float64
	for i := range c.each {
		l := &c.each[i]
		if i == 0 {
			err += float64(l.count) * l.coefficients(total, part, roots, n)
			continue
		}
		if i%pruneEvery == 0 {
			for a > 1 && cmplx.Abs(total[a-1]) <= tiny {
				a--
			}
			total = total[:a]
		}
		err += float64(l.count) * l.coefficients(one[:a], part[:a], roots, n)
		for k, v := range one[:a] {
			total[k] *= v
		}
	}
	err *= math.Exp(c.growth)
	q, s := math.Exp(-t.theta*t.lat.step), math.Exp(-t.lat.step)
	lnQ, lnQS := -t.theta*t.lat.step, -(t.theta+1)*t.lat.step
	// 1 − e^{−y}ζ^k without cancellation.
	factor := func(q, lnQ float64, z, half complex128) complex128 {
		return complex(-math.Expm1(lnQ)+2*q*imag(half)*imag(half), -q*imag(z))
	}
	var t1, t2, e1, e2, e float64
	var mean, w0, w1, w2 float64 // the error of R_0/n, and the three parts of its weight, all positive
	halves := fft.NewRoots(2 * n)
	first := circle(t.lat.first, n)
	for k := range total {
		both := 2.0 // k and n − k
		if k == 0 || 2*k == n {
			both = 1
		}
		conj := func(z complex128) complex128 { return complex(real(z), -imag(z)) }
		z, half := conj(roots.At(k)), conj(halves.At(k))
		f1, f2 := factor(q, lnQ, z, half), factor(q*s, lnQS, z, half)
		r := total[k] * conj(roots.Power(first, k)) * complex(both/float64(n), 0)
		w := complex(q*-math.Expm1(-t.lat.step), 0) * z / (f1 * f2)
		size := cmplx.Abs(r) * unit * float64(100+a)
		if own := both/float64(n)*err + cmplx.Abs(r)*unit*5*c.runs; k == 0 {
			mean, w0, w1, w2 = own, real(w), real(1/f1), real(1/f2)
		} else {
			size += own
		}
		t1 += real(r / f1)
		t2 += real(r / f2)
		e1 += size / cmplx.Abs(f1)
		e2 += size / cmplx.Abs(f2)
		e += size * cmplx.Abs(w)
		total[k] = r * w
	}
	e += tiny * math.Exp(c.growth) * math.Sqrt(float64(n))
	t.value = func(m int) (d, err float64) {
		for k, v := range total {
			z := roots.Power(k, m)
			d += real(v)*real(z) + imag(v)*imag(z) // ζ^{km} is the conjugate
		}
		rest := float64(n - m)
		g1, g2 := math.Exp(lnQ*rest), math.Exp(lnQS*rest)
		return d - g1*t1 + g2*t2, 1.01 * (e + g1*e1 + g2*e2 + mean*(w0-g1*w1+g2*w2+1e-14*(w0+g1*w1+g2*w2)))
	}
}

// plan is a transform of one size with its work space.
type plan struct {
	n     int
	fft   *fft.Real
	time  []float64
	freq  []complex128
	total []complex128
	part  []complex128
}

// plans keeps, for each size, plans that are not in use.
var plans sync.Map // size → *sync.Pool of *plan

// acquire returns a plan of size n for exclusive use; give it back with release.
func acquire(n int) *plan {
	pool, _ := plans.LoadOrStore(n, &sync.Pool{})
	if p, ok := pool.(*sync.Pool).Get().(*plan); ok {
		return p
	}
	return &plan{n: n, fft: fft.NewReal(n), time: make([]float64, n), freq: make([]complex128, n/2+1)}
}

func (p *plan) release() {
	pool, _ := plans.LoadOrStore(p.n, &sync.Pool{})
	pool.(*sync.Pool).Put(p)
}

// convolve fills p.time with the composition, circularly, and returns a bound on the 2-norm of its error.
//
// The coefficients of many laws together are negligible but for a few low ones: those of a law whose modulus times that
// of the laws before it is at most tiny are zero, and so are those of all that follow. Where few are left they are sums
// over the atoms, which takes less than a transform.
func (p *plan) convolve(c *tiltedLaws) (err2 float64) {
	n := p.n
	var inputs, sums float64
	single := len(c.each) == 1
	if !single && len(p.total) == 0 {
		p.total = make([]complex128, n/2+1)
	}
	alive := len(p.total)
	for i := range c.each {
		l := &c.each[i]
		count := float64(l.count)
		if i%pruneEvery == 0 && i > 0 {
			alive = p.prune()
		}
		if i >= pruneEvery && alive*len(l.x) < sumSteps*n {
			p.part = slices.Grow(p.part[:0], alive)[:alive]
			each := l.coefficients(p.freq[:alive], p.part, p.fft.Roots, n)
			sums += count * each * math.Sqrt(2*float64(alive)/float64(n))
			for k, v := range p.freq[:alive] {
				p.total[k] *= v
			}
			continue
		}
		inputs += count * p.write(l)
		p.fft.Coefficients(p.freq, p.time)
		switch {
		case single:
			power(p.freq, l.count)
		case i == 0:
			copy(p.total, p.freq)
			power(p.total, l.count)
		default:
			power(p.freq, l.count)
			for j, c := range p.freq {
				p.total[j] *= c
			}
		}
	}
	from := p.freq
	if !single {
		from = p.total
	}
	p.fft.Sequence(p.time, from)
	scale := 1 / float64(n)
	var norm2 float64
	for i, v := range p.time {
		v *= scale
		p.time[i] = v
		norm2 += v * v
	}
	// Each input's error enters times its count, for |φ_i| ≤ e^{growth}; a complex product adds √5·u, the inverse
	// transform its own.
	eta := fftError(n)
	err2 = (eta*inputs+sums)*math.Exp(c.growth) + (c.runs*2.5*unit*2+eta)*math.Sqrt(norm2)
	err2 *= 1 + 1e-6
	return err2 + tiny*math.Exp(c.growth)
}

// prune sets the coefficients that are negligible to zero and returns one more than the last that is not.
func (p *plan) prune() (alive int) {
	for j, c := range p.total {
		if real(c)*real(c)+imag(c)*imag(c) > tiny*tiny {
			alive = j + 1
		} else {
			p.total[j] = 0
		}
	}
	return alive
}

// write writes the tilted law circularly into p.time and returns the 2-norm of what was written.
func (p *plan) write(l *law) float64 {
	clear(p.time)
	for i, x := range l.x {
		p.time[circle(x, p.n)] += l.r[i]
	}
	var norm float64
	for _, v := range p.time {
		norm += v * v
	}
	return math.Sqrt(norm)
}

// power raises every coefficient to the n-th power by squaring. What would end below 1e-40 in modulus is set to zero.
func power(c []complex128, n int) {
	if n == 1 {
		return
	}
	least := math.Exp(-184.2 / float64(n)) // |c|² below which |c|ⁿ < 1e-40
	for i, b := range c {
		if real(b)*real(b)+imag(b)*imag(b) < least {
			c[i] = 0
			continue
		}
		r := complex(1, 0)
		for m := n; ; {
			if m&1 == 1 {
				r *= b
			}
			if m >>= 1; m == 0 {
				break
			}
			b *= b
		}
		c[i] = r
	}
}
