package qop

import (
	"math"
	"sort"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/errata"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
	"github.com/dpnb/notebooks/dpnb/privacy/wishart"
)

// Lemma B.1 and Theorem 3.1: the classical Gaussian formula is for ε < 1.
func TestQOPClassicalGaussian(t *testing.T) {
	const delta = 1e-5
	ratio := func(eps float64) float64 { // exact δ over the δ that is claimed
		return measure.GaussianDelta(eps/math.Sqrt(2*math.Log(1.25/delta)), eps) / delta
	}
	for _, eps := range []float64{0.1, 0.5, 0.99} {
		if ratio(eps) > 1 {
			t.Errorf("ε = %g: %.3f", eps, ratio(eps))
		}
	}
	_, hi := univariate.Bisect(func(eps float64) bool { return ratio(eps) > 1 }, 1, 20, univariate.Arithmetic, 0)
	if ratio(10) < 1.05 || ratio(20) < 100 {
		t.Errorf("ε = 10: %.3f, ε = 20: %.3f", ratio(10), ratio(20))
	}
	errata.Quotes(t, "qop-16", "%.2f %.2e", hi, ratio(10)*delta, ratio(20)*delta)
	sigma := measure.Must(privacy.GaussianSigma(10, delta))
	if d := measure.GaussianDelta(1/sigma, 10); d > delta {
		t.Errorf("analytic calibration: %.6g", d)
	}
	errata.Quotes(t, "qop-16", "%.4f", sigma, math.Sqrt(2*math.Log(1.25/delta))/10)
}

// lopNoise are σ/ζ and Δ/L of Theorem 5.1 of qop (Kifer et al. 2012).
func lopNoise(eps, delta float64) (sigma, ridge float64) {
	return math.Sqrt(8*math.Log(2/delta)+4*eps) / eps, 2 / eps
}

// Theorem 5.1: the constants are those of add/remove-one.
func TestQOPAdjacencyOfLOP(t *testing.T) {
	testscale.Slow(t)
	const eps, far = 1.0, 1e6
	// The largest δ(1) over the label of the record that is there, when it is taken away, and when its label is
	// replaced by one far off. ζ = L = 1.
	largest := func(sigma, ridge float64) (add, replace float64) {
		law := func(y float64) (without, with []float64) {
			s := audit.Scalar{Loss: loss.Huber{Threshold: 1}, ExtraX: 1, ExtraY: y, Lambda: ridge, Sigma: sigma}
			return s.CellsAt(figure.Span(-12*sigma/ridge, 12*sigma/ridge, 4000))
		}
		none, other := law(far)
		for i := -80; i <= 0; i++ {
			_, z := law(float64(i) / 10 * sigma / ridge)
			add = math.Max(add, measure.Stick(z, none, eps))
			replace = math.Max(replace, measure.Stick(z, other, eps))
		}
		return add, replace
	}
	for _, delta := range []float64{1e-6, 1e-8} {
		add, replace := largest(lopNoise(eps, delta))
		if !(add <= delta && replace > 1.4*delta) {
			t.Errorf("δ = %g: add/remove %.3g, replace %.3g", delta, add, replace)
		}
		errata.Quote(t, "qop-17", "%.1e", replace)
		// Calibrated to (ε/2, δ/(1 + e^{ε/2})), a group of two.
		if _, replace := largest(lopNoise(eps/2, delta/(1+math.Exp(eps/2)))); replace > delta {
			t.Errorf("δ = %g, as a group of two: %.3g", delta, replace)
		}
	}
}

// Theorem 5.1 without GLM structure: the slope follows the noise.
func TestQOPStructureOfLOP(t *testing.T) {
	const eps, delta, d = 1.0, 1e-5, 50
	sigma, ridge := lopNoise(eps, delta)
	// ℓ(θ) with ∇ℓ = min(‖θ‖, 1)·θ/‖θ‖ (ζ = L = 1), alone in the dataset. The proof takes −⟨b, ∇ℓ(θ̂)⟩/σ for N(0, 1).
	src := noise.NewSeeded(18)
	b := make([]float64, d)
	var loss measure.Mean
	for range 20_000 {
		src.Gaussian(b, sigma)
		var sq float64
		for _, v := range b {
			sq += v * v
		}
		r := math.Sqrt(sq) // θ̂ = −b·t/‖b‖ with Δt + min(t, 1) = ‖b‖
		at := math.Min(1, r/(ridge+1))
		loss.Add(r * at / sigma)
	}
	if loss.M < 100*loss.Err() || loss.M < 5 {
		t.Errorf("−⟨b, ∇ℓ⟩/σ: %.4f ± %.4f", loss.M, loss.Err())
	}
	errata.Quote(t, "qop-18", "%.2f", loss.M)
	// The exact δ of this pair: ‖θ̂‖ is enough, ‖b‖ = Δt or Δt + min(t, 1).
	law := func(slope func(float64) float64) []float64 {
		const n = 40_000
		out := make([]float64, 0, n+1)
		prev, hi := 0.0, 4*math.Sqrt(d)*sigma/ridge
		for i := 1; i <= n; i++ {
			c := hi * float64(i) / n
			x := (ridge*c + slope(c)) / sigma
			f := mathext.GammaIncReg(float64(d)/2, x*x/2)
			out = append(out, f-prev)
			prev = f
		}
		return append(out, 1-prev)
	}
	exact := measure.Stick(law(func(float64) float64 { return 0 }),
		law(func(c float64) float64 { return math.Min(c, 1) }), eps)
	if exact > delta {
		t.Errorf("exact δ = %.3g", exact)
	}
	errata.Quote(t, "qop-18", "%.1e", math.Ceil(exact*1e9)/1e9)
	proved := func(rank int) float64 {
		p := measure.Must(objective.RankK{Rank: rank, Smoothness: 1, Slope: 1, Lambda: ridge,
			Sigma: sigma}.Profile(privacy.AddRemove))
		return privacy.DeltaUpper(p, eps)
	}
	if !(proved(1) <= delta && proved(2) > delta && proved(5) > 0.01) {
		t.Errorf("rank 1: %.3g, rank 2: %.3g, rank 5: %.3g", proved(1), proved(2), proved(5))
	}
	errata.Quotes(t, "qop-18", "%.1e %.1e %.2f", proved(1), proved(2), proved(5))
}

// Lemma D.2 and D.4: γ is the unregularised incomplete gamma function.
func TestQOPWishart(t *testing.T) {
	testscale.Slow(t)
	// Independent values (mpmath).
	logD := func(d, m float64) float64 { return math.Log(printed{d: d, m: m}.lemmaD2()) }
	errata.Within(t, "ln D(12, 24)", logD(12, 24), 2.27740744021186, 1e-9)
	errata.Within(t, "α(12, 24)", alphaD4(12, 24, 0.005), 0.881789993355102, 1e-9)
	errata.Within(t, "ln D(100, 400)", logD(100, 400), -490.9452362136468, 1e-7)
	if !math.IsInf(math.Gamma(401.0/2), 1) {
		t.Error("Γ((m+1)/2) at m = 400 does not overflow")
	}
	errata.Quote(t, "qop-19", "%.1f", logD(100, 400))
	// P(λ_min < α), drawn; λ_min < α exactly when W − αI has no Cholesky factor.
	for _, c := range testscale.Some([]struct{ d, m, draws int }{{5, 10, 200_000}, {12, 24, 200_000}}...) {
		d, m := float64(c.d), float64(c.m)
		right := alphaD4(c.d, c.m, 0.005)
		wrong := 2 * mathext.GammaIncRegInv((m-d+1)/2, 0.005/printed{d: d, m: m}.lemmaD2())
		src := noise.NewSeeded(19)
		g := mat.NewDense(c.d, c.m, nil)
		var w mat.SymDense
		var chol mat.Cholesky
		moved := mat.NewSymDense(c.d, nil)
		below := func(alpha float64) bool {
			moved.CopySym(&w)
			for i := range c.d {
				moved.SetSym(i, i, w.At(i, i)-alpha)
			}
			return !chol.Factorize(moved)
		}
		var atRight, atWrong measure.Mean
		for range c.draws {
			src.Gaussian(g.RawMatrix().Data, 1)
			w.SymOuterK(1, g)
			least := below(math.Max(right, wrong)) // of few is it below the smaller one
			atRight.Add(measure.Indicator(least && (right >= wrong || below(right))))
			atWrong.Add(measure.Indicator(least && (wrong >= right || below(wrong))))
		}
		if !(atRight.M <= 0.005+4*atRight.Err() && atWrong.M > 0.005+5*atWrong.Err()) {
			t.Errorf("(%d, %d): unregularised %.4f ± %.4f, regularised %.4f", c.d, c.m, atRight.M, atRight.Err(),
				atWrong.M)
		}
		errata.Quotes(t, "qop-19", "%.4f", atRight.M, atWrong.M)
	}
}

// alphaD4 is α of Lemma D.4.
func alphaD4(d, m int, delta3 float64) float64 {
	return lemmaD4(wishart.Wishart{D: d, M: m}, delta3, delta3, delta3).alpha
}

// Interpolation is needed: one record whose minimiser is not θ⋆ is told apart with certainty. One dimension, losses (θ
// − yᵢ)²/2, θ⋆ = 0, W ~ Wishart(1, 3).
func TestQOPInterpolation(t *testing.T) {
	src := noise.NewSeeded(20)
	g := make([]float64, 3)
	release := func(sigma2 float64, y ...float64) float64 {
		src.Gaussian(g, 1)
		w := g[0]*g[0] + g[1]*g[1] + g[2]*g[2]
		var sum float64
		for _, v := range y {
			sum += v
		}
		return sum / (float64(len(y)) + sigma2*w)
	}
	for _, sigma2 := range []float64{1, 1e3, 1e6} {
		var below, above int
		for range 2000 {
			if release(sigma2, 0, 0, 0.1) > 0 {
				above++
			}
			if release(sigma2, 0, 0, -0.1) < 0 {
				below++
			}
			if release(sigma2, 0, 0, 0) != 0 {
				t.Fatal("with interpolation the output is θ⋆ itself")
			}
		}
		// {θ > 0} has probability one under Z and zero under Z′: δ = 1 for every ε.
		if above != 2000 || below != 2000 {
			t.Errorf("σ² = %g: P(θ > 0 | Z) = %d/2000, P(θ < 0 | Z′) = %d/2000", sigma2, above, below)
		}
		errata.Quote(t, "qop-20", "%d", above)
	}
}

// The experiments have an anchor off θ⋆ (η > 0) and leave out the final noise.
func TestQOPAnchorWithoutNoise(t *testing.T) {
	// d = 1, θ⋆ = 0, anchor θ̃ = 0.3, W ~ Wishart(1, 3), losses xᵢ²θ²/2 that share the minimiser: x = 0 for all but the
	// record that is replaced.
	const anchor, sigma2 = 0.3, 50.0
	src := noise.NewSeeded(31)
	g := make([]float64, 3)
	release := func(x, out float64) float64 {
		src.Gaussian(g, 1)
		w := sigma2 * (g[0]*g[0] + g[1]*g[1] + g[2]*g[2])
		b := []float64{0}
		src.Gaussian(b, out)
		return w*anchor/(w+x*x) + b[0]
	}
	count := func(x float64) (same int) {
		for range 2000 {
			if math.Abs(release(x, 0)-anchor) < 1e-15 {
				same++
			}
		}
		return same
	}
	if count(0) != 2000 || count(1) != 0 {
		t.Errorf("P(θ = θ̃): %d/2000 and %d/2000", count(0), count(1))
	}
	errata.Quote(t, "qop-31", "%d", count(0))
	// With the noise of the theorem (ε₂ = 0.5, sensitivity 2η at most) the two samples overlap: their
	// Kolmogorov–Smirnov distance is small.
	a, b := make([]float64, 2000), make([]float64, 2000)
	out := 2 * anchor / 0.5 * math.Sqrt(2*math.Log(1.25/0.01))
	for i := range a {
		a[i], b[i] = release(0, out), release(1, out)
	}
	sort.Float64s(a)
	sort.Float64s(b)
	var ks float64
	for i, j := 0, 0; i < len(a) && j < len(b); {
		if a[i] <= b[j] {
			i++
		} else {
			j++
		}
		ks = math.Max(ks, math.Abs(float64(i-j))/2000)
	}
	if ks > 0.06 {
		t.Errorf("distance %.3f", ks)
	}
}

// Lemma D.1 holds for √t ≥ √m + √d only.
func TestQOPLargestEigenvalue(t *testing.T) {
	const m = 4 // d = 1, where W ~ χ²_m
	law := distuv.ChiSquared{K: m}
	bound := func(t float64) float64 { return 2 * math.Exp(-math.Pow(math.Sqrt(t)-math.Sqrt(m)-1, 2)/2) }
	at := 0.25
	if !(law.Survival(at) > 5*bound(at)) {
		t.Errorf("at %g: probability %.4g, bound %.4g", at, law.Survival(at), bound(at))
	}
	errata.Quotes(t, "qop-49", "%.3f", law.Survival(at), bound(at))
	// From (√m + √d)² = 9 on it holds, and without the factor 2.
	for s := 9.0; s < 200; s += 0.5 {
		if law.Survival(s) > bound(s)/2 {
			t.Errorf("at %g: probability %.4g, half the bound %.4g", s, law.Survival(s), bound(s)/2)
		}
	}
}

// Given θ_priv the largest eigenvalue is no longer what it was.
func TestQOPConditioning(t *testing.T) {
	// d = 1, r(θ) = θ, losses xᵢ²θ²/2 with Σxᵢ² = s: θ = −1/(s + σ²W), so that θ_priv and the data determine W.
	const m, s, sigma2, delta4, draws = 3, 2.0, 5.0, 0.05, 20_000
	beta := distuv.ChiSquared{K: m}.Quantile(1 - delta4)
	given := func(theta, s float64) float64 { return measure.Indicator((-1/theta-s)/sigma2 > beta) } // P(W > β | θ)
	src := noise.NewSeeded(50)
	z := make([]float64, m)
	var certain, disagree measure.Mean
	for range draws {
		src.Gaussian(z, 1)
		var w float64
		for _, v := range z {
			w += v * v
		}
		theta := -1 / (s + sigma2*w)
		p := given(theta, s)
		certain.Add(measure.Indicator(p > delta4))
		disagree.Add(measure.Indicator(p != given(theta, s+1))) // one record of xᵢ = 1 more
	}
	errata.Within(t, "share where the event fails for certain", certain.M, delta4, 4*certain.Err())
	if !(disagree.M > 5*disagree.Err()) {
		t.Errorf("neighbours disagree in a share of %.4g ± %.2g", disagree.M, disagree.Err())
	}
	errata.Quotes(t, "qop-50", "%.3f %.4f", certain.M, disagree.M)
}
