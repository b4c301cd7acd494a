package quadrature

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
)

// NormalRange is where the standard normal law is cut off: the two tails beyond it have a mass of 2e-19.
const NormalRange = 9.0

// Normal is the trapezoidal rule with step h for E g(N), N ~ N(0, 1): nodes z and weights w. For g analytic in a strip
// of half-width a its error is about 2e^{−2πa/h + a²/2} (at most 2e^{−2π²/h²} for entire g), which is far better than
// what Gauss and Hermite's rule does with as many nodes.
func Normal(h float64) (z, w []float64) {
	k := int(math.Ceil(NormalRange / h))
	z, w = make([]float64, 2*k+1), make([]float64, 2*k+1)
	for i := range z {
		z[i] = h * float64(i-k)
		w[i] = h * normal.Density(z[i])
	}
	return z, w
}
