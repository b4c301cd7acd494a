package dtz24

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

// lemmas lists the steps of the proofs that hold exactly, for every n and d.
func lemmas() claim.Checks {
	saddles := func(l loss.Loss) func(factor float64) claim.Check {
		return func(factor float64) claim.Check { return saddle(l, factor) }
	}
	return claim.Checks{
		"dtz24/lem2.25": claim.Times(decomposed),
		"dtz24/lem2.26": claim.Times(envelopeSlopes),
		"dtz24/lem3.11": claim.Times(saddles(loss.Huber{Threshold: 0.7})),
		"dtz24/lem4.11": claim.Times(saddles(loss.Logistic{})),
	}
}

// proxAt is the proximal operator at one point; label +1 makes the logistic loss ρ(−t), so that it is taken at −1.
func proxAt(l loss.Loss, gamma, x float64) float64 {
	y := []float64{0}
	if _, ok := l.(loss.Logistic); ok {
		y[0] = -1
	}
	p, slope := []float64{0}, []float64{0}
	proportional.Prox(p, slope, l, gamma, []float64{x}, y)
	return p[0]
}

// decomposed takes prox_f times a factor.
func decomposed(factor float64) claim.Check {
	return func(context.Context, claim.Size) (claim.Outcome, error) {
		const threshold = 0.7
		var off float64
		for x := -8.0; x <= 8; x += 0.25 {
			off = math.Max(off, math.Abs(x-factor*proxAt(loss.Huber{Threshold: threshold}, 1, x)-
				math.Max(-threshold, math.Min(threshold, x/2))))
			// v + ln(v/(1 − v)) = x, the slope of ρ*.
			v, _ := univariate.Bisect(func(v float64) bool { return v+math.Log(v/(1-v)) >= x }, 0, 1,
				univariate.Arithmetic, 0)
			off = math.Max(off, math.Abs(x-factor*proxAt(loss.Logistic{}, 1, x)-v))
		}
		return claim.Decide("largest difference "+claim.Roughly(off, 1e-9), "1e-9", off < 1e-9,
			"the two operators do not add up"), nil
	}
}

// envelopeSlopes takes x − prox times a factor.
func envelopeSlopes(factor float64) claim.Check {
	return func(context.Context, claim.Size) (claim.Outcome, error) {
		var off float64
		for _, l := range []loss.Loss{loss.Huber{Threshold: 0.7}, loss.Logistic{}} {
			y := []float64{0}
			if _, ok := l.(loss.Logistic); ok {
				y[0] = -1
			}
			envelope := func(x, tau float64) float64 {
				p := proxAt(l, tau, x)
				return l.ValueSlope([]float64{0}, []float64{p}, y) + (x-p)*(x-p)/(2*tau)
			}
			for _, tau := range []float64{0.3, 1, 4} {
				for x := -5.0; x <= 5; x += 0.3 {
					const h = 1e-4
					pull := factor * (x - proxAt(l, tau, x)) / tau
					off = math.Max(off, math.Abs((envelope(x+h, tau)-envelope(x-h, tau))/(2*h)-pull))
					off = math.Max(off, math.Abs((envelope(x, tau+h)-envelope(x, tau-h))/(2*h)+pull*pull/2))
				}
			}
		}
		return claim.Decide("largest difference "+claim.Roughly(off, 1e-4), "1e-4, as slopes have kinks", off < 1e-4,
			"a derivative is another one"), nil
	}
}

// saddle takes v times a factor.
func saddle(l loss.Loss, factor float64) claim.Check {
	return measure.Check(func(context.Context, claim.Size) claim.Outcome {
		const n, d, lambda, nu = 12, 5, 0.3, 0.4
		_, logistic := l.(loss.Logistic)
		rng := noise.NewSeeded(311)
		lower, higher := 0.0, 0.0 // what other points gain
		for range 20 {
			x, xi, y := matrix.NewDense(n, d, nil), make([]float64, d), make([]float64, n)
			rng.Gaussian(x.Data, 1/math.Sqrt(d))
			rng.Gaussian(xi, nu)
			rng.Gaussian(y, 2)
			if logistic {
				for i := range y {
					y[i] = math.Copysign(1, y[i])
				}
			}
			best := measure.Must(erm.Minimize(&erm.Problem{Rows: x, Labels: y, Loss: l, Lambda: lambda, Linear: xi},
				&erm.Settings{Tolerance: 1e-10}))
			t := make([]float64, n)
			// β⋆ = 0, so that u is β and ε⋆ is y. For the logistic loss labels are 0 and 1, and ρ*(v) = v ln v + (1 −
			// v)ln(1 − v).
			value := func(u, v []float64) float64 {
				x.Margins(t, u, 0, n)
				f := lambda/2*floats.Dot(u, u) + floats.Dot(xi, u)
				for i, s := range t {
					if !logistic {
						f += -s*v[i] - v[i]*v[i]/2 + y[i]*v[i]
						continue
					}
					f += s * (v[i] - (1+y[i])/2)
					if v[i] > 0 && v[i] < 1 {
						f -= v[i]*math.Log(v[i]) + (1-v[i])*math.Log1p(-v[i])
					}
				}
				return f
			}
			within := func(v float64) float64 {
				if logistic {
					return math.Max(0, math.Min(1, v))
				}
				return math.Max(-0.7, math.Min(0.7, v))
			}
			v := make([]float64, n)
			x.Margins(t, best.Theta, 0, n)
			for i, s := range t {
				if v[i] = within(factor * (y[i] - s)); logistic {
					v[i] = within(factor / (1 + math.Exp(-s)))
				}
			}
			at := value(best.Theta, v)
			for k := range 200 {
				size := math.Pow(10, -float64(k%5))
				u, w := append([]float64(nil), best.Theta...), append([]float64(nil), v...)
				for j := range u {
					u[j] += size * rng.NormFloat64()
				}
				for i := range w {
					w[i] = within(w[i] + size*rng.NormFloat64())
				}
				lower, higher = math.Max(lower, at-value(u, v)), math.Max(higher, value(best.Theta, w)-at)
			}
		}
		return claim.Decide(fmt.Sprintf("other points are lower by %s and higher by %s", claim.Roughly(lower, 1e-9),
			claim.Roughly(higher, 1e-9)), "1e-9 each", lower < 1e-9 && higher < 1e-9, "it is no saddle point")
	})
}
