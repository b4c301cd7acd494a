package erm

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// tiled repeats the rows of a small matrix; stored is the number of entries it claims.
type tiled struct {
	*matrix.Dense
	n, stored int
}

func (m tiled) Dims() (n, d int) { return m.n, m.D }
func (m tiled) Nonzeros() int    { return m.stored }

func (m tiled) each(lo, hi int, f func(from, k, count int)) {
	for at := lo; at < hi; {
		k := at % m.N
		count := min(m.N-k, hi-at)
		f(at-lo, k, count)
		at += count
	}
}

func (m tiled) Margins(dst, theta []float64, lo, hi int) {
	m.each(lo, hi, func(from, k, count int) { m.Dense.Margins(dst[from:from+count], theta, k, k+count) })
}

func (m tiled) AddScaled(dst, w []float64, lo, hi int) {
	m.each(lo, hi, func(from, k, count int) { m.Dense.AddScaled(dst, w[from:from+count], k, k+count) })
}

func (m tiled) Norms(dst []float64, lo, hi int) {
	m.each(lo, hi, func(from, k, count int) { m.Dense.Norms(dst[from:from+count], k, k+count) })
}

func (m tiled) Row(dst []float64, i int) { m.Dense.Row(dst, i%m.N) }

// many returns a problem of n records of norm 1, of d features of which `stored` are counted for each record.
func many(n, d, stored int) *Problem {
	base := simulated(1024, d, 1, 1.8, 3.7)
	p := &Problem{Rows: tiled{base.Rows.(*matrix.Dense), n, stored * n}, Labels: make([]float64, n),
		Loss: loss.Logistic{}, Lambda: 1.8, Linear: base.Linear}
	for i := range p.Labels {
		p.Labels[i] = base.Labels[i%1024]
	}
	return p
}

// At τ = 10⁻⁶, ‖θ‖ = 5 and slopes of ½ the bound in float64 is beyond τ for 10⁸ records, dense or sparse; that in
// double-double is below 10⁻⁹τ. The formula alone is evaluated.
func TestBoundsForManyRecords(t *testing.T) {
	for _, c := range []struct{ d, stored int }{{109, 109}, {109, 14}, {5000, 14}} {
		for _, n := range []int{1e6, 1e7, 1e8} {
			rows := tiled{matrix.NewDense(1, c.d, nil), n, c.stored * n}
			e := newEvaluator(&Problem{Rows: rows, Loss: loss.Logistic{}, Lambda: 1.8}, 1)
			e.maxNorm = 1
			plain := e.roundingBound(0.5*float64(n), 5, 1) / 1e-6
			fine := newPrecise(e).roundingBound(0.5*float64(n), 5) / 1e-6
			t.Logf("d = %d, %d stored, n = %g: %.3g τ, %.2g τ", c.d, c.stored, float64(n), plain, fine)
			if n == 1e8 && plain < 1 || fine > 1e-9 {
				t.Errorf("d = %d, n = %g: %g τ in float64, %g τ in double-double", c.d, float64(n), plain, fine)
			}
		}
	}
}

// 300,000 records, whose pass in float64 cannot be certified to 10⁻⁸, are certified.
func TestManyRecordsAreCertified(t *testing.T) {
	testscale.Slow(t)
	p := many(300_000, 4, 4)
	e := newEvaluator(p, 0)
	x, g := dd.NewVector(4), dd.NewVector(4)
	_, plain := e.eval(g.Hi, x.Hi)
	fine := newPrecise(e).gradient(g, x)
	const tau = 1e-8
	s, err := Minimize(p, &Settings{Tolerance: tau, Persist: true})
	if err != nil || !(plain > 0.2*tau) || !(fine < 1e-10*tau) || math.IsNaN(s.Value) {
		t.Errorf("rounding %g and %g of τ, %v", plain/tau, fine/tau, err)
	}
	t.Logf("rounding %g and %g of τ; %d passes", plain/tau, fine/tau, s.Passes)
}
