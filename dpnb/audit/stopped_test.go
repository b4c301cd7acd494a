package audit

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// worstPair is squared loss clipped at 1, one record whose label is out of reach: its loss is linear, so that the
// release is a Gaussian. With 2τσ² = L(λσ_out)² the claim √(a² + μ²) is reached: the two parts of the noise hide the
// same share of what they have to.
func worstPair(a, mu float64) *Stopped {
	const lambda = 20
	sigma := 1 / a
	m := objpert.Objective{Loss: loss.ClippedAt(loss.Squared{}, 1, 1), RowNorm: 1, Lambda: lambda, Sigma: sigma,
		OutputSigma: mu / a * sigma / lambda}
	m.Tolerance = mu * lambda * m.OutputSigma / 2
	return &Stopped{Mechanism: m, Rows: matrix.NewDense(1, 1, nil), Labels: []float64{0}, Extra: []float64{1},
		ExtraLabel: 1e6, Pushed: true}
}

func (s *Stopped) approximate(solver Solver) *Approximate {
	m := s.Mechanism
	return &Approximate{Scalar: Scalar{Loss: m.Loss, X: s.Rows.Data, Y: s.Labels, ExtraX: s.Extra[0],
		ExtraY: s.ExtraLabel, Lambda: m.Lambda, Sigma: m.Sigma},
		Tolerance: m.Tolerance, OutputSigma: m.OutputSigma, Solver: solver}
}

// A pair that is known exactly: the cells reach the Gaussian mechanism of √(a² + μ²) but for the two hundredths of τ
// that rounding to a step takes.
func TestPushedApartReachesTheClaim(t *testing.T) {
	testscale.Slow(t)
	for _, c := range [][2]float64{{0.5, 1}, {0.3, 0.2}, {1, 0.4}} {
		a, mu := c[0], c[1]
		without, with := worstPair(a, mu).approximate(PushedApart).Cells(600)
		for name, p := range map[string][]float64{"without": without, "with": with} {
			if s := floats.Sum(p); !(math.Abs(s-1) <= 1e-12) {
				t.Errorf("%v, %s: probabilities sum to %v", c, name, s)
			}
		}
		full := privacy.GaussianProfile(math.Hypot(a, mu), privacy.AddRemove)
		least := privacy.GaussianProfile((a/a+0.979*mu*mu/a/a)/math.Hypot(1/a, mu/a/a), privacy.AddRemove)
		for _, eps := range []float64{0, 0.5, 2} {
			for _, d := range [][2][]float64{{with, without}, {without, with}} {
				exact := HockeyStick(d[0], d[1], eps)
				if up, low := privacy.DeltaUpper(full, eps), privacy.DeltaUpper(least, eps); exact > up ||
					exact < low*(1-3e-3) {
					t.Errorf("a = %v, μ = %v, ε = %v: δ = %v, want between %v and %v", a, mu, eps, exact, low, up)
				}
			}
		}
	}
}

// A solver that writes the dataset into its digits stays below the claim; with a hundredth of the output noise nothing
// is hidden.
func TestMarkedDigitsAreHidden(t *testing.T) {
	s := worstPair(0.5, 0.5)
	claim := privacy.GaussianProfile(math.Hypot(0.5, 0.5), privacy.AddRemove)
	ap := s.approximate(Marked)
	without, with := ap.Cells(1000)
	for _, eps := range []float64{0, 0.5, 1} {
		if d := HockeyStick(with, without, eps); d > privacy.DeltaUpper(claim, eps) || d < 1e-6 {
			t.Errorf("ε = %v: δ = %v, claimed %v", eps, d, privacy.DeltaUpper(claim, eps))
		}
	}
	ap.OutputSigma /= 100
	without, with = ap.Cells(60_000)
	if d := HockeyStick(with, without, 3); d < 0.99 {
		t.Errorf("with a hundredth of the output noise δ(3) = %v, want 1", d)
	}
}

// Sampled lower bounds stay below the claim and come near to the exact ε; and they refute the claim that takes the
// approximate minimiser for the exact one.
func TestStoppedIsNearTheClaim(t *testing.T) {
	testscale.InTurn(t)
	const a, mu, delta = 0.5, 1, 0.03
	s := worstPair(a, mu)
	low := must.Get(s.EpsilonLower(delta, 20_000, 1-1e-4, noise.NewSeeded(7)))
	claimed := func(mu float64) float64 {
		return must.Get(privacy.EpsilonUpper(privacy.GaussianProfile(mu, privacy.AddRemove), delta))
	}
	if full := claimed(math.Hypot(a, mu)); low > full || low < 0.75*full {
		t.Errorf("ε ≥ %v, exactly %v", low, full)
	}
	if without := claimed(a); low < without {
		t.Errorf("ε ≥ %v does not refute %v, which leaves τ out", low, without)
	}
	var same [2]float64
	for k := range same {
		same[k] = must.Get(s.EpsilonLower(delta, 500, 0.9, noise.NewSeeded(7)))
	}
	if same[0] != same[1] {
		t.Errorf("the same seed gives %v and %v", same[0], same[1])
	}
	// Stopped where the mechanism's own solver stops, it shows no more.
	s.Pushed = false
	runs := 3_000
	if testscale.Full() {
		runs = 20_000
	}
	own, err := s.EpsilonLower(delta, runs, 1-1e-4, noise.NewSeeded(8))
	if err != nil || own > low {
		t.Errorf("its own solver: ε ≥ %v, pushed %v (%v)", own, low, err)
	}
	// No neighbours, no difference: one false alarm in 10,000 seeds.
	s.Extra, s.ExtraLabel = []float64{1e-9}, 0
	if none, err := s.EpsilonLower(0, 6000, 1-1e-4, noise.NewSeeded(9)); err != nil || none > 0.05 {
		t.Errorf("equal laws: ε ≥ %v, %v", none, err)
	}
	for _, bad := range []struct {
		delta, level float64
		samples      int
	}{{-1, 0.9, 100}, {1, 0.9, 100}, {0, 1, 100}, {0, 0.9, 99}, {math.NaN(), 0.9, 100}} {
		if _, err := s.EpsilonLower(bad.delta, bad.samples, bad.level, noise.NewSeeded(1)); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
