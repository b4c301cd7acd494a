package objective

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// The table of the theory (R = T = 1), three to four digits each: DTZ24, Pointwise (0: not given), Tight remove, Tight
// add, Gaussian.
func TestTable(t *testing.T) {
	logistic, _ := Logistic(1)
	huber, _ := Huber(1, 1)
	for _, c := range []struct {
		curve                           Curve
		lambda, sigma, eps              float64
		dtz, pointwise, rem, add, gauss float64
	}{
		{logistic, 1, 2, 0.25, 3.66e-1, 1.25e-1, 1.103e-1, 1.103e-1, 1.103e-1},
		{logistic, 5, 5, 1, 1.23e-7, 1.755e-8, 1.755e-8, 1.755e-8, 1.755e-8},
		{logistic, 0.25, 2, 1, 1.89e-1, 2.87e-2, 1.00e-2, 6.83e-3, 6.83e-3},
		{logistic, 1, 10, 0.1, 0, 1.19e-1, 1.587e-2, 8.75e-3, 8.75e-3},
		{logistic, 0.05, 5, 2, 3.41e-2, 1.18e-3, 5.17e-5, 4.04e-25, 4.04e-25},
		{huber, 20, 5, 1, 1.23e-7, 0, 1.827e-8, 3.509e-8, 1.755e-8},
		{huber, 5, 5, 1, 2.88e-6, 0, 1.385e-7, 3.509e-8, 1.755e-8},
		{huber, 0.1, 2, 2, 5.86e-1, 0, 1.230e-1, 1.888e-5, 9.44e-6},
	} {
		check := func(b Bound, d privacy.Direction, want, up float64) {
			if want == 0 {
				return
			}
			got := math.Exp(profileOf(t, c.curve, c.lambda, c.sigma, b).LogDeltaUpper(d, c.eps))
			// Half a unit of the last digit given, and what the upper value may add.
			digit := math.Pow(10, math.Floor(math.Log10(want))-2)
			if got < want-0.51*digit || got > want*(1+up)+0.51*digit {
				t.Errorf("%v λ=%g σ=%g ε=%g %v %v: %.5g, want %.4g", c.curve, c.lambda, c.sigma, c.eps, b, d, got, want)
			}
		}
		check(DTZ24, privacy.Remove, c.dtz, 0)
		check(Pointwise, privacy.Remove, c.pointwise, 0)
		check(Tight, privacy.Remove, c.rem, 0.005)
		check(Tight, privacy.Add, c.add, 0.005)
		check(GaussianLower, privacy.Remove, c.gauss, 0)
	}
}
