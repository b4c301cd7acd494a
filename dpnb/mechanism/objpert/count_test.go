package objpert_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func counted(t *testing.T, l loss.Loss, eps, delta, share float64) objpert.Counted {
	t.Helper()
	return must.Get(objpert.CalibrateCounted(objpert.Config{Loss: l, RowNorm: math.Sqrt2, Epsilon: eps, Delta: delta,
		Adjacency: privacy.AddRemove}, share, true))
}

// TestCountedIsSafeAndTight: the count and the fit satisfy (ε, δ) together, by μ's that add in squares, and with a
// tenth less noise in either they do not; the profile holds at whatever ridge the count has chosen.
func TestCountedIsSafeAndTight(t *testing.T) {
	for _, c := range []struct{ eps, delta, share float64 }{{0.05, 1e-5, 0.01}, {1, 1e-6, 0.01}, {8, 1e-9, 0.3},
		{1e-3, 1e-4, 0.1}} {
		for _, l := range []loss.Loss{loss.Logistic{}, loss.Softplus{Width: 1}} {
			m := counted(t, l, c.eps, c.delta, c.share)
			both := must.Get(m.Profile())
			if d := privacy.DeltaUpper(both, c.eps); d > c.delta || d < 0.99*c.delta {
				t.Errorf("%+v: δ = %v", c, d)
			}
			fit := must.Get(m.Fit.Profile())
			_, mu, _ := privacy.GaussianMu(fit)
			_, total, ok := privacy.GaussianMu(both)
			if !ok || total*total < mu*mu+1/(m.Count.Sigma*m.Count.Sigma) {
				t.Errorf("%+v: μ = %v for both, %v for the fit, σ = %v of the count", c, total, mu, m.Count.Sigma)
			}
			if share := 1 / (m.Count.Sigma * m.Count.Sigma * total * total); !(math.Abs(share/c.share-1) <= 0.05) {
				t.Errorf("%+v: the count has %v of μ²", c, share)
			}
			for _, less := range []float64{0.9, 1} { // of the fit's noise; of the count's
				wrong := m
				wrong.Fit.Sigma *= less
				wrong.Count.Sigma *= 1.9 - less
				p := must.Get(wrong.Profile())
				if privacy.DeltaUpper(p, c.eps) <= c.delta {
					t.Errorf("%+v: a tenth less noise goes unnoticed", c)
				}
			}
			for _, records := range []float64{-1e9, 0, 3, 1e4, 1e18} {
				at := m.At(records, 20)
				p := must.Get(at.Profile())
				if _, high, ok := privacy.GaussianMu(p); !ok || high > mu || high < mu*(1-1e-9) {
					t.Errorf("%+v: μ = %v at %v records, %v at the least ridge", c, high, records, mu)
				}
				if at.Lambda < m.Fit.Lambda || at.Shrinkage < 0 || at.Sigma != m.Fit.Sigma {
					t.Errorf("%+v: at %v records %v", c, records, at)
				}
			}
		}
	}
}

// TestCountedRuns: the release has the profile of both, says what was counted, and is the fit at the ridges for that
// number; fewer records want a larger ridge.
func TestCountedRuns(t *testing.T) {
	m := counted(t, loss.Logistic{}, 1, 1e-6, 0.01)
	rows, labels := matrix.NewDense(400, 3, nil), make([]float64, 400)
	rng := noise.NewSeeded(3)
	rng.Gaussian(rows.Data, 0.3)
	for i := range labels {
		rows.Data[3*i+2] = 1
		labels[i] = math.Copysign(1, rows.Data[3*i])
		for _, j := range []int{3 * i, 3*i + 1} {
			rows.Data[j] = math.Max(-0.7, math.Min(0.7, rows.Data[j]))
		}
	}
	r := must.Get(m.Run(rows, labels, noise.NewSeeded(4), nil))
	_, got, ok := privacy.GaussianMu(r.Guarantee.Profile)
	both, _ := m.Profile()
	_, want, _ := privacy.GaussianMu(both)
	if !ok || got != want {
		t.Errorf("the release states μ = %v, want %v", got, want)
	}
	if !strings.Contains(r.Mechanism, "count of the records") ||
		!strings.Contains(strings.Join(r.Guarantee.Assumptions, ";"), "noisy count") {
		t.Errorf("%q, %q", r.Mechanism, r.Guarantee.Assumptions)
	}
	again := noise.NewSeeded(4)
	if at := m.At(m.Count.Run(400, again), 3); !reflect.DeepEqual(any(at), any(r.Fitted)) {
		t.Errorf("fitted %v, the count asks for %v", r.Fitted, at)
	}
	if m.At(100, 3).Lambda <= m.At(1e4, 3).Lambda {
		t.Error("fewer records, no larger ridge")
	}
	// Huber's loss has no Gaussian case: what it costs depends on λ.
	if _, err := objpert.CalibrateCounted(objpert.Config{Loss: loss.Huber{Threshold: 1}, RowNorm: 1, Epsilon: 1,
		Delta: 1e-6, Adjacency: privacy.AddRemove}, 0.01, true); err == nil {
		t.Error("a ridge by a count outside the Gaussian case")
	}
	for _, share := range []float64{0, -1, 1, math.NaN()} {
		if _, err := objpert.CalibrateCounted(objpert.Config{Loss: loss.Logistic{}, RowNorm: 1, Epsilon: 1, Delta: 1e-6,
			Adjacency: privacy.AddRemove}, share, true); err == nil {
			t.Errorf("share %v was accepted", share)
		}
	}
}

// TestCountedWhereDeltaNearlySuffices: with ε far below δ a hundredth of μ² is more than ε alone could give up.
func TestCountedWhereDeltaNearlySuffices(t *testing.T) {
	for _, eps := range []float64{1e-6, 1e-8, 1e-12} {
		m := counted(t, loss.Logistic{}, eps, 1e-5, 0.01)
		both := must.Get(m.Profile())
		_, total, _ := privacy.GaussianMu(both)
		d, share := privacy.DeltaUpper(both, eps), 1/(m.Count.Sigma*m.Count.Sigma*total*total)
		if d > 1e-5 || d < 0.999e-5 || !(math.Abs(share/0.01-1) <= 0.05) {
			t.Errorf("ε = %v: δ = %v, and the count has %v of μ²", eps, d, share)
		}
	}
}

// TestNoCountIsChargedForNothing: parameters at which some count would ask for a ridge that no fit takes, or has noise
// that cannot be drawn, are refused before any is.
func TestNoCountIsChargedForNothing(t *testing.T) {
	m := must.Get(objpert.CalibrateCounted(objpert.Config{Loss: loss.Logistic{}, RowNorm: 1.3e14, Epsilon: 3.9,
		Delta: 2.6e-12, Adjacency: privacy.AddRemove}, 0.01, false))
	rows, labels := matrix.NewDense(1, 668, nil), []float64{1}
	if m.At(-100, 668).Validate() == nil {
		t.Fatal("this ridge is not too large: the test is of nothing")
	}
	var param *privacy.ParamError
	if err := m.Check(rows, labels); !errors.As(err, &param) || param.Name != "Lambda" {
		t.Errorf("Check: %v", err)
	}
	src := &countingSource{Seeded: noise.NewSeeded(1)}
	if _, err := m.Run(rows, labels, src, nil); !errors.As(err, &param) || src.draws != 0 {
		t.Errorf("Run: %v", err)
	}
	for _, sigma := range []float64{0, -1, math.NaN(), math.Inf(1), 1e-40, 1e40} {
		if err := (objpert.Count{Sigma: sigma}).Validate(); err == nil {
			t.Errorf("σ = %v of a count was accepted", sigma)
		}
	}
	if err := counted(t, loss.Logistic{}, 1, 1e-6, 0.01).Check(matrix.NewDense(1, 3, nil), labels); err != nil {
		t.Error(err)
	}
}

// TestCountHasItsLaw: mean and variance of the noisy count.
func TestCountHasItsLaw(t *testing.T) {
	c := objpert.Count{Sigma: 30}
	rng := noise.NewSeeded(8)
	const reps = 20_000
	var sum, squares float64
	for range reps {
		v := c.Run(1000, rng) - 1000
		sum, squares = sum+v, squares+v*v
	}
	if mean := sum / reps; !(math.Abs(mean) <= 4.5*30/math.Sqrt(reps)) {
		t.Errorf("mean error %v", mean)
	}
	if v := squares / reps / 900; !(math.Abs(v-1) <= 4.5*math.Sqrt(2.0/reps)) {
		t.Errorf("%v of the variance", v)
	}
	if p := c.Planned(-50, 4); p.Records != 30 || p.Features != 4 {
		t.Errorf("planned %+v", p)
	}
}

// TestCountedWithARareClass: where λ is so large that float64 has too few digits of λ·Centre, the centre is moved to
// where it has them, so that what was paid for is released.
func TestCountedWithARareClass(t *testing.T) {
	rows, labels := matrix.NewDense(20, 2, nil), make([]float64, 20)
	for i := range labels {
		rows.Data[2*i+1], labels[i] = 1, -1
	}
	m := counted(t, loss.Logistic{}, 1e-8, 1e-11, 0.01)
	m.BaseRate = 1e-7
	if _, err := m.Run(rows, labels, noise.NewSeeded(1), nil); err != nil {
		t.Error(err)
	}
}
