package proportional

import (
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/internal/quadrature"
)

// MSE returns ‖β̂ − β⋆‖²/d.
func (p FixedPoint) MSE() float64 { return p.RMSE * p.RMSE }

// Overlap returns ⟨β̂, β⋆⟩/d = ακ², which the paper calls the bias.
func (p FixedPoint) Overlap() float64 { return p.Alpha * p.Kappa * p.Kappa }

// Variance returns ‖β̂ − αβ⋆‖²/d.
func (p FixedPoint) Variance() float64 { return p.Sigma * p.Sigma }

// Norm returns ‖β̂‖/√d.
func (p FixedPoint) Norm() float64 { return math.Hypot(p.Alpha*p.Kappa, p.Sigma) }

// SignalCorrelation returns the cosine of the angle between β̂ and β⋆.
func (p FixedPoint) SignalCorrelation() float64 { return p.Alpha * p.Kappa / p.Norm() }

// NoiseCorrelation returns the cosine of the angle between β̂ and the noise ξ.
func (p FixedPoint) NoiseCorrelation() float64 { return p.OnXi / p.Norm() }

// WithOutputNoise returns what becomes of β̂ when ν·N(0, I) is added to it.
// Gamma and the functionals of the training records stay those of the minimiser.
// Source: dtz24, Corollaries 6.1 and 6.3. Derivation: docs/theory/proportional.md#dtz24-cor6.1.
func (p FixedPoint) WithOutputNoise(nu float64) FixedPoint {
	p.Direct = math.Hypot(p.Direct, p.OnXi) // an earlier ξ is not the one asked for
	p.OnXi = nu
	p.Sigma = math.Hypot(p.Sigma, nu)
	p.RMSE = math.Hypot(p.RMSE, nu)
	return p
}

// beforeOutput returns what σ or the RMSE was before any output noise.
func (p FixedPoint) beforeOutput(v float64) float64 {
	if p.OnXi > 0 {
		return math.Sqrt(math.Max(0, (v-p.OnXi)*(v+p.OnXi)))
	}
	return v
}

// LpError returns ‖β̂ − β⋆‖_q^q/d for q > 0; prior is the law of a coordinate of β⋆, whose second moment should be κ².
func (p FixedPoint) LpError(prior Law, q float64) float64 {
	return prior.scaled(p.Alpha-1).expect(p.Sigma, func(mean, sd float64) float64 { return absMoment(q, mean, sd) })
}

// absMoment returns E|X|^q for X ~ N(mean, sd²).
func absMoment(q, mean, sd float64) float64 {
	if sd == 0 {
		return math.Pow(math.Abs(mean), q)
	}
	// In units of the larger of the two nothing overflows that need not.
	breaks := []float64{mean - normalRange*sd, mean, mean + normalRange*sd}
	if 0 > breaks[0] && 0 < breaks[2] {
		breaks = append(breaks, 0)
		slices.Sort(breaks)
	}
	v, _ := quadrature.Adaptive(1, func(x []float64, out [][]float64) {
		for i, t := range x {
			out[0][i] = math.Pow(math.Abs(t), q) * normal.Density((t-mean)/sd) / sd
		}
	}, breaks, 1e-12)
	return v[0]
}

// Density returns the density at x of a coordinate of β̂, a histogram of which it is laid over; prior is the law of a
// coordinate of β⋆.
func (p FixedPoint) Density(prior Law, x float64) float64 {
	return prior.scaled(p.Alpha).smoothed(p.Sigma, x, func(z, sd float64) float64 { return normal.Density(z) / sd },
		func(a, b, sd float64) float64 { return normal.Mass(b/sd, a/sd) })
}

// CDF returns the probability that a coordinate of β̂ is at most x.
func (p FixedPoint) CDF(prior Law, x float64) float64 {
	primitive := func(z float64) float64 { return z*normal.CDF(z) + normal.Density(z) } // of Φ
	return prior.scaled(p.Alpha).smoothed(p.Sigma, x, func(z, _ float64) float64 { return normal.CDF(z) },
		func(a, b, sd float64) float64 { return sd * (primitive(a/sd) - primitive(b/sd)) })
}

// smoothed returns E f((x − X)/s, s) over the components of the law of X, s being sd with the component's own deviation
// added; uniform(x − lo, x − hi, sd) is its integral over u in [lo, hi], X = u.
func (l Law) smoothed(sd, x float64, f func(z, s float64) float64, uniform func(a, b, sd float64) float64) float64 {
	var sum float64
	for _, p := range l.parts {
		if p.weight == 0 {
			continue
		}
		if p.uniform {
			sum += p.weight * uniform(x-p.a, x-p.b, sd) / (p.b - p.a)
			continue
		}
		s := math.Hypot(p.b, sd)
		sum += p.weight * f((x-p.a)/s, s)
	}
	return sum
}

// SlopeMoment returns E|f′(p)|^q over the training records of r at its solution p: for the Huber loss ‖[y −
// Xβ̂]_L‖_q^q/n, the truncated residuals.
func (r Regression) SlopeMoment(p FixedPoint, q float64) float64 {
	g := func(slope float64) float64 { return math.Pow(math.Abs(slope), q) }
	rule := newScoreRule(r.Loss, 0)
	at := func(mean, sd float64) float64 {
		if sd == 0 {
			_, slope := rule.at(p.Gamma, mean)
			return g(slope)
		}
		v, _ := rule.integrate(1, p.Gamma, rule.breaks(mean, sd, p.Gamma), 1e-11, func(s []float64, out [][]float64) {
			for i := range s {
				out[0][i] = normal.Density((s[i]-mean)/sd) / sd * g(rule.slope[i])
			}
		})
		return v[0]
	}
	return r.Noise.scaled(-1).expect(p.beforeOutput(p.RMSE), at)
}
