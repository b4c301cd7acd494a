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

// withIntercept is n records of norm √2 with a constant last feature, all of one class so that they push the extra
// record's margin, and ridges λ + ω and λ.
func withIntercept(n, d int, lambda, omega, sigma float64, rng *noise.Seeded) *Neighbours {
	rows, labels := matrix.NewDense(n, d, nil), make([]float64, n)
	rng.Gaussian(rows.Data, 1)
	for i := range n {
		row := rows.Data[i*d : (i+1)*d]
		row[0] += 2
		floats.Scale(1/floats.Norm(row[:d-1], 2), row)
		row[d-1], labels[i] = 1, 1
	}
	extra := make([]float64, d)
	extra[0], extra[d-1] = 1, 1
	nb := &Neighbours{Loss: loss.Logistic{}, Rows: rows, Labels: labels, Extra: extra, ExtraLabel: -1, Lambda: lambda,
		Sigma: sigma, Shrinkage: make([]float64, d)}
	for j := range d - 1 {
		nb.Shrinkage[j] = omega
	}
	return nb
}

// TestShrinkageInOneDimension: what the proof needs of Λ = diag(λ + ω, …, λ) is the log ratio in its parts and r ≤ S/(λ
// + S) with the least ridge. With the larger one in its place the last is false, as it must be seen to be.
func TestShrinkageInOneDimension(t *testing.T) {
	rng := noise.NewSeeded(31)
	const lambda, omega, sigma = 0.4, 5, 1.5
	broken := 0
	for k := range 60 {
		nb := withIntercept(k%7, 2+k%5, lambda, omega, sigma, rng.Stream(k))
		if k%3 == 0 { // along the intercept alone
			clear(nb.Extra)
			nb.Extra[len(nb.Extra)-1] = math.Sqrt2
		}
		log, p := must.Two(nb.Decompose(rng.Stream(1000 + k)))
		want := (p.Gamma*p.Gamma+2*p.Gamma*p.U)/(2*sigma*sigma) - math.Log1p(-p.R)
		if !(math.Abs(log-want) <= 1e-6*(1+math.Abs(want))) {
			t.Errorf("%d: log ratio %v, by the parts %v", k, log, want)
		}
		s := p.Gamma * (math.Sqrt2 - p.Gamma)
		if p.Gamma < 0 {
			s = -p.Gamma * (math.Sqrt2 + p.Gamma)
		}
		if p.R > s/(lambda+s)*(1+1e-6) {
			t.Errorf("%d: r = %v, more than S/(λ+S) = %v", k, p.R, s/(lambda+s))
		}
		if p.R > s/(lambda+omega+s)*(1+1e-6) {
			broken++
		}
	}
	if broken < 20 {
		t.Errorf("the larger ridge is refuted by %d of 60 neighbours only: this sees little", broken)
	}
}

// TestShrinkageCostsNothing: neighbours with an intercept at the least ridge of the Gaussian case and the other
// coefficients shrunk far more stay within the Gaussian mechanism's δ. With the intercept below it, the same claim is
// refuted.
func TestShrinkageCostsNothing(t *testing.T) {
	testscale.InTurn(t)
	rng := noise.NewSeeded(32)
	const sigma, samples = 5 * math.Sqrt2, 1500
	gauss := privacy.GaussianProfile(math.Sqrt2/sigma, privacy.AddRemove)
	for k, omega := range []float64{0, 30, 3000} {
		for _, n := range []int{0, 12} {
			nb := withIntercept(n, 3, 0.28*math.Sqrt2*sigma, omega, sigma, rng.Stream(k))
			for _, dir := range privacy.Directions {
				for _, eps := range []float64{0.05, 0.4} {
					iv := must.Get(nb.DeltaInterval(dir, eps, samples, 1-1e-6, rng.Stream(10*k+n)))
					if claim := privacy.DeltaUpper(gauss, eps); iv.Lower > claim {
						t.Errorf("ω = %v, n = %d, %v, ε = %v: δ in %+v, claimed %v", omega, n, dir, eps, iv, claim)
					}
				}
			}
		}
	}
	// Wrong: the Gaussian case claimed for the ridge of the other coefficients.
	const large = 20 * math.Sqrt2
	nb := withIntercept(0, 2, 0.25, 100, large, rng)
	clear(nb.Extra)
	nb.Extra[1] = math.Sqrt2
	iv := must.Get(nb.DeltaInterval(privacy.Remove, 0.1, samples, 1-1e-6, rng))
	if claim := privacy.DeltaUpper(privacy.GaussianProfile(math.Sqrt2/large, privacy.AddRemove),
		0.1); iv.Lower < 2*claim {
		t.Errorf("an intercept below the least ridge goes unnoticed: δ in %+v, claimed %v", iv, claim)
	}
}
