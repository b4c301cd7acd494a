package convolution

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// Every account proves (ε, δ) for the σ that it asks for, within its own reach, and Calibrate takes the least of them.
func TestAccounts(t *testing.T) {
	testscale.InTurn(t)
	unit := must.Get(privacy.GaussianSigma(1, 1e-5))
	for _, k := range []struct {
		kernel smoothing.Kernel
		lambda float64
		most   map[Account]float64 // σ over the Gaussian mechanism's; absent: not to be had
	}{
		// λw ≥ 2/ε, and λw ≥ 2σ² for the entropic one.
		{smoothing.Logistic{}, 2.05, map[Account]float64{ByRows: 1.05, FreeCurvature: 1.05, ByRank: 1.9, Tight: 1.045}},
		{smoothing.Logistic{}, 40, map[Account]float64{ByRows: 1.05, FreeCurvature: 1.05, ByRank: 1.1, Entropic: 1.05,
			Tight: 1.01}},
		{smoothing.Logistic{}, 1, map[Account]float64{ByRows: 1.3, ByRank: 100, Tight: 1.3}},
		{smoothing.Gaussian{}, 2.05, map[Account]float64{ByRows: 1.1, ByRank: 1.9, Tight: 1.1}},
	} {
		if k.lambda == 1 && !testscale.Full() {
			continue
		}
		c := Config{Loss: Loss{Form: loss.Absolute(k.kernel, 1), Forms: 1, Norm: 1}, Epsilon: 1, Delta: 1e-5,
			Adjacency: privacy.AddRemove, Lambda: k.lambda}
		least := 0.0
		for a := ByRows; a <= Tight; a++ {
			if a == Tight && !testscale.Full() {
				continue // it takes seconds
			}
			m, err := c.sigma(COP{Loss: c.Loss, Lambda: k.lambda, Account: a}, 100*unit)
			most, ok := k.most[a]
			if (err == nil) != ok {
				t.Errorf("%s, λ = %g, %v: %v", k.kernel.Name(), k.lambda, a, err)
			}
			if err != nil {
				continue
			}
			p, err := mechanism.Profile(m)
			if err != nil || privacy.DeltaUpper(p, 1) > 1e-5 {
				t.Errorf("%s, λ = %g, %v: δ = %g (%v)", k.kernel.Name(), k.lambda, a, privacy.DeltaUpper(p, 1), err)
			}
			if r := m.Sigma / unit; r < 1 || r > most {
				t.Errorf("%s, λ = %g, %v: σ is %.4f of the Gaussian mechanism's, want at most %g", k.kernel.Name(),
					k.lambda, a, r, most)
			}
			if a != Tight && (least == 0 || m.Sigma < least) {
				least = m.Sigma
			}
		}
		m, err := Calibrate(c)
		if err != nil || m.Sigma > least*1.0001 {
			t.Errorf("%s, λ = %g: σ = %v, the least is %v (%v)", k.kernel.Name(), k.lambda, m.Sigma, least, err)
		}
	}
}

// In every account the output noise costs what a Gaussian mechanism of μ = 2τ/(λσ_out) costs beside the objective, and
// a linear h by rows what one of μ = √(1+1/c)·D|h′|/σ costs beside the other rows.
func TestWhatIsBesideIsPaidFor(t *testing.T) {
	testscale.Slow(t)
	const lambda, sigma, tau, outputSigma = 40, 4, 0.1, 0.02 // μ = ¼, as the objective's L/σ
	profile := func(m COP) privacy.Profile {
		return must.Get(mechanism.Profile(m))
	}
	logistic := Loss{Form: loss.Absolute(smoothing.Logistic{}, 1), Forms: 1, Norm: 1}
	pieces := bowl(t, 1)
	pieces.Norm = 1 / math.Sqrt2
	without := COP{Loss: logistic, Lambda: lambda, Sigma: sigma, Tolerance: 1e-9, OutputSigma: 1, From: 0.5}
	for _, c := range []struct {
		name          string
		account       Account
		with, without Loss
		stack         float64
		mu            float64
	}{
		{"output noise", ByRows, logistic, logistic, 0, 0.25},
		{"output noise", ByRank, logistic, logistic, 0, 0.25},
		{"output noise", FreeCurvature, logistic, logistic, 0, 0.25},
		{"output noise", Entropic, logistic, logistic, 0, 0.25},
		{"output noise beside pieces", Entropic, pieces, pieces, 0, 0.25},
		// √(1+c) = √(1+1/c) = √2, and the row without h is longer by as much.
		{"a linear h", ByRows, Loss{Form: logistic.Form, Forms: 1, Norm: math.Sqrt2 / 2, Other: loss.Linear{Slope: 0.5},
			OtherNorm: math.Sqrt2}, logistic, 1, 0.25},
	} {
		with := without
		with.Loss, with.Account, with.Stack = c.with, c.account, c.stack
		if c.stack == 0 {
			with.Tolerance, with.OutputSigma = tau, outputSigma
		}
		bare := without
		bare.Loss, bare.Account = c.without, c.account
		// E δ(1 − G), G ~ N(μ²/2, μ²), at even steps: small ones for a profile that has a corner where it is 1.
		of, want, step := profile(bare), 0.0, 1.0
		if c.account == Entropic {
			step = 0.125
		}
		for z := -5.0; z <= 5; z += step {
			weight := step * math.Exp(-0.5*z*z) / math.Sqrt(2*math.Pi)
			want += weight * math.Exp(of.LogDeltaUpper(privacy.Add, 1-c.mu*(0.5*c.mu+z)))
		}
		have := math.Exp(profile(with).LogDeltaUpper(privacy.Add, 1))
		if !(have >= 0.97*want && have <= 1.1*want) {
			t.Errorf("%s, %v: δ = %.4g, want %.4g", c.name, c.account, have, want)
		}
	}
}

// No σ beyond a hundred times that of the Gaussian mechanism is looked at, and all up to there.
func TestLargestSigma(t *testing.T) {
	testscale.InTurn(t)
	unit := must.Get(privacy.GaussianSigma(1, 1e-5))
	c := Config{Loss: Loss{Form: loss.Absolute(smoothing.Logistic{}, 1), Forms: 1, Norm: 1}, Epsilon: 1, Delta: 1e-5,
		Adjacency: privacy.AddRemove}
	for lambda, want := range map[float64]bool{0.58826: true, 0.58824: false} { // 99.9 and 100.1 times
		m, err := c.sigma(COP{Loss: c.Loss, Lambda: lambda, Account: ByRank}, math.Inf(1))
		if ok := err == nil && m.Sigma > 99*unit && m.Sigma <= 100*unit; ok != want || !want && err == nil {
			t.Errorf("λ = %g: σ is %v times the Gaussian mechanism's (%v)", lambda, m.Sigma/unit, err)
		}
	}
}
