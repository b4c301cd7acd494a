package loss

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/bigref"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// exactSlope returns f′(t; y) in 512 bits.
func exactSlope(l Loss, t bigref.F, y float64) bigref.F {
	zero, one, half := bigref.Int(0), bigref.Int(1), bigref.New(0.5)
	// cut returns x cut to [lo, hi].
	cut := func(x, lo, hi bigref.F) bigref.F {
		switch {
		case x.Cmp(lo) < 0:
			return lo
		case x.Cmp(hi) > 0:
			return hi
		}
		return x
	}
	// sigmoid returns 1/(1 + e^{−x}), in returns x in a unit.
	sigmoid := func(x bigref.F) bigref.F {
		return bigref.Quo(one, bigref.Sum(one, bigref.Exp(bigref.Neg(x))))
	}
	in := func(unit float64, x bigref.F) bigref.F { return bigref.Quo(x, bigref.New(unit)) }
	m, against := bigref.Product(bigref.New(y), t), bigref.New(-y)
	short, difference := bigref.Sub(one, m), bigref.Sub(t, bigref.New(y))
	switch f := l.(type) {
	case Logistic:
		return bigref.Product(against, sigmoid(bigref.Neg(m)))
	case Softplus:
		return bigref.Product(against, sigmoid(in(f.Width, bigref.Sub(bigref.New(f.margin()), m))))
	case SmoothPinball:
		return bigref.Sub(sigmoid(in(f.Width, difference)), bigref.New(f.Tau))
	case PseudoHuber:
		r := in(f.Threshold, difference)
		return bigref.Quo(difference, bigref.Sqrt(bigref.Sum(one, bigref.Product(r, r))))
	case Poisson:
		return bigref.Sub(bigref.Exp(t), bigref.New(y))
	case Squared:
		return difference
	case Huber:
		return cut(difference, bigref.New(-f.Threshold), bigref.New(f.Threshold))
	case SquaredHinge:
		return bigref.Product(against, cut(short, zero, bigref.New(math.MaxFloat64)))
	case SmoothedHinge:
		return bigref.Product(against, cut(in(f.Width, short), zero, one))
	case Convolved:
		v, tail := in(f.Width, difference), zero
		a := bigref.Sum(v)
		a.Abs(a)
		switch f.Kernel.(type) {
		case smoothing.Uniform:
			tail = bigref.Product(half, cut(bigref.Sub(one, a), zero, one))
		case smoothing.Logistic:
			tail = sigmoid(bigref.Product(bigref.Int(-2), a))
		case smoothing.Laplacian:
			tail = bigref.Product(half, bigref.Exp(bigref.Neg(a)))
		case smoothing.Gaussian:
			if a.Cmp(bigref.Int(30)) < 0 { // beyond: 1e-197
				tail = bigref.Survival(a)
			}
		}
		tail = bigref.Product(tail, bigref.Sub(bigref.New(f.Above), bigref.New(f.Below)))
		if v.Sign() < 0 {
			return bigref.Sum(tail, bigref.New(f.Below))
		}
		return bigref.Sub(bigref.New(f.Above), tail)
	case Probit:
		return bigref.Product(against, bigHazard(bigref.Neg(m)))
	}
	return nil
}

// What slopes are said to err by is of the order of rounding: a solver is asked for what is left of a tolerance.
func TestSlopeErrorsAreSmall(t *testing.T) {
	for _, classes := range []int{2, 10, 1000} {
		if e := (Softmax{Classes: classes}).SlopeError(); !(e > 0x1p-53 && e < float64(classes+12)*1e-15) {
			t.Errorf("softmax of %d classes: %g", classes, e)
		}
	}
}

// Computed slopes err by at most 8·2⁻⁵³|f′| + SlopeError, which the solver's certificate rests on; for clipped losses
// too, where the exact slope is cut.
func TestSlopesAreAsAccurateAsStated(t *testing.T) {
	testscale.Slow(t)
	rng := rand.New(rand.NewPCG(11, 12))
	for _, c := range []struct {
		loss Loss
		clip float64
		y    []float64
	}{
		{Logistic{}, 0.7, []float64{-1, 1}},
		{Softplus{Width: 0.3}, 0.7, []float64{-1, 1}},
		{Softplus{Width: 0.3, Margin: 1.6}, 0.7, []float64{-1, 1}},
		{PseudoHuber{1.5}, 1.1, []float64{0, 1}},
		{SmoothPinball{0.4, 0.3}, 0.35, []float64{0, 1}},
		{Absolute(smoothing.Laplacian{}, 0.3), 0.35, []float64{0, 1}},
		{convolvedPinball(0.3, smoothing.Gaussian{}, 0.3), 0.35, []float64{0, 1}},
		{convolvedPinball(0.3, smoothing.Logistic{}, 0.3), 0.35, []float64{0, 1}},
		{convolvedPinball(0.3, smoothing.Uniform{}, 2), 0.35, []float64{0, 1}},
		{Huber{1.5}, 0.5, []float64{0, 1e8}},
		{Absolute(smoothing.Laplacian{}, 2), 0.35, []float64{1e8}},
		{Poisson{5}, 2, []float64{0, 1, 5}},
	} {
		trials := 1500
		if k, ok := c.loss.(Convolved); ok && k.Kernel == (smoothing.Gaussian{}) {
			trials = 150 // its exact slope takes a thousand terms
		}
		for range trials {
			x, y := 6*rng.NormFloat64(), c.y[rng.IntN(len(c.y))]
			if y > 1e7 { // about the points at which it is clipped, which round
				x = y + []float64{-1, 1}[rng.IntN(2)]*(c.clip+1e-8*rng.NormFloat64())
				if k, ok := c.loss.(Convolved); ok {
					x = y + (x-y)/c.clip*k.Width*-math.Log(1-c.clip)
				}
			}
			exact := exactSlope(c.loss, bigref.New(x), y)
			wantCut := bigref.Float(exact)
			for _, l := range []Loss{c.loss, Clipped(c.loss, c.clip)} {
				if math.IsInf(SlopeError(l), 1) {
					continue // nothing is stated
				}
				want := exact
				if _, level, ok := Unclip(l); ok && math.Abs(wantCut) > level {
					want = bigref.New(math.Copysign(level, wantCut))
				}
				d, w := bigref.Float(bigref.Sub(bigref.New(slope(l, x, y)), want)), bigref.Float(want)
				if !(math.Abs(d) <= 8*0x1p-53*math.Abs(w)+SlopeError(l)) {
					t.Errorf("%s: slope off by %v at %v, y=%v; stated %v", l.Name(), d, x, y,
						8*0x1p-53*math.Abs(w)+SlopeError(l))
				}
			}
		}
	}
}
