package proportional

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/internal/quadrature"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/sim/population"
)

// With the squared loss all is linear: the error is an integral over the spectrum of XᵀX, which Marchenko and Pastur
// give.
func TestLinearDescent(t *testing.T) {
	testscale.Slow(t)
	for _, ratio := range []float64{0.3, 1, 2.5} {
		d := Descent{Loss: loss.Squared{}, AspectRatio: ratio, Step: 0.5 / (1 + 1/ratio), Steps: 12, Lambda: 0.1,
			Nu: 0.3, Kappa: 1.2, Noise: Normal(0, 0.4)}
		got := must.Get(d.Trajectory(nil))
		for k, m := range got {
			// XᵀX has eigenvalues x with density √((b−x)(x−a))/(2πx)·n/d·…: rows of n records with entries of variance
			// 1/d.
			n := 1 / ratio
			a, b := (1-math.Sqrt(n))*(1-math.Sqrt(n)), (1+math.Sqrt(n))*(1+math.Sqrt(n))
			at := func(x float64) float64 {
				c := 1 - d.Step*(x+d.Lambda)
				if x+d.Lambda == 0 {
					return 0
				}
				power := math.Pow(c, float64(k))
				sum := (1 - power) / (x + d.Lambda)
				bias := x*sum - 1 // E[β̂]/β⋆ − 1
				var noise float64
				for j := range k {
					noise += math.Pow(c, float64(2*j))
				}
				return d.Kappa*d.Kappa*bias*bias + 0.16*x*sum*sum + d.Step*d.Step*d.Nu*d.Nu*noise
			}
			v, _ := quadrature.Adaptive(1, func(u []float64, out [][]float64) {
				for i, s := range u { // x = mid + half·sin
					x := 0.5*(a+b) + 0.5*(b-a)*math.Sin(s)
					w := 0.5 * (b - a) * math.Cos(s)
					out[0][i] = w * math.Sqrt(math.Max((b-x)*(x-a), 0)) / (2 * math.Pi * x) * at(x)
				}
			}, []float64{-math.Pi / 2, -1, 0, 1, math.Pi / 2}, 1e-10)
			want := v[0] + math.Max(0, 1-n)*at(0)
			if !(math.Abs(m.MSE()-want) <= 5*m.Error+1e-9) {
				t.Errorf("d/n = %v, step %d: %v ± %v, want %v", ratio, k, m.MSE(), m.Error, want)
			}
			if m.Error > 3e-3*want {
				t.Errorf("d/n = %v, step %d: error estimate %v of %v", ratio, k, m.Error, want)
			}
		}
	}
}

// In another unit, of whatever size, a linear descent is the same.
func TestLinearDescentHasNoUnit(t *testing.T) {
	of := func(unit float64) []Moment {
		return must.Get(Descent{Loss: loss.Squared{}, AspectRatio: 1, Step: 0.25, Steps: 4, Lambda: 0.1,
			Nu: 0.3 * unit, Kappa: 1.2 * unit, Noise: Normal(0, 0.4*unit)}.Trajectory(nil))
	}
	one, small, large := of(1), of(1e-6), of(32)
	for k, m := range one {
		if a, b := small[k].MSE()/1e-12, large[k].MSE()/1024; !(math.Abs(a-m.MSE()) <= 1e-9*m.MSE()) ||
			!(math.Abs(b-m.MSE()) <= 1e-9*m.MSE()) {
			t.Errorf("step %d: %v, in other units %v and %v", k, m.MSE(), a, b)
		}
	}
}

// descended simulates noisy gradient descent on n records.
func descended(t *testing.T, d Descent, n, repetitions int, seed uint64) *population.Result {
	p := population.Population{Records: n, Features: int(d.AspectRatio * float64(n)), Design: population.Rademacher,
		Signal: population.OnSphere(d.Kappa)}
	slopes := population.SlopesOf(d.Loss)
	switch {
	case d.Expected: // the labels are the true scores
		row := d.row()
		slopes = func(dst, scores, labels []float64) {
			row.slopes(dst, make([]float64, n), make([]float64, n), scores, &paths{star: labels})
		}
	case d.Link != nil:
		p.Prob = d.Link.Prob
	default:
		quantile := d.Noise.parts[0].quantile()
		p.Noise = func(r *noise.Seeded, dst []float64) {
			r.Gaussian(dst, 1)
			for i, z := range dst {
				dst[i] = quantile(z)
			}
		}
	}
	return must.Get(population.Simulation{Population: p, Estimator: population.NoisyDescent{Slopes: slopes,
		Step: d.Step, Steps: d.Steps, Lambda: d.Lambda, Nu: d.Nu}, Repetitions: repetitions,
		Seed: seed}.Run(t.Context()))
}

// The first step is known: g = f′(−y), so that α₁ = η·E[f″]/δ and the variance is η²(E f′²/δ + ν²). The loss has kinks
// and the link may be narrow.
func TestFirstStep(t *testing.T) {
	check := func(name string, d Descent, response, square float64) {
		t.Helper()
		p := must.Get(d.Trajectory(nil))
		alpha := d.Step * response / d.AspectRatio
		mse := (1-alpha)*(1-alpha)*d.Kappa*d.Kappa + d.Step*d.Step*(square/d.AspectRatio+d.Nu*d.Nu)
		if !near(p[1].Alpha, alpha, 1e-3) ||
			!(math.Abs(p[1].MSE()-mse) <= 5*p[1].Error+1e-4*mse) || p[1].Error > 1e-3*mse {
			t.Errorf("%s: α = %v and MSE = %v ± %.0e, want %v and %v", name, p[1].Alpha, p[1].MSE(), p[1].Error, alpha,
				mse)
		}
	}
	for _, limit := range []float64{0.3, 0.5, 0.9, 1, 1.7, 10} {
		for name, law := range map[string]Law{"none": Point(0), "normal": Normal(0, 0.3),
			"mixed": Mix([]float64{0.9, 0.1}, Normal(0, 0.2), Point(3))} {
			d := Descent{Loss: loss.Huber{Threshold: limit}, Noise: law, AspectRatio: 0.5, Step: 0.3, Steps: 1, Nu: 0.2,
				Kappa: 1}
			var square, response float64
			for _, p := range law.parts {
				s, r := truncated(p.a, math.Hypot(p.b, d.Kappa), limit)
				square += p.weight * s
				response += p.weight * r
			}
			check(fmt.Sprintf("noise %s, L = %v", name, limit), d, response, square)
		}
	}
	for _, kappa := range []float64{1, 10, 50} {
		d := Descent{Loss: loss.Logistic{}, Link: LogisticLink{}, AspectRatio: 0.5, Step: 0.3, Steps: 1, Nu: 0.2,
			Kappa: kappa}
		response := integral(-9, 9, 4000, func(z float64) float64 {
			return normal.Density(z) * (LogisticLink{}).Slope(
				kappa*z)
		})
		check(fmt.Sprintf("logistic, κ = %v", kappa), d, response, 0.25)
	}
}

func TestDescentSimulation(t *testing.T) {
	for name, d := range map[string]Descent{
		"logistic": {Loss: loss.Logistic{}, Link: LogisticLink{}, AspectRatio: 0.5, Step: 1, Steps: 10,
			Nu: 0.2, Kappa: 2},
		"logistic expected": {Loss: loss.Logistic{}, Link: LogisticLink{}, AspectRatio: 0.5, Step: 1, Steps: 10,
			Nu: 0.2, Kappa: 2, Expected: true},
		"logistic two steps": {Loss: loss.Logistic{}, Link: LogisticLink{}, AspectRatio: 0.5, Step: 2, Steps: 2,
			Nu: 0.2, Kappa: 2},
		"huber": {Loss: loss.Huber{Threshold: 0.5}, Noise: Normal(0.2, 0.5), AspectRatio: 0.4, Step: 0.4,
			Steps: 8, Nu: 0.2, Kappa: 1, Lambda: 0.2},
		"huber expected": {Loss: loss.Huber{Threshold: 0.5}, Noise: Uniform(-1, 1.5), AspectRatio: 1.6, Step: 0.6,
			Steps: 8, Nu: 0.2, Kappa: 1, Expected: true},
	} {
		if d.Expected && !testscale.Full() {
			continue
		}
		want := must.Get(d.Trajectory(nil))
		r := descended(t, d, 500, 24, 21)
		for k := 1; k <= d.Steps; k++ {
			mse, overlap := r.Of(k, population.MSE), r.Of(k, population.Overlap)
			mse.StdErr, overlap.StdErr = mse.StdErr+2*want[k].Error, overlap.StdErr+2.5e-5
			within(t, fmt.Sprintf("%s, MSE of step %d", name, k), mse, want[k].MSE())
			within(t, fmt.Sprintf("%s, overlap of step %d", name, k), overlap, want[k].Overlap())
		}
	}
}

func BenchmarkDescent20(b *testing.B) {
	d := Descent{Loss: loss.Logistic{}, Link: LogisticLink{}, AspectRatio: 0.5, Step: 1, Steps: 20, Nu: 0.2, Kappa: 2}
	for b.Loop() {
		must.Get(d.Trajectory(nil))
	}
}
