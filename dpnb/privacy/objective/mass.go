package objective

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
)

// stretch returns q with ∫_{x−h}^{x+h} φ = 2h·φ(x)·q and a bound on the error of q, from the Hermite series
//
//	q = Σ_{n even} He_n(x)hⁿ/(n+1)!,
//
// whose remainder of order 8 is at most h⁸/9!·max|He₈|·e^{|x|h} by Taylor's theorem. ok is false where (|x|+h)h > 0.7
// makes that too large.
func stretch(x, h float64) (q, err float64, ok bool) {
	ax := math.Abs(x) + h
	if !(ax*h <= 0.7) {
		return 0, 0, false
	}
	x2, h2 := x*x, h*h
	q = 1 + h2*((x2-1)/6+h2*((x2*(x2-6)+3)/120+h2*((x2*(x2*(x2-15)+45)-15)/5040)))
	a2 := ax * ax
	he8 := a2*(a2*(a2*(a2+28)+210)+420) + 105
	h4 := h2 * h2
	return q, 2.1*he8*h4*h4/362880 + 4e-16, true
}

// massSlack is a relative error that covers the rounding of normalMass where it does not come from the series.
const massSlack = 2e-13

// normalMass returns e^shift·(Φ(hi) − Φ(lo)) for lo ≤ hi, infinite ends allowed, and a bound on its absolute error
// other than that of the exponent.
func normalMass(lo, hi, shift float64) (mass, err float64) {
	if !(lo < hi) {
		return 0, 0
	}
	if lo < 0 && hi <= 0 {
		lo, hi = -hi, -lo
	}
	x, h := 0.5*(lo+hi), 0.5*(hi-lo)
	if q, e, ok := stretch(x, h); ok {
		scale := 2 * h * math.Exp(normal.LogPDF(x)+shift)
		return scale * q, scale * (e + 4e-16*q)
	}
	if lo < 0 {
		mass = 0.5 * (math.Erf(hi/math.Sqrt2) - math.Erf(lo/math.Sqrt2)) * math.Exp(shift)
		return mass, mass * massSlack
	}
	near := math.Exp(normal.LogSurvival(lo) + shift)
	far := 0.0
	if !math.IsInf(hi, 1) {
		far = math.Exp(normal.LogSurvival(hi) + shift)
	}
	return near - far, near * massSlack
}

func logSurvival(x float64) float64 { return normal.LogSurvival(x) }

func logPDF(x float64) float64 { return normal.LogPDF(x) }
