package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// seeded returns a sampler with digits of the given width.
func seeded(seed byte, width uint) *Sampler {
	s := New(rand.NewChaCha8([32]byte{seed, 1}))
	s.width = width
	return s
}

// value returns v, its first 64 digits or more, as a float64.
func (s *Sampler) value(v *variate) float64 {
	x := float64(v.whole) + float64(s.fraction64(v))*0x1p-64
	if v.negative {
		return -x
	}
	return x
}

func normalCDF(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

func exponentialCDF(x float64) float64 { return -math.Expm1(-math.Max(0, x)) }

func laplaceCDF(x float64) float64 {
	if x < 0 {
		return 0.5 * math.Exp(x)
	}
	return 1 - 0.5*math.Exp(-x)
}

// ks returns √n times the Kolmogorov–Smirnov distance of x to a law.
func ks(x []float64, cdf func(float64) float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	n := float64(len(x))
	var d float64
	for i, v := range x {
		f := cdf(v)
		d = max(d, f-float64(i)/n, float64(i+1)/n-f)
	}
	return math.Sqrt(n) * d
}

// chiSquare returns the standardised χ² of x in cells of equal probability.
func chiSquare(x []float64, cdf func(float64) float64, cells int) float64 {
	count := make([]int, cells)
	for _, v := range x {
		count[min(cells-1, int(cdf(v)*float64(cells)))]++
	}
	var sum float64
	want := float64(len(x)) / float64(cells)
	for _, c := range count {
		sum += (float64(c) - want) * (float64(c) - want) / want
	}
	k := float64(cells - 1)
	return (sum - k) / math.Sqrt(2*k)
}

// The laws are those stated: √n·KS exceeds 2.7 with a probability of 1e-6. DPNB_DRAWS asks for more draws.
func TestLaws(t *testing.T) {
	testscale.Slow(t)
	draws := 50_000
	if testscale.Full() {
		draws = 200_000
	}
	if n, err := strconv.Atoi(os.Getenv("DPNB_DRAWS")); err == nil {
		draws = n
	}
	for _, width := range []uint{1, 7, 64} {
		s := seeded(byte(width), width)
		for name, law := range map[string]struct {
			draw func() variate
			cdf  func(float64) float64
		}{"normal": {s.normal, normalCDF}, "exponential": {s.exponential, exponentialCDF},
			"laplace": {s.laplace, laplaceCDF}} {
			x := make([]float64, draws)
			for i := range x {
				v := law.draw()
				x[i] = s.value(&v)
			}
			d, c := ks(x, law.cdf), chiSquare(x, law.cdf, 256)
			t.Logf("%s, digits of %d bits: √n·KS = %.2f, χ² off by %.2f standard deviations", name, width, d, c)
			if d > 2.7 {
				t.Errorf("%s, digits of %d bits: √n·KS = %.2f", name, width, d)
			}
			if c > 5.5 {
				t.Errorf("%s, digits of %d bits: χ² is %.1f standard deviations too large", name, width, c)
			}
		}
	}
}

// referenceRound is the rounded sum in numbers of 2,000 bits and more.
func referenceRound(theta, scale, grid float64, v *variate, s *Sampler) float64 {
	digits := 2048/int(s.width) + 1
	x := new(big.Float).SetPrec(8000).SetInt(s.cut(v, digits))
	x.SetMantExp(x, -digits*int(s.width))
	if v.negative {
		x.Neg(x)
	}
	x.Mul(x, new(big.Float).SetFloat64(scale))
	x.Add(x, new(big.Float).SetPrec(8000).SetFloat64(theta))
	x.Quo(x, new(big.Float).SetPrec(8000).SetFloat64(grid))
	x.Add(x, new(big.Float).SetPrec(8000).SetFloat64(0.5))
	k, _ := x.Int(nil) // towards zero
	if x.Sign() < 0 && !x.IsInt() {
		k.Sub(k, big.NewInt(1))
	}
	return nearest(k, grid)
}

// nearest is the float64 next to k·grid.
func nearest(k *big.Int, grid float64) float64 {
	f := new(big.Float).SetInt(k)
	x, _ := f.Mul(f, new(big.Float).SetFloat64(grid)).Float64()
	return x
}

// Sums are rounded correctly for values and scales of all sizes.
func TestAddRounded(t *testing.T) {
	trials := 1000
	if testscale.Full() {
		trials = 4000
	}
	for _, width := range []uint{1, 3, 8, 64} {
		s := seeded(99, width)
		rng := rand.New(rand.NewPCG(1, uint64(width)))
		fast := 0
		for i := range trials {
			scale := math.Ldexp(1+rng.Float64(), rng.IntN(200)-100)
			grid := Step(scale, rng.IntN(53))
			var theta float64
			switch i % 4 {
			case 0: // any float64
				theta = math.Float64frombits(rng.Uint64() &^ (1 << 62))
				if rng.IntN(2) == 0 {
					theta = math.Float64frombits(rng.Uint64())
				}
				if math.IsNaN(theta) || math.IsInf(theta, 0) {
					theta = 0
				}
			case 1: // of the size of the noise
				theta = scale * rng.NormFloat64() * math.Ldexp(1, rng.IntN(40)-20)
			case 2: // on and next to the edge of a cell
				theta = (float64(rng.IntN(1000)) + 0.5) * grid
				if rng.IntN(2) == 0 {
					theta = math.Nextafter(theta, math.Inf(rng.IntN(2)*2-1))
				}
			case 3: // next to the largest result
				theta = 0x1p53 * grid * (1 + rng.NormFloat64()*0x1p-30)
			}
			n := s.Normals(1)
			v := &n.variates[0]
			r := newRounder(scale, grid)
			if _, ok := r.fast(theta, s, v); ok {
				fast++
			}
			got := []float64{theta}
			n.AddRounded(got, scale, grid)
			if want := referenceRound(theta, scale, grid, v, s); got[0] != want {
				t.Fatalf("digits of %d bits: %v + %v·%v on the grid %v is %v, want %v", width, theta, scale, s.value(v),
					grid, got[0], want)
			}
			if k := got[0] / grid; k != math.Trunc(k) {
				t.Fatalf("%v is no multiple of %v", got[0], grid)
			}
		}
		if width == 64 && fast < trials/3 || width < 64 && fast > 0 {
			t.Errorf("digits of %d bits: %d of %d by the fast path", width, fast, trials)
		}
	}
}

// What is known of a variate after its first digits does not decide every cell: rounding by the first digit of 8 bits
// alone is caught.
func TestRefinementIsNeeded(t *testing.T) {
	s := seeded(3, 8)
	wrong := 0
	for range 300 {
		v := s.normal()
		first := math.Round((float64(v.whole)+float64(s.at(&v.fraction, 0))*0x1p-8)*1024) / 1024
		if v.negative {
			first = -first
		}
		if first != referenceRound(0, 1, 0x1p-10, &v, s) {
			wrong++
		}
	}
	if wrong < 100 {
		t.Errorf("no refinement with digits of 8 bits is wrong in %d of 300 only", wrong)
	}
}

// Rounding the value before the noise is added, for which nobody pays (it moves neighbours apart by up to the grid in
// each coordinate), is seen by the sums in 2,000 bits, whatever the grid, in a quarter of them.
func TestRoundingFirstIsSeen(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, width := range []uint{8, 64} {
		s := seeded(98, width)
		for _, digits := range []int{0, 20, 45} {
			const trials = 400
			wrong := 0
			for range trials {
				scale := math.Ldexp(1+rng.Float64(), rng.IntN(100)-50)
				grid := Step(scale, digits)
				theta := grid * (1000*rng.NormFloat64() + rng.Float64())
				n := s.Normals(1)
				v := &n.variates[0]
				first := []float64{math.Round(theta/grid) * grid}
				n.AddRounded(first, scale, grid)
				if first[0] != referenceRound(theta, scale, grid, v, s) {
					wrong++
				}
			}
			t.Logf("digits of %d bits, grid 2⁻%d of the scale: %d of %d", width, digits, wrong, trials)
			if wrong < trials/8 {
				t.Errorf("digits of %d bits, grid 2⁻%d of the scale: rounding first is seen in %d of %d", width, digits,
					wrong, trials)
			}
		}
	}
}

// stated returns 4u‖b‖ + scale·√d·tail, which FillNormal says that its result is within, in many digits.
func stated(b []float64, scale, tail float64) *big.Float {
	wide := func(x float64) *big.Float { return new(big.Float).SetPrec(2500).SetFloat64(x) }
	square := wide(0)
	for _, x := range b {
		square.Add(square, wide(0).Mul(wide(x), wide(x)))
	}
	length := wide(0).Mul(wide(4*0x1p-53), square.Sqrt(square))
	rest := wide(float64(len(b)))
	rest.Mul(rest.Sqrt(rest), wide(0).Mul(wide(scale), wide(tail)))
	return length.Add(length, rest)
}

// holdsTo reports whether eta is the stated bound, rounded up by next to nothing.
func holdsTo(eta float64, stated *big.Float) bool {
	above := new(big.Float).SetPrec(2500).Mul(stated, big.NewFloat(1+1e-12))
	return big.NewFloat(eta).Cmp(stated) >= 0 && big.NewFloat(eta).Cmp(above) <= 0
}

// FillNormal is as near as it says to the exact variates, whose further digits are drawn, and says what its comment
// does: the proof has a rounding for each of three operations, of which no draw shows all at once.
func TestNear(t *testing.T) {
	const prec = 300
	for _, width := range []uint{1, 7, 64} {
		for _, sigma := range []float64{Least, 3.7323, 1e9 / 3, Largest} {
			// The same bits give the same variates, whose further digits are then drawn.
			b := make([]float64, 50)
			eta := seeded(5, width).FillNormal(b, sigma)
			s := seeded(5, width)
			distance := new(big.Float).SetPrec(prec)
			for _, bj := range b {
				v := s.normal()
				s.fraction64(&v)
				later := v
				later.fraction.rest = slices.Clone(v.fraction.rest)
				digits := 128/int(width) + 1
				x := new(big.Float).SetPrec(prec).SetInt(seeded(6, width).cut(&later, digits))
				x.SetMantExp(x, -digits*int(width))
				if v.negative {
					x.Neg(x)
				}
				x.Mul(x, new(big.Float).SetFloat64(sigma))
				x.Sub(x, new(big.Float).SetPrec(prec).SetFloat64(bj))
				distance.Add(distance, x.Mul(x, x))
			}
			d, _ := distance.Sqrt(distance).Float64()
			if !(d <= eta) {
				t.Errorf("digits of %d bits, σ = %v: %g from the variates, more than %g", width, sigma, d, eta)
			}
			if d < eta/20 || !holdsTo(eta, stated(b, sigma, 0x1p-64)) {
				t.Errorf("digits of %d bits, σ = %v: η = %g for a distance of %g", width, sigma, eta, d)
			}
		}
	}
}

func TestGridAndScales(t *testing.T) {
	if g := Grid(1.38e-4); g != 0x1p-33 {
		t.Errorf("grid %v", g)
	}
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1), 5e-324, Least / 2, Largest * 2} {
		if validScale(bad) {
			t.Errorf("scale %v is accepted", bad)
		}
	}
	for _, bad := range []float64{0, -1, 3, math.NaN(), math.Inf(1), 2, 0x1p-54, 5e-324} {
		if validGrid(1, bad) {
			t.Errorf("grid %v is accepted", bad)
		}
	}
	if !validGrid(1, 1) || !validGrid(1, 0x1p-53) || !validScale(Least) || !validScale(Largest) {
		t.Error("the ends are refused")
	}
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1)}
	for _, add := range []func([]float64){
		func(x []float64) { seeded(1, 64).AddRounded(x, 1, 0x1p-20) },
		func(x []float64) { seeded(1, 64).IsotropicLaplace(3).AddRounded(x, 1, 0x1p-20) },
	} {
		x := slices.Clone(odd)
		add(x)
		if !(math.Abs(x[0]) < 40 && math.Abs(x[1]) < 40 && math.Abs(x[2]) < 40) {
			t.Errorf("odd values become %v", x)
		}
	}
}
