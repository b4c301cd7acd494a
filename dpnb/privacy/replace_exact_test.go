package privacy

import (
	"fmt"
	"math"
	"testing"

	. "github.com/dpnb/notebooks/dpnb/internal/testing/bigref"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// plain hides that a profile is Gaussian, so that it is converted the long way.
type plain struct{ LowerProfile }

func (plain) Symmetric() bool { return true }

// Removing and adding is the Gaussian of twice the distance, and chords between points are above a profile that is
// convex in e^ε.
func TestReplaceAndInterpolatedAreAboveTheExactGaussian(t *testing.T) {
	r := newRNG(14)
	replaced, chords := bracket{t: t, allowed: 1e-6, scale: 1}, bracket{t: t, allowed: 0.2, scale: 1}
	for i := range trials(30) {
		mu := r.between(1e-10, 10)
		if i%2 == 0 {
			mu = r.between(2e-3, 10)
		}
		eps := mu * r.pick(r.between(0.01, 1), r.between(1, 12))
		if eps*mu > 300 || r.IntN(4) == 0 {
			eps = -math.Min(eps, 30)
		}
		p := plain{GaussianProfile(mu, AddRemove)}
		rep := must.Get(ReplaceProfile(p))
		what := fmt.Sprintf("μ = %g, ε = %g", mu, eps)
		replaced.check(math.Inf(-1), rep.LogDeltaUpper(Remove, eps), Log(GaussianDelta(New(eps), New(2*mu))),
			"replace-one, "+what)
		if mu > 1e-3 {
			chords.check(math.Inf(-1), Interpolated(p, 32).LogDeltaUpper(Remove, eps),
				Log(GaussianDelta(New(eps), New(mu))), "interpolated, "+what)
		}
	}
	replaced.done()
	chords.done()
}
