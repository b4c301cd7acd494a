package objective_test

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// profile is what a bound promises of a loss of rows of norm 1.
func profile(l loss.Loss, lambda, sigma float64, bound objective.Bound) *objective.Profile {
	return must.Get(objective.New(objective.Config{Curve: must.Get(loss.CurveOf(l, 1)), Lambda: lambda, Sigma: sigma,
		Bound: bound}))
}

// The exact divergence of neighbours found by adversarial search is never above the certified upper value, and comes
// close to it.
func TestAdversary(t *testing.T) {
	testscale.InTurn(t)
	steps, worst := 600, 0.0
	if !testscale.Full() {
		steps = 40
	}
	for _, of := range []struct {
		loss     loss.Loss
		labels   []float64
		settings [][3]float64 // λ, σ, ε
	}{{loss.Logistic{}, []float64{-1, 1}, [][3]float64{{0.25, 2, 1}, {0.05, 5, 1}, {1, 10, 0.1}, {1, 2, 0.25},
		{0.1, 4, 0.25}, {0.3, 1, 1}, {2, 10, 0.25}}},
		{loss.Huber{Threshold: 1}, []float64{-4, -1, 0, 0.5, 2}, [][3]float64{{5, 5, 1}, {0.1, 2, 2}, {1, 2, 0.5},
			{0.1, 2, 0.25}, {1, 1, 0.5}}},
		{loss.Clipped(loss.Poisson{MaxCount: 3}, 1.5), []float64{0, 1, 2, 3}, [][3]float64{{5, 5, 1}, {0.5, 2, 2},
			{1, 3, 0.5}, {1, 3, 0.1}}}} {
		for _, s := range of.settings {
			p := profile(of.loss, s[0], s[1], objective.Tight)
			for _, dir := range privacy.Directions {
				for _, regularised := range []bool{false, true} {
					f := must.Get(audit.Search{Loss: of.loss, Labels: of.labels, RowNorm: 1, Lambda: s[0], Sigma: s[1],
						Epsilon: s[2], Direction: dir, Claimed: math.Exp(p.LogDeltaUpper(dir, s[2])),
						Regulariser: regularised, Steps: steps}.Run(t.Context(), noise.NewSeeded(7)))
					if !(f.Ratio <= 1+1e-9) {
						t.Errorf("%s, λ, σ, ε = %v, %v: exact %g is %g of the bound: %s", of.loss.Name(), s, dir,
							f.Exact, f.Ratio, f.Data)
					}
					if dir == privacy.Remove { // the other is the Gaussian mechanism's where slopes have one sign
						worst = max(worst, f.Ratio)
					}
				}
			}
		}
	}
	if t.Logf("largest exact/tight %.4f", worst); worst < 0.9 {
		t.Errorf("the search is too weak to test anything: largest exact/tight %.3f", worst)
	}
}

// Claims that are false are shown to be: real neighbours exceed them, one logistic record, R = 1, and none.
func TestWrongClaimsAreViolated(t *testing.T) {
	for name, c := range map[string]struct {
		lambda, sigma, eps, tilt, wrong, times float64
	}{
		"Theorem 3.1 as printed": {0.3, 2, 1, -10, objective.PrintedRKW23(1, 0.25, 0.3, 0.5), 1},
		"without the logarithm, W = a²/2 + a|N|": {0.05, 5, 1, 0, privacy.DeltaUpper(
			must.Get(privacy.HalfNormal{A: 0.2}.Profile(privacy.AddRemove)), 1), 1},
		"Gaussian at every λ": {1, 20, 0.1, 0,
			privacy.DeltaUpper(privacy.GaussianProfile(0.05, privacy.AddRemove), 0.1), 10},
	} {
		pair := &audit.Scalar{Loss: loss.Logistic{}, ExtraX: 1, ExtraY: -1, Lambda: c.lambda, Sigma: c.sigma,
			Tilt: c.tilt}
		exact := pair.DeltaLower(privacy.Remove, c.eps)
		p := profile(loss.Logistic{}, c.lambda, c.sigma, objective.DTZ24)
		right := math.Exp(p.LogDeltaUpper(privacy.Remove, c.eps))
		if !(exact > c.times*c.wrong) || exact > right {
			t.Errorf("%s: exact δ %g is not above %g times %g, or above the bound %g", name, exact, c.times, c.wrong,
				right)
		}
	}
}
