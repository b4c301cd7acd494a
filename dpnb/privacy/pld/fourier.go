package pld

import (
	"math"
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

// plan is a transform of one size with its work space.
type plan struct {
	n     int
	fft   *fft.Real
	time  []float64
	freq  []complex128
	total []complex128
	// alive are the coefficients that are not negligible, and sums has two sums for each.
	alive []int
	sums  [2][]complex128
}

// plans keeps, for each size, plans that are not in use.
var plans sync.Map // size → *sync.Pool of *plan

// acquire returns two plans of size n, which share what is constant, for exclusive use; give each back with release.
func acquire(n int) [2]*plan {
	pool, _ := plans.LoadOrStore(n, &sync.Pool{})
	var pair [2]*plan
	for i := range pair {
		if p, ok := pool.(*sync.Pool).Get().(*plan); ok {
			pair[i] = p
			continue
		}
		t := (*fft.Real)(nil)
		if i > 0 {
			t = pair[0].fft.Twin()
		} else {
			t = fft.NewReal(n)
		}
		pair[i] = &plan{n: n, fft: t, time: make([]float64, n), freq: make([]complex128, n/2+1)}
	}
	return pair
}

func (p *plan) release() {
	pool, _ := plans.LoadOrStore(p.n, &sync.Pool{})
	pool.(*sync.Pool).Put(p)
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

// convolve fills p.time with the composition of the laws, each tilted by e^{θw − κ_i(θ)} so that it has mass one,
// circularly on lat. The direction of rounding is that of side: +1 up, −1 down. It returns Σ count·κ_i(θ) with a bound
// on its rounding error, and a bound on the 2-norm of the error of p.time.
//
// The coefficients of many laws together are negligible but for a few low ones: those of a law whose modulus times that
// of the laws before it is at most tiny are zero, and so are those of all that follow. Where few are left they are sums
// over the atoms, which takes less than a transform.
func (p *plan) convolve(ts terms, theta float64, lat lattice, side float64) (kappa, kappaErr, err2 float64) {
	n := lat.n
	var inputs, sums, squarings, growth float64
	single := len(ts) == 1
	if !single && len(p.total) == 0 {
		p.total = make([]complex128, n/2+1)
	}
	for i := range ts {
		t := &ts[i]
		count := float64(t.count)
		if i%pruneEvery == 0 && i > 0 {
			p.prune()
		}
		if i >= pruneEvery && len(p.alive)*len(t.w) < sumSteps*n {
			k, err, mass := p.sum(t, theta, lat, side)
			kappa += count * k
			kappaErr += unit * float64(4+len(ts)) * count * math.Abs(k)
			sums += count * err
			squarings += count
			growth += count * math.Max(0, math.Log(mass))
			continue
		}
		k, norm, mass := p.tilt(&t.atoms, theta, lat, side)
		kappa += count * k
		kappaErr += unit * float64(4+len(ts)) * count * math.Abs(k)
		inputs += count * norm
		squarings += count
		growth += count * math.Max(0, math.Log(mass))
		p.fft.Coefficients(p.freq, p.time)
		switch {
		case single:
			power(p.freq, t.count)
		case i == 0:
			copy(p.total, p.freq)
			power(p.total, t.count)
		default:
			power(p.freq, t.count)
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
	err2 = (eta*inputs+sums)*math.Exp(growth) + (squarings*2.5*unit*2+eta)*math.Sqrt(norm2)
	err2 *= 1 + 1e-6
	return kappa, kappaErr, err2 + tiny*math.Exp(growth)
}

const (
	// tiny is the modulus of a coefficient that is taken to be zero: that moves the composition by as much, in the
	// 2-norm.
	tiny = 1e-30
	// pruneEvery is after how many laws those are looked for; sumSteps·n is how many steps of a sum take as long as a
	// transform of n numbers.
	pruneEvery, sumSteps = 16, 6
)

// prune sets the coefficients that are negligible to zero; p.alive are then those that are left.
func (p *plan) prune() {
	p.alive = p.alive[:0]
	for j, c := range p.total {
		if real(c)*real(c)+imag(c)*imag(c) > tiny*tiny {
			p.alive = append(p.alive, j)
		} else {
			p.total[j] = 0
		}
	}
	for i := range p.sums {
		p.sums[i] = slices.Grow(p.sums[i][:0], len(p.alive))[:len(p.alive)]
	}
}

// sum multiplies the coefficients that are left by those of a tilted law, to the power of its count. It returns the
// law's cumulant, a bound on the 2-norm of the error of the law, and its mass.
//
// A coefficient is Σ_k p_k e^{−2πijx_k/n}: a root errs by 5e-16, and a term passes through as many additions as a block
// has, and as there are blocks, each of which errs by u in both parts.
func (p *plan) sum(t *term, theta float64, lat lattice, side float64) (k, err, mass float64) {
	const block = 32
	all, part := p.sums[0], p.sums[1]
	clear(all)
	terms, blocks := 0, 0
	flush := func() {
		for i, v := range part {
			all[i] += v
		}
		clear(part)
		blocks++
	}
	clear(part)
	k = t.tilted(theta, lat, side, func(x int, v float64) {
		at, last := 0, 0 // j·x mod n
		for i, j := range p.alive {
			if j == last+1 {
				if at += x; at >= p.n {
					at -= p.n
				}
			} else {
				at = j * x % p.n
			}
			last = j
			r := p.fft.Root(at)
			part[i] += complex(v*real(r), v*imag(r))
		}
		mass += v
		if terms++; terms%block == 0 {
			flush()
		}
	})
	flush()
	power(all, t.count)
	for i, j := range p.alive {
		p.total[j] *= all[i]
	}
	one := 5e-16 + math.Sqrt2*unit*float64(block+blocks+2)
	return k, 1.01 * mass * one * math.Sqrt(2*float64(len(p.alive))/float64(p.n)), mass
}

// tilt writes the tilted law circularly into p.time and returns its cumulant, the 2-norm of what was written, and its
// sum.
func (p *plan) tilt(a *atoms, theta float64, lat lattice, side float64) (k, norm, mass float64) {
	clear(p.time)
	k = a.tilted(theta, lat, side, func(j int, v float64) { p.time[j] += v })
	for _, v := range p.time {
		norm += v * v
		mass += v
	}
	return k, math.Sqrt(norm), mass
}

// tilted calls use with the place of every atom of the tilted law, circularly on lat, and its mass, rounded to side. It
// returns the cumulant.
func (a *atoms) tilted(theta float64, lat lattice, side float64, use func(j int, v float64)) (k float64) {
	k, _, _ = a.cumulant(theta)
	folds := 1.0 // atoms that share an index, for the rounding of their sum
	if m := len(a.w); m > 0 {
		folds += (a.w[m-1] - a.w[0]) / (lat.step * float64(lat.n))
	}
	for i, w := range a.w {
		tw := theta * w
		t := a.lnp[i] + tw - k
		slack := 5e-16 * (2 + folds + math.Abs(tw) + math.Abs(a.lnp[i]) + math.Abs(k))
		if t < -700 {
			if side < 0 {
				continue
			}
			t = -700
		}
		// Knots are multiples of the step. One that is not goes to the bound's side.
		at := w / lat.step
		index := math.Round(at)
		if index != at {
			if index = math.Floor(at); side > 0 {
				index = math.Ceil(at)
			}
		}
		j := int(index) % lat.n
		if j < 0 {
			j += lat.n
		}
		use(j, math.Exp(t)*(1+side*slack))
	}
	return k
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
