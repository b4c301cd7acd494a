package convolution

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// Every account proves (ε, δ) for the σ that it asks for, within its own reach, and Calibrate takes the least of them.
func TestAccounts(t *testing.T) {
	unit, err := privacy.GaussianSigma(1, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
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
