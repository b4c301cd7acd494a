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
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// With the squared loss all is linear: the error is an integral over the spectrum of XᵀX, which Marchenko and Pastur
// give.
func TestLinearDescent(t *testing.T) {
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

// descend runs noisy gradient descent and returns ‖βᵗ − β⋆‖²/d and ⟨βᵗ, β⋆⟩/d.
func descend(d Descent, r *noise.Seeded, n, dim int) (mse, overlap []float64) {
	x := rademacher(r, n, dim)
	beta := gaussianBeta(r, dim, d.Kappa)
	star, y := make([]float64, n), make([]float64, n)
	x.Margins(star, beta, 0, n)
	for i, s := range star {
		switch {
		case d.Link == nil:
			quantile := d.Noise.parts[0].quantile()
			y[i] = s + quantile(r.NormFloat64())
		case r.Float64() < d.Link.Prob(s):
			y[i] = 1
		default:
			y[i] = -1
		}
	}
	theta, grad, xi := make([]float64, dim), make([]float64, dim), make([]float64, dim)
	score, slope, curv, none := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	row := d.row()
	for range d.Steps {
		x.Margins(score, theta, 0, n)
		if d.Expected {
			row.slopes(slope, curv, none, score, &paths{star: star})
		} else {
			d.Loss.ValueSlope(slope, score, y)
		}
		clear(grad)
		x.AddScaled(grad, slope, 0, n)
		r.Gaussian(xi, d.Nu)
		var e, o float64
		for j := range theta {
			theta[j] -= d.Step * (grad[j] + d.Lambda*theta[j] + xi[j])
			e += (theta[j] - beta[j]) * (theta[j] - beta[j]) / float64(dim)
			o += theta[j] * beta[j] / float64(dim)
		}
		mse, overlap = append(mse, e), append(overlap, o)
	}
	return mse, overlap
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

var _ matrix.Rows = (*matrix.Dense)(nil)

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
		const n, reps = 500, 24
		dim := int(d.AspectRatio * n)
		sums, squares, overlaps, overlapSquares := make([]float64, d.Steps), make([]float64, d.Steps),
			make([]float64, d.Steps), make([]float64, d.Steps)
		for k := range reps {
			mse, overlap := descend(d, noise.NewSeeded(21).Stream(k), n, dim)
			for s, v := range mse {
				sums[s] += v / reps
				squares[s] += v * v / reps
				overlaps[s] += overlap[s] / reps
				overlapSquares[s] += overlap[s] * overlap[s] / reps
			}
		}
		for s := range sums {
			se := math.Sqrt((squares[s]-sums[s]*sums[s])/(reps-1)) + 2*want[s+1].Error
			if !(math.Abs(sums[s]-want[s+1].MSE()) <= 4*se) {
				t.Errorf("%s, step %d: MSE simulated %.5f ± %.5f, predicted %.5f ± %.1e", name, s+1, sums[s], se,
					want[s+1].MSE(), want[s+1].Error)
			}
			oe := math.Sqrt((overlapSquares[s] - overlaps[s]*overlaps[s]) / (reps - 1))
			if !(math.Abs(overlaps[s]-want[s+1].Overlap()) <= 4*oe+1e-4) {
				t.Errorf("%s, step %d: overlap simulated %.5f ± %.5f, predicted %.5f", name, s+1, overlaps[s], oe,
					want[s+1].Overlap())
			}
		}
		k := d.Steps
		t.Logf("%-20s step %d: MSE simulated %.5f, predicted %.5f ± %.0e; overlap %.5f, %.5f", name, k, sums[k-1],
			want[k].MSE(), want[k].Error, overlaps[k-1], want[k].Overlap())
	}
}

func BenchmarkDescent20(b *testing.B) {
	d := Descent{Loss: loss.Logistic{}, Link: LogisticLink{}, AspectRatio: 0.5, Step: 1, Steps: 20, Nu: 0.2, Kappa: 2}
	for b.Loop() {
		if _, err := d.Trajectory(nil); err != nil {
			b.Fatal(err)
		}
	}
}
