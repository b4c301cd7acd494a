package loss

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/internal/testing/bigref"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// preciseCases are the losses with their labels and a scale of t.
var preciseCases = []struct {
	loss  Loss
	y     []float64
	scale float64
}{
	{Logistic{}, []float64{-1, 1}, 1},
	{Softplus{Width: 0.3}, []float64{-1, 1}, 1},
	{Softplus{Width: 0.3, Margin: 1.3}, []float64{-1, 1}, 1},
	{SmoothedHinge{0.3}, []float64{-1, 1}, 1},
	{SquaredHinge{}, []float64{-1, 1}, 1},
	{Squared{}, []float64{0.1, 1e8}, 1},
	{Huber{1.3}, []float64{0.1, 1e8}, 1},
	{PseudoHuber{1.3}, []float64{0.1, 1e8}, 1},
	{SmoothPinball{0.2, 1.3}, []float64{0.1, 1e8}, 1},
	{convolvedPinball(0.2, smoothing.Gaussian{}, 1.3), []float64{0.1, 1e8}, 1},
	{convolvedPinball(0.2, smoothing.Logistic{}, 1.3), []float64{0.1, 1e8}, 1},
	{Absolute(smoothing.Laplacian{}, 1.3), []float64{0.1, 1e8}, 1},
	{Absolute(smoothing.Uniform{}, 1.3), []float64{0.1, 1e8}, 1},
	{Probit{}, []float64{-1, 1}, 1},
	{Poisson{7}, []float64{0, 1, 7}, 1},
}

// miss returns by how much the slope in double-double misses the one in 512 bits, in units of what is stated.
func miss(p Precise, l Loss, level float64, t dd.Number, y float64) float64 {
	want, c := exactSlope(l, bigref.Sum(bigref.New(t.Hi), bigref.New(t.Lo)), y), bigref.New(level)
	if want.Cmp(c) > 0 {
		want = c
	} else if c.Neg(c); want.Cmp(c) < 0 {
		want = c
	}
	got := p.Slope(t, y)
	off := bigref.Float(bigref.Sub(bigref.Sum(bigref.New(got.Hi), bigref.New(got.Lo)), want))
	return math.Abs(off) / (p.Relative*math.Abs(bigref.Float(want)) + p.Absolute)
}

// Slopes in double-double to what is stated of them, clipped and not, at margins of every size, and where the slope
// meets the level.
func TestPreciseSlopes(t *testing.T) {
	testscale.Slow(t)
	rng := rand.New(rand.NewPCG(21, 22))
	for _, c := range preciseCases {
		var worst float64
		for i := range 40 {
			y := c.y[rng.IntN(len(c.y))]
			at := dd.Sum(6*c.scale*rng.NormFloat64(), 1e-17*rng.NormFloat64())
			switch i % 4 {
			case 1:
				at.Hi = y + math.Ldexp(rng.NormFloat64(), -rng.IntN(60))
			case 2:
				at = dd.Sum(1500*(rng.Float64()-0.5), 1e-14*rng.NormFloat64())
				if _, ok := c.loss.(Probit); ok {
					at.Hi = math.Remainder(at.Hi, 14)
				}
			case 3:
				at = dd.Sum(y+1.3, 1e-17*rng.NormFloat64()) // about a level
			}
			at = dd.Sum(at.Hi, at.Lo)
			for _, level := range []float64{math.Inf(1), 0.7, 1.3} {
				l := c.loss
				if level < l.Lipschitz() {
					l = Clipped(l, level)
				} else if !math.IsInf(level, 1) {
					continue
				}
				p, ok := PreciseSlope(l)
				if !ok {
					if _, poisson := l.(Poisson); !poisson {
						t.Fatalf("%s has no precise slope", l.Name())
					}
					continue
				}
				m := miss(p, c.loss, level, at, y)
				if !(m <= 1) {
					t.Fatalf("%s: off by %v of what is stated at %v, y = %v", l.Name(), m, at, y)
				}
				worst = math.Max(worst, m)
			}
		}
		t.Logf("%s: %.3g of what is stated", c.loss.Name(), worst)
	}
	if p, _ := PreciseSlope(Logistic{}); !math.IsNaN(p.Slope(dd.From(math.NaN()), 1).Hi) {
		t.Error("NaN is lost")
	}
	if _, ok := PreciseSlope(Clipped(foreign{Logistic{}}, 0.1)); ok {
		t.Error("a loss of somebody else is said to be precise")
	}
}

// A slope that loses its digits is seen: one of 2⁻⁹⁰ for the logistic loss, and a level compared by the leading part
// alone.
func TestPreciseSlopesCanFail(t *testing.T) {
	p, _ := PreciseSlope(Logistic{})
	wrong := p
	wrong.Slope = func(t dd.Number, y float64) dd.Number {
		return p.Slope(t, y).MulFloat(1 + 0x1p-52).MulFloat(1 - 0x1p-52).MulFloat(1)
	}
	at := dd.From(0.3)
	if m := miss(wrong, Logistic{}, 2, at, 1); m > 1 {
		t.Errorf("an error of 2⁻¹⁰⁴ is refused: %v", m)
	}
	wrong.Slope = func(t dd.Number, y float64) dd.Number { s := p.Slope(t, y); return dd.Sum(s.Hi, s.Lo*(1-0x1p-38)) }
	if m := miss(wrong, Logistic{}, 2, at, 1); m <= 1 {
		t.Errorf("an error of 2⁻⁹² is not seen: %v", m)
	}
	wrong.Slope = func(t dd.Number, y float64) dd.Number { return dd.From(1.3) }
	wrong.Relative, wrong.Absolute = preciseError, preciseUnderflow
	if m := miss(wrong, Squared{}, 1.3, dd.Sum(1.3, -1e-17), 0); m <= 1 {
		t.Error("the lower part is not looked at")
	}
}

func BenchmarkPreciseSlope(b *testing.B) {
	for _, c := range preciseCases {
		p, ok := PreciseSlope(Clipped(c.loss, 0.9))
		if !ok {
			continue
		}
		b.Run(c.loss.Name(), func(b *testing.B) {
			for b.Loop() {
				p.Slope(dd.Number{Hi: 0.7, Lo: 1e-18}, c.y[0])
			}
		})
	}
}
