package loss

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// The slopes in double-double against those in float64 within the bound on their error, forms and offsets that are far
// apart among them; what else is asked of a Joint, TestJointLosses asks.
func TestMaximum(t *testing.T) {
	src := noise.NewSeeded(3)
	const n, p = 200, 4
	m := Maximum{Temperature: 0.3}
	y, at := make([]float64, n), make([]float64, n*p)
	for i := range y {
		y[i] = float64(n - 1 - i)
	}
	src.Gaussian(at, 2)
	for range p {
		o := make([]float64, n)
		src.Gaussian(o, 1)
		for i := range 20 {
			o[i] *= 1e6
		}
		m.Offsets = append(m.Offsets, o)
	}
	slope := make([]float64, n*p)
	m.Derivatives(slope, nil, append([]float64(nil), at...), y)
	precise := m.Precise()
	for i := range y {
		of := make([]dd.Number, p)
		for k := range of {
			of[k] = dd.From(at[k*n+i])
		}
		precise.Slopes(of, y[i])
		off := 0.0
		for k := range of {
			off = math.Hypot(off, of[k].Hi-slope[k*n+i])
		}
		if off > m.SlopeError()+8*0x1p-53 {
			t.Fatalf("record %d: slopes differ by %g, more than %g", i, off, m.SlopeError())
		}
	}
	// One record: the value by its definition.
	one := Maximum{Temperature: 0.3, Offsets: [][]float64{{0.2}, {-1}, {0}}}
	want := 0.3 * math.Log(math.Exp(1.2/0.3)+math.Exp(0.5/0.3)+math.Exp(0.7/0.3))
	got := one.Derivatives(make([]float64, 3), nil, []float64{1, 1.5, 0.7}, []float64{0})
	if !(math.Abs(got-want) <= 1e-14) {
		t.Errorf("f = %v, want %v", got, want)
	}
	if !one.ValidLabel(0) || one.ValidLabel(1) || one.ValidLabel(0.5) ||
		!math.IsNaN(Maximum{Temperature: 1}.Lipschitz()) {
		t.Error("labels, or a loss without pieces")
	}
	for _, one.Temperature = range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if !math.IsNaN(one.Lipschitz()) || !math.IsNaN(one.Smoothness()) {
			t.Errorf("a temperature of %v is accepted", one.Temperature)
		}
	}
}
