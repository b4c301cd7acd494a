package objpert_test

import (
	"errors"
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

func predicted(t *testing.T, c objpert.Config) objpert.Objective {
	t.Helper()
	c.Delta, c.Adjacency = 1e-5, privacy.AddRemove
	return must.Get(objpert.Calibrate(c))
}

// The closed form is where the prediction is least, for every loss and margin.
func TestBestLambdaIsTheMinimum(t *testing.T) {
	for _, c := range []struct {
		l    loss.Loss
		norm float64
		p    objpert.Planned
	}{
		{loss.Logistic{}, 1, objpert.Planned{Records: 1000, Features: 100}},
		{loss.Logistic{}, math.Sqrt2, objpert.Planned{Records: 30_000, Features: 100, Margin: 1}},
		{loss.Huber{Threshold: 3}, 2, objpert.Planned{Records: 500, Features: 10}},
	} {
		m := predicted(t, objpert.Config{Loss: c.l, RowNorm: c.norm, Epsilon: 1})
		best := c.p.BestLambda(m, m.Sigma)
		m.Lambda = best
		at := c.p.PredictedExcess(m)
		for _, f := range []float64{0.5, 0.9, 1.1, 2} {
			m.Lambda = best * f
			if other := c.p.PredictedExcess(m); other < at {
				t.Errorf("%+v: %v at λ = %v, %v at the best, %v", c.p, other, m.Lambda, at, best)
			}
		}
		if c.p.Margin == 0 {
			ratio := m.Sigma / m.Lipschitz()
			want := m.Smoothness() * (1 + 8*float64(c.p.Features)/float64(c.p.Records)*ratio*ratio)
			if !(math.Abs(best/want-1) <= 1e-9) {
				t.Errorf("%+v: λ = %v, by the formula %v", c.p, best, want)
			}
		}
	}
}

// Whatever was planned, the guarantee holds, λ is no smaller and the noise no larger than by LeastNoise; with many
// records the two agree.
func TestPredictedErrorNeverCostsPrivacy(t *testing.T) {
	testscale.Slow(t)
	for _, l := range []loss.Loss{loss.Logistic{}, loss.Huber{Threshold: 1}} {
		for _, eps := range testscale.Some(0.1, 8) {
			c := objpert.Config{Loss: l, RowNorm: 1, Epsilon: eps}
			base := predicted(t, c)
			for _, n := range []int{1, 1000, math.MaxInt} {
				c.Planned = objpert.Planned{Records: n, Features: 50}
				m := predicted(t, c)
				p := must.Get(m.Profile())
				if d := privacy.DeltaUpper(p, eps); d > 1e-5 {
					t.Errorf("%s, n = %d: δ = %v", l.Name(), n, d)
				}
				if m.Lambda < base.Lambda*(1-1e-5) || m.Sigma > base.Sigma*(1+1e-5) {
					t.Errorf("%s, ε = %v, n = %d: λ = %v, σ = %v; by LeastNoise %v, %v", l.Name(), eps, n, m.Lambda,
						m.Sigma, base.Lambda, base.Sigma)
				}
				unit := must.Get(privacy.GaussianSigma(eps, 1e-5))
				if want := c.Planned.BestLambda(m, unit*m.Lipschitz()); m.Lambda < want*(1-1e-6) {
					t.Errorf("%s: λ = %v, predicted %v", l.Name(), m.Lambda, want)
				}
			}
			if m := predicted(t, c); eps < 1 && m.Lambda > base.Lambda*(1+1e-5) {
				t.Errorf("%s: λ = %v with unboundedly many records, %v by LeastNoise", l.Name(), m.Lambda, base.Lambda)
			}
		}
	}
}

// The prediction against the mean risk over new records, in the model that it is made for: rows uniform on a sphere,
// logistic labels at the default margin.
func TestPredictedExcessAgainstSimulation(t *testing.T) {
	const n, d, reps = 2000, 20, 30
	rng := noise.NewSeeded(11)
	truth := make([]float64, d)
	rng.Gaussian(truth, 1)
	floats.Scale(2*math.Sqrt(d)/floats.Norm(truth, 2), truth)
	draw := func(n int, rng *noise.Seeded) (*matrix.Dense, []float64) {
		x, y := matrix.NewDense(n, d, nil), make([]float64, n)
		rng.Gaussian(x.Data, 1)
		for i := range y {
			row := x.Data[i*d : (i+1)*d]
			floats.Scale((1-1e-15)/floats.Norm(row, 2), row)
			y[i] = -1
			if rng.Float64() < 1/(1+math.Exp(-floats.Dot(row, truth))) {
				y[i] = 1
			}
		}
		return x, y
	}
	fresh, _ := draw(10_000, rng.Stream(1))
	t0, t1 := make([]float64, fresh.N), make([]float64, fresh.N)
	fresh.Margins(t0, truth, 0, fresh.N)
	// risk is E f over the labels' own law, given the rows.
	risk := func(t []float64) float64 {
		var sum float64
		for i, v := range t {
			p := 1 / (1 + math.Exp(-t0[i]))
			sum += p*math.Log1p(math.Exp(-v)) + (1-p)*math.Log1p(math.Exp(v))
		}
		return sum / float64(len(t))
	}
	best := risk(t0)
	plan := objpert.Planned{Records: n, Features: d}
	m := predicted(t, objpert.Config{Loss: loss.Logistic{}, RowNorm: 1, Epsilon: 4})
	for _, lambda := range []float64{m.Lambda, 4 * m.Lambda, 30 * m.Lambda} {
		m.Lambda = lambda
		var sum float64
		for k := range reps {
			src := rng.Stream(10 + k)
			x, y := draw(n, src)
			r := must.Get(m.Run(x, y, src, nil))
			fresh.Margins(t1, r.Coefficients, 0, fresh.N)
			sum += risk(t1) - best
		}
		got, want := sum/reps, plan.PredictedExcess(m)
		t.Logf("λ = %.3g: excess %.5f, predicted %.5f", lambda, got, want)
		if got < 0.7*want || got > 1.4*want {
			t.Errorf("λ = %v: excess %v, predicted %v", lambda, got, want)
		}
	}
}

// Where more λ saves noise the rule takes it if the prediction says so.
func TestPredictedErrorTradesNoise(t *testing.T) {
	c := objpert.Config{Loss: loss.Huber{Threshold: 1}, RowNorm: 1, Epsilon: 1, Planned: objpert.Planned{Records: 3000,
		Features: 50}}
	m := predicted(t, c)
	base := c
	base.Rule = objpert.LeastNoise
	least := predicted(t, base)
	if got, other := c.Planned.PredictedExcess(m), c.Planned.PredictedExcess(least); !(got < 0.99*other) ||
		m.Sigma > 0.95*least.Sigma {
		t.Errorf("predicted %v at λ = %v, σ = %v; %v at λ = %v, σ = %v by LeastNoise", got, m.Lambda, m.Sigma, other,
			least.Lambda, least.Sigma)
	}
}

func TestPlannedIsChecked(t *testing.T) {
	for _, p := range []objpert.Planned{{Records: -1, Features: 3}, {Records: 10},
		{Records: 10, Features: 3, Margin: -1}, {Records: 10, Features: 3, Margin: math.NaN()}} {
		var param *privacy.ParamError
		c := objpert.Config{Loss: loss.Logistic{}, RowNorm: 1, Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove,
			Planned: p}
		if _, err := objpert.Calibrate(c); !errors.As(err, &param) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	c := objpert.Config{Loss: loss.Logistic{}, RowNorm: 1, Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove,
		Rule: objpert.PredictedError}
	var param *privacy.ParamError
	if _, err := objpert.Calibrate(c); !errors.As(err, &param) || param.Name != "Planned.Records" {
		t.Errorf("no plan: %v", err)
	}
}
