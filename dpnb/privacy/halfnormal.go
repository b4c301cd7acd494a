package privacy

import (
	"cmp"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
)

// HalfNormal is the law of W = K + a²/2 + a|N|, N standard normal, which bounds the privacy loss of objective
// perturbation in both directions (rkw23 Theorem 3.1, dtz24 Theorem 5.1) and of other one-dimensional perturbations.
type HalfNormal struct {
	// K ≥ 0 is the shift (objective perturbation: ln(1 + s/λ)).
	K float64
	// A ≥ 0 is the slope a (objective perturbation: L/σ).
	A float64
}

// Validate returns a *ParamError if a field is out of range.
func (w HalfNormal) Validate() error {
	return cmp.Or(NotNegative("K", w.K), NotNegative("A", w.A))
}

// logDelta returns ln E(1 − e^{ε−W})₊ for every real ε, t = ε − K:
//
//	t ≥ a²/2:  2 δ_G(t; a), the Gaussian's on both sides;
//	t < a²/2:  1 − 2e^t Φ̄(a) = erf(a/√2) − 2Φ̄(a)(e^t − 1), W ≥ ε always.
//
// Proof: docs/theory/gaussian.md.
func (w HalfNormal) logDelta(eps float64) float64 {
	t := eps - w.K
	switch {
	case math.IsInf(eps, -1):
		return 0
	case t >= 0.5*w.A*w.A:
		return math.Min(0, math.Ln2+logDeltaGaussian(t, w.A))
	}
	tail := 2 * normal.Survival(w.A)
	if w.A > 30 {
		// The factors of e^t·2Φ̄(a) over- and underflow; their product is below 1/a.
		return math.Log1p(-math.Exp(t + math.Ln2 + normal.LogSurvival(w.A)))
	}
	if t < -1 || w.A > 1 {
		return math.Log1p(-math.Exp(t) * tail)
	}
	return math.Log(math.Erf(w.A/math.Sqrt2) - tail*math.Expm1(t))
}

// slack bounds the rounding error of logDelta at ε, that of t = ε − K included. To the right of a²/2 it is that of t
// times the Gaussian's slope; to the left ln δ is ln(1 − y), y = 2e^t Φ̄(a), and y errs by that of its exponent, t −
// a²/2 − …
func (w HalfNormal) slack(eps, l float64) float64 {
	t := eps - w.K
	if !(t >= 0.5*w.A*w.A) {
		y := -math.Expm1(math.Max(l, -700))
		if t < 0 && w.A <= 30 || y == 0 {
			return gaussianSlack(l) // a sum of two positive terms, or e^t·|t| < 1
		}
		return gaussianSlack(l) + 1e-15*(math.Abs(t)+w.A*w.A)*math.Min(y, 1)
	}
	slope := 1.0
	if w.A > 0 {
		slope += t/(w.A*w.A) + 2/w.A
	}
	return gaussianSlack(l) + 5e-16*t*slope
}

// Profile returns δ(ε) = E(1 − e^{ε−W})₊ as the profile of both directions.
//
// Bound: Upper and Lower are bounds of that expectation, relative distance about 4e-13; whether W bounds a mechanism's
// loss is the caller's theorem.
// Errors: *ParamError if a field or adj is out of range.
// Proof: docs/theory/gaussian.md.
func (w HalfNormal) Profile(adj Adjacency) (LowerProfile, error) {
	if err := cmp.Or(w.Validate(), adj.Validate()); err != nil {
		return nil, err
	}
	return halfNormalProfile{symmetric(adj), w}, nil
}

// RDP returns the Rényi bound of order α > 1,
//
//	ε(α) = K + a²/2 + ln E e^{(α−1)a|N|}/(α−1) = K + a²/2 + (α−1)a²/2 + ln(2Φ((α−1)a))/(α−1),
//
// rounded up; at α = 1 its limit K + a²/2 + a√(2/π).
//
// Errors: *ParamError if α < 1.
// Source: Redberg, Koskela, Wang 2023, Theorem 3.2, the order α = 1 corrected.
func (w HalfNormal) RDP(alpha float64) (float64, error) {
	if !(alpha >= 1) {
		return 0, &ParamError{Name: "Alpha", Value: alpha, Want: "a number ≥ 1"}
	}
	v := w.K + 0.5*w.A*w.A
	c := (alpha - 1) * w.A
	switch {
	case alpha == 1:
		v += w.A * math.Sqrt(2/math.Pi)
	default:
		v += 0.5*w.A*c + logTwiceCDF(c)/(alpha-1)
	}
	return v * (1 + 1e-14), nil
}

// logTwiceCDF returns ln(2Φ(c)) = log1p(erf(c/√2)), c ≥ 0.
func logTwiceCDF(c float64) float64 { return math.Log1p(math.Erf(c / math.Sqrt2)) }

type halfNormalProfile struct {
	symmetric
	w HalfNormal
}

// leastSlope is the smallest slope that is computed with: a smaller one is replaced by it in upper bounds and by 0 in
// lower ones, between which δ lies.
const leastSlope = 1e-100

func (p halfNormalProfile) LogDeltaUpper(_ Direction, eps float64) float64 {
	if p.w.A == 0 {
		return logDeltaPointMass(p.w.K, eps, 1)
	}
	p.w.A = math.Max(p.w.A, leastSlope)
	l := p.w.logDelta(eps)
	return roundUp(l, p.w.slack(eps, l))
}

func (p halfNormalProfile) LogDeltaLower(_ Direction, eps float64) float64 {
	if p.w.A < leastSlope {
		return logDeltaPointMass(p.w.K, eps, -1)
	}
	l := p.w.logDelta(eps)
	return roundDown(l, p.w.slack(eps, l))
}

// LogDeltaBounds returns both bounds from one evaluation.
func (p halfNormalProfile) LogDeltaBounds(d Direction, eps float64) (low, up float64) {
	if p.w.A < leastSlope {
		return p.LogDeltaLower(d, eps), p.LogDeltaUpper(d, eps)
	}
	l := p.w.logDelta(eps)
	slack := p.w.slack(eps, l)
	return roundDown(l, slack), roundUp(l, slack)
}

// logDeltaPointMass returns ln (1 − e^{ε−w})₊ rounded to the side of sign.
func logDeltaPointMass(w, eps, sign float64) float64 {
	t := eps - w
	t = nudge(t, -sign)
	if t >= 0 {
		return math.Inf(-1)
	}
	l := math.Log(-math.Expm1(t))
	return math.Min(0, l+sign*(1e-15+4e-16*math.Abs(l)))
}
