package pld

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	ref "github.com/dpnb/notebooks/dpnb/internal/testing/bigref"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// exactCumulant is ln Σ e^{lnp + θw}.
func exactCumulant(a *atoms, theta float64) ref.F {
	sum := ref.Int(0)
	for i, w := range a.w {
		sum = ref.Sum(sum, ref.Exp(ref.Sum(ref.New(a.lnp[i]), ref.Product(ref.New(theta), ref.New(w)))))
	}
	return ref.Log(sum)
}

// κ(θ) errs by its last place at most where nothing cancels, and a law composed n times by n times that, however small
// κ is.
func TestCumulantsWithinTheirError(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	worst := 0.0
	for trial := range 60 {
		a := atoms{lnInf: math.Inf(-1)}
		n := 2 + r.IntN(40)
		scale := math.Exp(20 * (r.Float64() - 0.9))
		for range n {
			a.w = append(a.w, scale*r.NormFloat64())
			a.lnp = append(a.lnp, -math.Log(float64(n))-5*r.ExpFloat64()*float64(trial%3))
		}
		theta := r.Float64() * 3 / scale
		k, _, _ := a.cumulant(theta)
		exact := exactCumulant(&a, theta)
		off, bound := math.Abs(ref.Float(ref.Sub(ref.New(k), exact))), a.cumulantError(theta)
		if off > bound {
			t.Errorf("%d atoms, θ = %g: off by %.3g, bound %.3g", n, theta, off, bound)
		}
		worst = math.Max(worst, off/bound)
		const most = min(1e12, math.MaxInt)
		ts := terms{{a, most}}
		room := ts.cumulantUpper(theta) - most*k // for the law's own error, for the product and for the sum
		if granted := most * (a.cumulantError(theta) + 4*unit*math.Abs(k)); !(room >= granted*(1-1e-3)) {
			t.Errorf("%d atoms, θ = %g: room of %g, want %g", n, theta, room, granted)
		}
		if up := ts.cumulantUpper(theta); !ref.Above(up, ref.Product(ref.New(most), exact)) ||
			up-most*ref.Float(exact) > 1e-2*(1+most*math.Abs(k)) {
			t.Errorf("%d atoms, θ = %g: nκ ≤ %.17g, exact %.17g", n, theta, up, ref.Product(ref.New(most), exact))
		}
	}
	t.Logf("largest error %.2g of its bound", worst)
}

// exactInfinity is the mass Π(F + I)^k − ΠF^k of the combinations of outcomes of which one at least is at +∞.
func exactInfinity(ts terms) ref.F {
	finite, factor := ref.Int(0), ref.Int(0) // logarithms of ΠF^k and Π(1 + I/F)^k
	for _, t := range ts {
		f, k := exactCumulant(&t.atoms, 0), ref.Int(int64(t.count))
		finite = ref.Sum(finite, ref.Product(k, f))
		if !math.IsInf(t.lnInf, -1) {
			share := ref.Exp(ref.Sub(ref.New(t.lnInf), f))
			factor = ref.Sum(factor, ref.Product(k, ref.Log1p(share)))
		}
	}
	return ref.Product(ref.Exp(finite), ref.Expm1(factor))
}

// What is at infinity of several laws, each composed often, is between both of its bounds, which are next to it.
func TestMassAtInfinity(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for trial := range 60 {
		var ts terms
		for j := range 1 + trial%3 {
			a := atoms{w: []float64{-0.5, 0.7}, lnInf: math.Inf(-1)}
			if j == 0 || r.IntN(2) == 0 {
				a.lnInf = -30 * r.Float64()
			}
			rest, at := math.Log1p(-math.Exp(a.lnInf))-1e-15, r.Float64() // not above 1 in all, rounded
			a.lnp = []float64{rest + math.Log(at), rest + math.Log1p(-at)}
			ts = append(ts, term{a, 1 + r.IntN(1<<(trial%12))})
		}
		exact := ref.Log(exactInfinity(ts))
		low, up := ts.lnInfinity(-1), ts.lnInfinity(+1)
		if !ref.Above(up, exact) || !ref.Below(low, exact) || up-low > 3e-6 {
			t.Errorf("%d laws, the first %d times: ln of the mass at ∞ in [%.17g, %.17g], exact %.17g", len(ts),
				ts[0].count, low, up, exact)
		}
	}
}

// The Rényi bound of a law composed up to 1e15 times is never below the law's own, what is at infinity included.
func TestChernoffBoundsOfManyRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	for trial := range 25 {
		count := int(math.Exp(r.Float64() * math.Log(min(1e15, math.MaxInt))))
		eps0 := math.Exp(2*r.NormFloat64()) / math.Sqrt(float64(count))
		a := atoms{w: []float64{-eps0, eps0}, lnInf: math.Inf(-1)}
		a.lnp = []float64{-eps0 - math.Log1p(math.Exp(-eps0)), -math.Log1p(math.Exp(-eps0))}
		lnDelta := -30 * r.Float64()
		if trial%2 == 1 { // half of δ is at infinity
			a.lnInf = lnDelta - math.Ln2 - math.Log(float64(count))
		}
		ts := terms{{a, count}}
		infinity := exactInfinity(ts)
		left := ref.Log(ref.Sub(ref.Exp(ref.New(lnDelta)), infinity))
		theta, _ := ts.tiltForDelta(logSub(lnDelta, ts.lnInfinity(+1)))
		// (κ + ln[θ^θ/(1+θ)^{1+θ}] − ln(δ − δ_∞))/θ
		th := ref.New(theta)
		factor := ref.Neg(ref.Sum(ref.Product(th, ref.Log1p(ref.Quo(ref.Int(1), th))), ref.Log1p(th)))
		kappa := ref.Product(ref.Int(int64(count)), exactCumulant(&a, theta))
		exact := ref.Quo(ref.Sum(kappa, factor, ref.Neg(left)), th)
		if got := ts.chernoffEpsilon(lnDelta); got > 0 && !ref.Above(got, exact) {
			t.Errorf("%d runs of %g at ln δ = %g: ε ≤ %.17g, exact %.17g", count, eps0, lnDelta, got, exact)
		}
		eps := ref.Float(exact)
		theta, _ = ts.tiltForEpsilon(eps)
		th = ref.New(theta)
		factor = ref.Neg(ref.Sum(ref.Product(th, ref.Log1p(ref.Quo(ref.Int(1), th))), ref.Log1p(th)))
		kappa = ref.Product(ref.Int(int64(count)), exactCumulant(&a, theta))
		exact = ref.Sum(kappa, ref.Neg(ref.Product(th, ref.New(eps))), factor)
		exact = ref.Log(ref.Sum(ref.Exp(exact), infinity))
		if got := ts.chernoffDelta(eps); got < 0 && !ref.Above(got, exact) {
			t.Errorf("%d runs of %g at ε = %g: ln δ ≤ %.17g, exact %.17g", count, eps0, eps, got, exact)
		}
	}
}

// A law of more than mass one is scaled down, one of less is left alone.
func TestCap(t *testing.T) {
	for _, c := range []struct{ p, inf, want float64 }{{0.5, 0.25, 0.75}, {0.75, 0.5, 1}, {3, 0, 1}} {
		a := atoms{w: []float64{0.5}, lnp: []float64{math.Log(c.p)}, lnInf: math.Log(c.inf)}
		a.cap()
		got := math.Exp(a.lnp[0]) + math.Exp(a.lnInf)
		if !(math.Abs(got-c.want) <= 1e-14) || c.want == 1 && got > 1+2e-16 {
			t.Errorf("mass %g + %g: %.17g after", c.p, c.inf, got)
		}
	}
	// Mass at a loss of −1 weighs e times as much under the other law.
	a := atoms{w: []float64{-1}, lnp: []float64{0}, lnInf: math.Inf(-1)}
	if a.cap(); !(math.Abs(a.lnp[0]+1) <= 1e-14) {
		t.Errorf("ln mass %v, want −1", a.lnp[0])
	}
}

// Gaussians whose μ² is out of the range of float64 compose all the same.
func TestGaussiansBeyondTheRangeOfSquares(t *testing.T) {
	for _, mu := range []float64{1e-170, 1e-200, 1e160} {
		c := must.Get(New([]Component{{privacy.GaussianProfile(3*mu, privacy.AddRemove), 1},
			{privacy.GaussianProfile(2*mu, privacy.AddRemove), 4}}, nil))
		low, high, ok := privacy.GaussianMu(c.components[0].Profile)
		if want := 5 * mu; !ok || !(low <= want && want <= high) || high > want*(1+1e-14) {
			t.Errorf("μ = %g: composed between %g and %g, want %g", mu, low, high, want)
		}
	}
}

// Compositions by a few coefficients and by a transform are within their bounds of sums of positive numbers alone, and
// the coefficients left out are as small as is said.
func TestFewCoefficientsWithinTheirError(t *testing.T) {
	testscale.InTurn(t)
	r := rand.New(rand.NewPCG(7, 1))
	lat := lattice{step: 1. / 64, first: -1024, n: 2400}
	const theta = 0.7
	random := func(laws int) (ts terms) {
		for range laws {
			a := atoms{lnInf: math.Inf(-1)}
			for x := -30; x <= 30; x += 1 + r.IntN(2) {
				a.w, a.lnp = append(a.w, float64(x)*lat.step), append(a.lnp, -3-2*r.ExpFloat64())
			}
			ts = append(ts, term{a, 1 + r.IntN(3)})
		}
		return ts
	}
	for _, test := range []struct {
		name string
		ts   terms
		few  bool
	}{
		{"many laws", random(600), true},
		{"one law", terms{{random(1)[0].atoms, 2000}}, true},
		{"two atoms", terms{{atoms{w: []float64{-0.5, 0.5}, lnp: []float64{-1, -0.4}}, 300}}, false},
		{"every second place", terms{{atoms{w: []float64{-4. / 64, 0, 2. / 64, 6. / 64},
			lnp: []float64{-1, -2, -1, -2}}, 300}}, false},
	} {
		c := test.ts.tilt(theta, lat, +1)
		exact := make([]float64, lat.n)
		exact[0] = 1
		for _, l := range c.each {
			for range l.count {
				next := make([]float64, lat.n)
				for i, x := range l.x {
					for y, e := range exact {
						next[circle(x+y, lat.n)] += l.r[i] * e
					}
				}
				exact = next
			}
		}
		p := acquire(lat.n)
		bound := p.convolve(c)
		var off, all float64
		for x, e := range exact {
			off += (p.time[x] - e) * (p.time[x] - e)
			all += e * e
		}
		off, all = math.Sqrt(off), math.Sqrt(all)
		own := 3e-13                                                            // of the sums
		if !(off <= bound+own*all) || bound > 1e-9*all || bound < 0x1p-54*all { // of float64 at least
			t.Errorf("%s: transform off by %.3g of %.3g, bound %.3g", test.name, off, all, bound)
		}
		a := c.band(lat.n)
		if test.few != (a < lat.n/8) {
			t.Errorf("%s: %d coefficients", test.name, a)
		}
		for k, v := range p.spectrum(c) {
			if k >= a && cmplx.Abs(v) > tiny*math.Exp(c.growth) {
				t.Errorf("%s: coefficient %d of %d is %g", test.name, k, a, cmplx.Abs(v))
			}
		}
		u := &tail{lat: lat, theta: theta}
		u.few(c, min(a, lat.n/2+1))
		worst := 0.0
		for m := 0; m < lat.n-1; m += 7 {
			var d float64
			for x := 1; x < lat.n-m; x++ {
				w := float64(x) * lat.step
				d += exact[circle(lat.first+m+x, lat.n)] * math.Exp(-theta*w) * -math.Expm1(-w)
			}
			got, err := u.value(m)
			worst = math.Max(worst, math.Abs(got-d)/(err+own*d))
			if m < lat.n*3/4 && err > 1e-9*all {
				t.Fatalf("%s: bound %g at %d", test.name, err, m)
			}
		}
		if !(worst <= 1) {
			t.Errorf("%s: few coefficients off by %.3g of the bound", test.name, worst)
		}
		t.Logf("%s: off by %.2g and %.2g of the bounds; %d of %d coefficients", test.name, off/bound, worst, a,
			lat.n/2+1)
	}
}

// spectrum returns the moduli's bound of every coefficient of c, by transforms, as products of powers that do not
// become zero before their time.
func (p *plan) spectrum(c *tiltedLaws) []complex128 {
	ln := make([]float64, p.n/2+1)
	for i := range c.each {
		p.write(&c.each[i])
		p.fft.Coefficients(p.freq, p.time)
		for k, v := range p.freq {
			ln[k] += float64(c.each[i].count) * math.Log(cmplx.Abs(v))
		}
	}
	all := make([]complex128, len(ln))
	for k, l := range ln {
		all[k] = complex(math.Exp(l), 0)
	}
	return all
}

// Of a hundred thousand fair coins the coefficients are cosᴺ(πk/n): those that are left out are negligible, and so is
// hardly one that is not.
func TestBandOfCoins(t *testing.T) {
	const n, count = 24_000, 100_000
	c := &tiltedLaws{each: []law{{x: []int{0, 1}, r: []float64{0.5, 0.5}, mass: 1, count: count}}}
	ln := func(k int) float64 { return count * math.Log(math.Cos(math.Pi*float64(k)/n)) }
	a := c.band(n)
	if most := math.Log(tiny); !(ln(a) <= most && ln(a-1) > most-2) {
		t.Errorf("from %d of %d on: ln %.4g, before it %.4g, negligible are %.4g", a, n, ln(a), ln(a-1), most)
	}
}

// Where a bound is flat the roundings of large logarithms move ε by a whole step of the lattice, to the safe side.
func TestFlatBoundsLeaveRoomForRounding(t *testing.T) {
	for _, side := range []float64{1, -1} {
		u := &tail{lat: lattice{first: 1, n: 12, step: 0.1}, kappa: -500, lnInf: math.Inf(-1), side: side,
			value: func(m int) (d, err float64) { return 1 - 3e-13*float64(m), 0 }}
		between := (u.lnDelta(3)+u.lnDelta(4))/2 + side*4e-16*500
		eps, _, ok := u.epsilon(between, 0.7)
		if want := map[float64]float64{1: u.s(4), -1: u.s(3)}[side]; !ok || !(side*(eps-want) >= 0) {
			t.Errorf("side %v: ε = %v (%t), want %v or safer", side, eps, ok, want)
		}
	}
}
