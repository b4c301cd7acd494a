package objpert_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Where a fit cannot be certified whatever the records, Check says so, before anything is charged or drawn; nothing
// that can be certified is refused.
func TestHopelessFitsAreRefusedBeforeTheNoise(t *testing.T) {
	testscale.Slow(t)
	refused, ran := 0, 0
	for _, lambda := range []float64{1e-30, 1e-12, 1e-6, 1e-3, 1, 1e3} {
		for _, sigma := range []float64{1e-3, 1, 1e3, 1e6, 1e8, 1e10, 1e14, 1e29} {
			for _, n := range []int{1, 40, 3000} {
				x, y := records(n, 4, 3)
				m := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: lambda, Sigma: sigma, Tolerance: 1e-6,
					OutputSigma: 1}
				src := &countingSource{Seeded: noise.NewSeeded(1)}
				checked := mechanism.Check(m, x, y)
				r, err := m.Run(x, y, src, nil)
				var p *privacy.ParamError
				switch {
				case checked != nil:
					refused++
					if !errors.As(checked, &p) || src.draws > 0 || r != nil || err == nil ||
						!strings.Contains(checked.Error(), "Lambda") {
						t.Errorf("λ = %g, σ = %g: %v, %d draws", lambda, sigma, checked, src.draws)
					}
					// The refusal must have been right: without it the solver fails, too.
					b := make([]float64, 4)
					noise.NewSeeded(1).Gaussian(b, sigma)
					tolerance := m.Tolerance - 4*0x1p-53*floats.Norm(b, 2) // b is rounded, too
					if tolerance <= 0 {
						continue
					}
					if _, err := erm.Minimize(&erm.Problem{Rows: x, Labels: y, Loss: m.Loss, Lambda: lambda, Linear: b},
						&erm.Settings{Tolerance: tolerance}); err == nil {
						t.Errorf("λ = %g, σ = %g, n = %d is refused, and can be certified", lambda, sigma, n)
					}
				case err == nil:
					ran++
				}
			}
		}
	}
	if refused < 20 || ran < 20 {
		t.Errorf("%d refused, %d released", refused, ran)
	}
}

// Noise has 12uσ√d for its digits, and (K + 2)uσ√d more where it is centred over K classes, as far as τ and no further.
func TestDigitsOfNoise(t *testing.T) {
	for _, k := range []int{0, 2, 100} {
		f := objpert.Feasibility{Lipschitz: 1, Smoothness: 1, Lambda: 1e9, Sigma: 1e6, Tolerance: 1, Features: 9,
			Coefficients: 9, Centred: k}
		units := 12.0
		if k > 0 {
			units += float64(k + 2)
		}
		f.Tolerance = units * 0x1p-53 * f.Sigma * 3
		closer := f
		if closer.Tolerance *= 1 - 1e-9; f.Validate() != nil || closer.Validate() == nil {
			t.Errorf("K = %d: %v, of a τ that is less: %v", k, f.Validate(), closer.Validate())
		}
	}
}

// What was planned decides where it is stated.
func TestFeasibilityKnowsThePlan(t *testing.T) {
	a := objpert.Feasibility{Lipschitz: 1, Smoothness: 0.25, Lambda: 1e-21, Sigma: 3000, Tolerance: 1e-6, Features: 10,
		Coefficients: 10}
	for records, good := range map[int]bool{0: true, 1: false, 1000: false, 9000: false, 10_000: true} {
		if a.Records = records; (a.Validate() == nil) != good {
			t.Errorf("%d records: %v", records, a.Validate())
		}
	}
	a.Records = 0
	for _, spoil := range []func(*objpert.Feasibility){
		func(a *objpert.Feasibility) { a.Sigma = math.NaN() }, func(a *objpert.Feasibility) { a.Sigma = math.Inf(1) },
		func(a *objpert.Feasibility) { a.Sigma = 1e7 }, func(a *objpert.Feasibility) { a.Tolerance = 1e-16 },
	} {
		bad := a
		if spoil(&bad); bad.Validate() == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

// A λ that only just satisfies ε asks for very much noise, which double-double can certify; where it cannot, what was
// calibrated is refused and not a fit that was paid for.
func TestBarelyPossibleLambda(t *testing.T) {
	x, y := records(50, 4, 3)
	for _, eps := range []float64{10, 15, 20} {
		c := objpert.Config{Loss: loss.Logistic{}, RowNorm: 1, Epsilon: eps, Delta: 1e-6, Adjacency: privacy.AddRemove,
			Lambda: 0.25 / math.Expm1(eps) * (1 + 1e-9)}
		m, err := objpert.Calibrate(c)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := m.Run(x, y, noise.NewSeeded(3), nil); r == nil || err != nil {
			t.Errorf("ε = %g, λ = %g, σ = %g: %v", eps, m.Lambda, m.Sigma, err)
		}
		m.Sigma *= 1e4
		var p *privacy.ParamError
		if err := m.Check(x, y); !errors.As(err, &p) || p.Name != "Sigma" {
			t.Errorf("ε = %g, λ = %g, σ = %g: %v", eps, m.Lambda, m.Sigma, err)
		}
		c.Lambda = 0
		if m, err = objpert.Calibrate(c); err != nil || m.Check(x, y) != nil {
			t.Errorf("ε = %g: a λ that was chosen is refused: %v, %v", eps, err, m.Check(x, y))
		}
	}
}

// Who pays first asks for more: sσ/(λL) ≤ 3·10⁴, or as many times that as the records that are planned outweigh the
// noise.
func TestSureFitsAreHeld(t *testing.T) {
	for name, c := range map[string]struct {
		lambda  float64
		records int
		good    bool
	}{
		"just":                   {1.001e-4, 0, true},
		"just not":               {0.999e-4, 0, false},
		"few do not help":        {0.999e-4, 400, false},
		"twice as many as noise": {0.501e-4, 800, true}, // nL/(σk) = 2
		"and no more":            {0.499e-4, 800, false},
	} {
		a := objpert.Feasibility{Lipschitz: 2, Smoothness: 0.15, Lambda: c.lambda, Sigma: 40, Tolerance: 2e-6,
			Features: 20, Coefficients: 20, Records: c.records}
		if err := a.Validate(); err != nil {
			t.Errorf("%s: refused without being sure: %v", name, err)
		}
		var p *privacy.ParamError
		if err := a.Sure(); (err == nil) != c.good || err != nil && (!errors.As(err, &p) || p.Name != "Lambda") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
