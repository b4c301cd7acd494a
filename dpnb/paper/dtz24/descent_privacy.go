package dtz24

import (
	"context"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

// descentPrivacy lists the privacy of noisy gradient descent, Theorems 7.1(a) and 7.2(a).
func descentPrivacy() claim.Checks {
	return claim.Checks{
		"dtz24/thm7.1a": claim.Times(func(factor float64) claim.Check {
			return descentCosts(loss.Huber{Threshold: 1}, 0.99, factor)
		}),
		"dtz24/thm7.2a": claim.Times(func(factor float64) claim.Check {
			return descentCosts(loss.Logistic{}, 0.24, factor)
		}),
	}
}

// descentCosts holds the ρ of noisy descent, times a factor, against exact divergences, of which the largest must come
// to least of it, and against the formula.
func descentCosts(l loss.Loss, least, factor float64) claim.Check {
	return measure.Check(func(ctx context.Context, _ claim.Size) claim.Outcome {
		var ratio, off float64
		for _, c := range []struct {
			radius, nu, step float64
			steps, others    int
		}{{1, 2, 0.5, 1, 0}, {1.5, 3, 0.3, 2, 0}, {1, 4, 0.5, 3, 0}, {1, 2, 0.4, 2, 3}} {
			measure.Try(ctx.Err())
			rho := measure.Must(proportional.Prediction{Mechanism: proportional.NoisyDescent, Steps: c.steps, Nu: c.nu,
				Task:   proportional.Task{Loss: l, Radius: c.radius},
				Target: proportional.Target{Adjacency: privacy.ReplaceOne}}.ZCDP())
			claimed := factor * rho.Value
			lr := l.Lipschitz() * c.radius
			off = math.Max(off, math.Abs(claimed*c.nu*c.nu/(2*float64(c.steps)*lr*lr)-1))
			for _, label := range []float64{-1, 1} {
				gradient := func(label float64) func(beta float64) float64 {
					x, y := []float64{c.radius}, []float64{label}
					if _, huber := l.(loss.Huber); huber {
						y[0] *= 1e6
					}
					for k := range c.others {
						x, y = append(x, c.radius), append(y, float64(1-2*(k%2)))
					}
					slope := make([]float64, len(x))
					return func(beta float64) (sum float64) {
						t := make([]float64, len(x))
						for i := range t {
							t[i] = x[i] * beta
						}
						l.ValueSlope(slope, t, y)
						for i := range t {
							sum += x[i] * slope[i]
						}
						return sum
					}
				}
				for _, alpha := range []float64{1.1, 4} {
					d := pathDivergence(gradient(label), gradient(-label), c.step, c.nu, c.steps, alpha)
					ratio = math.Max(ratio, d/(claimed*alpha))
				}
			}
		}
		return claim.Decide(fmt.Sprintf("largest exact/claimed %.4f; stated ρ over the formula less 1: %s", ratio,
			claim.Roughly(off, 1e-9)), fmt.Sprintf("%g to 1; 1e-9", least), ratio <= 1 && ratio > least,
			"a divergence lies above ρα, or none comes near it, or another ρ is stated").As(off < 1e-9).Reaching(ratio)
	})
}

// pathDivergence is the Rényi divergence of all iterates of β ← β − γ(g(β) + νξ) from 0, g either of two gradients, the
// iterates rounded to the middles of cells: with M_T = 1 and M_{t−1}(β) = Σ_j P_j(β)^α Q_j(β)^{1−α}M_t(β_j), P and Q
// the probabilities of the cells from β, it is ln M₀(0)/(α − 1).
func pathDivergence(one, two func(beta float64) float64, step, nu float64, steps int, alpha float64) float64 {
	const perDeviation = 5
	deviation := step * nu
	cell := deviation / perDeviation
	// Cells as far as the order α shifts the mean that matters, and 8 deviations more.
	shift := alpha * step * (math.Abs(one(0)) + math.Abs(two(0)) + 4)
	half := int(float64(steps) * (shift/cell + 8*perDeviation))
	after := func(next []float64, beta float64) float64 {
		a, b := beta-step*one(beta), beta-step*two(beta)
		var sum float64
		// The product is largest at a + (α − 1)(a − b).
		top := a + (alpha-1)*(a-b)
		from := max(0, half+int((math.Min(a, top)-8*deviation)/cell))
		to := min(len(next), half+int((math.Max(a, top)+8*deviation)/cell)+1)
		for j := from; j < to; j++ {
			lo, hi := (float64(j-half)-0.5)*cell, (float64(j-half)+0.5)*cell
			p := measure.Mass((lo-a)/deviation, (hi-a)/deviation)
			q := measure.Mass((lo-b)/deviation, (hi-b)/deviation)
			if p > 0 && q > 0 {
				sum += math.Exp(alpha*math.Log(p)+(1-alpha)*math.Log(q)) * next[j]
			}
		}
		return sum
	}
	now := make([]float64, 2*half+1)
	for j := range now {
		now[j] = 1
	}
	for range steps - 1 {
		before := make([]float64, len(now))
		for j := range before {
			before[j] = after(now, float64(j-half)*cell)
		}
		now = before
	}
	return math.Log(after(now, 0)) / (alpha - 1)
}
