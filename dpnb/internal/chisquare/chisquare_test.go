package chisquare

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// distance is √n times the Kolmogorov–Smirnov distance to χ² of nu degrees.
func distance(x []float64, nu float64) float64 {
	sort.Float64s(x)
	n := float64(len(x))
	var d float64
	for i, v := range x {
		f := mathext.GammaIncReg(nu/2, v/2)
		d = math.Max(d, math.Max(f-float64(i)/n, float64(i+1)/n-f))
	}
	return math.Sqrt(n) * d
}

// What is proposed, v = (1 + cz)³ of a normal z, is accepted as often as the density of χ² is to that of what is
// proposed, both over what they are at z = 0: the least −ln u that is accepted says how often.
func TestAcceptance(t *testing.T) {
	for _, nu := range []int{2, 3, 10, 1000} {
		a := 0.5*float64(nu) - 1.0/3
		c := 1 / math.Sqrt(9*a)
		log := func(z float64) float64 {
			v := 1 + c*z
			return distuv.Gamma{Alpha: 0.5 * float64(nu), Beta: 1}.LogProb(a*v*v*v) + 2*math.Log(v) + 0.5*z*z
		}
		for _, z := range []float64{-1.5, -0.7, 0.6, 1.3, 3} {
			lo, hi := 0.0, 10.0
			for range 50 {
				mid := (lo + hi) / 2
				script := []float64{z, math.Sqrt(mid), math.Sqrt(mid), 0, 9, 9} // what is refused is followed by z = 0
				Draw(nu, func() float64 { next := script[0]; script = script[1:]; return next })
				if len(script) == 3 {
					hi = mid
				} else {
					lo = mid
				}
			}
			if want := log(0) - log(z); !(math.Abs(hi-want) <= 1e-9*(1+want)) {
				t.Errorf("χ² of %d at z = %v: accepted from −ln u = %v, want %v", nu, z, hi, want)
			}
		}
	}
}

func TestDraw(t *testing.T) {
	testscale.Slow(t)
	// The fewer degrees, the more proposals are refused: of two, a wrong test of them is seen by many draws alone.
	for _, c := range []struct {
		nu, draws int
		more      float64
	}{{1, 20_000, 1.06}, {2, 1_000_000, 1.01}, {3, 500_000, 1.01}, {10, 20_000, 1.06}, {1000, 20_000, 1.06}} {
		rng := rand.New(rand.NewPCG(1, uint64(c.nu)))
		x := make([]float64, c.draws)
		for i := range x {
			x[i] = Draw(c.nu, rng.NormFloat64)
		}
		if d := distance(x, float64(c.nu)); !(d <= 1.95) { // exceeded once in a thousand seeds
			t.Errorf("%d degrees: √n·KS = %.2f", c.nu, d)
		}
		if d := distance(x, c.more*float64(c.nu)); !(d >= 1.95) {
			t.Errorf("%d degrees: %g as many go unnoticed (%.2f)", c.nu, c.more, d)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("no degree of freedom was accepted")
		}
	}()
	Draw(0, func() float64 { return 0 })
}
