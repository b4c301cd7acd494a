package qop

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/errata"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy/wishart"
)

// Criterion (7) with a quantile for one W does not bound the neighbour's accuracy.
func TestQOPCriterion(t *testing.T) {
	for _, eps := range []float64{1, 10} {
		s := wishart.Setting{Wishart: wishart.Wishart{D: 2, M: 5}, Smoothness: 1, Rank: 1, Accounting: wishart.Spectral,
			Accuracy: 1e-3}
		n := measure.Must(s.Noise(wishart.Split{Epsilon1: eps, Epsilon2: 1, Delta1: 1e-3, Delta2: 1e-3, Delta3: 1e-3}))
		alpha := alphaD4(2, 5, 2e-3) // λ_min(W′) ≥ α, but for δ₁ + δ₃
		// The neighbour's W = W′ − L·ee^T/σ², its record flat at θ although it was curved on the way: J̃″ = σ²λ along
		// e, and (7) holds with equality at g.
		lambda := alpha - 1/n.Sigma2
		g := math.Sqrt(2 * s.Accuracy * alpha * n.Sigma2)
		accuracy := g * g / (2 * n.Sigma2 * lambda)
		errata.Within(t, "α that serves both", n.Alpha, lambda, 1e-6*lambda)
		if !(accuracy > 1.3*s.Accuracy) {
			t.Errorf("ε₁ = %g: accuracy %.3g", eps, accuracy)
		}
		errata.Quote(t, "qop-52", "%.3g", accuracy/s.Accuracy)
		// How far the two are from θ_priv together, over what σ̃ is for.
		off := g/(n.Sigma2*alpha) + g/(n.Sigma2*lambda)
		if !(off > 1.05*n.Sensitivity) {
			t.Errorf("ε₁ = %g: off by %.4g, accounted for %.4g", eps, off, n.Sensitivity)
		}
		errata.Quote(t, "qop-52", "%.2f", off/n.Sensitivity)
		// With the α that serves both the accuracy is τ.
		if h := math.Sqrt(2 * s.Accuracy * n.Alpha * n.Sigma2); h*h/(2*n.Sigma2*lambda) > s.Accuracy*(1+1e-9) {
			t.Errorf("ε₁ = %g: the smaller α does not give τ", eps)
		}
	}
}

// Lemma E.5: an anchor that is off by η moves the minimiser by √(β/α)·η at most, and two neighbours' minimisers apart
// by far less.
func TestQOPAnchorMoves(t *testing.T) {
	// W = diag(α, β): the error is (H + σ²W)⁻¹σ²Wa; H of rank one along u, weak to strong, with σ² = 1.
	const alpha, beta = 1.0, 100.0
	var most float64
	for i := range 2000 {
		angle := math.Pi * float64(i) / 2000
		u := [2]float64{math.Cos(angle), math.Sin(angle)}
		for _, h := range []float64{0, 0.1, 1, 10, 100, 1e4, 1e9} {
			a, b, c := alpha+h*u[0]*u[0], h*u[0]*u[1], beta+h*u[1]*u[1]
			det := alpha*beta + h*(alpha*u[1]*u[1]+beta*u[0]*u[0])
			// The largest ‖e‖ over ‖a‖ = 1.
			move := mat.NewDense(2, 2, []float64{c * alpha / det, -b * beta / det, -b * alpha / det, a * beta / det})
			var svd mat.SVD
			if !svd.Factorize(move, mat.SVDNone) {
				t.Fatal("no singular values")
			}
			most = math.Max(most, svd.Values(nil)[0])
		}
	}
	ratio := beta / alpha
	errata.Within(t, "the largest move", most, (ratio+1)/(2*math.Sqrt(ratio)), 1e-3)
	if !(most <= math.Sqrt(ratio) && most > 0.5*math.Sqrt(ratio)) {
		t.Errorf("the anchor moves the minimiser by %.3f·η", most)
	}
	errata.Quote(t, "qop-53", "%.2f", most)
	// Least squares, (d, m) = (12, 24), the σ² of exact accounting at ε = 0.5, δ = 0.01: the two neighbours'
	// minimisers, given M, are M⁻¹Ua/σ² apart.
	const d, m = 12, 24
	n := measure.Must(wishart.Setting{Wishart: wishart.Wishart{D: d, M: m}, Smoothness: 1, Rank: 1,
		Structure: wishart.LeastSquares}.Noise(wishart.Split{Epsilon1: 0.5, Delta1: 0.01}))
	src := noise.NewSeeded(53)
	var share, printed, sharper measure.Mean
	for range 1000 {
		w := noise.Wishart(src, d, m)
		var eig mat.EigenSym
		if !eig.Factorize(w, false) {
			t.Fatal("no eigenvalues")
		}
		values := eig.Values(nil)
		x, y, a := unitVector(src, d), unitVector(src, d), unitVector(src, d)
		var M mat.SymDense
		M.SymRankOne(w, 1/n.Sigma2, x)
		U := symmetric(d, []float64{1, -1}, x, y)
		var ua, gap mat.VecDense
		var c mat.Cholesky
		ua.MulVec(U, a)
		if !c.Factorize(&M) {
			t.Fatal("M is not positive")
		}
		measure.Try(c.SolveVecTo(&gap, &ua))
		least := 1 / (n.Sigma2 * values[0])
		if v := mat.Norm(&gap, 2) / n.Sigma2 / least; v > 1 {
			t.Fatalf("apart by %.3f of Lη/(σ²λ_min)", v)
		} else {
			share.Add(v)
		}
		sharper.Add(least)
		printed.Add(2 * values[d-1] / values[0])
	}
	if !(printed.M > 100*sharper.M && share.M > 0.05) {
		t.Errorf("printed %.1f·η, sharper %.2f·η, share %.3f", printed.M, sharper.M, share.M)
	}
	errata.Quotes(t, "qop-53", "%.0f %.2f", printed.M, sharper.M, share.M)
}

// Figure 2: the release is the anchor.
func TestReleaseIsTheAnchor(t *testing.T) {
	o := measure.Must(measure.Of(anchorShare, 1)(t.Context(), claim.Quick))
	var start, least, way, exact float64
	if _, err := fmt.Sscanf(o.Measured, "the anchor's risk is %f, the smallest %f; the release goes %f %% of the "+
		"way as printed, %f %%", &start, &least, &way, &exact); err != nil {
		t.Fatalf("%q: %v", o.Measured, err)
	}
	if !(o.Verdict == claim.Holds && way < 0.1 && start > 10*least) {
		t.Errorf("%v: %s", o.Verdict, o.Measured)
	}
	errata.Quotes(t, "qop-56", "%.0f %.0f %.2f %.1f", start, least, way, exact)
}

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
