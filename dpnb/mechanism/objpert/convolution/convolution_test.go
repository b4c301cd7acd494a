package convolution

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// truth and centre are those of cop's base experiment: y ~ N(Aθ, I), A ~ N(centre, 1).
var (
	truth  = []float64{.5, -.5, 1, -1, 1}
	centre = []float64{1, .5, 0, 0, 1, .5, .5, 0, 0, 1, 0, 0, -.5, 0, 1}
)

// medians returns n records of cop's base experiment, m = 3, d = 5.
func medians(n int, src *noise.Seeded) (*matrix.Dense, []float64) {
	x, y := matrix.NewDense(3*n, 5, nil), make([]float64, 3*n)
	src.Gaussian(x.Data, 1)
	src.Gaussian(y, 1)
	for i := range y {
		row := x.Data[5*i : 5*i+5]
		floats.Add(row, centre[5*(i%3):5*(i%3)+5])
		y[i] += floats.Dot(row, truth)
	}
	return x, y
}

func config(k smoothing.Kernel, eps float64, r Rule, n int) Config {
	return Config{Loss: Loss{Form: loss.Absolute(k, 0), Forms: 3, Norm: 4}, Epsilon: eps, Delta: 1e-5,
		Adjacency: privacy.AddRemove,
		Rule:      r, Planned: Planned{Records: n, Features: 5, Radius: 2, Residual: 1}}
}

// What is calibrated satisfies (ε, δ) by its own profile, and a hundredth less noise does not, but for Paper, whose
// ridge is more than its noise wants.
func TestCalibrate(t *testing.T) {
	testscale.Slow(t)
	for _, k := range []smoothing.Kernel{smoothing.Gaussian{}, smoothing.Logistic{}} {
		for _, r := range []Rule{Predicted, Paper} {
			if (r == Paper) == (k == smoothing.Logistic{}) && !testscale.Full() {
				continue
			}
			m := must.Get(Calibrate(config(k, 1, r, 1000)))
			p, err := mechanism.Profile(m)
			if err != nil {
				t.Fatal(err)
			}
			got := privacy.DeltaUpper(p, 1)
			if got > 1e-5 || got < 0.97e-5 && r == Predicted {
				t.Errorf("%v: δ = %g", m, got)
			}
			m.Sigma *= 0.99
			if p, err = mechanism.Profile(m.finish(0)); err != nil || r == Predicted &&
				privacy.DeltaUpper(p, 1) <= 1e-5 {
				t.Errorf("%v: a hundredth less noise satisfies it too (%v)", m, err)
			}
		}
	}
}

// cop's printed noise is never the default and says what it is; its guarantee is what is proved at its parameters.
func TestPrintedIsMarked(t *testing.T) {
	m := must.Get(Calibrate(config(smoothing.Gaussian{}, 1, Printed, 1000)))
	l := m.Lipschitz()
	if r := m.Sigma / l; !(math.Abs(r-10.005) <= 1e-3) {
		t.Errorf("σ/C = %v", r)
	}
	if s := strings.Join(m.Describe().Assumptions, "; "); !strings.Contains(s, "NOT proved") {
		t.Errorf("nothing is said of it: %s", s)
	}
	laplacian := must.Get(Calibrate(config(smoothing.Laplacian{}, 1, Printed, 1000)))
	width := func(m COP) float64 { return m.Form.(loss.Convolved).Width }
	if r := width(laplacian) / width(m); !(math.Abs(r-math.Sqrt(6)) <= 1e-9) {
		t.Errorf("the Laplacian kernel is %v times as wide, want √6", r)
	}
	// μ = L_f/β_μ, L_f = √m·Ā of |·| and β_μ = nελ/(m + 1) with λ that of the mean.
	if want := math.Sqrt(3) * 4 / (m.Lambda / 2 / 4); !(math.Abs(width(m)/want-1) <= 1e-9) {
		t.Errorf("the kernel is %v wide, want %v", width(m), want)
	}
	if _, err := Calibrate(config(smoothing.Logistic{}, 1, Printed, 1000)); err == nil {
		t.Error("the logistic kernel has a printed constant")
	}
}

// clipped records are within the bound, in the same direction, and others are as they were.
func TestClip(t *testing.T) {
	src := noise.NewSeeded(3)
	for _, m := range []int{1, 2, 5} {
		for _, byRow := range []bool{false, true} {
			l := Loss{Form: loss.Absolute(smoothing.Logistic{}, 1), Forms: m, Norm: 2, ByRow: byRow}
			const n, d = 40, 4
			x, y := matrix.NewDense(n*m, d, nil), make([]float64, n*m)
			src.Gaussian(x.Data, 1)
			src.Gaussian(y, 1)
			floats.Scale(1e200, x.Data[:m*d])
			floats.Scale(1e-200, x.Data[m*d:2*m*d])
			x.Data[2*m*d] = math.NaN()
			x.Data[3*m*d] = math.Inf(-1)
			cx, cy, _ := l.clip(x, y)
			for i := range n {
				var svd mat.SVD
				a := mat.NewDense(m, d, cx.Data[i*m*d:(i+1)*m*d])
				if !svd.Factorize(a, mat.SVDNone) {
					t.Fatal("svd")
				}
				got := svd.Values(nil)[0]
				if byRow {
					got = 0
					for j := range m {
						got = math.Max(got, floats.Norm(a.RawRowView(j), 2))
					}
				}
				raw := mat.NewDense(m, d, x.Data[i*m*d:(i+1)*m*d])
				was := mat.Norm(raw, 2)
				if got > l.Norm*(1+1e-13) || i == 0 && got < l.Norm*(1-1e-12) {
					t.Errorf("m = %d, by row %v, record %d: the norm is %v", m, byRow, i, got)
				}
				if i == 1 && mat.Norm(a, 2) != was {
					t.Error("a short record was changed")
				}
				if zero := mat.Norm(a, 2) == 0; !byRow && zero != (i == 2 || i == 3) {
					t.Errorf("record %d is zero: %v", i, zero)
				}
				for j := range m {
					x0, x1 := x.Data[(i*m+j)*d+1], cx.Data[(i*m+j)*d+1]
					if r, s := x1/x0, cy[i*m+j]/y[i*m+j]; i > 3 && !(math.Abs(r-s) <= 1e-12*s) {
						t.Errorf("the row was scaled by %v, its label by %v", r, s)
					}
				}
			}
		}
	}
}

// A bound so small that Ā/‖A‖ has few digits left, or none, is kept to: rounded to one of the smallest float64, the
// quotient would leave a record a third too long.
func TestClipUnderflow(t *testing.T) {
	for _, norm := range []float64{0x1p-100, 1.3e-15, 1e-4} {
		for _, large := range []float64{math.MaxFloat64, 1e300, 1e293} {
			for _, byRow := range []bool{false, true} {
				l := Loss{Form: loss.Absolute(smoothing.Logistic{}, 1), Forms: 2, Norm: norm, ByRow: byRow}
				x, _, _ := l.clip(matrix.NewDense(2, 1, []float64{large, large / 3}), make([]float64, 2))
				if a := math.Hypot(x.Data[0]/norm, x.Data[1]/norm) * norm; !(a <= l.bound()) {
					t.Errorf("Ā = %g, entries of %g, by row %v: ‖A‖ = %g", norm, large, byRow, a)
				}
			}
		}
	}
}

// ε = ∞: with hardly any noise and ridge it is the fit of the clipped records.
func TestNoNoiseEqualsNonPrivate(t *testing.T) {
	x, y := medians(200, noise.NewSeeded(5))
	m := COP{Loss: Loss{Form: loss.Absolute(smoothing.Logistic{}, 0.5), Forms: 3, Norm: 4}, Lambda: 1, Sigma: 1e-9,
		Tolerance: 1e-9, OutputSigma: 1e-9,
		Centre: []float64{1, 2, 3, 4, 5}}
	cx, cy, _ := m.Loss.clip(x, y)
	pull := make([]float64, 5)
	floats.AddScaled(pull, -m.Lambda, m.Centre)
	want := must.Get(erm.Minimize(&erm.Problem{Rows: cx, Labels: cy, Loss: m.Form, Lambda: m.Lambda, Linear: pull},
		nil))
	for _, rows := range []matrix.Rows{x, x.Sparse()} {
		r := must.Get(m.Run(rows, y, noise.NewSeeded(1), nil))
		if off := floats.Distance(r.Coefficients, want.Theta, 2); off > 1e-7 {
			t.Errorf("%v away", off)
		}
	}
}

// What is wrong is said before any noise is drawn, by public numbers.
func TestRefuses(t *testing.T) {
	testscale.Slow(t)
	good := config(smoothing.Logistic{}, 1, Predicted, 1000)
	for name, change := range map[string]func(*Config){
		"Width":            func(c *Config) { c.Form = loss.Absolute(smoothing.Logistic{}, -1) },
		"Norm":             func(c *Config) { c.Norm = 0 },
		"Forms":            func(c *Config) { c.Forms = 0 },
		"Form":             func(c *Config) { c.Form = nil },
		"Epsilon":          func(c *Config) { c.Epsilon = 0 },
		"Delta":            func(c *Config) { c.Delta = 1 },
		"Lambda":           func(c *Config) { c.Lambda = math.NaN() },
		"Planned.Records":  func(c *Config) { c.Planned.Records = 0 },
		"Planned.Radius":   func(c *Config) { c.Planned.Radius = math.Inf(1) },
		"Planned.Residual": func(c *Config) { c.Planned.Residual = 0 },
		"Planned.Features": func(c *Config) { c.Planned.Features = 0 },
	} {
		c := good
		change(&c)
		var bad *privacy.ParamError
		if _, err := Calibrate(c); !errors.As(err, &bad) || bad.Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := good
	c.Adjacency = privacy.ReplaceOne
	if _, err := Calibrate(c); !errors.Is(err, privacy.ErrUnsupported) {
		t.Errorf("replace-one: %v", err)
	}
	if err := (Planned{Records: 1, Features: 1, Radius: 1}).validate(); err != nil {
		t.Errorf("one record: %v", err)
	}
	c = good
	c.Form = loss.Absolute(smoothing.Logistic{}, 0.5)
	var rule *privacy.ParamError
	if _, err := CalibrateRecentred(c, 2); !errors.As(err, &rule) || rule.Name != "Rule" {
		t.Errorf("stages of a width that is stated: %v", err)
	}
	for _, stages := range []int{0, 11} {
		if _, err := CalibrateRecentred(good, stages); !errors.As(err, &rule) || rule.Name != "stages" {
			t.Errorf("%d stages: %v", stages, err)
		}
	}
	c = good
	c.Form = loss.Pinball{Tau: 0.5}
	c.Lambda = 1
	if _, err := Calibrate(c); !errors.Is(err, privacy.ErrUnsupported) {
		t.Errorf("a kink: %v", err)
	}
	c = good
	c.Lambda, c.Form = 1e-6, loss.Absolute(smoothing.Uniform{}, 1e-3)
	var bad *privacy.ParamError
	if _, err := Calibrate(c); !errors.As(err, &bad) || !strings.Contains(bad.Want, "would do") {
		t.Errorf("no σ: %v", err)
	}
	m := must.Get(Calibrate(good))
	x, y := medians(10, noise.NewSeeded(1))
	nan := append([]float64(nil), y...)
	nan[3] = math.Inf(1)
	var data *matrix.DataError
	for name, run := range map[string]func() error{
		"shape":  func() error { return m.Check(matrix.NewDense(29, 5, x.Data[:145]), y[:29]) },
		"labels": func() error { return m.Check(x, nan) },
		"length": func() error { return m.Check(x, y[:5]) },
		"centre": func() error { c := m; c.Centre = []float64{1}; return c.Check(x, y) },
	} {
		if err := run(); !errors.As(err, &data) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := m.Run(x, nan, nil, nil); !errors.Is(err, mechanism.ErrNoSource) {
		t.Errorf("no source: %v", err)
	}
}
