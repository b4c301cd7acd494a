package dtz24

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

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

func decomposed(_ measure.Run, factor float64) claim.Outcome {
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
	return claim.Decide("largest difference "+claim.Roughly(off, 1e-9), "1e-9", off < 1e-9)
}

func envelopeSlopes(_ measure.Run, factor float64) claim.Outcome {
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
	return claim.Decide("largest difference "+claim.Roughly(off, 1e-4), "1e-4, as slopes have kinks", off < 1e-4)
}

func saddle(_ measure.Run, l loss.Loss, factor float64) claim.Outcome {
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
		claim.Roughly(higher, 1e-9)), "1e-9 each", lower < 1e-9 && higher < 1e-9)
}

// slopes are those of a loss whose worst exact divergence must come to least of the claimed.
type slopes struct {
	loss.Loss
	least float64
}

func descentCosts(run measure.Run, l slopes, factor float64) claim.Outcome {
	var ratio, off float64
	for _, c := range measure.Over(run, []struct {
		radius, nu, step float64
		steps, others    int
	}{{1, 2, 0.5, 1, 0}, {1.5, 3, 0.3, 2, 0}, {1, 4, 0.5, 3, 0}, {1, 2, 0.4, 2, 3}}) {
		rho := measure.Must(proportional.Prediction{Mechanism: proportional.NoisyDescent, Steps: c.steps, Nu: c.nu,
			Task:   proportional.Task{Loss: l.Loss, Radius: c.radius},
			Target: proportional.Target{Adjacency: privacy.ReplaceOne}}.ZCDP())
		claimed := factor * rho.Value
		lr := l.Lipschitz() * c.radius
		off = math.Max(off, math.Abs(claimed*c.nu*c.nu/(2*float64(c.steps)*lr*lr)-1))
		for _, label := range []float64{-1, 1} {
			gradient := func(label float64) func(beta float64) float64 {
				x, y := []float64{c.radius}, []float64{label}
				if _, huber := l.Loss.(loss.Huber); huber {
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
		claim.Roughly(off, 1e-9)), fmt.Sprintf("%g to 1; 1e-9", l.least), ratio <= 1 &&
		ratio > l.least).As(off < 1e-9).Reaching(ratio)
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
	now := slices.Repeat([]float64{1}, 2*half+1)
	for range steps - 1 {
		before := make([]float64, len(now))
		for j := range before {
			before[j] = after(now, float64(j-half)*cell)
		}
		now = before
	}
	return math.Log(after(now, 0)) / (alpha - 1)
}
