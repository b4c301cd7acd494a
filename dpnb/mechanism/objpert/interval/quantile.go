package interval

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/internal/univariate"
)

// tiny is the probability below which 1 − alpha has lost its digits; there the Chernoff bounds of the normal law stand
// in, which err to the wide side.
const tiny = 1e-10

// twoSided returns z with P(|N| > z) = alpha for a standard normal N.
func twoSided(alpha float64) float64 {
	if alpha < tiny {
		return math.Sqrt(-2 * math.Log(alpha))
	}
	return math.Sqrt2 * math.Erfcinv(alpha)
}

// oneSided returns z with P(N > z) = alpha.
func oneSided(alpha float64) float64 {
	if alpha < tiny {
		return math.Sqrt(-2 * math.Log(2*alpha))
	}
	return math.Sqrt2 * math.Erfcinv(2*alpha)
}

// chiQuantile returns q with P(χ_d > q) ≤ alpha: that of the law, or Gaussian concentration's √d + z where it is
// smaller or cannot be computed.
func chiQuantile(d int, alpha float64) float64 {
	bound := math.Sqrt(float64(d)) + math.Max(0, oneSided(alpha))
	if alpha < tiny {
		return bound
	}
	if q := math.Sqrt(distuv.ChiSquared{K: float64(d)}.Quantile(1 - alpha)); q > 0 && q < bound {
		return q
	}
	return bound
}

// ballQuantile returns t with P((|b₁| + ‖b‖)/2 > t) = alpha, b standard normal in d dimensions, from above:
//
//	P(… ≤ t) = ∫_{−t}^{t} φ(x) P(χ²_{d−1} ≤ 4t(t − |x|)) dx.
func ballQuantile(d int, alpha float64) float64 {
	if d == 1 {
		return twoSided(alpha)
	}
	chi := distuv.ChiSquared{K: float64(d - 1)}
	below := func(t float64) float64 {
		return 2 * quad.Fixed(func(x float64) float64 {
			return math.Exp(-0.5*x*x) / math.Sqrt(2*math.Pi) * chi.CDF(4*t*(t-x))
		}, 0, math.Min(t, 9), 120, quad.Legendre{}, 0)
	}
	if alpha < tiny {
		return chiQuantile(d, alpha) // |b₁| ≤ ‖b‖
	}
	_, t := univariate.Bisect(func(t float64) bool { return below(t) >= 1-alpha }, 0, chiQuantile(d, alpha),
		univariate.Arithmetic, 1e-9)
	return t
}

// squaresQuantile returns q with P(Σ wᵢNᵢ² > q) ≤ alpha for independent standard normal Nᵢ and wᵢ ≥ 0.
// Source: Laurent and Massart 2000, Annals of Statistics 28, Lemma 1.
func squaresQuantile(weights []float64, alpha float64) float64 {
	var sum, squares, largest float64
	for _, w := range weights {
		sum += w
		squares += w * w
		largest = math.Max(largest, w)
	}
	t := -math.Log(alpha)
	return sum + 2*math.Sqrt(squares*t) + 2*largest*t
}

// topEigenvalue returns c with P(λ_max(E) > c) ≤ alpha for the noise E of Curvature at scale sigma in d dimensions:
// σ(√(2d) + z).
//
// E λ_max ≤ σ√(2d) by comparison (Sudakov, Fernique), λ_max is σ-Lipschitz in the Frobenius coordinates, and its median
// is at most its mean, as it is convex.
// Proof: docs/theory/intervals.md, section 4.
func topEigenvalue(d int, sigma, alpha float64) float64 {
	if sigma == 0 {
		return 0
	}
	return sigma * (math.Sqrt(2*float64(d)) + math.Max(0, oneSided(alpha)))
}
