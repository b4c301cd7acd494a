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

// Every joint loss: slopes and curvatures are the differences of its values and slopes, alone or together, record by
// record or as a batch; its constants are bounds that are reached; its slopes in double-double are its slopes.
func TestJointLosses(t *testing.T) {
	weighted := []float64{weight.With(1, 0.75), weight.With(-1, 1)}
	for _, c := range []struct {
		joint  Joint
		labels []float64
		peak   []float64 // forms of the first label where the curvature is largest
		other  []float64 // labels that it has not
	}{
		{Softmax{4}, []float64{0, 1, 2, 3}, []float64{2, 2, -40, -40}, []float64{-1, 4, 0.5, math.NaN()}},
		{Softmax{2}, []float64{0, 1}, []float64{1, 1}, []float64{-1, 2}},
		{Maximum{0.5, [][]float64{{0, 1}, {0.5, -1}, {0, 0}}}, []float64{0, 1}, []float64{0.5, 0, -40},
			[]float64{-1, 2, 0.5}},
		{Sum(Logistic{}, Softplus{Width: 0.5}), []float64{-1, 1}, []float64{0, -1}, []float64{0, 2, math.NaN()}},
		{Sum(Stacked{Huber{1}, Logistic{}, []float64{0.5, 3, -1}, 2}), []float64{0, 1, 2}, []float64{0.5},
			[]float64{-1, 3, 0.5}},
		{Sum(Weighted{Logistic{}}), weighted[1:], []float64{0}, []float64{weight.With(0.5, 0.5), 1.0000001}},
		{Sum(Weighted{Logistic{}}), weighted, nil, nil},
	} {
		j, k := c.joint, c.joint.Forms()
		for _, y := range c.labels {
			if !j.ValidLabel(y) {
				t.Errorf("%s refuses %v", j.Name(), y)
			}
		}
		for _, y := range c.other {
			if j.ValidLabel(y) {
				t.Errorf("%s admits %v", j.Name(), y)
			}
		}
		f := func(at []float64, y float64) (value float64, slope, curv []float64) {
			slope, curv = make([]float64, k), make([]float64, k)
			value = j.Derivatives(slope, curv, slices.Clone(at), []float64{y})
			return value, slope, curv
		}
		src := noise.NewSeeded(6)
		const n, h = 24, 1e-5
		batch, labels := make([]float64, n*k), make([]float64, n)
		allSlopes, allCurvatures, alone := make([]float64, n*k), make([]float64, n*k), make([]float64, n*k)
		src.Gaussian(batch, 2)
		precise, steepest := j.Precise(), 0.0
		if precise.Absolute > 1e-20 || precise.Relative > 1e-25 || j.SlopeError() > 1e-13 {
			t.Errorf("%s: errors of %g and %g, of %g in float64", j.Name(), precise.Absolute, precise.Relative, j.SlopeError())
		}
		for i := range labels {
			labels[i] = c.labels[i%len(c.labels)]
			if i >= n-4 { // where slopes are steep
				for l := range k {
					batch[l*n+i] *= 10
				}
			}
		}
		value := j.Derivatives(allSlopes, allCurvatures, slices.Clone(batch), labels)
		j.Derivatives(nil, alone, slices.Clone(batch), labels)
		if !slices.Equal(alone, allCurvatures) {
			t.Errorf("%s: curvatures alone are others", j.Name())
		}
		j.Derivatives(alone, nil, slices.Clone(batch), labels)
		if !slices.Equal(alone, allSlopes) {
			t.Errorf("%s: slopes alone are others", j.Name())
		}
		for i, y := range labels {
			at, high := make([]float64, k), make([]dd.Number, k)
			for l := range at {
				at[l], high[l] = batch[l*n+i], dd.From(batch[l*n+i])
			}
			v, slope, curv := f(at, y)
			value -= v
			precise.Slopes(high, y)
			norm := 0.0
			for l := range at {
				if off := slope[l] - allSlopes[l*n+i]; math.Abs(off) > 1e-14 ||
					math.Abs(curv[l]-allCurvatures[l*n+i]) > 1e-14 || math.Abs(high[l].Hi-slope[l]) > 1e-13 {
					t.Errorf("%s: slope %v, in a batch %v, precisely %v", j.Name(), slope[l], allSlopes[l*n+i], high[l].Hi)
				}
				norm = math.Hypot(norm, slope[l])
				up, down := slices.Clone(at), slices.Clone(at)
				up[l], down[l] = up[l]+h, down[l]-h
				above, a, _ := f(up, y)
				below, b, _ := f(down, y)
				if d := (above - below) / (2 * h); math.Abs(d-slope[l]) > 1e-7 {
					t.Errorf("%s: slope %v along form %d, want %v", j.Name(), slope[l], l, d)
				}
				for other := range a {
					want := -j.Coupling() * curv[l] * curv[other]
					if other == l {
						want += curv[l]
					}
					if d := (a[other] - b[other]) / (2 * h); math.Abs(d-want) > 1e-5 {
						t.Errorf("%s: curvature %v of forms %d and %d, want %v", j.Name(), want, l, other, d)
					}
				}
			}
			steepest = math.Max(steepest, norm)
		}
		if math.Abs(value) > 1e-10 {
			t.Errorf("%s: the values of records are off by %g", j.Name(), value)
		}
		if l := j.Lipschitz(); steepest > l*(1+1e-12) || steepest < 0.95*l {
			t.Errorf("%s: the steepest slope is %v, said to be up to %v", j.Name(), steepest, l)
		}
		if c.peak == nil {
			continue
		}
		_, _, curv := f(c.peak, c.labels[0])
		hessian := mat.NewSymDense(k, nil)
		for a := range k {
			for b := range k {
				hessian.SetSym(a, b, -j.Coupling()*curv[a]*curv[b])
			}
			hessian.SetSym(a, a, hessian.At(a, a)+curv[a])
		}
		var eigen mat.EigenSym
		if eigen.Factorize(hessian, false); math.Abs(eigen.Values(nil)[k-1]/j.Smoothness()-1) > 1e-9 {
			t.Errorf("%s: curvature %v at its peak, said to be up to %v", j.Name(), eigen.Values(nil)[k-1], j.Smoothness())
		}
	}
	for _, j := range []Joint{Softmax{1}, Softmax{}, Maximum{1, [][]float64{{0}}}} {
		if !math.IsNaN(j.Lipschitz()) || !math.IsNaN(j.Smoothness()) || !math.IsNaN(j.SlopeError()) {
			t.Errorf("%d forms have constants", j.Forms())
		}
	}
}

// Slopes in double-double are stated to be nearly as accurate as that: an error that is far too large would be one that
// no solver can do with.
func TestPreciseErrorsAreSmall(t *testing.T) {
	for _, c := range preciseCases {
		for _, l := range []Loss{c.loss, Clipped(c.loss, 0.7), Weighted{c.loss}} {
			if p, ok := PreciseSlope(l); ok && !(p.Absolute >= 0 && p.Absolute < 1e-21 && p.Relative < 1e-23) {
				t.Errorf("%s: errors of %g and %g of the slope", l.Name(), p.Absolute, p.Relative)
			}
		}
	}
}

// |f‴| ≤ M·f″ with M as stated, and somewhere nearly so.
func TestSelfConcordance(t *testing.T) {
	for _, l := range []Loss{Logistic{}, Softplus{Width: 0.5}, PseudoHuber{1.5}, SmoothPinball{0.3, 0.7},
		Convolved{smoothing.Logistic{}, 0.7, -0.3, 2}, Convolved{smoothing.Laplacian{}, 0.7, -0.3, 2},
		Weighted{Logistic{}}} {
		most := 0.0
		y := 1.0
		if _, ok := l.(Weighted); ok {
			y = weight.With(1, 0.5)
		}
		for v := -6.0; v <= 6; v += 1.0 / 64 {
			const h = 1e-5
			if math.Abs(v-1) < 2*h {
				continue // a kink of f″
			}
			most = math.Max(most, math.Abs(curvature(l, v+h, y)-curvature(l, v-h, y))/(2*h*curvature(l, v, y)))
		}
		if m := l.(SelfConcordant).SelfConcordance(); most > m*(1+1e-6) || most < 0.95*m {
			t.Errorf("%s: |f‴| is up to %v·f″, said to be up to %v", l.Name(), most, m)
		}
	}
	if m := (Weighted{Squared{}}).SelfConcordance(); !math.IsInf(m, 1) {
		t.Errorf("of a loss that says nothing: %v", m)
	}
}
