package wishart

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// released is the density of θ_final on a grid in one dimension: least squares with Σx² = s, a regulariser tθ, θ⋆ = 0,
// an anchor off by a, a solver off by τ towards side, and the output noise.
func released(m int, s, tilt, a, sigma2, tau, side, out float64, grid []float64) []float64 {
	const cells = 1500
	p := make([]float64, len(grid))
	top := float64(m) + 12*math.Sqrt(2*float64(m)) + 40
	for i := range cells {
		// √W evenly: the density of W may be steep at zero.
		lo, hi := top*math.Pow(float64(i)/cells, 2), top*math.Pow(float64(i+1)/cells, 2)
		mass := math.Exp(logChiBelow(float64(m), hi)) - math.Exp(logChiBelow(float64(m), lo))
		w := (lo + hi) / 2
		curve := s + sigma2*w
		theta := (sigma2*w*a-tilt)/curve + side*math.Sqrt(2*tau/curve)
		for j, g := range grid {
			z := (g - theta) / out
			p[j] += mass * math.Exp(-0.5*z*z)
		}
	}
	return p
}

// The whole mechanism, anchor, solver and noise, against its exact law.
func TestReleaseBelowGuarantee(t *testing.T) {
	testscale.Slow(t)
	for _, c := range []struct {
		a         Accounting
		st        Structure
		eta, tau  float64
		eps1, ep2 float64
		tilt      float64
		least     float64 // a fraction of the noise that must be noticed
	}{
		{Exact, LeastSquares, 0.1, 1e-3, 0.5, 0.5, 1, 0}, {Exact, LeastSquares, 0.1, 0, 0.5, 0.5, 0, 20},
		{Exact, LeastSquares, 0, 0.01, 0.3, 0.7, 0.1, 10},
		{Directional, LinearModel, 0.3, 1e-3, 1, 1, 1, 0}, {Spectral, AnyLoss, 0.3, 1e-3, 1, 1, 1, 0},
		{Theorem31, AnyLoss, 0.3, 1e-3, 1, 1, 1, 0},
		{Spectral, AnyLoss, 0.3, 0, 1, 1, 0, 200},
	} {
		const m = 6
		s := Setting{Wishart: Wishart{1, m}, Smoothness: 1, Rank: 1, Structure: c.st, Accounting: c.a,
			AnchorError: c.eta, Accuracy: c.tau}
		split := Split{Epsilon1: c.eps1, Epsilon2: c.ep2, Delta1: 0.02, Delta2: 0.02, Delta3: 0.01, Delta4: 0.01}
		n := must.Get(s.Noise(split))
		eps, delta := split.Total()
		at := func(out float64) float64 {
			var grid []float64
			width := 6*out + 2*(c.eta+c.tilt)
			for i := range 1200 {
				grid = append(grid, width*(float64(i)-599.5)/600)
			}
			worst := 0.0
			for _, side := range []float64{-1, 1} {
				p := released(m, 1, c.tilt, c.eta, n.Sigma2, c.tau, side, out, grid)
				q := released(m, 0, c.tilt, c.eta, n.Sigma2, c.tau, -side, out, grid)
				for range 2 {
					var sp, sum float64
					for i := range p {
						sp += p[i]
						sum += math.Max(0, p[i]-math.Exp(eps)*q[i])
					}
					worst = math.Max(worst, sum/sp)
					p, q = q, p
				}
			}
			return worst
		}
		got := at(n.SigmaOut)
		if got > delta {
			t.Errorf("%v: δ(%g) = %.4f, claimed %.4f", c, eps, got, delta)
		}
		t.Logf("%v η = %g τ = %g: σ² %.3g, σ̃ %.3g: δ = %.5f of %.3f", c.a, c.eta, c.tau, n.Sigma2, n.SigmaOut, got,
			delta)
		if c.least > 0 {
			if worse := at(n.SigmaOut / c.least); worse < delta {
				t.Errorf("%v: 1/%g of the output noise goes unnoticed: δ = %.4f", c.a, c.least, worse)
			}
		}
	}
}

// How far apart minimisers can be is (7) or (8) of docs/theory/quadratic.md, whichever is less, at the size that U has
// in the proof: L, and twice that by Theorem 3.1.
func TestSensitivityIsThatOfTheProof(t *testing.T) {
	split := Split{Epsilon1: 1, Epsilon2: 1, Delta1: 0.01, Delta2: 0.01, Delta3: 0.01, Delta4: 0.01}
	for _, c := range []struct {
		a  Accounting
		st Structure
		u  float64
	}{{Theorem31, AnyLoss, 2}, {Theorem31, LinearModel, 2}, {Spectral, AnyLoss, 1}, {Directional, LinearModel, 1}} {
		for _, shift := range []float64{0, 3} {
			const eta, l = 0.3, 2
			s := Setting{Wishart: Wishart{3, 12}, Smoothness: l, Rank: 1, Structure: c.st, Accounting: c.a,
				Shift: shift, AnchorError: eta}
			n := must.Get(s.Noise(split))
			p := s.perturbation(split, 0)
			first, second, most := p.alpha+shift, p.moved+shift, chiUpperQuantile(12, math.Log(split.Delta4))+shift
			e1, e2 := math.Sqrt(most/first)*eta, math.Sqrt((most+c.u*l/n.Sigma2)/second)*eta
			apart := func(e, smallest float64) float64 {
				return (c.u*l*eta + (l+c.u*l)*e) / (n.Sigma2 * smallest)
			}
			want := math.Min(e1+e2, math.Min(apart(e1, second), apart(e2, first)))
			if !(n.Sensitivity >= want && n.Sensitivity <= want*(1+1e-9)) {
				t.Errorf("%v, %v, c = %v: at most %v apart, want %v", c.a, c.st, shift, n.Sensitivity, want)
			}
		}
	}
}
