package privacy

import (
	"fmt"
	"math"
	"testing"

	. "github.com/dpnb/notebooks/dpnb/internal/testing/bigref"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// With a μ far below a the law of W + G is W's but for a relative (μ/a)²: the bounds enclose its profile, also where ε,
// K and the tails are large beside a.
func TestHalfNormalGaussianAgainstTheHalfNormal(t *testing.T) {
	r := newRNG(13)
	b := bracket{t: t, allowed: 1e-3, scale: 1}
	for i := range trials(16) {
		w := HalfNormal{K: r.pick(0, r.between(1e-3, 1e3)), A: r.between(1e-7, 10)}
		mu := 1e-9 * w.A
		z := r.pick(r.between(0.1, 6), r.between(6, 40), r.between(40, 2e4))
		if i == 0 {
			w, z, mu = HalfNormal{K: 1000, A: 1e-6}, 3, 1e-15
		}
		eps := w.K + 0.5*w.A*w.A + w.A*z
		p := must.Get(HalfNormalGaussian{w, mu}.Profile(AddRemove))
		exact := Log(halfNormalDelta(New(w.K), New(w.A), New(eps)))
		low, up := profileAt(p, Remove, eps)
		// z²μ²/a² and less is between the two laws.
		b.check(low-1e-14, up+1e-14, exact, fmt.Sprintf("%+v, μ = %g, ε = %.17g", w, mu, eps))
	}
	if !math.IsNaN(b.worst) {
		b.done()
	}
}
