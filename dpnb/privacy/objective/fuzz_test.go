package objective

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Whatever the parameters, no NaN, no δ above one, no upper value below the Gaussian's lower one.
func FuzzProfile(f *testing.F) {
	f.Add(0, 1.0, 1.0, 0.5, 6)
	f.Add(1, 1e-3, 50.0, 2.0, 6)
	f.Add(2, 30.0, 0.5, 0.1, 5)
	f.Add(4, 1.0, 1e4, 1e-3, 6)
	f.Fuzz(func(t *testing.T, which int, lambda, sigma, eps float64, bound int) {
		curves := testCurves(t)
		c := curves[((which%len(curves))+len(curves))%len(curves)]
		p, err := New(Config{Curve: c, Lambda: lambda, Sigma: sigma, Bound: Bound(bound)})
		if err != nil {
			return
		}
		if lambda < 1e-4 || lambda > 1e5 || sigma < 1e-2 || sigma > 1e5 || math.Abs(eps) > 100 {
			return
		}
		_, gauss := gaussBounds(math.Abs(eps))(Slope(c) / sigma)
		for _, d := range privacy.Directions {
			up, low := p.LogDeltaUpper(d, eps), p.LogDeltaLower(d, eps)
			if math.IsNaN(up) || math.IsNaN(low) || up > 0 || low > up {
				t.Fatalf("%v λ=%g σ=%g ε=%g %v: [%g, %g]", c, lambda, sigma, eps, p.cfg.Bound, low, up)
			}
			if eps >= 0 && up < gauss-1e-9*(1+math.Abs(gauss)) {
				t.Fatalf("%v λ=%g σ=%g ε=%g %v %v: upper %g below the Gaussian %g", c, lambda, sigma, eps, p.cfg.Bound,
					d, up, gauss)
			}
		}
	})
}
