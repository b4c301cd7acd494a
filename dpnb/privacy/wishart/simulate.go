package wishart

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"

	"gonum.org/v1/gonum/mathext"

	"github.com/dpnb/notebooks/dpnb/internal/chisquare"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Spectrum is the spectrum of one Wishart draw, as a bidiagonal matrix: the eigenvalues of BBᵀ with B = (χ_m, χ_{m−1},
// …) on the diagonal and (χ_{d−1}, …, χ_1) below it have the law of those of W, for 2d − 1 variates instead of dm.
//
// Source: Dumitriu and Edelman 2002, arXiv:math-ph/0206043, Theorem 3.4.
type Spectrum struct {
	// q and e are the squares of the diagonal and of what is below it.
	q, e []float64
}

// Draw replaces s by a new draw, keeping its memory.
func (s *Spectrum) Draw(w Wishart, rng *rand.Rand) {
	s.q, s.e = s.q[:0], s.e[:0]
	for i := range w.D {
		s.q = append(s.q, chisquare.Draw(w.M-i, rng.NormFloat64))
		if i < w.D-1 {
			s.e = append(s.e, chisquare.Draw(w.D-1-i, rng.NormFloat64))
		}
	}
}

// AllAbove reports whether every eigenvalue is above x: all pivots of BBᵀ − xI are positive. The pivots are those of
// the stationary quotient–difference transform, which keeps small eigenvalues to full relative precision.
func (s *Spectrum) AllAbove(x float64) bool { return s.allOfSign(x, 1) }

// AllBelow reports whether every eigenvalue is below x.
func (s *Spectrum) AllBelow(x float64) bool { return s.allOfSign(x, -1) }

func (s *Spectrum) allOfSign(x, sign float64) bool {
	shift := -x
	for i, q := range s.q {
		pivot := q + shift
		if !(sign*pivot > 0) {
			return false
		}
		if i < len(s.e) {
			shift = s.e[i]*shift/pivot - x
		}
	}
	return true
}

// Smallest returns λ_min, rounded down by less than 1e-9 of it.
func (s *Spectrum) Smallest() float64 {
	hi := s.q[0]
	for i := 1; i < len(s.q); i++ {
		hi = math.Min(hi, s.q[i]+s.e[i-1])
	}
	lo := hi
	for lo > 1e-250 && !s.AllAbove(lo) {
		lo /= 16
	}
	lo, _ = univariate.Bisect(func(x float64) bool { return !s.AllAbove(x) }, lo, hi, univariate.Geometric, 1e-9)
	return lo
}

// CertifiedConstants are α and α₁ from drawn eigenvalues instead of Lemma D.2.
type CertifiedConstants struct {
	// Wishart is the law, Delta1 and Delta3 are what the constants hold for.
	Wishart        Wishart
	Delta1, Delta3 float64
	Alpha, Alpha1  float64
	// Failure is the probability, over the draws, that α or α₁ is not what it is said to be. The δ that were asked for
	// include it.
	Failure float64
	// Draws is how many spectra were drawn.
	Draws int
}

// certify returns α with P(λ_min < α) ≤ δ₃ and α₁ with P(α ≤ λ_min ≤ α + α₁) ≤ δ₁(1 − δ₃) from the order statistics of
// so many draws. α₁ is zero if δ₁ is.
//
// With X_(k) the k-th smallest of N draws, P(F(X_(k)) > δ) = P(Bin(N, δ) < k) whatever the law, and F(X_(k+l)) −
// F(X_(k)) is distributed as F(X_(l)). A hundredth of each δ is set aside for the probability that the draws deceive: k
// and l are the largest for which P(Bin(N, 0.99δ) < k) ≤ 0.01δ. The draws do not depend on any record, so that this
// probability is a part of δ and costs nothing else, provided that rng is not chosen by looking at its draws.
//
// Errors: *privacy.ParamError; too few draws: at least ln(100/δ)/(0.99δ) are needed, 1,000 for δ = 0.01 and 2e7 for δ =
// 1e-6.
func (w Wishart) certify(delta1, delta3 float64, draws int, rng *rand.Rand) (CertifiedConstants, error) {
	if err := cmp.Or(w.Validate(), privacy.Fraction("δ₃", delta3),
		privacy.Within(delta1 >= 0 && delta1 < 1, "δ₁", delta1, "a number in [0, 1)")); err != nil {
		return CertifiedConstants{}, err
	}
	k := orderStatistic(draws, delta3)
	mass := delta1 * (1 - delta3)
	l := 0
	if delta1 > 0 {
		l = orderStatistic(draws, mass)
	}
	if k < 1 || delta1 > 0 && l < 1 {
		least := delta3
		if delta1 > 0 {
			least = math.Min(delta3, mass)
		}
		return CertifiedConstants{}, &privacy.ParamError{Name: "draws", Value: draws,
			Want: fmt.Sprintf("at least %.0f, which is what a quantile at δ = %.3g needs",
				math.Ceil(math.Log(100/least)/(0.99*least)), least)}
	}
	x := make([]float64, draws)
	var s Spectrum
	for i := range x {
		s.Draw(w, rng)
		x[i] = s.Smallest()
	}
	sort.Float64s(x)
	c := CertifiedConstants{Wishart: w, Delta1: delta1, Delta3: delta3, Alpha: x[k-1] * (1 - 1e-9),
		Failure: 0.01 * delta3, Draws: draws}
	if delta1 > 0 {
		// Counted from the k-th draw itself: l more draws are l spacings further.
		c.Alpha1 = math.Max(0, x[k-1+l]*(1-1e-9)-x[k-1]*(1+1e-9))
		c.Failure += 0.01 * mass
	}
	return c, nil
}

// orderStatistic returns the largest k < n with P(Bin(n, 0.99δ) < k) ≤ 0.01δ, 0 if there is none.
func orderStatistic(n int, delta float64) int {
	p, gamma := 0.99*delta, 0.01*delta
	lo, hi := 0, n/2
	for lo < hi {
		k := (lo + hi + 1) / 2
		// P(Bin(n, p) ≤ k − 1) = I_{1−p}(n − k + 1, k)
		if mathext.RegIncBeta(float64(n-k+1), float64(k), 1-p) <= gamma*(1-1e-9) {
			lo = k
		} else {
			hi = k - 1
		}
	}
	return lo
}

// Trace returns the sum of the eigenvalues.
func (s *Spectrum) Trace() float64 {
	var sum float64
	for _, v := range s.q {
		sum += v
	}
	for _, v := range s.e {
		sum += v
	}
	return sum
}
