package softmax

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
)

func wide(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }

// bigExp returns e^x, to some 250 bits.
func bigExp(x *big.Float) *big.Float {
	arg := new(big.Float).SetPrec(300).Quo(x, wide(0x1p40))
	e, p := wide(1), wide(1)
	for k := 1; k < 12; k++ {
		p.Quo(p.Mul(p, arg), wide(float64(k)))
		e.Add(e, p)
	}
	for range 40 {
		e.Mul(e, e)
	}
	return e
}

// bigGradient returns ∇J at hi + lo in 300 bits.
func bigGradient(p *Problem, x dd.Vector) []*big.Float {
	n, d := p.Rows.Dims()
	theta, g, row := make([]*big.Float, len(x.Hi)), make([]*big.Float, len(x.Hi)), make([]float64, d)
	for j := range g {
		theta[j] = new(big.Float).Add(wide(x.Hi[j]), wide(x.Lo[j]))
		g[j] = new(big.Float).Mul(wide(p.Lambda), theta[j])
		if p.Linear != nil {
			g[j].Add(g[j], wide(p.Linear[j]))
		}
	}
	for i := range n {
		p.Rows.Row(row, i)
		e, sum := make([]*big.Float, p.Classes), wide(0)
		for c := range e {
			t := wide(0)
			for j, v := range row {
				t.Add(t, new(big.Float).Mul(wide(v), theta[c*d+j]))
			}
			e[c] = bigExp(t)
			sum.Add(sum, e[c])
		}
		for c := range e {
			e[c].Quo(e[c], sum)
			if c == p.Labels[i] {
				e[c].Sub(e[c], wide(1))
			}
			for j, v := range row {
				g[c*d+j].Add(g[c*d+j], new(big.Float).Mul(wide(v), e[c]))
			}
		}
	}
	return g
}

// distance returns ‖want − hi − lo‖.
func distance(want []*big.Float, x dd.Vector) float64 {
	sum := wide(0)
	for j, w := range want {
		d := new(big.Float).Sub(w, wide(x.Hi[j]))
		d.Sub(d, wide(x.Lo[j]))
		sum.Add(sum, d.Mul(d, d))
	}
	v, _ := sum.Sqrt(sum).Float64()
	return v
}

// Both gradients are within what is stated of the one in 300 bits, for any number of
// workers; the one in double-double gains 2³⁰.
func TestGradientsAgainst300Bits(t *testing.T) {
	for _, c := range []struct {
		name            string
		n, d, k         int
		scale, norm     float64
		sparse, foreign bool
	}{
		{"plain", 60, 4, 3, 3, 1, false, false}, {"sparse", 60, 4, 3, 3, 1, true, false}, {"other", 60, 4, 3, 3, 1, false, true},
		{"margins beyond 708", 40, 4, 4, 900, 1, false, false}, {"entries of 2⁻⁶⁰⁰", 30, 3, 3, 3, 0x1p-600, false, false},
		{"two classes", 30, 3, 2, 10, 5, true, false},
	} {
		x, y := records(c.n, c.d, c.k, 0.3, 4, 31)
		for i := range x.Data {
			x.Data[i] *= c.norm
		}
		p := &Problem{Rows: x, Labels: y, Classes: c.k, Lambda: 0.7, Linear: make([]float64, c.k*c.d)}
		switch {
		case c.sparse:
			p.Rows = x.Sparse()
		case c.foreign:
			p.Rows = struct{ matrix.Rows }{x}
		}
		rng := noise.NewSeeded(32)
		rng.Gaussian(p.Linear, 2)
		at, g := dd.NewVector(c.k*c.d), dd.NewVector(c.k*c.d)
		rng.Gaussian(at.Hi, c.scale)
		plain := dd.NewVector(c.k * c.d)
		e := newEvaluator(p, 1)
		_, bound := e.eval(plain.Hi, at.Hi)
		if err := distance(bigGradient(p, at), plain); !(err <= bound) {
			t.Errorf("%s, float64: off by %.3g, bound %.3g", c.name, err, bound)
		}
		for j, v := range at.Hi {
			at.Lo[j] = v * 0x1p-54 * math.Sin(float64(j))
		}
		fineBound := newPrecise(e).gradient(g, at)
		fineErr := distance(bigGradient(p, at), g)
		if !(fineErr <= fineBound) || fineBound > bound*0x1p-30 {
			t.Errorf("%s, double-double: off by %.3g, bound %.3g, in float64 %.3g", c.name, fineErr, fineBound, bound)
		}
		t.Logf("%s: %.2g of the bound", c.name, fineErr/fineBound)
		for _, workers := range []int{2, 5} {
			other, e := dd.NewVector(c.k*c.d), newEvaluator(p, workers)
			e.eval(plain.Hi, at.Hi)
			newPrecise(e).gradient(other, at)
			if !slices.Equal(other.Hi, g.Hi) || !slices.Equal(other.Lo, g.Lo) {
				t.Errorf("%s: %d workers compute another gradient", c.name, workers)
			}
		}
	}
}

// What float64 cannot certify is certified, from afar and with next to no passes too.
func TestPersist(t *testing.T) {
	x, y := records(200, 4, 3, 0, 4, 41)
	p := &Problem{Rows: x, Labels: y, Classes: 3, Lambda: 1, Linear: make([]float64, 12)}
	rng := noise.NewSeeded(42)
	rng.Gaussian(p.Linear, 2)
	const tau = 2e-14
	far := make([]float64, 12)
	rng.Gaussian(far, 100)
	for _, s := range []*Settings{{}, {MaxPasses: 1, Persist: true}, {Start: far, MaxPasses: 1, Persist: true}} {
		s.Tolerance = tau
		sol, err := Minimize(p, s)
		if err != nil {
			t.Errorf("%+v: %v", s, err)
			continue
		}
		at := dd.Vector{Hi: sol.Theta, Lo: make([]float64, 12)}
		moved := 101 * 0x1p-53 * math.Sqrt(12) * 5 // M times the rounding of θ
		if got := distance(bigGradient(p, at), dd.NewVector(12)); !(got <= sol.Certificate.Bound()+moved) || got > 1e-12 {
			t.Errorf("‖∇J‖ = %.3g, certified %.3g", got, sol.Certificate.Bound())
		}
		t.Logf("certified %.3g of %.3g after %d passes", sol.Certificate.Bound(), tau, sol.Passes)
	}
}
