package proportional

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// rademacher returns an n×d design of entries ±1/√d.
func rademacher(r *noise.Seeded, n, d int) *matrix.Dense {
	x := matrix.NewDense(n, d, nil)
	v := 1 / math.Sqrt(float64(d))
	var bits uint64
	for i := range x.Data {
		if i%64 == 0 {
			bits = r.Uint64()
		}
		x.Data[i] = v
		if bits&1 == 1 {
			x.Data[i] = -v
		}
		bits >>= 1
	}
	return x
}

// run is one simulated problem with its minimiser.
type run struct {
	x                    *matrix.Dense
	beta, xi, fit        []float64
	y, trueScore, fitted []float64
	r                    *noise.Seeded
}

func (r run) d() float64 { return float64(len(r.beta)) }

func dot(a, b []float64) (s float64) {
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

// mixedPrior is the paper's example of β⋆ that is partly fixed, scaled by c: 50 % zeros, 20 % N(−3, 16), 30 % an
// arithmetic progression from −10 to 10.
func mixedPrior(c float64) Law {
	return Mix([]float64{0.5, 0.2, 0.3}, Point(0), Normal(-3*c, 4*c), Uniform(-10*c, 10*c))
}

func mixedBeta(r *noise.Seeded, d int, c float64) []float64 {
	b := make([]float64, d)
	k, m := d/2, d/2+d/5
	r.Gaussian(b[k:m], 4*c)
	for i := k; i < m; i++ {
		b[i] -= 3 * c
	}
	for i := m; i < d; i++ {
		b[i] = c * (-10 + 20*(float64(i-m)+0.5)/float64(d-m))
	}
	return b
}

func gaussianBeta(r *noise.Seeded, d int, kappa float64) []float64 {
	b := make([]float64, d)
	r.Gaussian(b, 1)
	c := kappa * math.Sqrt(float64(d)/dot(b, b)) // ‖β⋆‖ is not what is drawn
	for j := range b {
		b[j] *= c
	}
	return b
}

// simulate fits reps problems of n records.
func simulate(t testing.TB, seed uint64, reps, n, d int, l loss.Loss, lambda, nu float64,
	beta func(*noise.Seeded, int) []float64, label func(r *noise.Seeded, score float64) float64) []run {
	t.Helper()
	out := make([]run, reps)
	for k := range out {
		r := noise.NewSeeded(seed).Stream(k)
		s := run{x: rademacher(r, n, d), beta: beta(r, d), xi: make([]float64, d), y: make([]float64, n),
			trueScore: make([]float64, n), fitted: make([]float64, n), r: r}
		s.x.Margins(s.trueScore, s.beta, 0, n)
		for i, v := range s.trueScore {
			s.y[i] = label(r, v)
		}
		r.Gaussian(s.xi, 1)
		linear := make([]float64, d)
		for j, v := range s.xi {
			linear[j] = nu * v
		}
		sol := must.Get(erm.Minimize(&erm.Problem{Rows: s.x, Labels: s.y, Loss: l, Lambda: lambda, Linear: linear},
			&erm.Settings{Tolerance: 1e-6}))
		s.fit = sol.Theta
		s.x.Margins(s.fitted, s.fit, 0, n)
		out[k] = s
	}
	return out
}

// within checks that the mean of f over the runs is want within four standard errors.
func within(t *testing.T, name string, runs []run, want float64, f func(run) float64) {
	t.Helper()
	mean, se := meanOf(runs, f)
	if !(math.Abs(mean-want) <= 4*se) {
		t.Errorf("%s: simulated %.5f ± %.5f, predicted %.5f", name, mean, se, want)
	}
	t.Logf("%-28s simulated %.5f ± %.5f, predicted %.5f (%+.1f)", name, mean, se, want, (mean-want)/se)
}

func meanOf(runs []run, f func(run) float64) (mean, se float64) {
	var sum, sq float64
	for _, r := range runs {
		v := f(r)
		sum += v
		sq += v * v
	}
	n := float64(len(runs))
	mean = sum / n
	return mean, math.Sqrt(math.Max(0, sq/n-mean*mean)/(n-1)) + 1e-12
}

func mse(r run) float64 {
	var s float64
	for j, v := range r.fit {
		s += (v - r.beta[j]) * (v - r.beta[j])
	}
	return s / r.d()
}

func TestRegressionSimulation(t *testing.T) {
	const c = 0.25
	for _, s := range []struct {
		n, d       int
		lambda, nu float64
		l          loss.Loss
	}{
		{1000, 400, 0.1, 0.2, loss.Huber{Threshold: 0.5}},
		{400, 800, 0.3, 0.4, loss.Huber{Threshold: 1}},
		{900, 300, 0.2, 0.3, loss.PseudoHuber{Threshold: 0.7}},
	} {
		prior := mixedPrior(c)
		law := Mix([]float64{0.9, 0.1}, Normal(0, 0.3), Point(3))
		p := Regression{Loss: s.l, AspectRatio: float64(s.d) / float64(s.n), Lambda: s.lambda, Nu: s.nu,
			Kappa: math.Sqrt(prior.SecondMoment()), Noise: law}
		fp := must.Get(p.Solve(nil))
		runs := simulate(t, 11, 20, s.n, s.d, s.l, s.lambda, s.nu,
			func(r *noise.Seeded, d int) []float64 { return mixedBeta(r, d, c) },
			func(r *noise.Seeded, score float64) float64 {
				if r.Float64() < 0.1 {
					return score + 3
				}
				return score + 0.3*r.NormFloat64()
			})
		name := fmt.Sprintf("%s %d×%d ", s.l.Name(), s.n, s.d)
		within(t, name+"MSE", runs, fp.MSE(), mse)
		within(t, name+"overlap", runs, fp.Overlap(), func(r run) float64 { return dot(r.fit, r.beta) / r.d() })
		within(t, name+"⟨β̂,ξ⟩", runs, fp.OnXi, func(r run) float64 { return dot(r.fit, r.xi) / r.d() })
		within(t, name+"ℓ₁ error", runs, fp.LpError(prior, 1), func(r run) (m float64) {
			for j, v := range r.fit {
				m += math.Abs(v-r.beta[j]) / r.d()
			}
			return m
		})
		within(t, name+"P(β̂ⱼ ≤ −0.5)", runs, fp.CDF(prior, -0.5), func(r run) (m float64) {
			for _, v := range r.fit {
				if v <= -0.5 {
					m += 1 / r.d()
				}
			}
			return m
		})
		within(t, name+"truncated residuals²", runs, p.SlopeMoment(fp, 2), func(r run) (m float64) {
			slope := make([]float64, len(r.y))
			s.l.ValueSlope(slope, r.fitted, r.y)
			return dot(slope, slope) / float64(len(slope))
		})
	}
}

func TestClassificationSimulation(t *testing.T) {
	for _, s := range []struct {
		n, d              int
		lambda, nu, kappa float64
		l                 loss.Loss
	}{
		{1000, 300, 0.2, 0.2, 1.5, loss.Logistic{}},
		{400, 800, 0.5, 0.3, 1, loss.Logistic{}},
		{1000, 300, 0.2, 0.2, 1.5, loss.Probit{}},
		{800, 400, 0.3, 0.3, 2, loss.SmoothedHinge{Width: 0.5}},
	} {
		c := Classification{Loss: s.l, Link: LogisticLink{}, AspectRatio: float64(s.d) / float64(s.n), Lambda: s.lambda,
			Nu: s.nu, Kappa: s.kappa}
		fp := must.Get(c.Solve(nil))
		q := c.Quality(fp)
		runs := simulate(t, 12, 20, s.n, s.d, s.l, s.lambda, s.nu,
			func(r *noise.Seeded, d int) []float64 { return gaussianBeta(r, d, s.kappa) },
			func(r *noise.Seeded, score float64) float64 {
				if r.Float64() < (LogisticLink{}).Prob(score) {
					return 1
				}
				return -1
			})
		name := fmt.Sprintf("%s %d×%d ", s.l.Name(), s.n, s.d)
		within(t, name+"MSE", runs, fp.MSE(), mse)
		within(t, name+"overlap", runs, fp.Overlap(), func(r run) float64 { return dot(r.fit, r.beta) / r.d() })
		within(t, name+"variance", runs, fp.Variance(), func(r run) (m float64) {
			for j, v := range r.fit {
				m += (v - fp.Alpha*r.beta[j]) * (v - fp.Alpha*r.beta[j]) / r.d()
			}
			return m
		})
		within(t, name+"⟨β̂,ξ⟩", runs, fp.OnXi, func(r run) float64 { return dot(r.fit, r.xi) / r.d() })
		gap := func(star, score float64) float64 {
			d := (LogisticLink{}).Prob(star) - (LogisticLink{}).Prob(score)
			return d * d
		}
		within(t, name+"‖ρ′(Xβ⋆)−ρ′(Xβ̂)‖²/n", runs, c.TrainingMoment(fp,
			func(star, _, score float64) float64 { return gap(star, score) }), func(r run) (m float64) {
			for i, v := range r.fitted {
				m += gap(r.trueScore[i], v) / float64(len(r.y))
			}
			return m
		})
		within(t, name+"y·ρ′(Xβ̂)", runs, c.TrainingMoment(fp,
			func(_, y, score float64) float64 { return y * (LogisticLink{}).Prob(score) }), func(r run) (m float64) {
			for i, v := range r.fitted {
				m += r.y[i] * (LogisticLink{}).Prob(v) / float64(len(r.y))
			}
			return m
		})
		// New records.
		const m = 1500
		var scores, stars, labels [20][]float64
		for k, r := range runs {
			x := rademacher(r.r, m, s.d)
			scores[k], stars[k], labels[k] = make([]float64, m), make([]float64, m), make([]float64, m)
			x.Margins(scores[k], r.fit, 0, m)
			x.Margins(stars[k], r.beta, 0, m)
			for i, v := range stars[k] {
				labels[k][i] = -1
				if r.r.Float64() < (LogisticLink{}).Prob(v) {
					labels[k][i] = 1
				}
			}
		}
		index := -1
		next := func(f func(score, star, y []float64) float64) func(run) float64 {
			index = -1
			return func(run) float64 { index++; return f(scores[index], stars[index], labels[index]) }
		}
		within(t, name+"test error", runs, q.Error, next(func(score, star, _ []float64) (e float64) {
			for i, v := range score {
				p := (LogisticLink{}).Prob(star[i])
				if v > 0 {
					p = 1 - p
				}
				e += p / m
			}
			return e
		}))
		within(t, name+"test loss", runs, q.Loss, next(func(score, _, y []float64) float64 {
			return s.l.ValueSlope(make([]float64, m), score, y) / m
		}))
		within(t, name+"Brier", runs, q.Brier, next(func(score, _, y []float64) (b float64) {
			for i, v := range score {
				d := (LogisticLink{}).Prob(v) - 0.5*(1+y[i])
				b += d * d / m
			}
			return b
		}))
		within(t, name+"AUC", runs, q.AUC, next(func(score, _, y []float64) float64 {
			var above, pairs float64
			for i, v := range score {
				if y[i] < 0 {
					continue
				}
				for j, u := range score {
					if y[j] < 0 {
						pairs++
						if v > u {
							above++
						}
					}
				}
			}
			return above / pairs
		}))
		within(t, name+"E(P(y|s) − 1{y}) at s>1", runs, 0, next(func(score, _, y []float64) (e float64) {
			for i, v := range score {
				if v > 1 {
					e += (c.Calibrated(fp, v) - 0.5*(1+y[i])) / m
				}
			}
			return e
		}))
		t.Logf("%serror %.4f (best %.4f), AUC %.4f (best %.4f), calibration error %.4f", name, q.Error, q.BestError,
			q.AUC, q.BestAUC, q.CalibrationError)
	}
}
