package dtz24

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/errata"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

// Theorem 4.2(b): the limit of ρ′(Xβ̂) and the sign of γνξ.
func TestDTZ24Simulation(t *testing.T) {
	testscale.Slow(t)
	const n, d, lambda, nu, runs = 400, 200, 0.5, 0.2, 100
	c := proportional.Classification{Loss: loss.Logistic{}, Link: proportional.LogisticLink{}, AspectRatio: 0.5,
		Lambda: lambda, Nu: nu, Kappa: 1}
	l := measure.Must(c.Solve(nil))
	// An independent solution of (4.3), 101 × 101 Gauss–Hermite nodes (numpy).
	errata.Within(t, "α", l.Alpha, 0.3875899959389313, 1e-6)
	errata.Within(t, "σ", l.Sigma, 0.6988009994523232, 1e-6)
	errata.Within(t, "γ", l.Gamma, 1.1909032568920666, 1e-6)
	var square, cross, noiseCov measure.Mean
	for run := range runs {
		src := noise.NewSeeded(7).Stream(run)
		x := make([]float64, n*d) // ±1/√d: rows of norm 1 exactly
		for i := range x {
			x[i] = math.Copysign(1/math.Sqrt(d), src.Float64()-0.5)
		}
		star, xi := make([]float64, d), make([]float64, d)
		src.Gaussian(star, 1)
		src.Gaussian(xi, 1)
		y := make([]float64, n)
		for i := range y {
			var m float64
			for j, v := range star {
				m += x[i*d+j] * v
			}
			y[i] = math.Copysign(1, measure.Sigmoid(m)-src.Float64())
		}
		linear := make([]float64, d)
		for j := range linear {
			linear[j] = nu * xi[j]
		}
		sol := measure.Must(erm.Minimize(&erm.Problem{Rows: matrix.NewDense(n, d, x), Labels: y, Loss: loss.Logistic{},
			Lambda: lambda, Linear: linear}, &erm.Settings{Tolerance: 1e-4, Workers: 1}))
		var s2, positive, cov float64
		for i := range y {
			var m float64
			for j, v := range sol.Theta {
				m += x[i*d+j] * v
			}
			r := measure.Sigmoid(m)
			s2 += r * r / n
			if y[i] > 0 {
				positive += r / n
			}
		}
		for j, v := range sol.Theta {
			cov += v * xi[j] / d
		}
		square.Add(s2)
		cross.Add(positive)
		noiseCov.Add(cov)
	}
	// limits returns E h(ρ′, y) for the printed and for the corrected limit of ρ′(Xβ̂), y₀ = 0 or 1 the label: s + y₀ −
	// prox(s + γy₀), and that over γ but for y₀, which is ρ′(prox).
	limits := func(h func(r, y float64) float64) (printed, right float64) {
		return c.TrainingMoment(l, func(_, y, t float64) float64 {
				return h(l.Gamma*measure.Sigmoid(t)-(l.Gamma-1)*0.5*(1+y), 0.5*(1+y))
			}), c.TrainingMoment(l, func(_, y, t float64) float64 {
				return h(measure.Sigmoid(t), 0.5*(1+y))
			})
	}
	printed2, right2 := limits(func(r, _ float64) float64 { return r * r })
	printedY, rightY := limits(func(r, y float64) float64 { return r * y })
	// At n = 400 the limit is approached to about 1/n.
	const finite = 0.003
	errata.Within(t, "E ρ′²", square.M, right2, 4*square.Err()+finite)
	errata.Within(t, "E yρ′", cross.M, rightY, 4*cross.Err()+finite)
	if math.Abs(cross.M-printedY) < 15*cross.Err() || math.Abs(square.M-printed2) < 2*square.Err() {
		t.Errorf("printed: E ρ′² %.4f (drawn %.4f ± %.4f), E yρ′ %.4f (drawn %.4f ± %.4f)", printed2, square.M,
			square.Err(), printedY, cross.M, cross.Err())
	}
	for _, v := range []float64{square.M, right2, printed2, cross.M, rightY, printedY} {
		errata.Quote(t, "dtz24-7", "%.4f", v)
	}
	// A value of ρ′ that no sigmoid takes: s = 6, y = 1, and s = 8, y = 0.
	at, slope := make([]float64, 2), make([]float64, 2)
	proportional.Prox(at, slope, loss.Logistic{}, l.Gamma, []float64{6 + l.Gamma, 8}, []float64{-1, -1})
	p1, p0 := 6+1-at[0], 8-at[1]
	if !(p1 < 1 && p0 > 1.15) {
		t.Errorf("printed values %.4f, %.4f", p1, p0)
	}
	errata.Quote(t, "dtz24-7", "%.3f", p0)

	// The theorem has −γνξ, the lines below it +γνξ.
	errata.Within(t, "⟨β̂, ξ⟩/d", noiseCov.M, -l.Gamma*nu, 4*noiseCov.Err()+finite)
	if noiseCov.M > -20*noiseCov.Err() {
		t.Errorf("the sign of γνξ: %.4f ± %.4f", noiseCov.M, noiseCov.Err())
	}
	errata.Quote(t, "dtz24-8", "%.4f", noiseCov.M)
	errata.Quote(t, "dtz24-8", "%.4f", -l.Gamma*nu)
}

// Theorem 5.1 is for R = 1: at R = 2 it needs L → LR, s → sR².
func TestDTZ24Radius(t *testing.T) {
	const radius, lambda, sigma, eps = 2.0, 1.0, 4.0, 1.0
	pair := audit.Scalar{Loss: loss.Logistic{}, ExtraX: radius, ExtraY: 1, Lambda: lambda, Sigma: sigma, Tilt: 20}
	without, with := pair.Cells(4000)
	exact := measure.Stick(with, without, eps)
	scaled := measure.HalfNormal(math.Log1p(0.25*radius*radius/lambda), radius/sigma, eps)
	unscaled := measure.HalfNormal(math.Log1p(0.25/lambda), 1/sigma, eps)
	if !(unscaled < exact && exact <= scaled) {
		t.Errorf("R = 1 constants %.4g, exact %.4g, scaled %.4g", unscaled, exact, scaled)
	}
	errata.Quote(t, "dtz24-9", "%.3e", exact)
	errata.Quote(t, "dtz24-9", "%.3e", scaled)
	errata.Quote(t, "dtz24-9", "%.3e", unscaled)
}

// Replace-one by groups of two is valid and loose.
func TestDTZ24Group(t *testing.T) {
	const delta = 1e-5
	group := func(p privacy.Profile) float64 {
		best := math.Inf(1)
		for eps := 0.01; eps < 20; eps += 0.001 {
			a := measure.Must(privacy.ReplaceByGroup(privacy.Approx{Epsilon: eps, Delta: privacy.DeltaUpper(p, eps),
				Adj: privacy.AddRemove}))
			if a.Delta <= delta {
				return math.Min(best, a.Epsilon)
			}
		}
		return best
	}
	epsilon := func(p privacy.Profile) float64 {
		e := measure.Must(privacy.EpsilonUpper(p, delta))
		return e
	}
	for _, mu := range []float64{0.2, 2} {
		p := privacy.GaussianProfile(mu, privacy.AddRemove)
		rep := measure.Must(privacy.ReplaceProfile(p))
		// Replacing moves the mean of a Gaussian by twice as much, exactly.
		exact := epsilon(privacy.GaussianProfile(2*mu, privacy.ReplaceOne))
		errata.Within(t, "composition", epsilon(rep), exact, 1e-3*exact)
		if group(p) < exact {
			t.Errorf("group %.4f, exact %.4f", group(p), exact)
		}
		errata.Quote(t, "dtz24-10", "%.3f", group(p))
		errata.Quote(t, "dtz24-10", "%.3f", exact)
	}
	// The statement as it is used: Theorem 5.1 and then the group, logistic loss, R = 1, λ = σ = 5, where one record
	// costs exactly what the Gaussian mechanism with μ = 1/5 costs.
	p := measure.Must(privacy.HalfNormal{K: math.Log1p(0.25 / 5), A: 0.2}.Profile(privacy.AddRemove))
	stated, exact := group(p), epsilon(privacy.GaussianProfile(0.4, privacy.ReplaceOne))
	if stated < exact+0.1 {
		t.Errorf("stated %.4f, exact %.4f", stated, exact)
	}
	errata.Quote(t, "dtz24-10", "%.3f", stated)
}

// Section 2.1 prints a logarithm too many in the Rényi divergence.
func TestDTZ24Renyi(t *testing.T) {
	const a, alpha = 1.0, 2.0
	w := func(x float64) float64 { return a*a/2 + a*x } // log P/Q under P
	right := math.Log(measure.Integral(func(x float64) float64 { return measure.Phi(x) * math.Exp((alpha-1)*w(x)) },
		-14, 18, 200)) / (alpha - 1)
	printed := math.Log(measure.Integral(func(x float64) float64 { return measure.Phi(x) * (alpha - 1) * w(x) }, -14,
		14, 200)) / (alpha - 1)
	errata.Within(t, "Rényi", right, alpha*a*a/2, 1e-10)
	if printed >= 0 {
		t.Errorf("printed %.4f", printed)
	}
	errata.Quote(t, "dtz24-27", "%.4f", printed)
}
