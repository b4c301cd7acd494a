package qop

import (
	"math"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/wishart"
)

// interpolated returns n records of norm at most 1 with yᵢ = xᵢᵀθ⋆.
func interpolated(n, d int, seed uint64) (rows *matrix.Dense, labels, star []float64) {
	src := noise.NewSeeded(seed)
	rows, labels, star = matrix.NewDense(n, d, nil), make([]float64, n), make([]float64, d)
	src.Gaussian(rows.Data, 1)
	src.Gaussian(star, 1)
	for i := range n {
		x := rows.Data[i*d : (i+1)*d]
		var s float64
		for _, v := range x {
			s += v * v
		}
		for j := range x {
			x[j] /= math.Sqrt(s) * (1 + 1e-15)
			labels[i] += x[j] * star[j]
		}
	}
	return rows, labels, star
}

func config(anchor []float64, eta float64) Config {
	return Config{Loss: loss.Squared{}, RowNorm: 1, Epsilon: 1, Delta: 1e-3, Adjacency: privacy.ReplaceOne,
		Interpolation: AssumeInterpolation(anchor, eta), Records: 50, Regulariser: composite.L1{Weight: 1}}
}

func TestRun(t *testing.T) {
	testscale.InTurn(t)
	rows, labels, star := interpolated(50, 4, 1)
	for name, change := range map[string]func(*Config){
		"ℓ₁":              func(*Config) {},
		"ℓ₁ and a box":    func(c *Config) { c.Constraint = composite.NewBox(0.5) },
		"ridge":           func(c *Config) { c.Regulariser = nil; c.Lambda = 1 },
		"an anchor off":   func(c *Config) { c.Interpolation = AssumeInterpolation(star, 0.01) },
		"a linear model":  func(c *Config) { c.Loss = loss.PseudoHuber{Threshold: 1} },
		"the paper's":     func(c *Config) { c.Accounting = wishart.Theorem31 },
		"the spectral":    func(c *Config) { c.Accounting = wishart.Spectral },
		"a ball":          func(c *Config) { c.Constraint = composite.Ball{Radius: 1} },
		"a fixed m":       func(c *Config) { c.HiddenDimension = 9 },
		"add/remove-one":  func(c *Config) { c.Adjacency = privacy.AddRemove },
		"a coarse solver": func(c *Config) { c.Accuracy = 1e-3 },
	} {
		c := config(star, 0)
		change(&c)
		m, err := Calibrate(c)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r, err := m.Run(rows, labels, noise.NewSeeded(5), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(r.Coefficients) != 4 || !matrix.Finite(r.Coefficients...) || !r.Simulated() || r.Warning() == "" {
			t.Errorf("%s: %+v", name, r)
		}
		needed, err := m.Setting().Noise(m.Split)
		criterion := math.Sqrt(2 * m.Accuracy * needed.Alpha * m.Sigma2) // (7) of the paper
		if err != nil || r.Tolerance > criterion || r.Tolerance < criterion*(1-1e-11) ||
			!(math.Abs(r.NoiseScale/(m.Sigma2*math.Sqrt(float64(m.HiddenDimension)))-1) <= 1e-12) {
			t.Errorf("%s: certified to %v, want %v; noise of %v", name, r.Tolerance, criterion, r.NoiseScale)
		}
		if r.Guarantee.Epsilon > 1 || r.Guarantee.Delta > 1e-3 || privacy.DeltaUpper(r.Guarantee.Profile,
			1) > 1.0000001e-3 {
			t.Errorf("%s: the guarantee is (%g, %g)", name, r.Guarantee.Epsilon, r.Guarantee.Delta)
		}
		if r.Guarantee.Adjacency != c.Adjacency || r.Guarantee.Profile.Adjacency() != c.Adjacency {
			t.Errorf("%s: the guarantee is for %v", name, r.Guarantee.Adjacency)
		}
		if !strings.Contains(strings.Join(r.Guarantee.Assumptions, "; "), "interpolation") {
			t.Errorf("%s: the assumption is not printed: %q", name, r.Guarantee.Assumptions)
		}
		// Less noise than the split needs is refused.
		less := m
		less.Sigma2 *= 0.999
		if err := less.Validate(); err == nil {
			t.Errorf("%s: too little curvature was accepted", name)
		}
		less = m
		less.OutputSigma *= 0.999
		if err := less.Validate(); err == nil {
			t.Errorf("%s: too little output noise was accepted", name)
		}
	}
}

// The solution is the minimiser: a closed form for least squares with a ridge.
func TestSimulateClosedForm(t *testing.T) {
	rows, labels, star := interpolated(20, 1, 3)
	m := Perturbation{Loss: loss.Squared{}, RowNorm: 1, Interpolation: AssumeInterpolation(star, 0), Lambda: 0.7,
		HiddenDimension: 3, Sigma2: 5, Shift: 0.25}
	theta := must.Get(m.Simulate(rows, labels, noise.NewSeeded(8), nil))
	w := 5 * (noise.Wishart(noise.NewSeeded(8), 1, 3).At(0, 0) + 0.25)
	var s float64
	for _, x := range rows.Data {
		s += x * x
	}
	if want := (s + w) * star[0] / (s + w + 0.7); !(math.Abs(theta[0]-want) <= 1e-8) {
		t.Errorf("θ = %.12g, want %.12g", theta[0], want)
	}
}

type cone struct{}

func (cone) Name() string            { return "cone" }
func (cone) Validate(int) error      { return nil }
func (cone) Contains([]float64) bool { return true }

func TestRefusals(t *testing.T) {
	rows, labels, star := interpolated(50, 4, 1)
	for name, c := range map[string]struct {
		change func(*Config)
		says   string
	}{
		"m ≤ d":                 {func(c *Config) { c.HiddenDimension = 4 }, "more than d"},
		"unbounded L":           {func(c *Config) { c.Loss = loss.Poisson{MaxCount: 10} }, "curvature"},
		"no minimiser":          {func(c *Config) { c.Loss = loss.Logistic{} }, "no minimiser"},
		"no minimiser, clipped": {func(c *Config) { c.Loss = loss.Clipped(loss.Probit{}, 0.5) }, "no minimiser"},
		"no assumption":         {func(c *Config) { c.Interpolation = Interpolation{} }, "AssumeInterpolation"},
		"no anchor":             {func(c *Config) { c.Interpolation = AssumeInterpolation(nil, 0) }, "anchor"},
		"negative η":            {func(c *Config) { c.Interpolation = AssumeInterpolation(star, -1) }, "η"},
		"NaN in the anchor": {func(c *Config) { c.Interpolation = AssumeInterpolation([]float64{math.NaN()}, 0) },
			"finite"},
		"no projection": {func(c *Config) { c.Constraint = cone{} }, "projection"},
		"a constraint of length": {func(c *Config) { c.Constraint = composite.Box{Lower: []float64{0, 0}} },
			"want 1 or d"},
		"no loss":      {func(c *Config) { c.Loss = nil }, "Loss"},
		"no adjacency": {func(c *Config) { c.Adjacency = 0 }, "Adjacency"},
		"δ = 0":        {func(c *Config) { c.Delta = 0 }, "Delta"},
		"ε = ∞":        {func(c *Config) { c.Epsilon = math.Inf(1) }, "Epsilon"},
		"an exact linear model": {func(c *Config) {
			c.Loss, c.Accounting = loss.PseudoHuber{Threshold: 1}, wishart.Exact
		}, "constant curvature"},
		"negative regularisation": {func(c *Config) { c.Regulariser = composite.L1{Weight: -1} }, "weight"},
	} {
		cfg := config(star, 0)
		c.change(&cfg)
		_, err := Calibrate(cfg)
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(c.says)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m := must.Get(Calibrate(config(star, 0)))
	short := m
	short.Interpolation = AssumeInterpolation(star[:3], 0)
	if err := short.Check(rows, labels); err == nil || !strings.Contains(err.Error(), "length d = 4") {
		t.Errorf("an anchor of length 3: %v", err)
	}
	exact := m
	exact.Accuracy = 0
	if err := exact.Validate(); err == nil || !strings.Contains(err.Error(), "no solver is exact") {
		t.Errorf("τ = 0: %v", err)
	}
	over := m
	over.Split.Delta1 *= 2
	if err := over.Split.Within(1, 1e-3); err == nil || !strings.Contains(err.Error(), "δ₁ + δ₂") {
		t.Errorf("a split that does not sum: %v", err)
	}
}

func TestCheckPublic(t *testing.T) {
	rows, labels, star := interpolated(50, 4, 1)
	c, err := AssumeInterpolation(star, 0).CheckPublic(PublicData{rows, labels}, loss.Squared{})
	if err != nil || c.Violations != 0 || c.Records != 50 || c.Needed > 1e-12 {
		t.Errorf("%+v, %v", c, err)
	}
	labels[7] += 0.25
	c, err = AssumeInterpolation(star, 0.1).CheckPublic(PublicData{rows, labels}, loss.Squared{})
	if err != nil || c.Violations != 1 || c.Worst != 7 || !(math.Abs(c.Needed-0.25) <= 1e-9) {
		t.Errorf("a label that is off by a quarter: %+v, %v", c, err)
	}
	// A hinge smoothed over ½ has curvature up to 2, and at θ = 1.6 these records have the slopes 0.4 and 1; the third
	// says nothing of θ.
	c, err = AssumeInterpolation([]float64{1.6}, 0.5).CheckPublic(PublicData{matrix.NewDense(3, 1,
		[]float64{0.5, 0.25, 0}), []float64{1, 1, 1}}, loss.SmoothedHinge{Width: 0.5})
	if err != nil || !(math.Abs(c.Needed-1/(0.25*2)) <= 1e-12) || c.Violations != 1 || c.Worst != 1 {
		t.Errorf("of a curvature of 2: %+v, %v", c, err)
	}
	if _, err := AssumeInterpolation(star[:2], 0).CheckPublic(PublicData{rows, labels}, loss.Squared{}); err == nil {
		t.Error("an anchor of the wrong length was accepted")
	}
	if _, err := (Interpolation{}).CheckPublic(PublicData{rows, labels}, loss.Squared{}); err == nil {
		t.Error("no assumption was checked")
	}
}
