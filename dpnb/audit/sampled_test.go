package audit

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func TestClopperPearson(t *testing.T) {
	// Ends: k = 0 of n has the upper end 1 − (α/2)^{1/n}.
	iv := ClopperPearson(0, 20, 0.95)
	if iv.Lower != 0 || !(math.Abs(iv.Upper-(1-math.Pow(0.025, 1.0/20))) <= 1e-9) {
		t.Errorf("0 of 20: %+v", iv)
	}
	iv = ClopperPearson(20, 20, 0.95)
	if iv.Upper != 1 || !(math.Abs(iv.Lower-math.Pow(0.025, 1.0/20)) <= 1e-9) {
		t.Errorf("20 of 20: %+v", iv)
	}
	// The ends solve their binomial equations: P(X ≥ 3) at the lower end is 2.5 %.
	iv = ClopperPearson(3, 10, 0.95)
	var tail float64
	for k := 3; k <= 10; k++ {
		tail += choose(10, k) * math.Pow(iv.Lower, float64(k)) * math.Pow(1-iv.Lower, float64(10-k))
	}
	if !(math.Abs(tail-0.025) <= 1e-8) {
		t.Errorf("3 of 10: %+v, tail %v", iv, tail)
	}
}

func choose(n, k int) float64 {
	c := 1.0
	for i := range k {
		c = c * float64(n-i) / float64(i+1)
	}
	return c
}

// In one dimension the sampled δ must agree with the integrated one.
func TestSamplesAgreeWithIntegration(t *testing.T) {
	testscale.Slow(t)
	scalar := &Scalar{Loss: loss.Logistic{}, X: []float64{1, -0.5}, Y: []float64{1, 1}, ExtraX: 1, ExtraY: 1,
		Lambda: 0.4, Sigma: 1}
	nb := &Neighbours{Loss: loss.Logistic{}, Rows: matrix.NewDense(2, 1, []float64{1, -0.5}), Labels: []float64{1, 1},
		Extra: []float64{1}, ExtraLabel: 1, Lambda: 0.4, Sigma: 1}
	for _, dir := range privacy.Directions {
		for _, eps := range []float64{0, 0.3} {
			exact := scalar.DeltaLower(dir, eps)
			// Level 1 − 1e-6: one false alarm in a million runs; the seed is fixed.
			iv := must.Get(nb.DeltaInterval(dir, eps, 4000, 1-1e-6, noise.NewSeeded(1)))
			if exact < iv.Lower || exact > iv.Upper || iv.Upper-iv.Lower > 0.1 {
				t.Errorf("%v, ε = %v: integrated %v, sampled %+v", dir, eps, exact, iv)
			}
			// It must be able to fail: another λ.
			wrong := *scalar
			wrong.Sigma = 2
			if w := wrong.DeltaLower(dir, eps); w > iv.Lower && w < iv.Upper {
				t.Errorf("%v, ε = %v: δ of twice the noise, %v, goes unnoticed in %+v", dir, eps, w, iv)
			}
		}
	}
}

// The density ratio against a finite-difference Jacobian in two dimensions: densities must integrate their ratio to
// one, E_P[q/p] = 1.
func TestDensityRatioAveragesToOne(t *testing.T) {
	rng := noise.NewSeeded(3)
	rows := matrix.NewDense(5, 3, nil)
	rng.Gaussian(rows.Data, 0.5)
	nb := &Neighbours{Loss: loss.Logistic{}, Rows: rows, Labels: []float64{1, -1, 1, 1, -1},
		Extra: []float64{0.6, -0.6, 0.5}, ExtraLabel: -1, Lambda: 0.5, Sigma: 1.5}
	const n = 3000
	for _, dir := range privacy.Directions {
		r := make([]float64, n)
		for k := range r {
			l := must.Get(nb.privacyLoss(dir, rng.Stream(k)))
			r[k] = math.Exp(-l)
		}
		mean := floats.Sum(r) / n
		var ss float64
		for _, v := range r {
			ss += (v - mean) * (v - mean)
		}
		if se := math.Sqrt(ss/n) / math.Sqrt(n); !(math.Abs(mean-1) <= 4.9*se) {
			t.Errorf("%v: E q/p = %v ± %v", dir, mean, se)
		}
	}
}

// No interval may lie above the claimed bound, in several dimensions.
func TestBoundHoldsInSeveralDimensions(t *testing.T) {
	testscale.Slow(t)
	rng := noise.NewSeeded(9)
	for _, d := range []int{2, 5, 20} {
		rows := matrix.NewDense(30, d, nil)
		rng.Gaussian(rows.Data, 1)
		labels := make([]float64, 30)
		for i := range labels {
			r := rows.Data[i*d : (i+1)*d]
			floats.Scale(1/floats.Norm(r, 2), r)
			labels[i] = float64(1 - 2*(i%2))
		}
		extra := make([]float64, d)
		extra[0] = 1
		nb := &Neighbours{Loss: loss.Logistic{}, Rows: rows, Labels: labels, Extra: extra, ExtraLabel: 1, Lambda: 1,
			Sigma: 2}
		p := must.Get(privacy.HalfNormal{K: math.Log1p(0.25), A: 0.5}.Profile(privacy.AddRemove))
		for _, dir := range privacy.Directions {
			iv := must.Get(nb.DeltaInterval(dir, 0.3, 1000, 1-1e-6, rng.Stream(d)))
			if claim := privacy.DeltaUpper(p, 0.3); iv.Lower > claim {
				t.Errorf("d = %d, %v: δ in %+v, claimed %v", d, dir, iv, claim)
			}
		}
	}
}
