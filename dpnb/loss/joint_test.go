package loss

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/internal/weight"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// Every joint loss: slopes and curvatures are the differences of its values and slopes, of a record alone or in a
// batch; its constants are bounds that are reached; its slopes in double-double are its slopes.
func TestJointLosses(t *testing.T) {
	for _, c := range []struct {
		joint  Joint
		labels []float64
		peak   []float64 // forms of the first label where the curvature is largest
		other  []float64 // labels that it has not
	}{
		{Softmax{4}, []float64{0, 1, 2, 3}, []float64{2, 2, -40, -40}, []float64{-1, 4, 0.5, math.NaN()}},
		{Maximum{0.5, [][]float64{{0, 1}, {0.5, -1}, {0, 0}}}, []float64{0, 1}, []float64{0.5, 0, -40},
			[]float64{-1, 2}},
		{Sum(Logistic{}, Softplus{Width: 0.5}), []float64{-1, 1}, []float64{0, -1}, []float64{0, 2, math.NaN()}},
		{Sum(Stacked{Huber{1}, Logistic{}, []float64{0.5, 3, -1}, 2}), []float64{0, 1, 2}, []float64{0.5},
			[]float64{-1, 3}},
		{Sum(Weighted{Logistic{}}), []float64{weight.With(-1, 1), weight.With(1, 0.75)}, []float64{0},
			[]float64{weight.With(0.5, 0.5), 1.0000001}},
	} {
		j, k, name := c.joint, c.joint.Forms(), c.joint.Name()
		for i, y := range append(slices.Clone(c.labels), c.other...) {
			if j.ValidLabel(y) != (i < len(c.labels)) {
				t.Errorf("%s: label %v", name, y)
			}
		}
		f := func(at, y []float64) (value float64, slope, curv []float64) {
			slope, curv = make([]float64, len(at)), make([]float64, len(at))
			value = j.Derivatives(slope, curv, slices.Clone(at), y)
			return value, slope, curv
		}
		const n, h = 24, 1e-5
		batch, labels, alone := make([]float64, n*k), make([]float64, n), make([]float64, n*k)
		noise.NewSeeded(6).Gaussian(batch, 2)
		for i := range labels {
			labels[i] = c.labels[i%len(c.labels)]
			for l := range k {
				if i >= n-4 { // where slopes are steep
					batch[l*n+i] *= 10
				}
			}
		}
		value, slopes, curvatures := f(batch, labels)
		if v, _, _ := f(nil, nil); v != 0 {
			t.Errorf("%s of no records: %v", name, v)
		}
		j.Derivatives(nil, alone, slices.Clone(batch), labels)
		same := slices.Equal(alone, curvatures)
		j.Derivatives(alone, nil, slices.Clone(batch), labels)
		if !same || !slices.Equal(alone, slopes) {
			t.Errorf("%s: slopes or curvatures alone are others", name)
		}
		precise, steepest := j.Precise(), 0.0
		for i := range labels {
			at, high, y := make([]float64, k), make([]dd.Number, k), labels[i:i+1]
			for l := range at {
				at[l], high[l] = batch[l*n+i], dd.From(batch[l*n+i])
			}
			v, slope, curv := f(at, y)
			precise.Slopes(high, y[0])
			norm := 0.0
			for l := range at {
				if !(math.Abs(slope[l]-slopes[l*n+i]) <= 1e-14) || !(math.Abs(curv[l]-curvatures[l*n+i]) <= 1e-14) ||
					!(math.Abs(high[l].Hi-slope[l]) <= 1e-13) {
					t.Errorf("%s: slope %v, in a batch %v, precisely %v", name, slope[l], slopes[l*n+i], high[l])
				}
				norm = math.Hypot(norm, slope[l])
				up, down := slices.Clone(at), slices.Clone(at)
				up[l], down[l] = up[l]+h, down[l]-h
				above, a, _ := f(up, y)
				below, b, _ := f(down, y)
				if d := (above - below) / (2 * h); !(math.Abs(d-slope[l]) <= 1e-7) {
					t.Errorf("%s: slope %v along form %d, want %v", name, slope[l], l, d)
				}
				for other := range a {
					want := -j.Coupling() * curv[l] * curv[other]
					if other == l {
						want += curv[l]
					}
					if d := (a[other] - b[other]) / (2 * h); !(math.Abs(d-want) <= 1e-5) {
						t.Errorf("%s: curvature %v of forms %d and %d, want %v", name, want, l, other, d)
					}
				}
			}
			value, steepest = value-v, math.Max(steepest, norm)
		}
		_, _, curv := f(c.peak, c.labels[:1])
		hessian := mat.NewSymDense(k, nil)
		for a := range k {
			for b := range k {
				hessian.SetSym(a, b, -j.Coupling()*curv[a]*curv[b])
			}
			hessian.SetSym(a, a, hessian.At(a, a)+curv[a])
		}
		var eigen mat.EigenSym
		eigen.Factorize(hessian, false)
		l, s, most := j.Lipschitz(), j.Smoothness(), eigen.Values(nil)[k-1]
		if !(math.Abs(value) <= 1e-10) || steepest > l*(1+1e-12) || steepest < 0.95*l ||
			!(math.Abs(most/s-1) <= 1e-9) || precise.Absolute > 1e-20 || precise.Relative > 1e-25 ||
			j.SlopeError() > 1e-13 {
			t.Errorf("%s: values off by %g, slope %v of %v, curvature %v of %v", name, value, steepest, l, most, s)
		}
	}
	for _, j := range []Joint{Softmax{1}, Maximum{1, [][]float64{{0}}}} {
		if !math.IsNaN(j.Lipschitz()) || !math.IsNaN(j.Smoothness()) || !math.IsNaN(j.SlopeError()) {
			t.Errorf("%d forms have constants", j.Forms())
		}
	}
}

// |f‴| ≤ M·f″ with M as stated, and somewhere nearly so; errors of slopes in double-double are stated to be small.
func TestStatedFacts(t *testing.T) {
	for _, l := range []Loss{Logistic{}, Softplus{Width: 0.5}, PseudoHuber{1.5}, SmoothPinball{0.3, 0.7},
		Convolved{smoothing.Logistic{}, 0.7, -0.3, 2}, Convolved{smoothing.Laplacian{}, 0.7, -0.3, 2}} {
		most := 0.0
		for v := -6.0; v <= 6; v += 1.0 / 64 {
			if v == 1 {
				continue // a kink of f″
			}
			change := math.Abs(curvature(l, v+1e-5, 1) - curvature(l, v-1e-5, 1))
			most = math.Max(most, change/(2e-5*curvature(l, v, 1)))
		}
		if m := l.(SelfConcordant).SelfConcordance(); most > m*(1+1e-6) || most < 0.95*m {
			t.Errorf("%s: |f‴| is up to %v·f″, said to be up to %v", l.Name(), most, m)
		}
	}
	for _, c := range preciseCases {
		for _, l := range []Loss{c.loss, Clipped(c.loss, 0.7), Weighted{c.loss}} {
			if p, ok := PreciseSlope(l); ok && !(p.Absolute >= 0 && p.Absolute < 1e-21 && p.Relative < 1e-23) {
				t.Errorf("%s: errors of %g and %g of the slope", l.Name(), p.Absolute, p.Relative)
			}
		}
	}
}
