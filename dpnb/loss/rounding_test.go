package loss

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// exactSlope returns f′(t; y) in 600 bits.
func exactSlope(l Loss, t, y float64) *big.Float { return exactSlopeAt(l, num(t), y) }

func exactSlopeAt(l Loss, t *big.Float, y float64) *big.Float {
	one := num(1)
	// cut returns x cut to [lo, hi].
	cut := func(x, lo, hi *big.Float) *big.Float {
		switch {
		case x.Cmp(lo) < 0:
			return lo
		case x.Cmp(hi) > 0:
			return hi
		}
		return x
	}
	// sigmoid returns 1/(1 + e^{−x}).
	sigmoid := func(x *big.Float) *big.Float {
		e := bigExp(new(big.Float).Neg(x))
		return new(big.Float).SetPrec(prec).Quo(one, e.Add(e, one))
	}
	m := new(big.Float).SetPrec(prec).Mul(num(y), t)
	residual := new(big.Float).SetPrec(prec).Sub(one, m)
	difference := new(big.Float).SetPrec(prec).Sub(t, num(y))
	switch f := l.(type) {
	case Logistic:
		return m.Mul(sigmoid(new(big.Float).Neg(m)), num(-y))
	case Softplus:
		u := m.Sub(num(f.margin()), m)
		u.Quo(u, num(f.Width))
		return u.Mul(sigmoid(u), num(-y))
	case SmoothPinball:
		return difference.Sub(sigmoid(difference.Quo(difference, num(f.Width))), num(f.Tau))
	case PseudoHuber:
		v := difference
		r := new(big.Float).SetPrec(prec).Quo(v, num(f.Threshold))
		r.Mul(r, r)
		r.Sqrt(r.Add(r, one))
		return v.Quo(v, r)
	case Poisson:
		return m.Sub(bigExp(t), num(y))
	case Squared:
		return difference
	case Huber:
		return cut(difference, num(-f.Threshold), num(f.Threshold))
	case SquaredHinge:
		return m.Mul(cut(residual, num(0), num(math.MaxFloat64)), num(-y))
	case SmoothedHinge:
		return m.Mul(cut(residual.Quo(residual, num(f.Width)), num(0), one), num(-y))
	case Convolved:
		v := difference.Quo(difference, num(f.Width))
		var tail *big.Float
		a := new(big.Float).SetPrec(prec).Abs(v)
		switch f.Kernel.(type) {
		case smoothing.Uniform:
			tail = cut(a.Sub(one, a), num(0), one)
			tail.Mul(tail, num(0.5))
		case smoothing.Logistic:
			tail = sigmoid(a.Mul(a, num(-2)))
		case smoothing.Laplacian:
			tail = bigExp(a.Neg(a))
			tail.Mul(tail, num(0.5))
		case smoothing.Gaussian:
			if tail = num(0); a.Cmp(num(30)) < 0 { // beyond: 1e-197
				_, tail = hazardAndTail(a)
			}
		}
		tail.Mul(tail, new(big.Float).SetPrec(prec).Sub(num(f.Above), num(f.Below)))
		if v.Sign() < 0 {
			return tail.Add(tail, num(f.Below))
		}
		return tail.Sub(num(f.Above), tail)
	case Probit:
		return m.Mul(bigHazard(m.Neg(m)), num(-y))
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
			exact := exactSlope(c.loss, x, y)
			wantCut, _ := exact.Float64()
			for _, l := range []Loss{c.loss, Clipped(c.loss, c.clip)} {
				if math.IsInf(SlopeError(l), 1) {
					continue // nothing is stated
				}
				want := exact
				if _, level, ok := Unclip(l); ok && math.Abs(wantCut) > level {
					want = num(math.Copysign(level, wantCut))
				}
				d, _ := new(big.Float).SetPrec(prec).Sub(num(slope(l, x, y)), want).Float64()
				w, _ := want.Float64()
				if !(math.Abs(d) <= 8*0x1p-53*math.Abs(w)+SlopeError(l)) {
					t.Errorf("%s: slope off by %v at %v, y=%v; stated %v", l.Name(), d, x, y,
						8*0x1p-53*math.Abs(w)+SlopeError(l))
				}
			}
		}
	}
}
