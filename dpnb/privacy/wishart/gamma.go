package wishart

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/dpnb/notebooks/dpnb/internal/univariate"
)

// logLowerGamma returns ln γ(x, p), γ the unregularised lower incomplete gamma function ∫₀ˣ t^{p−1}e^{−t}dt, and S with
// γ(x, p) = x^p e^{−x} S, by the series
//
//	S = Σ_k x^k/(p(p+1)…(p+k)),
//
// whose terms are all positive: relative error of S below 1e-13 for every x ≥ 0 and p > 0 that is met here (p ≤ 1e4).
func logLowerGamma(x, p float64) (log, series float64) {
	if x <= 0 {
		return math.Inf(-1), 1 / p
	}
	if x > 2*p+60 {
		// The complement is below 1e-13 of Γ(p), or known to that.
		g := lgamma(p) + math.Log1p(-mathext.GammaIncRegComp(p, x))
		return g, math.Exp(g - p*math.Log(x) + x)
	}
	term := 1 / p
	sum := term
	for k := 1.0; term > 1e-17*sum; k++ {
		term *= x / (p + k)
		sum += term
	}
	return p*math.Log(x) - x + math.Log(sum), sum
}

// inverseLowerGamma returns x with ln γ(x, p) = y; +Inf if y ≥ ln Γ(p). y may be any logarithm, so that γ itself may be
// far below the range of float64; 0 if x is.
//
// ln γ is a concave function of ln x with slope 1/S, so that Newton's method in ln x approaches the root from below
// once it starts below, where γ ≤ x^p/p puts it.
func inverseLowerGamma(y, p float64) float64 {
	if y >= lgamma(p) {
		return math.Inf(1)
	}
	t := (y + math.Log(p)) / p
	for range 200 {
		x := math.Exp(t)
		if x == 0 {
			return 0 // nor has float64 an x so small
		}
		log, s := logLowerGamma(x, p)
		step := (y - log) * s
		t += step
		if math.Abs(step) < 1e-15*math.Max(1, math.Abs(t)) {
			break
		}
	}
	return math.Exp(t)
}

// inverseLowerGammaDown is inverseLowerGamma rounded down: the logarithm of the result errs by its own last place,
// which many make of a small one, and by that of what ln γ is summed from, over p.
func inverseLowerGammaDown(y, p float64) float64 {
	x := inverseLowerGamma(y, p)
	if x == 0 || math.IsInf(x, 1) {
		return x
	}
	l := math.Abs(math.Log(x))
	return x * (1 - 1e-13 - 2e-15*(l+math.Abs(y)/p))
}

func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

// logSlack bounds the error of logarithms that were summed from terms of the given sizes.
func logSlack(sizes ...float64) float64 {
	s := 1e-13
	for _, v := range sizes {
		s += 4e-16 * math.Abs(v)
	}
	return s
}

// logChiBelow returns ln P(χ²_ν ≤ x), error at most chiSlack.
func logChiBelow(nu, x float64) float64 {
	log, _ := logLowerGamma(x/2, nu/2)
	return math.Min(0, log-lgamma(nu/2))
}

// chiSlack bounds the error of logChiBelow at ν where it is l. Far in the tail the largest of what is summed, (ν/2)·ln
// x, is about l.
func chiSlack(nu, l float64) float64 {
	if math.IsInf(l, 0) {
		l = 0
	}
	return logSlack(lgamma(nu/2), nu, nu, l, l)
}

// chiLowerQuantile returns c, rounded down, with P(χ²_ν < c) ≤ e^{logDelta}.
func chiLowerQuantile(nu, logDelta float64) float64 {
	return 2 * inverseLowerGammaDown(logDelta+lgamma(nu/2)-chiSlack(nu, logDelta), nu/2)
}

// chiUpperQuantile returns c with P(χ²_ν > c) ≤ e^{logDelta}, by Chernoff's bound
//
//	P(χ²_ν ≥ x) ≤ exp(−(ν/2)(x/ν − 1 − ln(x/ν))),  x ≥ ν,
//
// which holds whatever the rounding of the search, as the value that is returned is checked.
func chiUpperQuantile(nu, logDelta float64) float64 {
	if math.IsInf(logDelta, -1) {
		return math.Inf(1)
	}
	ratio, _ := univariate.Smallest{Start: 2, Factor: 2, Least: 1, Most: math.MaxFloat64,
		Cut: univariate.Arithmetic}.Find(func(r float64) (bool, error) {
		return !(-0.5*nu*(r-1-math.Log(r)) > logDelta*(1+1e-14)), nil
	})
	return nu * ratio * (1 + 1e-12)
}

// logChiAbove returns an upper bound on ln P(χ²_ν > x); exact says that it errs by at most 1e-11, as it does where it
// is above −640.
func logChiAbove(nu, x float64) (log float64, exact bool) {
	if x <= 0 {
		return 0, true
	}
	if v := math.Log(mathext.GammaIncRegComp(nu/2, x/2)); v > -640 {
		return math.Min(0, v), true
	}
	r := x / nu
	return math.Min(0, -0.5*nu*(r-1-math.Log(r))), false // Chernoff's bound, which may be above −640 again
}
