package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// words are bits that are given; it panics beyond them.
type words []uint64

func (w *words) Uint64() uint64 {
	v := (*w)[0]
	*w = (*w)[1:]
	return v
}

// Which uniform numbers are in is decided by their digits alone: 64 numbers of 8 binary digits each, all 256 of them,
// against rates of 8 digits.
func TestSubsetComparesDigits(t *testing.T) {
	for rate := 16; rate <= 256; rate++ { // below, blocks are counted
		for from := 0; from < 256; from += 64 {
			w := make(words, 8)
			for i := range w {
				for k := range 64 {
					w[i] |= uint64((from+k)>>(7-i)&1) << k
				}
			}
			in := New(&w).Subset(nil, float64(rate)/256, 64)
			want := min(64, max(0, rate-from))
			if len(in) != want || want > 0 && (in[0] != 0 || in[want-1] != want-1) {
				t.Fatalf("rate %d/256, numbers from %d: %v", rate, from, in)
			}
		}
	}
}

func TestSubsetLaw(t *testing.T) {
	s := seeded(8, 64)
	for _, rate := range []float64{1e-300, 1e-3, 256.0 / 48_842, 0.3, 0.5, 0.999} {
		const n, draws = 1000, 2000
		var size, square float64
		ends := 0
		for range draws {
			in := s.Subset(nil, rate, n)
			if !slices.IsSorted(in) || len(slices.Compact(slices.Clone(in))) < len(in) {
				t.Fatal("not sorted, or a number twice")
			}
			size += float64(len(in))
			square += float64(len(in)) * float64(len(in))
			if len(in) > 0 && in[len(in)-1] == n-1 {
				ends++
			}
		}
		mean, v := rate*n, rate*(1-rate)*n
		if z := (size/draws - mean) / math.Sqrt(v/draws+1e-300); !(math.Abs(z) <= 5) {
			t.Errorf("rate %v: size is off by %.1f standard errors", rate, z)
		}
		got := square/draws - (size/draws)*(size/draws)
		if !(math.Abs(got-v) <= 5*math.Sqrt((2*v*v+v)/draws)) {
			t.Errorf("rate %v: variance %v, want %v", rate, got, v)
		}
		if z := (float64(ends) - rate*draws) / math.Sqrt(draws*rate*(1-rate)+1e-300); !(math.Abs(z) <= 5) {
			t.Errorf("rate %v: the last one is off by %.1f standard errors", rate, z)
		}
	}
	if s.Subset(nil, 0, 100) != nil || len(s.Subset(nil, 1, 100)) != 100 || s.Subset(nil, 0.5, 0) != nil {
		t.Error("the ends are wrong")
	}
}

// Counts of blocks: F is exact, as rational numbers say, and the comparison with it goes on where the first words are
// the same.
func TestBinomialIsExact(t *testing.T) {
	for _, rate := range []float64{1.0 / 32, 3.0 / 128, 0.01, 256.0 / 48_842} {
		b := newBinomial(rate)
		n := int64(1) << b.log
		q := new(big.Rat).SetFloat64(rate)
		p := new(big.Rat).Sub(big.NewRat(1, 1), q)
		term, sum := big.NewRat(1, 1), new(big.Rat)
		for range n {
			term.Mul(term, p)
		}
		odds := new(big.Rat).Quo(q, p)
		for k := range 4 {
			if k == len(b.sums) {
				b.extend()
			}
			sum.Add(sum, term)
			have := new(big.Rat).SetFrac(b.sums[k], new(big.Int).Lsh(big.NewInt(1), b.places))
			if have.Cmp(sum) != 0 {
				t.Fatalf("rate %v, blocks of %d: F(%d) is wrong", rate, n, k)
			}
			term.Mul(term, odds)
			term.Mul(term, big.NewRat(n-int64(k), int64(k)+1))
			// U with the first words of F(k): one more at the end decides.
			w := make(words, 0, 8)
			for i := range 8 {
				w = append(w, b.word(b.sums[k], i))
			}
			w[7]--
			if got := b.draw(&Sampler{bits: &w}); got != k && 64*8 <= b.places {
				t.Errorf("rate %v: U just below F(%d) gives %d", rate, k, got)
			}
		}
	}
	b := newBinomial(1.0 / 32) // F(0) = (31/32)⁶⁴ has 320 digits: five words
	w := words{}
	for i := range 5 {
		w = append(w, b.word(b.sums[0], i))
	}
	if got := b.draw(&Sampler{bits: &w}); got != 1 {
		t.Errorf("U that begins as F(0) does gives %d", got)
	}
}

func TestPoissonLaw(t *testing.T) {
	for _, width := range []uint{1, 7, 64} {
		s := seeded(9, width)
		for _, mean := range []float64{1e-3, 0.7, 3, 12.25} {
			const draws = 8_000
			var count [64]float64
			for range draws {
				count[s.Poisson(mean)]++
			}
			p := math.Exp(-mean)
			for k := range count {
				if want := p * draws; want > 5 || count[k] > 8 {
					if z := (count[k] - want) / math.Sqrt(want*(1-p)); !(math.Abs(z) <= 5.5) {
						t.Errorf("mean %v: %v draws of %d, want %.1f", mean, count[k], k, want)
					}
				}
				p *= mean / float64(k+1)
			}
		}
	}
	if n := seeded(1, 64).Poisson(1e4); !(math.Abs(float64(n)-1e4) <= 600) {
		t.Errorf("Poisson(10,000) = %d", n)
	}
}

// The comparison of sums with the mean is right also where the first 64 digits do not decide it.
func TestPoissonRefines(t *testing.T) {
	// A first gap of ½ and further digits is past a mean of ½; the second word accepts it.
	if got := New(&words{1 << 63, math.MaxUint64, 0, 5, math.MaxUint64, 0, 5}).Poisson(0.5); got != 0 {
		t.Errorf("%d arrivals, the first of them late", got)
	}
	s := New(&words{0, 5})
	one := variate{fraction: number{first: 1 << 63, known: 1}}
	if !s.beyond([]variate{one, one}, 1) { // ½ + … and ½ + …
		t.Error("two halves and more are not more than 1")
	}
	low := variate{fraction: number{first: 1<<63 - 1, known: 1}}
	s = New(&words{math.MaxUint64, 0, math.MaxUint64, 0})
	defer func() { _ = recover() }() // the bits end before it is decided
	s.beyond([]variate{low, one}, 1)
	t.Error("decided although the digits so far leave it open")
}

func TestBelow(t *testing.T) {
	s := seeded(11, 64)
	for _, n := range []int{1, 2, 3, 5, 6, 1000} {
		const draws = 30_000
		count := make([]float64, n)
		for range draws {
			count[s.Below(n)]++
		}
		want := draws / float64(n)
		for k, c := range count {
			if !(math.Abs(c-want) <= 5.5*math.Sqrt(want)) {
				t.Errorf("Below(%d): %v times %d, want %.1f", n, c, k, want)
			}
		}
	}
}

// Each number goes to the nearest multiple of h, ties to even; sums of such are those of the exact numbers in any
// order.
func TestPreRound(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 2000 {
		h := math.Ldexp(1, rng.IntN(1800)-900)
		x := rng.NormFloat64() * h * math.Ldexp(1, rng.IntN(48)-10)
		if rng.IntN(4) == 0 {
			x = (float64(rng.IntN(100)-50) + 0.5) * h
		}
		v := []float64{0}
		Add(v, 1, []float64{x}, h)
		if want := math.RoundToEven(x/h) * h; v[0] != want {
			t.Fatalf("%v to multiples of %v is %v, want %v", x, h, v[0], want)
		}
	}
	h := Step(1, 25)
	v := make([]float64, 5000)
	exactSum := new(big.Float).SetPrec(500)
	for i := range v {
		Add(v[i:i+1], 2*rng.Float64()-1, []float64{1}, h)
	}
	var forward, backward float64
	for i, x := range v {
		exactSum.Add(exactSum, big.NewFloat(x))
		forward += x
		backward += v[len(v)-1-i]
	}
	if want, _ := exactSum.Float64(); forward != want || backward != want {
		t.Errorf("sums %v and %v, want %v", forward, backward, want)
	}
}

// Isotropic Laplace noise: the norm has the Gamma law, the direction is uniform, and every coordinate is that of 2,000
// bits, rounded.
func TestIsotropicLaplace(t *testing.T) {
	const d, draws = 3, 3000
	for _, width := range []uint{7, 64} {
		s := seeded(21, width)
		norms, shares := make([]float64, draws), make([]float64, draws)
		for i := range norms {
			z := make([]float64, d)
			s.IsotropicLaplace(d).AddRounded(z, 2, 0x1p-40)
			norms[i] = math.Sqrt(z[0]*z[0]+z[1]*z[1]+z[2]*z[2]) / 2
			shares[i] = z[2] / norms[i] / 2
		}
		gamma3 := func(r float64) float64 { return 1 - math.Exp(-r)*(1+r+r*r/2) }
		if k := ks(norms, gamma3); k > 2.7 {
			t.Errorf("the norm has another law: %.2f", k)
		}
		// Archimedes: a coordinate of the uniform direction in space is uniform.
		if k := ks(shares, func(x float64) float64 { return (x + 1) / 2 }); k > 2.7 {
			t.Errorf("the direction has another law: %.2f", k)
		}
	}
	rng := rand.New(rand.NewPCG(2, 2))
	for _, width := range []uint{1, 8, 64} {
		s := seeded(22, width)
		for range 60 {
			scale := math.Ldexp(1+rng.Float64(), rng.IntN(200)-100)
			grid := Step(scale, rng.IntN(53))
			theta := make([]float64, 1+rng.IntN(4))
			for j := range theta {
				theta[j] = scale * rng.NormFloat64() * math.Ldexp(1, rng.IntN(200)-150)
			}
			n := s.IsotropicLaplace(len(theta))
			direction, length := n.direction, n.length
			got := slices.Clone(theta)
			n.AddRounded(got, scale, grid)
			for j, want := range referenceIsotropic(s, theta, direction, length, scale, grid) {
				if got[j] != want {
					t.Fatalf("digits of %d bits: %v becomes %v, want %v", width, theta, got, want)
				}
			}
		}
	}
}

func referenceIsotropic(s *Sampler, theta []float64, direction, length []variate, scale, grid float64) []float64 {
	out := make([]float64, len(theta))
	for j, z := range wideIsotropic(s, direction, length, scale) {
		z.Add(z, new(big.Float).SetPrec(3000).SetFloat64(theta[j]))
		z.Quo(z, new(big.Float).SetPrec(3000).SetFloat64(grid))
		z.Add(z, new(big.Float).SetPrec(3000).SetFloat64(0.5))
		k, _ := z.Int(nil)
		if z.Sign() < 0 && !z.IsInt() {
			k.Sub(k, big.NewInt(1))
		}
		out[j] = nearest(k, grid)
	}
	return out
}

// wideIsotropic returns scale·Γ·N/‖N‖ of 2,000 digits of each variate.
func wideIsotropic(s *Sampler, direction, length []variate, scale float64) []*big.Float {
	const prec = 3000
	digits := 2000/int(s.width) + 1
	real := func(v *variate) *big.Float {
		x := new(big.Float).SetPrec(prec).SetInt(s.cut(v, digits))
		return x.SetMantExp(x, -digits*int(s.width))
	}
	square, gamma := new(big.Float).SetPrec(prec), new(big.Float).SetPrec(prec)
	for j := range direction {
		n := real(&direction[j])
		square.Add(square, n.Mul(n, n))
		gamma.Add(gamma, real(&length[j]))
	}
	square.Sqrt(square)
	wide := make([]*big.Float, len(direction))
	for j := range wide {
		z := real(&direction[j])
		z.Mul(z, gamma)
		z.Quo(z, square)
		z.Mul(z, new(big.Float).SetFloat64(scale))
		if direction[j].negative {
			z.Neg(z)
		}
		wide[j] = z
	}
	return wide
}

// Fill of isotropic noise is as near as it says to the vector of all digits, also where a direction in one dimension is
// next to 0; and eta is what its comment says.
func TestIsotropicNear(t *testing.T) {
	testscale.Slow(t)
	largest := 0.0
	for _, width := range []uint{1, 8, 64} {
		s := seeded(23, width)
		for _, d := range []int{1, 2, 50} {
			for k := range 40 {
				scale := math.Ldexp(1.3, 5*k-100)
				n := s.IsotropicLaplace(d)
				direction, length := n.direction, n.length
				got := make([]float64, d)
				eta := n.Fill(got, scale)
				sum := 0.0
				for j, z := range wideIsotropic(s, direction, length, scale) {
					e, _ := z.Sub(z, new(big.Float).SetFloat64(got[j])).Float64()
					sum += e / scale * (e / scale)
				}
				off := math.Sqrt(sum) * scale
				largest = max(largest, off/eta)
				if want := stated(got, scale, 0x1p-60); !(off <= eta) || !holdsTo(eta, want) {
					t.Fatalf("digits of %d bits, d = %d: off by %g, eta = %g, want %.17g", width, d, off, eta, want)
				}
			}
		}
	}
	if largest < 0.1 {
		t.Errorf("the bound is %g times too large", 1/largest)
	}
	n := seeded(24, 64).IsotropicLaplace(2)
	n.Fill(make([]float64, 2), 1)
	defer func() {
		if recover() == nil {
			t.Error("noise was used twice")
		}
	}()
	n.AddRounded(make([]float64, 2), 1, 1)
}
