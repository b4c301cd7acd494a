package convolution

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// bowl is (‖Aθ − y‖₁ − 1)₊ of two residuals.
func bowl(t testing.TB, width float64) Loss {
	t.Helper()
	f := must.Get(smoothing.NewBowlPieces(2, 1))
	return Loss{Pieces: &smoothing.Entropic{Function: f, Width: width}, Forms: 2, Norm: 1.5}
}

// The release is where the gradient of the objective, written out by smoothing.Entropic, is zero; a record that is too
// long is scaled with its level.
func TestPieces(t *testing.T) {
	const n, d = 40, 3
	src := noise.NewSeeded(8)
	x, y := matrix.NewDense(2*n, d, nil), make([]float64, 2*n)
	src.Gaussian(x.Data, 0.7)
	src.Gaussian(y, 1)
	x.Data[5] = math.NaN() // the first record counts as zero
	m := COP{Loss: bowl(t, 0.2), Lambda: 2, Sigma: 1e-9, Tolerance: 1e-9, OutputSigma: 1e-10, Account: Entropic}
	r := must.Get(m.Run(x, y, noise.NewSeeded(1), nil))
	g, slopes, long := append([]float64(nil), r.Coefficients...), make([]float64, 2), 0
	floats.Scale(m.Lambda, g)
	for i := 1; i < n; i++ {
		a := append([]float64(nil), x.Data[2*d*i:2*d*(i+1)]...)
		s := math.Min(1, m.Norm/spectral(a))
		if s < 1 {
			long++
		}
		floats.Scale(s, a)
		f := must.Get(smoothing.NewBowlPieces(2, s))
		u := []float64{floats.Dot(a[:d], r.Coefficients) - s*y[2*i], floats.Dot(a[d:], r.Coefficients) - s*y[2*i+1]}
		f.Entropic(0.2).ValueGradient(slopes, u)
		floats.AddScaled(g, slopes[0], a[:d])
		floats.AddScaled(g, slopes[1], a[d:])
	}
	if norm := floats.Norm(g, 2); norm > 1e-7 || long < 3 {
		t.Errorf("the gradient has norm %g; %d records were too long", norm, long)
	}
}

// The slope and the curvature of pieces are rounded up.
func TestConstantsOfPiecesAreRoundedUp(t *testing.T) {
	l := bowl(t, 1)
	if up := l.Lipschitz()/(l.bound()*l.Pieces.Function.Lipschitz()) - 1; !(math.Abs(up/piecesSlack-1) < 0.01) {
		t.Errorf("the slope is %g of itself too large, want %g", up, piecesSlack)
	}
	for width := 0.1; width < 30; width *= 1.1 {
		l := bowl(t, width)
		apart := l.bound() * (l.Pieces.Function.Diameter() + piecesSlack*l.Pieces.Function.Lipschitz())
		if got, least := l.Smoothness(), apart*apart/(4*width); !(got > least && got <= least*(1+1e-14)) {
			t.Errorf("width %g: %.17g, want a little more than %.17g", width, got, least)
		}
	}
}

// The soft maximum of the lines ±u is |u| convolved with the logistic kernel of its width: as pieces and as a form it
// has the same constants, at a norm and a width that are not 1.
func TestPiecesHaveTheConstantsOfTheirForm(t *testing.T) {
	f := must.Get(smoothing.NewPolyhedral([][]float64{{-1}, {1}}, []float64{0, 0}))
	pieces := Loss{Pieces: &smoothing.Entropic{Function: f, Width: 0.6}, Forms: 1, Norm: 3}
	form := Loss{Form: loss.Absolute(smoothing.Logistic{}, 0.6), Forms: 1, Norm: 3}
	jump, variance := pieces.bends()
	wantJump, wantVariance := form.bends()
	for _, c := range []struct {
		what      string
		got, want float64
	}{{"slope", pieces.Lipschitz(), form.Lipschitz()}, {"curvature", pieces.Smoothness(), form.Smoothness()},
		{"jump", jump, wantJump}, {"variance", variance, wantVariance}} {
		if !(math.Abs(c.got/c.want-1) <= 1e-9) {
			t.Errorf("the %s is %v, of the form %v", c.what, c.got, c.want)
		}
	}
}

// Calibrated parts satisfy (ε, δ), and a hundredth less noise does not; with a ridge from λw = 2σ² on nothing is
// charged; what is not of this loss is refused by name.
func TestCalibratePieces(t *testing.T) {
	base := Config{Loss: bowl(t, 0), Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove,
		Planned: Planned{Records: 1000, Features: 3, Radius: 2, Residual: 1}}
	unit := must.Get(privacy.GaussianSigma(1, 1e-5))
	fixed := base
	fixed.Loss, fixed.Lambda = bowl(t, 0.5), 2000
	for _, c := range []Config{base, fixed} {
		m := must.Get(Calibrate(c))
		p, err := mechanism.Profile(m)
		if err != nil {
			t.Fatal(err)
		}
		if got := privacy.DeltaUpper(p, 1); got > 1e-5 || got < 0.97e-5 {
			t.Errorf("%v: δ = %g", m, got)
		}
		charge := m.entropicPieces().Charge()
		if (charge < 1e-9) != (c.Lambda > 0) {
			t.Errorf("%v: %g is charged", m, charge)
		}
		// The four corners have the norm L: four times the δ of the Gaussian mechanism.
		if share := m.Sigma / (unit * m.Lipschitz()); share < 1.05 || share > 2.5 {
			t.Errorf("%v: σ is %.3f of the Gaussian mechanism's", m, share)
		}
		m.Sigma *= 0.99
		if p, err = mechanism.Profile(m.finish(0)); err != nil || privacy.DeltaUpper(p, 1) <= 1e-5 {
			t.Errorf("%v: a hundredth less noise satisfies it too (%v)", m, err)
		}
	}
	var bad *privacy.ParamError
	for name, change := range map[string]func(c *Config){
		"a form beside":    func(c *Config) { c.Form = loss.Huber{Threshold: 1} },
		"rows":             func(c *Config) { c.Forms = 3 },
		"a negative width": func(c *Config) { c.Pieces = &smoothing.Entropic{Function: c.Pieces.Function, Width: -1} },
		"no pieces":        func(c *Config) { c.Pieces = &smoothing.Entropic{} },
		"the paper's rule": func(c *Config) { c.Rule = Paper },
	} {
		c := base
		change(&c)
		if _, err := Calibrate(c); !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := CalibrateRecentred(base, 2); !errors.Is(err, privacy.ErrUnsupported) {
		t.Errorf("stages: %v", err)
	}
	m := COP{Loss: bowl(t, 1), Lambda: 1, Sigma: 5, Tolerance: 1e-6, OutputSigma: 1, Account: ByRows}
	if err := m.Validate(); !errors.Is(err, privacy.ErrUnsupported) {
		t.Errorf("another account: %v", err)
	}
	m.Account = Entropic
	var data *matrix.DataError
	if err := m.Check(matrix.NewDense(2, 1, nil), []float64{0, math.Inf(1)}); !errors.As(err, &data) {
		t.Errorf("an infinite label: %v", err)
	}
	if err := m.Check(matrix.NewDense(3, 1, nil), make([]float64, 3)); !errors.As(err, &data) {
		t.Errorf("half a record: %v", err)
	}
}
