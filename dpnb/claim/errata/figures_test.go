package errata

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// gauss is δ(ε) of the Gaussian mechanism with μ = sensitivity/σ.
func gauss(eps, mu float64) float64 {
	return privacy.DeltaUpper(privacy.GaussianProfile(mu, privacy.AddRemove), eps)
}

// halfNormal is E(1 − e^{ε−W})₊ with W = k + a²/2 + a|N|.
func halfNormal(k, a, eps float64) float64 {
	p, err := privacy.HalfNormal{K: k, A: a}.Profile(privacy.AddRemove)
	if err != nil {
		panic(err)
	}
	return privacy.DeltaUpper(p, eps)
}

func phi(x float64) float64      { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
func cdf(x float64) float64      { return 0.5 * math.Erfc(-x/math.Sqrt2) }
func survival(x float64) float64 { return 0.5 * math.Erfc(x/math.Sqrt2) }

// integral is Gauss–Legendre's with 20 nodes in each of n equal pieces.
func integral(f func(float64) float64, lo, hi float64, n int) float64 {
	var sum float64
	h := (hi - lo) / float64(n)
	for i := range n {
		sum += quad.Fixed(f, lo+float64(i)*h, lo+float64(i+1)*h, 20, quad.Legendre{}, 0)
	}
	return sum
}

// cells are the probabilities of n equal cells of [lo, hi] and of the two rays
// outside, of a law with distribution function Φ(z(c)), z non-decreasing.
func cells(z func(float64) float64, lo, hi float64, n int) []float64 {
	out := make([]float64, 0, n+2)
	prev := math.Inf(-1)
	for i := range n + 1 {
		x := z(lo + (hi-lo)*float64(i)/float64(n))
		out = append(out, mass(prev, x))
		prev = x
	}
	return append(out, mass(prev, math.Inf(1)))
}

func mass(a, b float64) float64 {
	if a > 0 {
		return survival(a) - survival(b)
	}
	return cdf(b) - cdf(a)
}

// stick is the larger of the two hockey-stick divergences. That of cells is a
// lower bound of that of the laws.
func stick(p, q []float64, eps float64) float64 {
	return math.Max(audit.HockeyStick(p, q, eps), audit.HockeyStick(q, p, eps))
}

// mean is a running mean with its standard error.
type mean struct{ n, m, s float64 }

func (a *mean) add(x float64) {
	a.n++
	d := x - a.m
	a.m += d / a.n
	a.s += d * (x - a.m)
}

func (a *mean) err() float64 { return math.Sqrt(a.s / (a.n - 1) / a.n) }

// within fails unless got is want up to tol.
func within(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: %.8g, want %.8g ± %.3g", what, got, want, tol)
	}
}
