package objective

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// PrintedRKW23 is Theorem 3.1 of Redberg, Koskela and Wang 2023 exactly as it is printed, and it is WRONG: it makes the
// mechanism look more private than it is. It shifts ε by −ln(1 − s/λ), which raises it, where the proof lowers it, and
// in the second branch takes the order e^{a²} for e^{a²/2}. It is here so that the register of claims can show an exact
// δ above it. Use DTZ24 or Tight.
//
// s is the smoothness, a = L/σ. It returns δ(ε); NaN unless λ > s.
func PrintedRKW23(eps, s, lambda, a float64) float64 {
	if !(lambda > s) {
		return math.NaN()
	}
	shifted := eps - math.Log1p(-s/lambda)
	hat := shifted - 0.5*a*a
	stick := func(e float64) float64 {
		return math.Exp(privacy.GaussianProfile(a, privacy.AddRemove).LogDeltaUpper(privacy.Remove, e))
	}
	if hat >= 0 {
		return 2 * stick(shifted)
	}
	return 1 - math.Exp(hat) + math.Exp(hat)*2*stick(a*a)
}
