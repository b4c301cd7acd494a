package qop

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/privacy/wishart"
)

// printed are the constants of Lemma D.4, word for word and by no code of the accountant: what is released is held
// against them.
type printed struct{ d, m, alpha, alpha1, beta, p float64 }

// lemmaD4 computes them for δ₁, δ₃ and δ₄.
func lemmaD4(w wishart.Wishart, delta1, delta3, delta4 float64) printed {
	d, m := float64(w.D), float64(w.M)
	k := printed{d: d, m: m, p: (m - d + 1) / 2}
	gammaInverse := func(y float64) float64 { // of γ(x, p) = ∫₀ˣ t^{p−1}e^{−t}dt, unregularised
		share := y / math.Gamma(k.p)
		log, _ := univariate.Bisect(func(x float64) bool { return mathext.GammaIncReg(k.p, math.Exp(x)) >= share },
			-700, 10, univariate.Arithmetic, 0)
		return math.Exp(log)
	}
	k.alpha = 2 * gammaInverse(delta3/k.lemmaD2())
	gamma := mathext.GammaIncReg(k.p, k.alpha/2) * math.Gamma(k.p)
	k.alpha1 = 2*gammaInverse(delta1*(1-delta3)/k.lemmaD2()+gamma) - k.alpha
	root := math.Sqrt(2*math.Log(2/(delta4*(1-delta3)))) + math.Sqrt(m) + math.Sqrt(d)
	k.beta = root * root
	return k
}

// lemmaD2 is the D of Lemma D.2.
func (k printed) lemmaD2() float64 {
	lg := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
	return k.d * math.Exp(lg(1.5)+lg((k.m+1)/2)-lg(k.d/2+1)-lg((k.m-k.d+1)/2)-lg((k.m-k.d+2)/2))
}

func (k printed) f(rank float64) float64 { return ((k.p-1)/k.alpha + 0.5) * rank }

// sigma2 is σ² of Theorem 3.1 for L = 1, sigma2First the first of the two terms of which it is the larger one.
func (k printed) sigma2(eps1, rank float64) float64 {
	return math.Max(k.sigma2First(eps1, rank), 2/k.alpha1)
}

func (k printed) sigma2First(eps1, rank float64) float64 {
	return 2 / eps1 * (k.f(2) + 2*(2*rank+2)/k.alpha)
}

// sigmaOut is σ̃ of Theorem 3.1.
func (k printed) sigmaOut(sigma2, eps2, delta2, tau, eta float64) float64 {
	return (math.Sqrt(2*tau/(k.alpha*sigma2)) + k.beta*eta/k.alpha) * 2 / eps2 * math.Sqrt(2*math.Log(1.25/delta2))
}

// leastSquaresDelta is δ(ε) of least squares, L/σ² = s, under add/remove-one (first where a record is added) and under
// replace-one: a shifted χ² variate with ν = m − d + 1 degrees of freedom, by its own densities.
func leastSquaresDelta(w wishart.Wishart, s, eps float64) (add, remove, replace float64) {
	half := float64(w.M-w.D+1) / 2
	cdf := func(x float64) float64 {
		if x <= 0 {
			return 0
		}
		return mathext.GammaIncReg(half, x/2)
	}
	density := func(x float64) float64 { // up to a factor
		if x <= 0 {
			return 0
		}
		return math.Exp((half-1)*math.Log(x) - x/2)
	}
	// χ is χ²_ν without the record, s + χ²_ν with it. The ratio of the densities rises with χ: one cut each.
	cut := func(eps float64) float64 {
		lo, _ := univariate.Bisect(func(x float64) bool { return density(x-s) >= math.Exp(eps)*density(x) }, s,
			s+4000+40*half, univariate.Arithmetic, 0)
		return lo
	}
	adding := func(eps float64) float64 {
		c := cut(-eps)
		return cdf(c) - math.Exp(eps)*cdf(c-s)
	}
	removing := func(eps float64) float64 {
		c := cut(eps)
		return math.Max(0, (1-cdf(c-s))-math.Exp(eps)*(1-cdf(c)))
	}
	replace = 1
	for e := -1.0; e <= 2; e += 1.0 / 256 {
		replace = math.Min(replace, adding(e)+math.Exp(e)*removing(eps-e))
	}
	return adding(eps), removing(eps), replace
}

// directionalCost is the left-hand side of formula (5) of docs/theory/quadratic.md at s = L/σ², or that of (4) if it is
// less: ln of the ratio of the densities for a record that goes and one that comes, where χ² variates are within their
// quantiles of 0.8δ, 0.1δ and, by Chernoff's bound, 0.1δ.
func directionalCost(w wishart.Wishart, s, delta float64) float64 {
	chi := distuv.ChiSquared{K: float64(w.M - w.D + 1)}
	p := chi.K / 2
	low, other, high := chi.Quantile(0.8*delta), chi.Quantile(0.1*delta), chernoff(chi.K, 0.1*delta)
	lost := math.Max(0, -p*math.Log1p(-s/low)-s/2)
	gained := math.Max(math.Log1p(s/other), s/2-(p-1)*math.Log1p(s/high))
	k := lemmaD4(w, delta, delta, delta) // its α at δ
	y := s / k.alpha
	spectral := math.Max(-p*math.Log1p(-y)+math.Log1p(y), s/2+math.Log1p(y))
	if !(y < 1) {
		spectral = math.Inf(1)
	}
	return math.Min(lost+gained, spectral)
}

// chernoff is the x > ν at which Chernoff's bound on P(χ²_ν > x), (x/ν)^{ν/2}e^{(ν−x)/2}, is δ.
func chernoff(nu, delta float64) float64 {
	_, x := univariate.Bisect(func(x float64) bool { return nu/2*math.Log(x/nu)+(nu-x)/2 <= math.Log(delta) }, nu,
		2*nu+4*math.Log(1/delta)+100, univariate.Arithmetic, 0)
	return x
}
