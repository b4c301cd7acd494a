package objpert

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// What is calibrated by quick looks keeps to (ε, δ) by the bound that is charged, and with σ less by two thousandths it
// does not, alone and with Gaussian mechanisms beside it; where δ hardly changes with σ, too.
func TestCalibrationIsChargedNoMore(t *testing.T) {
	testscale.Slow(t)
	for _, c := range []struct {
		loss                   loss.Loss
		epsilon, delta, beside float64
	}{
		{loss.PseudoHuber{Threshold: 1}, 0.5, 1e-6, 0}, {loss.PseudoHuber{Threshold: 1}, 4, 1e-9, 0.1},
		{loss.Clipped(loss.Squared{}, 0.5), 1, 1e-6, 0.1}, {loss.Clipped(loss.Poisson{MaxCount: 5}, 1), 0.1, 1e-6, 0.1},
		{loss.Huber{Threshold: 1}, 1e-4, 1e-5, 0},
	} {
		unit := must.Get(privacy.GaussianSigma(c.epsilon, c.delta))
		m := must.Get(Calibrate(Config{Loss: c.loss, RowNorm: 1, Epsilon: c.epsilon, Delta: c.delta, Reserved: c.beside,
			Lambda: 2 * unit, Adjacency: privacy.AddRemove, Bound: objective.Tight}))
		over := func(scale float64) float64 {
			less := m
			less.Sigma *= scale
			p := must.Get(less.WithGaussian(less.Part(c.beside, c.beside)))
			return privacy.LogDeltaUpper(p, c.epsilon) - math.Log(c.delta)
		}
		if at, below := over(1), over(0.998); at > 0 || below <= 0 {
			t.Errorf("%s at (%g, %g), %g beside: ln δ is off by %g, and by %g with less noise", c.loss.Name(),
				c.epsilon, c.delta, c.beside, at, below)
		}
	}
}

// The search ends at the least σ for every way in which ln δ may fall with σ: as it does nearly always, far steeper and
// in a step.
func TestSearchEndsAtTheLeast(t *testing.T) {
	unit := must.Get(privacy.GaussianSigma(1, 1e-6))
	for name, fall := range map[string]func(x float64) float64{
		"as the Gaussian mechanism": func(x float64) float64 {
			p := privacy.GaussianProfile(math.Exp(-x)/unit, privacy.AddRemove)
			return privacy.LogDeltaUpper(p, 1) - math.Log(1e-6)
		},
		"steeper": func(x float64) float64 { return -1e4 * x },
		"a step":  func(x float64) float64 { return math.Copysign(6, -x) },
	} {
		for _, least := range []float64{0.01, 0.9, 1, 1.1, 300} {
			k := &calibration{m: Objective{Loss: loss.Logistic{}, RowNorm: 1}, eps: 1, delta: 1e-6, gauss: unit}
			asked := 0
			over := func(sigma float64) (float64, error) {
				if asked++; asked > 200 {
					t.Fatalf("%s, %g: no end", name, least)
				}
				return fall(math.Log(sigma / (least * unit))), nil
			}
			sigma := must.Get(k.search(unit, false, over)) / (least * unit)
			if !(sigma >= 1-1e-9 && sigma <= 1+2*closely) {
				t.Errorf("%s, from a factor of %g: σ is %.6f of the least after %d", name, least, sigma, asked)
			}
		}
	}
}

// At the least λ of the Gaussian case noise is that case's, too, where that λ is asked for.
func TestLambdaOfTheGaussianCase(t *testing.T) {
	for _, bound := range []objective.Bound{0, objective.Tight} {
		for _, eps := range []float64{0.3, 1, 4} {
			c := Config{Loss: loss.Logistic{}, Bound: bound, RowNorm: 1, Epsilon: eps, Delta: 1e-5,
				Adjacency: privacy.AddRemove}
			least := must.Get(Calibrate(c))
			c.Lambda = least.Lambda
			if m := must.Get(Calibrate(c)); !m.Gaussian() || !least.Gaussian() ||
				!(math.Abs(m.Sigma/least.Sigma-1) <= 1e-9) {
				t.Errorf("%v, ε = %g: σ = %v, asked for by its λ %v", bound, eps, least.Sigma, m.Sigma)
			}
		}
	}
}
