package objective

import (
	"math"
	"math/rand/v2"
	"testing"

	ref "github.com/dpnb/notebooks/dpnb/internal/bigref"
)

// The parameters of the law W are never below what 512 binary digits say, and above it by some last places only: also
// where λ is next to s, where ln(1 − s/λ) has all the rounding of s/λ many times over.
func TestLawIsRoundedUp(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	between := func(a, b float64) float64 { return a * math.Exp(r.Float64()*math.Log(b/a)) }
	for range 2000 {
		s := between(1e-12, 1e12)
		c := Config{Slope: between(1e-9, 1e9), Smoothness: s, Lambda: s * between(1e-9, 1e9), Sigma: between(1e-9, 1e9),
			Bound: DTZ24}
		tolerance := 7e-16
		sign := ref.Int(1)
		if r.IntN(2) == 0 {
			c.Bound, sign = RKW23, ref.Int(-1)
			gap := between(1e-9, 1e9)
			c.Lambda = s * (1 + gap)
			tolerance *= 1 + 1/gap
		}
		ratio := ref.Quo(ref.New(s), ref.New(c.Lambda))
		k := ref.Product(sign, ref.Log1p(ref.Product(sign, ratio)))
		w := c.Law()
		for _, v := range []struct {
			name  string
			got   float64
			exact ref.F
		}{{"k", w.K, k}, {"a", w.A, ref.Quo(ref.New(c.Slope), ref.New(c.Sigma))}} {
			over := ref.Float(ref.Sub(ref.Quo(ref.New(v.got), v.exact), ref.Int(1)))
			if !(over >= 0) || over > tolerance+2e-16 {
				t.Errorf("%+v: %s = %v is %g above the exact one", c, v.name, v.got, over)
			}
		}
	}
}
