package objpert_test

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// private is every loss that a private fit can have, with a record that is hard to hide, and company for it.
var private = []struct {
	loss    loss.Loss
	extra   float64
	company []float64
}{
	{loss.Softplus{Width: 0.5}, 1, []float64{-1}},
	{loss.SmoothedHinge{Width: 0.5}, 1, []float64{-1}},
	{loss.Huber{Threshold: 1}, 3, []float64{-2}},
	{loss.Huber{Threshold: 1}, 0, nil},
	{loss.PseudoHuber{Threshold: 1}, 0, []float64{2}},
	{loss.Clipped(loss.Squared{}, 0.5), 0.5, []float64{-2}},
	{loss.Clipped(loss.SquaredHinge{}, 1), 1, []float64{-1}},
	{loss.Clipped(loss.Probit{}, 1), 1, []float64{-1}},
	{loss.Clipped(loss.Logistic{}, 0.5), 1, []float64{-1}},
	{loss.Clipped(loss.Poisson{MaxCount: 3}, 1), 3, []float64{0}},
	{loss.Clipped(loss.Poisson{MaxCount: 3}, 1), 0, nil},
}

// claims returns the profiles of those bounds that apply.
func claims(t *testing.T, m objpert.Objective, bounds ...objective.Bound) map[objective.Bound]privacy.Profile {
	t.Helper()
	out := map[objective.Bound]privacy.Profile{}
	for _, b := range bounds {
		m.Bound = b
		p, err := m.Profile()
		if err == nil {
			out[b] = p
		} else if b == 0 || b == objective.DTZ24 {
			t.Fatal(err)
		}
	}
	return out
}

// The exact divergence of real neighbours stays below every claim, and for a slope bound that is a tenth too small it
// does not.
func TestClaimsAreAboveExactDivergence(t *testing.T) {
	testscale.Slow(t)
	for _, l := range private {
		caught := false
		for _, c := range testscale.Some([]struct{ lambda, sigma float64 }{{3, 2}, {0.3, 1}}...) {
			m := objpert.Objective{Loss: l.loss, RowNorm: 1, Lambda: c.lambda, Sigma: c.sigma * l.loss.Lipschitz(),
				Tolerance: 1e-9, OutputSigma: 1e-2}
			profiles := claims(t, m, 0, objective.Tight) // which are below the others
			for _, tilt := range testscale.Some(-4, 0, 4.0) {
				s := &audit.Scalar{Loss: l.loss, ExtraX: 1, ExtraY: l.extra, Lambda: m.Lambda, Sigma: m.Sigma,
					Tilt: tilt * m.Sigma}
				for _, y := range l.company {
					s.X, s.Y = append(s.X, 1), append(s.Y, y)
				}
				without, with := s.Cells(2000)
				for _, eps := range []float64{0, 0.5, 2} {
					for _, dir := range privacy.Directions {
						p, q := with, without
						if dir == privacy.Add {
							p, q = q, p
						}
						exact := audit.HockeyStick(p, q, eps)
						for b, claim := range profiles {
							if d := math.Exp(claim.LogDeltaUpper(dir, eps)); exact > d {
								t.Errorf("%s λ=%v σ=%v tilt=%v ε=%v %v: exact δ %v above the claim %v of %v",
									l.loss.Name(), c.lambda, c.sigma, tilt, eps, dir, exact, d, b)
							}
						}
						if exact > math.Exp(privacy.GaussianProfile(0.9/c.sigma, privacy.AddRemove).LogDeltaUpper(dir,
							eps)) {
							caught = true
						}
					}
				}
			}
		}
		if !caught {
			t.Errorf("%s: a slope bound that is too small goes unnoticed", l.loss.Name())
		}
	}
}

// L and s of the mechanism cover every record of norm at most R, and are reached: R² with the curvature, R with the
// slope.
func TestConstantsCoverRecords(t *testing.T) {
	rng := noise.NewSeeded(21)
	slope, curv := make([]float64, 1), make([]float64, 1)
	for _, l := range private {
		for _, radius := range []float64{0.5, math.Sqrt2} {
			m := objpert.Objective{Loss: l.loss, RowNorm: radius}
			var maxSlope, maxCurv float64
			normal := make([]float64, 1)
			for i := range 40_000 {
				norm := radius
				if i%2 == 0 {
					norm *= rng.Float64()
				}
				rng.Gaussian(normal, 4)
				y := []float64{l.extra}
				if i%3 == 0 && len(l.company) > 0 {
					y[0] = l.company[0]
				}
				l.loss.ValueSlope(slope, normal, y)
				l.loss.Curvature(curv, normal, y)
				maxSlope, maxCurv = math.Max(maxSlope, norm*math.Abs(slope[0])), math.Max(maxCurv, norm*norm*curv[0])
			}
			if maxSlope > m.Lipschitz() || maxSlope < 0.97*m.Lipschitz() {
				t.Errorf("%s, R = %v: largest gradient %v, L = %v", l.loss.Name(), radius, maxSlope, m.Lipschitz())
			}
			// Poisson's curvature is largest for the largest count only.
			if maxCurv > m.Smoothness() || maxCurv < 0.97*m.Smoothness() && l.extra != 0 {
				t.Errorf("%s, R = %v: largest curvature %v, s = %v", l.loss.Name(), radius, maxCurv, m.Smoothness())
			}
		}
	}
}

// A hinge smoothed by a logarithm costs what the Gaussian mechanism costs, too.
func TestSoftplusIsTheGaussians(t *testing.T) {
	unit := must.Get(privacy.GaussianSigma(1, 1e-5))
	for _, h := range []float64{0.1, 0.5, 2} {
		m, err := objpert.Calibrate(objpert.Config{
			Loss: loss.Softplus{Width: h}, RowNorm: 2, Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove})
		if err != nil || !m.Gaussian() || m.Sigma < 2*unit || m.Sigma > 2.001*unit {
			t.Errorf("h = %v: σ = %v, the Gaussian mechanism has %v (%v)", h, m.Sigma, 2*unit, err)
		}
	}
}

// The output noise is paid for under every bound: no claim lies below the Gaussian mechanism of sensitivity L composed
// with that of sensitivity 2τ/λ, which some neighbours come close to. Those that are tight are close to it.
func TestOutputNoiseIsPaidFor(t *testing.T) {
	testscale.Slow(t)
	for _, l := range []loss.Loss{loss.Softplus{Width: 1}, loss.SmoothedHinge{Width: 1}, loss.Huber{Threshold: 1}} {
		for _, ratio := range testscale.Some(1, 0.3) {
			m := objpert.Objective{Loss: l, RowNorm: 1, Lambda: 1e5, Sigma: 4, Tolerance: 1e-3}
			mu := ratio * m.Lipschitz() / m.Sigma
			m.OutputSigma = 2 * m.Tolerance / (m.Lambda * mu)
			for b, p := range claims(t, m, 0, objective.RKW23, objective.Tight) {
				for _, k := range testscale.Some(2, 0.5) {
					eps := k * math.Hypot(0.25, mu)
					floor := privacy.GaussianProfile(math.Hypot(0.25, mu), privacy.AddRemove).LogDeltaLower(
						privacy.Remove, eps)
					got := privacy.LogDeltaUpper(p, eps)
					if got < floor {
						t.Errorf("%s, %v, μ/a = %v: ln δ(%v) = %v below %v", l.Name(), b, ratio, eps, got, floor)
					}
					if _, ok := l.(loss.Softplus); ok && (b == 0 || b == objective.Tight) && got > floor+1e-9 {
						t.Errorf("%s, %v, μ/a = %v: ln δ(%v) = %v, exactly %v", l.Name(), b, ratio, eps, got, floor)
					}
				}
			}
		}
	}
}

// A tolerance that slopes in float64 cannot support is reached by slopes in double-double: were it refused, that would
// depend on the number of records.
func TestToleranceBelowTheSlopesAccuracy(t *testing.T) {
	x, y := records(300, 3, 13)
	m := objpert.Objective{Loss: loss.Clipped(loss.Probit{}, 1), RowNorm: 1, Lambda: 100, Sigma: 1, OutputSigma: 1e-3}
	for _, tolerance := range []float64{0.1 * 300 * loss.SlopeError(m.Loss), 1e-9} {
		m.Tolerance = tolerance
		if r, err := m.Run(x, y, noise.NewSeeded(1), nil); r == nil || err != nil {
			t.Errorf("τ = %v: %v", tolerance, err)
		}
	}
}

// The bounds come in their order, and the default is the best that is fast.
func TestBoundsAreOrdered(t *testing.T) {
	testscale.InTurn(t)
	for _, l := range testscale.Some(private...) {
		m := objpert.Objective{Loss: l.loss, RowNorm: 1, Lambda: 3 * l.loss.Smoothness(), Sigma: 4 * l.loss.Lipschitz(),
			Tolerance: 1e-6, OutputSigma: 1e-3}
		p := claims(t, m, 0, objective.RKW23, objective.DTZ24, objective.Pointwise, objective.Integral, objective.Tight)
		at := func(b objective.Bound) float64 { return privacy.LogDeltaUpper(p[b], 1) }
		if at(objective.RKW23) < at(objective.DTZ24) || at(0) > at(objective.DTZ24) {
			t.Errorf("%s: rkw23 %v, dtz24 %v, default %v", l.loss.Name(), at(objective.RKW23), at(objective.DTZ24),
				at(0))
		}
		if _, ok := p[objective.Tight]; ok && at(objective.Tight) > math.Min(at(objective.Integral),
			math.Min(at(objective.Pointwise), at(objective.DTZ24)))+0.01 {
			t.Errorf("%s: tight is %v, integral %v, pointwise %v", l.loss.Name(), at(objective.Tight),
				at(objective.Integral), at(objective.Pointwise))
		}
	}
}

func TestUnprovedBoundsAreRefused(t *testing.T) {
	good := objpert.Objective{Loss: loss.Huber{Threshold: 1}, RowNorm: 1, Lambda: 3, Sigma: 4, Tolerance: 1e-6,
		OutputSigma: 1e-3}
	for name, spoil := range map[string]func(*objpert.Objective){
		"kst12 is only quoted": func(m *objpert.Objective) { m.Bound = objective.KST12 },
		"a lower bound":        func(m *objpert.Objective) { m.Bound = objective.GaussianLower },
		"no such bound":        func(m *objpert.Objective) { m.Bound = 77 },
		"no curve": func(m *objpert.Objective) {
			m.Loss, m.Bound = struct{ loss.Loss }{loss.Logistic{}}, objective.Tight
		},
		"rkw23 at λ ≤ s":           func(m *objpert.Objective) { m.Bound, m.Lambda = objective.RKW23, 1 },
		"unbounded slope":          func(m *objpert.Objective) { m.Loss = loss.Squared{} },
		"unbounded curvature":      func(m *objpert.Objective) { m.Loss = loss.Poisson{MaxCount: 2} },
		"threshold out of range":   func(m *objpert.Objective) { m.Loss = loss.Huber{Threshold: -1} },
		"threshold zero":           func(m *objpert.Objective) { m.Loss = loss.Huber{} },
		"clip level out of range":  func(m *objpert.Objective) { m.Loss = loss.Clipped(loss.Squared{}, math.NaN()) },
		"counts without a largest": func(m *objpert.Objective) { m.Loss = loss.Clipped(loss.Poisson{}, 1) },
	} {
		m := good
		spoil(&m)
		if p, err := m.Profile(); err == nil {
			t.Errorf("%s: accepted, δ(1) = %v", name, privacy.DeltaUpper(p, 1))
		}
	}
	if _, err := good.Profile(); err != nil {
		t.Error(err)
	}
}

// Every bound calibrates, meets its target from below and is not wasteful; Tight wants less noise at the same λ, and a
// smaller λ at the same noise.
func TestCalibrationByBound(t *testing.T) {
	testscale.Slow(t)
	for _, l := range []loss.Loss{loss.Huber{Threshold: 1}, loss.SmoothedHinge{Width: 1},
		loss.Clipped(loss.Logistic{}, 0.5)} {
		for _, lambda := range []float64{0, 2 * l.Smoothness()} {
			found := map[objective.Bound]objpert.Objective{}
			for _, b := range []objective.Bound{objective.RKW23, objective.DTZ24, 0, objective.Tight} {
				m, err := objpert.Calibrate(objpert.Config{
					Loss: l, RowNorm: 1, Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove, Bound: b,
					Lambda: lambda})
				if err != nil {
					t.Fatal(l.Name(), b, err)
				}
				p := must.Get(m.Profile())
				if d := privacy.DeltaUpper(p, 1); d > 1e-5 || d < 0.97e-5 {
					t.Errorf("%s by %v: δ = %v", l.Name(), b, d)
				}
				found[b] = m
			}
			tight, dtz, rkw := found[objective.Tight], found[objective.DTZ24], found[objective.RKW23]
			if found[0].Sigma != dtz.Sigma || found[0].Lambda != dtz.Lambda {
				t.Errorf("%s: the default is not dtz24", l.Name())
			}
			if lambda == 0 && !(tight.Lambda < 0.6*dtz.Lambda && dtz.Lambda < rkw.Lambda) {
				t.Errorf("%s: λ by tight %v, dtz24 %v, rkw23 %v", l.Name(), tight.Lambda, dtz.Lambda, rkw.Lambda)
			}
			if lambda > 0 && !(tight.Sigma < 0.8*dtz.Sigma && dtz.Sigma < rkw.Sigma) {
				t.Errorf("%s: σ by tight %v, dtz24 %v, rkw23 %v", l.Name(), tight.Sigma, dtz.Sigma, rkw.Sigma)
			}
		}
	}
}

// Algorithm 1 as a whole, for every loss: the release is the minimiser of the clipped objective up to its noise, and a
// seed repeats it.
func TestAlgorithm1WithEveryLoss(t *testing.T) {
	x, _ := records(300, 4, 11)
	for _, l := range private {
		y := make([]float64, 300)
		for i := range y {
			y[i] = l.extra
			if len(l.company) > 0 && i%3 == 0 {
				y[i] = l.company[0]
			}
		}
		m := objpert.Objective{Loss: l.loss, RowNorm: 1, Lambda: 0.8, Sigma: 1e-12, Tolerance: 1e-8, OutputSigma: 1e-13}
		r, err := m.Run(x, y, noise.NewSeeded(1), nil)
		if err != nil {
			t.Errorf("%s: %v", l.loss.Name(), err)
			continue
		}
		grad := make([]float64, 4)
		erm.Evaluate(&erm.Problem{Rows: x, Labels: y, Loss: l.loss, Lambda: 0.8}, grad, r.Coefficients)
		if g := floats.Norm(grad, 2); g > 1.1e-8 {
			t.Errorf("%s: ‖∇J‖ = %v at the release", l.loss.Name(), g)
		}
		m.Sigma, m.OutputSigma = 2, 1e-3
		a, err := m.Run(x, y, noise.NewSeeded(5), nil)
		if err != nil {
			t.Fatal(l.loss.Name(), err)
		}
		b, _ := m.Run(x, y, noise.NewSeeded(5), &mechanism.Settings{Workers: 1})
		if !floats.Equal(a.Coefficients, b.Coefficients) {
			t.Errorf("%s: a seed does not repeat", l.loss.Name())
		}
	}
}

// Clipping in the calibration: L is C, whatever the loss and R; the same as a loss clipped by hand.
func TestCalibrationClips(t *testing.T) {
	c := objpert.Config{Loss: loss.Squared{}, RowNorm: 2, Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove,
		Clip: 0.6}
	m := must.Get(objpert.Calibrate(c))
	if d := m.Lipschitz() / 0.6; d < 1 || d > 1+1e-11 {
		t.Errorf("L = %v, want C = 0.6", m.Lipschitz())
	}
	c.Loss, c.Clip = loss.Clipped(loss.Squared{}, 0.3), 0
	other, err := objpert.Calibrate(c)
	if err != nil || other.Sigma != m.Sigma || other.Lambda != m.Lambda {
		t.Errorf("σ = %v, λ = %v by hand, %v, %v by Clip (%v)", other.Sigma, other.Lambda, m.Sigma, m.Lambda, err)
	}
	c.Loss = loss.Squared{}
	if _, err := objpert.Calibrate(c); !errors.Is(err, privacy.ErrUnsupported) {
		t.Errorf("an unbounded slope is accepted: %v", err)
	}
	for _, clip := range []float64{-1, math.NaN(), math.Inf(1)} {
		c.Clip = clip
		if _, err := objpert.Calibrate(c); err == nil {
			t.Errorf("Clip = %v is accepted", clip)
		}
	}
}
