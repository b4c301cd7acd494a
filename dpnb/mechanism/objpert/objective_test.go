package objpert_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func calibrated(t testing.TB, eps, delta float64, rule ...objpert.LambdaRule) objpert.Objective {
	t.Helper()
	c := objpert.Config{Loss: loss.Logistic{}, RowNorm: 1, Epsilon: eps, Delta: delta, Adjacency: privacy.AddRemove}
	if len(rule) > 0 {
		c.Rule = rule[0]
	}
	m := must.Get(objpert.Calibrate(c))
	return m
}

// records returns n records of norm at most 1 with logistic labels.
func records(n, d int, seed uint64) (*matrix.Dense, []float64) {
	rng := noise.NewSeeded(seed)
	x := matrix.NewDense(n, d, nil)
	rng.Gaussian(x.Data, 1)
	y := make([]float64, n)
	for i := range y {
		r := x.Data[i*d : (i+1)*d]
		floats.Scale((1-1e-15)/floats.Norm(r, 2), r)
		y[i] = -1
		if rng.Float64() < 1/(1+math.Exp(-3*r[0])) {
			y[i] = 1
		}
	}
	return x, y
}

func TestCalibrationIsSafeAndTight(t *testing.T) {
	testscale.Slow(t)
	type try struct {
		eps, delta float64
		rule       objpert.LambdaRule
	}
	var tries []try
	for _, rule := range []objpert.LambdaRule{objpert.LeastNoise, objpert.SmallestLambda} {
		tries = append(tries, try{0.05, 1e-5, rule}, try{1, 1e-5, rule}, try{8, 1e-9, rule}, try{0.5, 1e-30, rule},
			try{100, 1e-5, rule}, try{1e-3, 1e-2, rule})
	}
	for _, c := range tries {
		m := calibrated(t, c.eps, c.delta, c.rule)
		p := must.Get(m.Profile())
		if d := privacy.DeltaUpper(p, c.eps); d > c.delta || d < 0.99*c.delta {
			t.Errorf("%+v: δ = %v after calibration", c, d)
		}
		eps, err := privacy.EpsilonUpper(p, c.delta)
		if err != nil || eps > c.eps || eps < c.eps*0.99 {
			t.Errorf("%+v: ε = %v, %v after calibration", c, eps, err)
		}
		// A deliberately wrong mechanism, with a hundredth less noise, must not pass.
		m.Sigma *= 0.99
		p, _ = m.Profile()
		if d := privacy.DeltaUpper(p, c.eps); d <= c.delta {
			t.Errorf("%+v: less noise goes unnoticed, δ = %v", c, d)
		}
	}
}

// LeastNoise needs as little noise as the Gaussian mechanism, and the claim is exactly that mechanism's.
func TestLeastNoiseIsTheGaussians(t *testing.T) {
	for _, eps := range []float64{0.1, 1, 8} {
		m := calibrated(t, eps, 1e-5)
		unit := must.Get(privacy.GaussianSigma(eps, 1e-5))
		if !m.Gaussian() || m.Sigma < unit || m.Sigma > 1.0005*unit {
			t.Errorf("ε = %v: σ = %v, the Gaussian mechanism has %v, exact %v", eps, m.Sigma, unit, m.Gaussian())
		}
		if other := calibrated(t, eps, 1e-5, objpert.SmallestLambda); other.Sigma < m.Sigma {
			t.Errorf("ε = %v: the smallest λ has σ = %v, least noise %v", eps, other.Sigma, m.Sigma)
		}
	}
}

func TestCalibrationWithGivenLambda(t *testing.T) {
	c := objpert.Config{Loss: loss.Logistic{}, RowNorm: 1, Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove}
	var last float64
	for _, lambda := range []float64{0.2, 1, 10, 1e4} {
		c.Lambda = lambda
		m := must.Get(objpert.Calibrate(c))
		if last != 0 && m.Sigma > last*(1+1e-5) {
			t.Errorf("λ = %v wants more noise than a smaller one", lambda)
		}
		last = m.Sigma
	}
	// λ → ∞: the Gaussian mechanism's σ.
	unit, _ := privacy.GaussianSigma(1, 1e-5)
	if last < unit || last > 1.0005*unit {
		t.Errorf("σ = %v at a huge λ, the Gaussian mechanism has %v", last, unit)
	}
	c.Lambda = 0.1 // log(1 + s/λ) > ε: no noise can mend it
	if _, err := objpert.Calibrate(c); !errors.Is(err, privacy.ErrUnsupported) {
		t.Errorf("an impossible λ is accepted: %v", err)
	}
}

// The claimed profile must lie above the exact divergence of real neighbours.
func TestClaimIsAboveExactDivergence(t *testing.T) {
	testscale.Slow(t)
	type setting struct{ lambda, sigma float64 }
	for _, c := range testscale.Some(setting{0.25, 2}, setting{1, 2}, setting{1, 0.5}, setting{1, 20},
		setting{0.05, 5}, setting{2, 2}) {
		m := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: c.lambda, Sigma: c.sigma, Tolerance: 1e-9,
			OutputSigma: 1e-3}
		p := must.Get(m.Profile())
		for _, copies := range []int{0, 1, 10} {
			s := &audit.Scalar{Loss: loss.Logistic{}, ExtraX: 1, ExtraY: 1, Lambda: c.lambda, Sigma: c.sigma}
			for range copies {
				s.X, s.Y = append(s.X, 1), append(s.Y, -1)
			}
			for _, eps := range []float64{0, 0.1, 0.5, 1, 2} {
				for _, dir := range privacy.Directions {
					if exact, claim := s.DeltaLower(dir, eps), math.Exp(p.LogDeltaUpper(dir, eps)); exact > claim {
						t.Errorf("%+v, %d copies, ε = %v, %v: exact δ %v above the claim %v", c, copies, eps, dir,
							exact, claim)
					}
				}
			}
		}
	}
}

// ε → ∞: with its noise switched off the release is the plain minimiser.
func TestNoNoiseEqualsNonPrivate(t *testing.T) {
	x, y := records(400, 6, 1)
	m := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 0.7, Sigma: 1e-12, Tolerance: 1e-10,
		OutputSigma: 1e-13}
	r := must.Get(m.Run(x, y, noise.NewSeeded(1), nil))
	plain := must.Get(erm.Minimize(&erm.Problem{Rows: x, Labels: y, Loss: loss.Logistic{}, Lambda: 0.7},
		&erm.Settings{Tolerance: 1e-10}))
	if dist := floats.Distance(r.Coefficients, plain.Theta, 2); dist > 1e-9 {
		t.Errorf("the release is %v away from the non-private fit", dist)
	}
}

// The approximate minimisers of neighbours, for one and the same b, are off their exact ones by at most τ/λ: the
// sensitivity that the output noise hides.
func TestOutputSensitivity(t *testing.T) {
	x, y := records(60, 3, 2)
	b := []float64{0.4, -1, 0.3}
	const tau, lambda = 1e-2, 0.5
	for drop := range 10 {
		keep := make([]int, 0, 59)
		for i := range 60 {
			if i != drop {
				keep = append(keep, i)
			}
		}
		nx := x.Select(keep)
		ny := append(append([]float64(nil), y[:drop]...), y[drop+1:]...)
		for _, p := range []*erm.Problem{
			{Rows: x, Labels: y, Loss: loss.Logistic{}, Lambda: lambda, Linear: b},
			{Rows: nx, Labels: ny, Loss: loss.Logistic{}, Lambda: lambda, Linear: b},
		} {
			rough := must.Get(erm.Minimize(p, &erm.Settings{Tolerance: tau}))
			exact := must.Get(erm.Minimize(p, &erm.Settings{Tolerance: 1e-11}))
			if dist := floats.Distance(rough.Theta, exact.Theta, 2); dist > tau/lambda {
				t.Errorf("an approximate minimiser is %v away, τ/λ = %v", dist, tau/lambda)
			}
		}
	}
}

// The noise must have the law that the profile assumes: for a tiny data term θ = −b/λ + output noise.
func TestReleasedNoiseHasTheStatedScale(t *testing.T) {
	x := matrix.NewDense(1, 4000, nil)
	x.Data[0] = 1
	m := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 2, Sigma: 3, Tolerance: 1e-9, OutputSigma: 0.5}
	for name, src := range map[string]noise.Source{"secure": noise.NewSecure(), "seeded": noise.NewSeeded(4)} {
		r := must.Get(m.Run(x, []float64{1}, src, nil))
		var ss float64
		for _, v := range r.Coefficients[1:] {
			ss += v * v
		}
		// variance σ²/λ² + σ_out² = 2.5; ±5.5 standard deviations of its estimate
		got := ss / 3999
		if !(math.Abs(got/2.5-1) <= 5.5*math.Sqrt(2.0/3999)) {
			t.Errorf("%s: variance %v, want 2.5", name, got)
		}
		if r.Tolerance != m.Tolerance || r.NoiseScale != m.Sigma {
			t.Errorf("%s: τ = %v and σ = %v are said to be released", name, r.Tolerance, r.NoiseScale)
		}
	}
}

// countingSource tells whether noise was drawn.
type countingSource struct {
	*noise.Seeded
	draws int
}

func (c *countingSource) Uint64() uint64 {
	c.draws++
	return c.Seeded.Uint64()
}

func TestCalibrationRejects(t *testing.T) {
	good := objpert.Config{Loss: loss.Logistic{}, RowNorm: 1, Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove}
	for name, spoil := range map[string]func(*objpert.Config){
		"ε = 0":      func(c *objpert.Config) { c.Epsilon = 0 },
		"ε < 0":      func(c *objpert.Config) { c.Epsilon = -1 },
		"ε = NaN":    func(c *objpert.Config) { c.Epsilon = math.NaN() },
		"δ = 0":      func(c *objpert.Config) { c.Delta = 0 },
		"δ = 1":      func(c *objpert.Config) { c.Delta = 1 },
		"λ < 0":      func(c *objpert.Config) { c.Lambda = -1 },
		"R = 0":      func(c *objpert.Config) { c.RowNorm = 0 },
		"factor < 1": func(c *objpert.Config) { c.NoiseFactor = 0.5 },
		"adjacency":  func(c *objpert.Config) { c.Adjacency = 0 },
		"replace":    func(c *objpert.Config) { c.Adjacency = privacy.ReplaceOne },
		"τ = NaN":    func(c *objpert.Config) { c.Tolerance = math.NaN() },
		// the half-normal bound never is the Gaussian's
		"factor = 1.0": func(c *objpert.Config) { c.NoiseFactor, c.Rule = 1, objpert.SmallestLambda },
		"no rule":      func(c *objpert.Config) { c.Rule = 7 },
	} {
		c := good
		spoil(&c)
		if _, err := objpert.Calibrate(c); err == nil || name == "factor = 1.0" &&
			!strings.Contains(err.Error(), "take a larger NoiseFactor") {
			t.Errorf("%s: %v", name, err)
		}
	}
	good.NoiseFactor = 1.5
	if _, err := objpert.Calibrate(good); err != nil {
		t.Errorf("factor = 1.5: %v", err)
	}
}

// BenchmarkFit times one private fit of the size of Adult's training part.
func BenchmarkFit(b *testing.B) {
	x, y := records(32_561, 109, 7)
	m := calibrated(b, 1, 1e-5)
	b.ReportAllocs()
	for b.Loop() {
		must.Get(m.Run(x, y, noise.NewSeeded(1), nil))
	}
}
