package proportional

import (
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/internal/quadrature"
)

// Quality is how good the fitted classifier is on new records.
type Quality struct {
	// Error is P(y·xᵀβ̂ < 0), BestError that of β⋆ itself.
	Error, BestError float64
	// AUC is the probability that a positive record scores above a negative one.
	AUC, BestAUC float64
	// Loss is E f(xᵀβ̂; y).
	Loss float64
	// CalibrationError is E|P(y = 1 | score) − q(score)| and Brier E(1{y=1} − q)² for the probabilities q that the link
	// gives the scores.
	CalibrationError, Brier float64
}

// Quality of the classifier that p describes, by quadrature to about 1e-8.
func (c Classification) Quality(p FixedPoint) Quality {
	post := newPosterior(c.Link, c.Kappa, p.Alpha, p.Sigma)
	total := p.Norm()
	breaks := []float64{-normalRange * total, -4 * total, -1.5 * total, 0, 1.5 * total, 4 * total, normalRange * total}
	for _, b := range []float64{0.5, 2, 8, 30} {
		if b < normalRange*total {
			breaks = append(breaks, b, -b)
		}
	}
	slices.Sort(breaks)
	one, minusOne, scratch := []float64{1}, []float64{-1}, make([]float64, 1)
	v, _ := quadrature.Adaptive(4, func(s []float64, out [][]float64) {
		for i, t := range s {
			// Losses one by one: ValueSlope returns a sum.
			plus := c.Loss.ValueSlope(scratch, s[i:i+1], one)
			minus := c.Loss.ValueSlope(scratch, s[i:i+1], minusOne)
			w := normal.Density(t/total) / total
			prob, _ := post.at(t)
			q := c.Link.Prob(t)
			wrong := prob
			if t > 0 {
				wrong = 1 - prob
			}
			out[0][i] = w * wrong
			out[1][i] = w * (prob*plus + (1-prob)*minus)
			out[2][i] = w * math.Abs(prob-q)
			out[3][i] = w * (prob*(1-q)*(1-q) + (1-prob)*q*q)
		}
	}, breaks, 1e-11)
	return Quality{
		Error: v[0], Loss: v[1], CalibrationError: v[2], Brier: v[3], AUC: c.auc(p.Alpha * c.Kappa / p.Sigma),
		BestError: c.signError(),
		BestAUC:   c.auc(math.Inf(1)),
	}
}

// signError is P(y·t⋆ < 0), t⋆ the true score.
func (c Classification) signError() float64 {
	v, _ := quadrature.Adaptive(1, func(z []float64, out [][]float64) {
		for i, t := range z {
			out[0][i] = normal.Density(t) * (1 - c.Link.Prob(c.Kappa*t) + c.Link.Prob(-c.Kappa*t))
		}
	}, []float64{0, 0.5, 2, 4, normalRange}, 1e-12)
	return v[0]
}

// Calibrated returns P(y = 1 | the score of a new record is s).
func (c Classification) Calibrated(p FixedPoint, s float64) float64 {
	post := newPosterior(c.Link, c.Kappa, p.Alpha, p.Sigma)
	prob, _ := post.at(s)
	return prob
}

// auc is E Φ(r(Z₊ − Z₋)/√2), Z± of densities φ(z)P(±|κz): what two records' signals differ by against the noise of
// both. r is ακ/σ. Its dependence on large r is 1/r², so that it is extrapolated beyond 60.
func (c Classification) auc(r float64) float64 {
	const most = 60
	if math.Abs(r) > most {
		a, b := c.auc(math.Copysign(most/2, r)), c.auc(math.Copysign(most, r))
		far := b + (b-a)/3 // at infinity
		return far + (b-far)*most*most/(r*r)
	}
	h := math.Min(0.25, math.Min(0.16*c.Link.Width()/math.Max(c.Kappa, 1e-9), 0.8/math.Max(math.Abs(r), 1e-9)))
	z, w := quadrature.Normal(h)
	plus, minus := make([]float64, len(z)), make([]float64, len(z))
	var sumPlus, sumMinus float64
	for i, t := range z {
		prob := c.Link.Prob(c.Kappa * t)
		plus[i], minus[i] = w[i]*prob, w[i]*(1-prob)
		sumPlus += plus[i]
		sumMinus += minus[i]
	}
	// Φ depends on the difference of the indices only.
	n := len(z)
	above := make([]float64, 2*n-1)
	for k := range above {
		above[k] = normal.CDF(r * h * float64(k-(n-1)) / math.Sqrt2)
	}
	var sum float64
	for i, a := range plus {
		if a < 1e-20 {
			continue
		}
		var inner float64
		for j, b := range minus {
			inner += b * above[i-j+n-1]
		}
		sum += a * inner
	}
	return sum / (sumPlus * sumMinus)
}

// TrainingMoment returns E g(t⋆, y, t) over the training records at the solution p of c: t⋆ their true scores, t their
// scores under the minimiser (before any output noise), which is prox_{γf(·;y)}(s). So the fitted probabilities ρ′(Xβ̂)
// of logistic regression behave like ρ′(prox), not like the display below Theorem 4.2 in print (docs/errata.md,
// dtz24-7). g should be continuous.
func (c Classification) TrainingMoment(p FixedPoint, g func(trueScore, y, score float64) float64) float64 {
	sigma := p.beforeOutput(p.Sigma)
	post := newPosterior(c.Link, c.Kappa, p.Alpha, sigma)
	total := math.Hypot(p.Alpha*c.Kappa, sigma)
	var weights float64
	for _, w := range post.w {
		weights += w
	}
	var sum float64
	for _, y := range []float64{1, -1} {
		r := newScoreRule(c.Loss, y)
		v, _ := r.integrate(1, p.Gamma, r.breaks(0, total, p.Gamma), 1e-10, func(s []float64, out [][]float64) {
			for i, t := range r.p {
				var inner float64
				for k, z := range post.z {
					u := post.slope*s[i] + post.sd*z
					prob, _ := ofLabel(y, c.Link.Prob(u), 0)
					inner += post.w[k] * prob * g(u, y, t)
				}
				if post.sd == 0 {
					inner /= weights
				}
				out[0][i] = normal.Density(s[i]/total) / total * inner
			}
		})
		sum += v[0]
	}
	return sum
}
