package wishart

import (
	"math"
	"math/big"
	"testing"
)

// A solver that stops at criterion (7) with the α that Noise returns is off by at most √(2τασ²)/(σ²λ) where the
// objective is σ²λ-strongly convex. Both neighbours' errors must be within what the output noise was calibrated for,
// that of the neighbour too, whose W may have a smaller eigenvalue than the one that was drawn.
func TestCriterionServesBothNeighbours(t *testing.T) {
	for _, a := range []Accounting{Theorem31, Spectral, Directional, Exact} {
		for _, eps := range []float64{0.1, 1, 10, 100} {
			for _, shift := range []float64{0, 0.5} {
				s := Setting{Wishart: Wishart{2, 5}, Smoothness: 1, Rank: 1, Structure: LeastSquares, Accounting: a,
					Accuracy: 1e-6, Shift: shift}
				split := Split{Epsilon1: eps, Epsilon2: 1, Delta1: 1e-3, Delta2: 1e-3, Delta3: 1e-3}
				n, err := s.Noise(split)
				if err != nil {
					continue // no finite noise, no claim
				}
				p := s.perturbation(split, 1e-9)
				drawn := p.alpha + shift
				compared := drawn // by exact accounting M is the same
				if a != Exact {
					compared = p.moved + shift
				}
				off := func(lambda float64) float64 {
					return math.Sqrt(2*s.Accuracy*n.Alpha*n.Sigma2) / (n.Sigma2 * lambda)
				}
				if got := off(drawn) + off(compared); got > n.Sensitivity*(1+1e-9) {
					t.Errorf("%v, ε₁ = %g, c = %g: the outputs may be %.4g apart, the noise is for %.4g", a, eps, shift,
						got, n.Sensitivity)
				}
			}
		}
	}
}

// At large ε what is left of λ_min is a difference of nearly equal numbers, which is not to be rounded up.
func TestRemainderRoundsDown(t *testing.T) {
	exact := func(alpha, sigma2 float64) *big.Float {
		q := new(big.Float).SetPrec(200).Quo(big.NewFloat(1), big.NewFloat(sigma2))
		return q.Sub(new(big.Float).SetPrec(200).SetFloat64(alpha), q)
	}
	for m := 3; m < 40; m++ {
		for _, eps := range []float64{1, 30, 100, 300} {
			s := Setting{Wishart: Wishart{2, m}, Smoothness: 1, Rank: 1, Accounting: Spectral, Accuracy: 1e-6}
			p := s.perturbation(Split{Epsilon1: eps, Epsilon2: 1, Delta1: 1e-3, Delta2: 1e-3, Delta3: 1e-3}, 1e-9)
			if want := exact(p.alpha, p.Sigma2); want.Cmp(big.NewFloat(p.moved)) < 0 {
				t.Errorf("m = %d, ε₁ = %g: λ_min(W) ≥ %.17g, claimed %.17g", m, eps, want, p.moved)
			}
		}
	}
}
