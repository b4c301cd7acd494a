package convolution

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// withLogistic is ‖Aθ − y‖₁, m = 2, and the logistic loss of zᵀθ.
var withLogistic = Loss{Form: loss.Absolute(smoothing.Logistic{}, 0.5), Forms: 2, Norm: 1.5, Other: loss.Logistic{},
	OtherNorm: 1}

// mixed returns n records of withLogistic, some too long.
func mixed(n int) (*matrix.Dense, []float64) {
	src := noise.NewSeeded(8)
	x, y := matrix.NewDense(3*n, 4, nil), make([]float64, 3*n)
	src.Gaussian(x.Data, 0.5)
	src.Gaussian(y, 1)
	for i := 2; i < 3*n; i += 3 {
		y[i] = math.Copysign(1, y[i])
	}
	return x, y
}

// The release is where the gradient of the objective, written out, is zero.
func TestOther(t *testing.T) {
	const n = 50
	x, y := mixed(n)
	x.Data[4*2] = math.NaN() // the first record's z counts as zero
	m := COP{Loss: withLogistic, Lambda: 2, Sigma: 1e-9, Tolerance: 1e-9, OutputSigma: 1e-10}
	r := must.Get(m.Run(x, y, noise.NewSeeded(1), nil))
	g := append([]float64(nil), r.Coefficients...)
	floats.Scale(m.Lambda, g)
	for i := range n {
		a := append([]float64(nil), x.Data[12*i:12*i+12]...)
		labels := append([]float64(nil), y[3*i:3*i+3]...)
		norm := spectral(a[:8])
		if s := math.Min(1, m.Norm/norm); s < 1 {
			floats.Scale(s, a[:8])
			floats.Scale(s, labels[:2])
		}
		if l := floats.Norm(a[8:], 2); math.IsNaN(l) {
			clear(a[8:])
		} else if l > m.OtherNorm {
			floats.Scale(m.OtherNorm/l, a[8:])
		}
		for j := range 3 {
			row := a[4*j : 4*j+4]
			slope := math.Tanh((floats.Dot(row, r.Coefficients) - labels[j]) / 0.5)
			if j == 2 {
				slope = -labels[2] / (1 + math.Exp(labels[2]*floats.Dot(row, r.Coefficients)))
			}
			floats.AddScaled(g, slope, row)
		}
	}
	if norm := floats.Norm(g, 2); norm > 1e-7 {
		t.Errorf("the gradient has norm %g", norm)
	}
}

// spectral returns ‖A‖₂ of two rows.
func spectral(a []float64) float64 {
	d := len(a) / 2
	p, q, r := floats.Dot(a[:d], a[:d]), floats.Dot(a[d:], a[d:]), floats.Dot(a[:d], a[d:])
	return math.Sqrt((p+q)/2 + math.Hypot((p-q)/2, r))
}

// Beside an h the accounting pays for its row, the best c is no worse than others, and the rank bound asks for more
// noise; step 1 without an answer says which n or λ would do.
func TestCalibrateOther(t *testing.T) {
	testscale.InTurn(t)
	c := Config{Loss: withLogistic, Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove, Lambda: 200}
	m := must.Get(Calibrate(c))
	if m.Account != ByRows || !(m.Stack > 0) {
		t.Errorf("%v, c = %v", m.Account, m.Stack)
	}
	alone := c
	alone.Other = nil
	without, err := Calibrate(alone)
	if err != nil || m.Sigma < 1.2*without.Sigma {
		t.Errorf("σ = %v with an h, %v without (%v)", m.Sigma, without.Sigma, err)
	}
	for _, factor := range []float64{0.3, 3} {
		other := m
		other.Stack *= factor
		if c.satisfied(other) {
			t.Errorf("%g times the best c is as good", factor)
		}
	}
	c = Config{Loss: withLogistic, Epsilon: 0.05, Delta: 1e-5, Adjacency: privacy.AddRemove, Rule: Paper,
		Planned: Planned{Records: 10, Features: 4, Radius: 1e4}}
	c.Form = loss.Absolute(smoothing.Logistic{}, 0)
	var none *NoWidthError
	if _, err := Calibrate(c); !errors.As(err, &none) {
		t.Fatalf("%v", err)
	}
	c.Planned.Records = none.Enough
	if _, err := Calibrate(c); err != nil {
		t.Errorf("with n = %d: %v", none.Enough, err)
	}
	c.Planned.Records = none.Enough - 2
	if _, err := Calibrate(c); !errors.As(err, &none) {
		t.Errorf("with fewer: %v", err)
	}
	c.Rule = Predicted
	var bad *privacy.ParamError
	if _, err := Calibrate(c); !errors.As(err, &bad) {
		t.Errorf("nothing is predicted of an h: %v", err)
	}
	c.Rule, c.Other = Paper, loss.Squared{}
	if _, err := Calibrate(c); !errors.Is(err, privacy.ErrUnsupported) {
		t.Errorf("an unbounded h: %v", err)
	}
}

// max(0, zᵀθ) as |zᵀθ|/2 + zᵀθ/2 (cop, section 2): the linear h moves the release as a tilt by its sum does, and costs
// a Gaussian mechanism beside the form.
func TestLinearOther(t *testing.T) {
	testscale.Slow(t)
	const n, d = 30, 3
	src := noise.NewSeeded(9)
	x, y, z := matrix.NewDense(2*n, d, nil), make([]float64, 2*n), make([]float64, n*d)
	src.Gaussian(z, 0.3)
	for i := range n {
		for j := range d {
			x.Data[2*i*d+j], x.Data[(2*i+1)*d+j] = z[i*d+j]/2, z[i*d+j]
		}
	}
	l := Loss{Form: loss.Absolute(smoothing.Logistic{}, 0.1), Forms: 1, Norm: 5, Other: loss.Linear{Slope: 0.5},
		OtherNorm: 10}
	m := COP{Loss: l, Lambda: 1, Sigma: 1e-9, Tolerance: 1e-9, OutputSigma: 1e-10}
	r := must.Get(m.Run(x, y, noise.NewSeeded(1), nil))
	g := append([]float64(nil), r.Coefficients...)
	for i := range n {
		row := z[i*d : (i+1)*d]
		floats.AddScaled(g, (math.Tanh(floats.Dot(row, r.Coefficients)/2/0.1)+1)/2, row)
	}
	if norm := floats.Norm(g, 2); norm > 1e-7 {
		t.Errorf("the gradient has norm %g", norm)
	}
	// As D = 1, Ā = 1/2: the whole gradient has norm at most 1, as that of a GLM has, which asks for the Gaussian
	// mechanism's noise at least; the form and its h are charged apart.
	c := Config{Loss: l, Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove, Lambda: 1000}
	c.Norm, c.OtherNorm = 0.5, 1
	got := must.Get(Calibrate(c))
	unit, err := privacy.GaussianSigma(1, 1e-5)
	if ratio := got.Sigma / unit; err != nil || ratio < 1 || ratio > 1.1 {
		t.Errorf("σ is %.4f of the Gaussian mechanism's (%v)", ratio, err)
	}
	c.Other = loss.Linear{}
	var bad *privacy.ParamError
	if _, err := Calibrate(c); !errors.As(err, &bad) {
		t.Errorf("no slope: %v", err)
	}
}
