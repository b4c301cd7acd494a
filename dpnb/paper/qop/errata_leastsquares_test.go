package qop

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/paper/internal/errata"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy/wishart"
)

// chiCells are the probabilities of cells of s + χ²_ν, the same for every s.
func chiCells(nu, s float64) []float64 {
	const n, hi = 60_000, 6
	out := make([]float64, 0, n+1)
	prev := 0.0
	for i := 1; i <= n; i++ {
		f := 0.0
		if x := hi*nu*float64(i)/n - s; x > 0 {
			f = mathext.GammaIncReg(nu/2, x/2)
		}
		out = append(out, f-prev)
		prev = f
	}
	return append(out, 1-prev)
}

// Theorem 3.1 for least squares and for linear models, (d, m) = (100, 200).
func TestQOPLeastSquares(t *testing.T) {
	const d, m, nu, p, eps, delta = 100, 200, 101.0, 50.5, 0.5, 0.01
	sigma2 := func(s wishart.Structure, a wishart.Accounting, split wishart.Split) float64 {
		n := measure.Must(wishart.Setting{Wishart: wishart.Wishart{D: d, M: m}, Smoothness: 1, Rank: 1, Structure: s,
			Accounting: a}.Noise(split))
		return n.Sigma2
	}
	printed := sigma2(wishart.AnyLoss, wishart.Theorem31, wishart.Split{Epsilon1: eps, Delta1: delta / 2,
		Delta3: delta / 2})
	linear := sigma2(wishart.LinearModel, wishart.Directional, wishart.Split{Epsilon1: eps, Delta1: delta})
	exact := sigma2(wishart.LeastSquares, wishart.Exact, wishart.Split{Epsilon1: eps, Delta1: delta})
	if !(printed > 100*exact && printed > 50*linear) {
		t.Errorf("σ²/L: printed %.4g, linear models %.4g, least squares %.4g", printed, linear, exact)
	}
	errata.Quotes(t, "qop-54", "%.1f %.3f", printed, linear, exact)

	// Least squares: a record shifts 1/(eᵀM⁻¹e) ~ χ²_ν by s = L/σ². The profile by cells, and a replacement as adding
	// and then removing.
	replaced := func(sigma2 float64) (together, alone float64) {
		without, with := chiCells(nu, 0), chiCells(nu, 1/sigma2)
		add := func(e float64) float64 { return audit.HockeyStick(without, with, e) }
		remove := func(e float64) float64 { return audit.HockeyStick(with, without, e) }
		together = 1
		for i := range 26 {
			e := eps * float64(i) / 25
			together = math.Min(together, add(e)+math.Exp(e)*remove(eps-e))
		}
		return together, math.Max(add(eps), remove(eps))
	}
	together, alone := replaced(exact)
	if less, _ := replaced(0.97 * exact); !(together <= 1.005*delta && less > delta) {
		t.Errorf("δ(0.5) of a replacement: %.5g, with 3 %% less noise %.5g", together, less)
	}
	if !(alone < delta) {
		t.Errorf("δ(0.5) when a record comes or goes: %.4g", alone)
	}
	errata.Quote(t, "qop-17", "%.4f", alone)

	// Linear models: the cost of two records of curvature up to L, outside events of probabilities 0.8δ, 0.1δ, 0.1δ.
	chi := distuv.ChiSquared{K: nu}
	low, other, high := chi.Quantile(0.8*delta), chi.Quantile(0.1*delta), chi.Quantile(1-0.1*delta)
	cost := func(s float64) float64 {
		return math.Max(0, -p*math.Log1p(-s/low)-s/2) + math.Max(math.Log1p(s/other), s/2-(p-1)*math.Log1p(s/high))
	}
	// The accounting takes Chernoff's bound for the last quantile.
	if got := cost(1 / linear); !(got <= eps && got > 0.9*eps) || cost(1.1/linear) <= eps {
		t.Errorf("ε of linear models: %.4f, with a tenth less noise %.4f", got, cost(1.1/linear))
	}
}

// Theorem 5.1: dσ²/(2Δ) does in place of 2dσ²/Δ.
func TestQOPLinearRisk(t *testing.T) {
	// One dimension, θ_exact = 0. J = k|θ|: θ̂ is −b/Δ, drawn k/Δ nearer to 0, and J = kσ²/Δ·E(|N| − k)₊ for k in units
	// of σ. J = cθ²/2: cσ²/(2(c + Δ)²).
	var most float64 // in units of σ²/Δ
	for k := 0.0; k < 4; k += 0.01 {
		most = math.Max(most, k*2*(measure.Phi(k)-k*measure.Survival(k)))
		c := k // in units of Δ
		most = math.Max(most, c/(2*(c+1)*(c+1)))
	}
	if !(most < 0.5 && most > 0.2) {
		t.Errorf("largest excess risk %.4f·dσ²/Δ", most)
	}
	errata.Quote(t, "qop-55", "%.2f", most)
	// By quadrature, at the worst k: E k|θ̂|Δ/σ².
	const k = 0.61
	drawn := measure.Integral(func(x float64) float64 { return 2 * k * math.Max(0, x-k) * measure.Phi(x) }, k, 10, 40)
	errata.Within(t, "the worst of them by quadrature", drawn, most, 1e-4)
}
