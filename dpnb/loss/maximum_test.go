package loss

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Values, slopes and curvatures against differences, the slopes in double-double against those in float64 within the
// bound on their error, forms and offsets that are far apart among them.
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
	eval := func(t []float64, slope, curv []float64) float64 {
		return m.Derivatives(slope, curv, append([]float64(nil), t...), y)
	}
	slope, curv := make([]float64, n*p), make([]float64, n*p)
	eval(at, slope, curv)
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
	for k := range p {
		const h = 1e-5
		up, down := append([]float64(nil), at...), append([]float64(nil), at...)
		for i := range n {
			up[k*n+i], down[k*n+i] = up[k*n+i]+h, down[k*n+i]-h
		}
		a, b := make([]float64, n*p), make([]float64, n*p)
		eval(up, a, nil)
		eval(down, b, nil)
		for i := range n - 20 { // the last ones' places are the first, of large offsets
			for l := range p {
				want := -m.Coupling() * curv[k*n+i] * curv[l*n+i]
				if l == k {
					want += curv[k*n+i]
				}
				if got := (a[l*n+i] - b[l*n+i]) / (2 * h); !(math.Abs(got-want) <= 1e-6) {
					t.Fatalf("∂²f/∂t_%d∂t_%d of record %d is %v, want %v", k, l, i, got, want)
				}
			}
		}
	}
	// One record: the value by its definition, and its difference along a form.
	one := Maximum{Temperature: 0.3, Offsets: [][]float64{{0.2}, {-1}, {0}}}
	f := func(a, b, c float64) float64 {
		return one.Derivatives(make([]float64, 3), nil, []float64{a, b, c}, []float64{0})
	}
	want := 0.3 * math.Log(math.Exp(1.2/0.3)+math.Exp(0.5/0.3)+math.Exp(0.7/0.3))
	if got := f(1, 1.5, 0.7); !(math.Abs(got-want) <= 1e-14) {
		t.Errorf("f = %v, want %v", got, want)
	}
	s := make([]float64, 3)
	one.Derivatives(s, nil, []float64{1, 1.5, 0.7}, []float64{0})
	if got := (f(1, 1.5+1e-6, 0.7) - f(1, 1.5-1e-6, 0.7)) / 2e-6; !(math.Abs(got-s[1]) <= 1e-8) {
		t.Errorf("∂f/∂t = %v, want %v", got, s[1])
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
