package loss

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// S̄ of counts against a search over ‖x‖, every label and t; a radius, a largest count or a curvature that is too small
// is found out.
func TestPoissonCurve(t *testing.T) {
	testscale.Slow(t)
	const most = 3
	above := func(c *Curve, radius, clip float64) (fault bool, reached float64) {
		reached = 1
		lo, hi := c.Range()
		worst := make([]float64, 30)
		for i := 1; i <= 24; i++ {
			rho := radius * float64(i) / 24
			for y := 0.0; y <= most; y++ {
				for u := -14.0; u <= 3; u += 0.004 {
					g, s := rho*(math.Exp(u)-y), rho*rho*math.Exp(u)
					if math.Abs(g) >= clip {
						continue
					}
					if g < lo || g > hi || s > c.SBar(g)*(1+1e-12) {
						return true, 0
					}
					b := int((g - lo) / (hi - lo) * float64(len(worst)))
					worst[min(b, len(worst)-1)] = math.Max(worst[min(b, len(worst)-1)], s/c.SBar(g))
				}
			}
		}
		for _, w := range worst {
			reached = math.Min(reached, w)
		}
		return false, reached
	}
	for _, radius := range []float64{0.5, math.Sqrt2} {
		for _, level := range []float64{0.4, 1.7, 3, 6} {
			clip := level * radius
			c := must.Get(CurveOf(Clipped(Poisson{MaxCount: most}, level), radius))
			if fault, reached := above(c, radius, clip); fault || reached < 0.97 {
				t.Errorf("R = %g, C = %g: above %v, reached to %g", radius, clip, fault, reached)
			}
			small, _ := CurveOf(Clipped(Poisson{MaxCount: most}, level/0.97), 0.97*radius)
			fewer, _ := CurveOf(Clipped(Poisson{MaxCount: most - 0.1}, level), radius)
			for name, wrong := range map[string]*Curve{"radius": small, "count": fewer} {
				if fault, _ := above(wrong, radius, clip); !fault {
					t.Errorf("R = %g, C = %g: a %s that is too small passes", radius, clip, name)
				}
			}
		}
	}
}
