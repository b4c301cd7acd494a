package ssp_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/ssp"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

const rowNorm, labelBound = 2.0, 3.0

// records returns n records of norm 2 with labels within ±3 that follow a plane.
func records(n, d int, seed uint64) (*matrix.Dense, []float64) {
	rng := noise.NewSeeded(seed)
	truth := make([]float64, d)
	noise.NewSeeded(77).Gaussian(truth, 1)
	floats.Scale(1.2/floats.Norm(truth, 2), truth)
	x, y := matrix.NewDense(n, d, nil), make([]float64, n)
	rng.Gaussian(x.Data, 1)
	for i := range y {
		row := x.Data[i*d : (i+1)*d]
		floats.Scale(rowNorm*(1-1e-15)/floats.Norm(row, 2), row)
		y[i] = math.Max(-labelBound, math.Min(labelBound, floats.Dot(row, truth)+0.3*rng.NormFloat64()))
	}
	return x, y
}

// plain returns the least-squares fit.
func plain(x *matrix.Dense, y []float64) []float64 {
	var theta mat.VecDense
	if err := theta.SolveVec(mat.NewDense(x.N, x.D, x.Data), mat.NewVecDense(x.N, y)); err != nil {
		panic(err)
	}
	return theta.RawVector().Data
}

// private is what both mechanisms are.
type private = mechanism.Mechanism

func calibrated(t testing.TB, d int, eps, delta float64) (ada ssp.AdaSSP, fun ssp.Functional) {
	t.Helper()
	ada = must.Get(ssp.CalibrateAdaSSP(ssp.AdaSSPConfig{RowNorm: rowNorm, LabelBound: labelBound, Epsilon: eps,
		Delta: delta, Adjacency: privacy.AddRemove}))
	return ada, functional(t, d, eps, delta)
}

func functional(t testing.TB, d int, eps, delta float64) ssp.Functional {
	t.Helper()
	return must.Get(ssp.CalibrateFunctional(ssp.FunctionalConfig{RowNorm: rowNorm, LabelBound: labelBound, Features: d,
		Epsilon: eps, Delta: delta, Adjacency: privacy.AddRemove}))
}

// What is calibrated satisfies (ε, δ), and a hundredth less noise does not.
func TestCalibrationIsSafeAndTight(t *testing.T) {
	for _, eps := range []float64{0.05, 1, 10} {
		const delta = 1e-6
		ada, fun := calibrated(t, 5, eps, delta)
		pure := functional(t, 5, eps, 0)
		lessAda, lessFun, lessPure := ada, fun, pure
		lessAda.SigmaEigen *= 0.99
		lessAda.SigmaGram *= 0.99
		lessAda.SigmaCross *= 0.99
		lessFun.Scale *= 0.99
		lessPure.Scale *= 0.99
		for _, c := range []struct {
			good, bad private
			delta     float64
		}{{ada, lessAda, delta}, {fun, lessFun, delta}, {pure, lessPure, 0}} {
			p := must.Get(mechanism.Profile(c.good))
			if d := privacy.DeltaUpper(p, eps); d > c.delta {
				t.Errorf("%v: δ = %g", c.good, d)
			}
			if p, _ = mechanism.Profile(c.bad); privacy.DeltaUpper(p, eps) <= c.delta {
				t.Errorf("%v: a hundredth less noise satisfies it too", c.good)
			}
		}
	}
}

// Each of the three releases of AdaSSP counts: leaving one out would claim less.
func TestAllPartsAreAccountedFor(t *testing.T) {
	ada, _ := calibrated(t, 5, 1, 1e-6)
	p, _ := mechanism.Profile(ada)
	_, whole, _ := privacy.GaussianMu(p)
	want := math.Sqrt(1/(ada.SigmaEigen*ada.SigmaEigen) + 1/(ada.SigmaGram*ada.SigmaGram) +
		1/(ada.SigmaCross*ada.SigmaCross))
	if whole < want || whole > want*1.0001 {
		t.Errorf("μ = %g, want %g", whole, want)
	}
	for _, change := range []func(*ssp.AdaSSP){
		func(m *ssp.AdaSSP) { m.SigmaEigen *= 1e9 }, func(m *ssp.AdaSSP) { m.SigmaGram *= 1e9 },
		func(m *ssp.AdaSSP) { m.SigmaCross *= 1e9 },
	} {
		m := ada
		change(&m)
		q, _ := mechanism.Profile(m)
		if _, mu, _ := privacy.GaussianMu(q); mu > 0.97*whole {
			t.Errorf("%v: μ = %g as if the part did not count", m, mu)
		}
	}
}

// A label beyond the bound on either side, or that is no number, is refused before any noise is drawn: the noise hides
// labels within it.
func TestLabelsBeyondTheBound(t *testing.T) {
	x, _ := records(8, 3, 1)
	ada, fun := calibrated(t, 3, 1, 1e-5)
	for _, m := range []mechanism.Mechanism{ada, fun, ssp.Boosted{AdaSSP: ada, Clip: 1, Rounds: 2}} {
		for _, y := range []float64{labelBound, -labelBound, 0} {
			if err := m.Check(x, slices.Repeat([]float64{y}, 8)); err != nil {
				t.Errorf("%v refuses a label of %v: %v", m, y, err)
			}
		}
		for _, y := range []float64{1.001 * labelBound, -1.001 * labelBound, math.Inf(-1), math.Inf(1), math.NaN()} {
			labels := append(make([]float64, 7), y)
			if m.Check(x, labels) == nil {
				t.Errorf("%v admits a label of %v", m, y)
			}
			if r, err := m.Run(x, labels, noise.NewSeeded(1), nil); err == nil {
				t.Errorf("%v releases %v with a label of %v", m, r.Coefficients, y)
			}
		}
	}
}

// ε → ∞: without noise both are the least-squares fit.
func TestNoNoiseEqualsNonPrivate(t *testing.T) {
	x, y := records(500, 6, 1)
	want := plain(x, y)
	for _, m := range []private{
		ssp.AdaSSP{RowNorm: rowNorm, LabelBound: labelBound, SigmaEigen: 1e-13, SigmaGram: 1e-13, SigmaCross: 1e-13,
			Failure: 0.05},
		ssp.Functional{RowNorm: rowNorm, LabelBound: labelBound, Features: 6, Noise: ssp.Laplace, Scale: 1e-13},
		ssp.Functional{RowNorm: rowNorm, LabelBound: labelBound, Features: 6, Noise: ssp.Gaussian, Scale: 1e-13},
	} {
		for _, rows := range []matrix.Rows{x, x.Sparse()} {
			r := must.Get(m.Run(rows, y, noise.NewSeeded(1), nil))
			if dist := floats.Distance(r.Coefficients, want, 2); dist > 1e-7 {
				t.Errorf("%v: %v away from least squares", m, dist)
			}
		}
	}
}

// However large the noise, the coefficients stay bounded: by ‖q‖ over the floor.
func TestMuchNoiseStaysBounded(t *testing.T) {
	x, y := records(3, 8, 2)
	ada, fun := calibrated(t, 8, 0.01, 1e-6)
	for _, m := range []private{ada, fun, functional(t, 8, 0.01, 0)} {
		for seed := range uint64(50) {
			r := must.Get(m.Run(x, y, noise.NewSeeded(seed), nil))
			// The floor is the noise's scale, and ‖q‖ some √d times that.
			if norm := floats.Norm(r.Coefficients, 2); !(norm < 50*labelBound/rowNorm) {
				t.Errorf("%v, seed %d: ‖θ‖ = %g", m, seed, norm)
			}
		}
	}
}

func TestCalibrationRejects(t *testing.T) {
	type bad struct{ r, y, eps, delta, share float64 }
	for name, b := range map[string]bad{
		"R = 0": {0, 1, 1, 1e-5, 0}, "Y = NaN": {1, math.NaN(), 1, 1e-5, 0}, "ε = 0": {1, 1, 0, 1e-5, 0},
		"ε = Inf": {1, 1, math.Inf(1), 1e-5, 0},
		"δ = 1":   {1, 1, 1, 1, 0}, "δ < 0": {1, 1, 1, -1, 0}, "share = 1": {1, 1, 1, 1e-5, 1},
	} {
		c := ssp.AdaSSPConfig{RowNorm: b.r, LabelBound: b.y, Epsilon: b.eps, Delta: b.delta,
			Adjacency: privacy.AddRemove, EigenShare: b.share}
		if _, err := ssp.CalibrateAdaSSP(c); err == nil {
			t.Errorf("AdaSSP: %s is accepted", name)
		}
		f := ssp.FunctionalConfig{RowNorm: b.r, LabelBound: b.y, Features: 3, Epsilon: b.eps, Delta: b.delta,
			Adjacency: privacy.AddRemove}
		if _, err := ssp.CalibrateFunctional(f); err == nil && b.share == 0 {
			t.Errorf("functional: %s is accepted", name)
		}
		if f.Delta = 0; b.eps != 1 {
			if _, err := ssp.CalibrateFunctional(f); err == nil {
				t.Errorf("functional, pure: %s is accepted", name)
			}
		}
	}
	for _, adj := range []privacy.Adjacency{0, privacy.ReplaceOne} {
		if _, err := ssp.CalibrateAdaSSP(ssp.AdaSSPConfig{RowNorm: 1, LabelBound: 1, Epsilon: 1, Delta: 1e-5,
			Adjacency: adj}); err == nil {
			t.Errorf("AdaSSP under %v is accepted", adj)
		}
		for _, delta := range []float64{0, 1e-5} {
			if _, err := ssp.CalibrateFunctional(ssp.FunctionalConfig{RowNorm: 1, LabelBound: 1, Features: 1,
				Epsilon: 1, Delta: delta, Adjacency: adj}); err == nil {
				t.Errorf("functional under %v, δ = %g is accepted", adj, delta)
			}
		}
	}
	if _, err := ssp.CalibrateFunctional(ssp.FunctionalConfig{RowNorm: 1, LabelBound: 1, Epsilon: 1,
		Adjacency: privacy.AddRemove}); err == nil {
		t.Error("no features are accepted")
	}
}

// Laplace noise, for pure ε, costs more than Gaussian noise for (ε, δ); objective perturbation beside them costs least.
func TestErrorsOfTheFits(t *testing.T) {
	for _, d := range []int{5, 40} {
		x, y := records(20_000, d, 4)
		want := plain(x, y)
		const eps, delta, runs = 0.3, 1e-6, 5
		ada, fun := calibrated(t, d, eps, delta)
		huber := must.Get(objpert.Calibrate(objpert.Config{
			Loss: loss.Huber{Threshold: 1}, RowNorm: rowNorm, Epsilon: eps, Delta: delta,
			Adjacency: privacy.AddRemove}))
		var errs []float64
		for _, m := range []private{ada, fun, functional(t, d, eps, 0), huber} {
			var sum float64
			for seed := range uint64(runs) {
				r := must.Get(m.Run(x, y, noise.NewSeeded(seed), nil))
				sum += floats.Distance(r.Coefficients, want, 2) / runs
			}
			errs = append(errs, sum)
		}
		t.Logf("d = %d, n = 20,000, ε = %g: ‖θ − θ_LS‖ = %.3f AdaSSP, %.3f functional (Gaussian), %.3f functional "+
			"(Laplace, pure), %.3f objective perturbation (Huber); ‖θ_LS‖ = %.3f",
			d, eps, errs[0], errs[1], errs[2], errs[3], floats.Norm(want, 2))
		if !(errs[0] < errs[2] && errs[1] < errs[2] && errs[3] < errs[0]) {
			t.Errorf("d = %d: errors %v", d, errs)
		}
	}
}
