package noise

import (
	"fmt"
	"math"
	"testing"
)

// sources of both kinds.
func sources() map[string]Source {
	return map[string]Source{"secure": NewSecure(), "seeded": NewSeeded(11)}
}

// within fails if x is more than 5.5 standard deviations from the mean: a false
// alarm in 2·10⁷ draws for the secure source, none for the seeded one.
func within(t *testing.T, what string, x, mean, deviation float64) {
	t.Helper()
	if !(math.Abs(x-mean) <= 5.5*deviation) {
		t.Errorf("%s: %v, want %v ± %v", what, x, mean, 5.5*deviation)
	}
}

// TestSubsetLaw: every number is in with probability q, neighbours and numbers at
// the distance of the longest trusted gap independently of each other.
func TestSubsetLaw(t *testing.T) {
	for name, src := range sources() {
		for _, q := range []float64{0.003, 0.1, 0.5, 0.95} {
			const n, draws = 300, 4000
			s := NewSubset(q)
			var index []int
			var first, last, total, pairs, far, squares float64
			reach := min(int(s.reach), n-1)
			for range draws {
				index = s.Draw(index[:0], src, n)
				in := make([]bool, n)
				for k, i := range index {
					if i < 0 || i >= n || k > 0 && i <= index[k-1] {
						t.Fatalf("not a rising subset of 0 … %d: %v", n-1, index)
					}
					in[i] = true
				}
				total += float64(len(index))
				squares += float64(len(index)) * float64(len(index))
				for i := range n {
					if in[i] && i > 0 && in[i-1] {
						pairs++
					}
					if in[i] && i >= reach && in[i-reach] {
						far++
					}
				}
				if in[0] {
					first++
				}
				if in[n-1] {
					last++
				}
			}
			what := fmt.Sprintf("%s, q = %v: ", name, q)
			one := math.Sqrt(draws * q * (1 - q))
			within(t, what+"first", first, draws*q, one)
			within(t, what+"last", last, draws*q, one)
			within(t, what+"size", total, n*draws*q, math.Sqrt(n)*one)
			variance := squares/draws - total*total/draws/draws
			within(t, what+"variance of the size", variance, n*q*(1-q), n*q*(1-q)*math.Sqrt(3.0/draws))
			// Pairs that overlap are correlated: Var ≤ m(q² − q⁴ + 2q³(1−q)).
			spread := func(m float64) float64 { return math.Sqrt(m * draws * q * q * (1 - q*q + 2*q*(1-q))) }
			within(t, what+"neighbours", pairs, (n-1)*draws*q*q, spread(n-1))
			within(t, what+"far apart", far, float64(n-reach)*draws*q*q, spread(float64(n-reach)))
		}
	}
}

func TestSubsetEdges(t *testing.T) {
	src := NewSeeded(1)
	if got := NewSubset(0).Draw(nil, src, 5); len(got) != 0 {
		t.Errorf("rate 0 draws %v", got)
	}
	if got := NewSubset(1).Draw(nil, src, 3); len(got) != 3 || got[2] != 2 {
		t.Errorf("rate 1 draws %v", got)
	}
	if got := NewSubset(0.5).Draw(nil, src, 0); len(got) != 0 {
		t.Errorf("out of nothing came %v", got)
	}
	if got := NewSubset(1e-12).Draw(nil, src, 1000); len(got) != 0 {
		t.Errorf("rate 1e-12 draws %v", got)
	}
	for _, q := range []float64{-0.1, 1.1, math.NaN()} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("rate %v is taken", q)
				}
			}()
			NewSubset(q)
		}()
	}
}

func TestSubsetDoesNotAllocate(t *testing.T) {
	src, s := NewSeeded(3), NewSubset(0.01)
	index := make([]int, 0, 500)
	if a := testing.AllocsPerRun(50, func() { index = s.Draw(index[:0], src, 10_000) }); a != 0 {
		t.Errorf("%v allocations for a sample", a)
	}
}

func TestPoissonLaw(t *testing.T) {
	const draws, mean = 20_000, 15.4
	for name, src := range sources() {
		var sum, squares, many float64
		for range draws {
			k := float64(Poisson(src, mean))
			sum += k
			squares += k * k
			if k > 10 {
				many++
			}
		}
		m := sum / draws
		within(t, name+": mean", m, mean, math.Sqrt(mean/draws))
		within(t, name+": variance", squares/draws-m*m, mean, math.Sqrt((mean+2*mean*mean)/draws))
		within(t, name+": P(K > 10)", many/draws, 0.9, 0.3/math.Sqrt(draws))
	}
}

func TestBelowIsUniform(t *testing.T) {
	for name, src := range sources() {
		const n, draws = 7, 70_000
		var count [n]float64
		for range draws {
			count[Below(src, n)]++
		}
		for i, c := range count {
			within(t, fmt.Sprintf("%s: %d", name, i), c, draws/n, math.Sqrt(draws*(1.0/n)*(1-1.0/n)))
		}
	}
}

// TestIsotropicLaplaceLaw: the norm is Gamma(d, b), the mean zero, the
// coordinates uncorrelated with variance b²(d+1).
func TestIsotropicLaplaceLaw(t *testing.T) {
	const d, draws, scale = 5, 20_000, 2.0
	for name, src := range sources() {
		x := make([]float64, d)
		var norm, square, product, first float64
		for range draws {
			IsotropicLaplace(src, x, scale)
			var r float64
			for _, v := range x {
				r += v * v
			}
			norm += math.Sqrt(r)
			square += r
			product += x[0] * x[1]
			first += x[0]
		}
		within(t, name+": norm", norm/draws, d*scale, scale*math.Sqrt(d/float64(draws)))
		within(t, name+": square", square/draws, d*(d+1)*scale*scale, d*(d+1)*scale*scale*math.Sqrt(1.0/draws))
		coordinate := scale * scale * (d + 1)
		within(t, name+": mean", first/draws, 0, math.Sqrt(coordinate/draws))
		within(t, name+": product", product/draws, 0, 1.5*coordinate/math.Sqrt(draws))
	}
}

func TestForks(t *testing.T) {
	root := NewSeeded(5)
	one, ok := Forks(root)
	two, _ := Forks(root)
	if !ok {
		t.Fatal("a seeded source cannot be forked")
	}
	if a, b := one(3).Uint64(), one(3).Uint64(); a != b {
		t.Error("a fork depends on what was drawn from others")
	}
	if one(3).Uint64() == one(4).Uint64() || one(3).Uint64() == two(3).Uint64() {
		t.Error("forks repeat each other")
	}
	if seed, ok := one(0).Seed(); !ok || seed != 5 {
		t.Error("a fork forgot its seed")
	}
	f, ok := Forks(NewSecure())
	if !ok {
		t.Fatal("a secure source cannot be forked")
	}
	if a, b := f(0), f(0); Simulated(a) || a.Uint64() == b.Uint64() {
		t.Error("forks of a secure source are not secure sources")
	}
}

func BenchmarkSubset(b *testing.B) {
	index := make([]int, 0, 1000)
	s := NewSubset(256.0 / 48_842)
	for name, src := range sources() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				index = s.Draw(index[:0], src, 48_842)
			}
		})
	}
}

// words is a source whose bits are given, over and over.
type words struct {
	*Seeded
	bits []uint64
	next int
}

func (w *words) Uint64() uint64 {
	w.next++
	return w.bits[(w.next-1)%len(w.bits)]
}

// Gaussian returns the words as numbers.
func (w *words) Gaussian(dst []float64, sigma float64) {
	for i := range dst {
		dst[i] = sigma * float64(w.Uint64())
	}
}

// TestUniformIsInside: the largest and the smallest words give neither 1 nor 0, and
// neighbouring cells different numbers.
func TestUniformIsInside(t *testing.T) {
	if u := Uniform(&words{bits: []uint64{math.MaxUint64}}); u >= 1 {
		t.Errorf("a word of ones gives %v", u)
	}
	for _, cell := range []uint64{0, 1, 1<<51 - 1, 1 << 51, 1<<52 - 2, 1<<52 - 1} {
		u := Uniform(&words{bits: []uint64{cell << 12}})
		if want := (float64(cell) + 0.5) / (1 << 52); !(u > 0 && u < 1 && u == want) {
			t.Errorf("cell %d: %v, want %v", cell, u, want)
		}
		if e := Exponential(&words{bits: []uint64{cell << 12}}); !(e > 0) || math.IsInf(e, 1) {
			t.Errorf("cell %d: Exp(1) variate %v", cell, e)
		}
	}
}

// TestSubsetOfTinyRates counts, without drawing, how many words put the first
// number into the sample: a share q of them, at every q.
func TestSubsetOfTinyRates(t *testing.T) {
	for _, q := range []float64{1e-7, 1e-12, 1e-15, 3e-17, 1e-19} {
		s := NewSubset(q)
		first := func(word uint64) bool {
			got := s.Draw(nil, &words{bits: []uint64{word, 0}}, 2)
			return len(got) > 0 && got[0] == 0
		}
		// The words that do are the small ones: the largest by bisection.
		lo, hi := uint64(0), uint64(math.MaxUint64)
		for hi-lo > 1 {
			if mid := lo + (hi-lo)/2; first(mid) {
				lo = mid
			} else {
				hi = mid
			}
		}
		share := float64(hi) * 0x1p-64
		if !(math.Abs(share-q) <= 1e-9*q+0x1p-63) {
			t.Errorf("q = %v: the first number is in with probability %v", q, share)
		}
	}
}

// TestIsotropicLaplaceHasADirection: a normal vector of zeros has none.
func TestIsotropicLaplaceHasADirection(t *testing.T) {
	z := make([]float64, 1)
	IsotropicLaplace(&words{bits: []uint64{3, 1, 0, 0, 2}}, z, 2)
	if z[0] != 10 { // 2·(3² + 1²)/2
		t.Errorf("noise %v, want 10", z[0])
	}
}
