package objective

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Far out in a tail, where the first bounds are off by thousands of nats, all bounds are numbers still: one that is
// none would pass every comparison as private enough.
func TestFarBoundsAreNumbers(t *testing.T) {
	testscale.InTurn(t)
	c := must.Get(loss.CurveOf(loss.PseudoHuber{Threshold: 1}, 1.0540925533915681))
	const lambda, sigma = 2776.4524429134417, 611164.12034263334
	p := must.Get(New(Config{Curve: c, Lambda: lambda, Sigma: sigma, Bound: Tight}))
	for _, k := range []float64{232, 233, 233.5, 234, 235} {
		eps := k * Slope(c) / sigma
		for name, v := range map[string]float64{
			"quick": p.QuickLogDeltaUpper(eps), "remove": p.LogDeltaUpper(privacy.Remove, eps),
			"rough": p.RoughLogDeltaUpper(privacy.Remove, eps),
		} {
			if !(v <= -10) {
				t.Errorf("ε = %g·L/σ: ln δ is %g, %s", k, v, name)
			}
		}
	}
}
