package exact

import (
	"fmt"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
)

// Arguments beyond what is proved panic.
func TestLimits(t *testing.T) {
	argument := func(name string, from, to float64, f func(s *Sampler, x float64)) {
		t.Helper()
		limits.Argument(t, name, from, to, func(x float64) (err error) {
			defer func() {
				if r := recover(); r != nil {
					err = fmt.Errorf("%v", r)
				}
			}()
			f(seeded(1, 64), x)
			return nil
		})
	}
	one := []float64{0}
	argument("Subset", 0, 1, func(s *Sampler, x float64) { s.Subset(nil, x, 100) })
	argument("Poisson", 5e-324, limits.None, func(s *Sampler, x float64) { s.Poisson(x) })
	argument("Geometrics", leastGeometric, largestGeometric, func(s *Sampler, x float64) { s.Geometrics(one, x) })
	argument("FillNormal", Least, Largest, func(s *Sampler, x float64) { s.FillNormal(one, x) })
	argument("preRound", -limits.Below(0x1p51), limits.Below(0x1p51), func(_ *Sampler, x float64) {
		preRound([]float64{x}, 1)
	})
}
