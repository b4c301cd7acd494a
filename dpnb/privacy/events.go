package privacy

import (
	"cmp"
	"fmt"
	"math"
)

// Known is the event of running something whose profile is known, under that name: objective perturbation with one of
// its bounds, for example.
type Known struct {
	// Name describes it in a line.
	Name string
	// Of is the profile; its adjacency is the one that holds.
	Of Profile
}

// String implements Event.
func (k Known) String() string { return k.Name }

// Profile implements Event; an add/remove profile is converted when replace-one is asked for. Errors: *ParamError for
// no profile, ErrAdjacency.
func (k Known) Profile(adj Adjacency) (Profile, error) {
	if k.Of == nil {
		return nil, &ParamError{Name: "Of", Value: nil, Want: "a profile"}
	}
	return ConvertAdjacency(k.Of, adj)
}

// ApproximateMinimum is the event of hiding, with Gaussian noise on the output, how far an approximate minimiser is
// from the exact one. The objective is Lambda-strongly convex and its gradient at the point found has norm at most
// Tolerance, so that the point is within τ/λ of the minimiser on either dataset: sensitivity 2τ/λ under every
// adjacency.
type ApproximateMinimum struct {
	// Tolerance τ ≥ 0 is the certified bound on the gradient's norm.
	Tolerance float64
	// Lambda > 0 is the modulus of strong convexity.
	Lambda float64
	// SigmaOut > 0 is the standard deviation of the output noise.
	SigmaOut float64
}

// Validate returns a *ParamError if a field is out of range.
func (m ApproximateMinimum) Validate() error {
	return cmp.Or(NotNegative("Tolerance", m.Tolerance), Positive("Lambda", m.Lambda), Positive("SigmaOut", m.SigmaOut))
}

// String implements Event.
func (m ApproximateMinimum) String() string {
	return fmt.Sprintf("ApproximateMinimum(τ=%g, λ=%g, σ_out=%g)", m.Tolerance, m.Lambda, m.SigmaOut)
}

// MuBounds returns floats around μ = 2τ/(λσ_out).
func (m ApproximateMinimum) MuBounds() (low, high float64) {
	if m.Tolerance == 0 {
		return 0, 0
	}
	// By mantissas and exponents: 2τ/λ may be below the range of float64 where 2τ/(λσ) is not.
	t, et := math.Frexp(m.Tolerance)
	l, el := math.Frexp(m.Lambda)
	s, es := math.Frexp(m.SigmaOut)
	mu := math.Ldexp(t/l/s, 1+et-el-es)
	return math.Max(0, mu*(1-5e-16)), math.Nextafter(mu*(1+5e-16), math.Inf(1))
}

// Profile implements Event. Errors: *ParamError.
func (m ApproximateMinimum) Profile(adj Adjacency) (Profile, error) {
	if err := cmp.Or(m.Validate(), adj.Validate()); err != nil {
		return nil, err
	}
	low, high := m.MuBounds()
	if math.IsInf(high, 1) {
		return nil, &ParamError{Name: "SigmaOut", Value: m.SigmaOut, Want: "a value at which 2τ/(λσ) is finite"}
	}
	return GaussianProfileBetween(low, high, adj), nil
}

// RDP returns the curve αμ²/2.
func (m ApproximateMinimum) RDP(adj Adjacency) (RDPCurve, error) {
	if _, err := m.Profile(adj); err != nil {
		return RDPCurve{}, err
	}
	_, mu := m.MuBounds()
	return GaussianRDP(mu, adj), nil
}

// NonPrivate is the event of publishing without protection: ε = ∞ at every δ < 1.
type NonPrivate struct{}

// String implements Event.
func (NonPrivate) String() string { return "NonPrivate" }

// Profile implements Event.
func (NonPrivate) Profile(adj Adjacency) (Profile, error) {
	if err := adj.Validate(); err != nil {
		return nil, err
	}
	return approxProfile{symmetric(adj), Approx{Epsilon: 0, Delta: 1, Adj: adj}}, nil
}

// RDP returns the infinite curve.
func (NonPrivate) RDP(adj Adjacency) (RDPCurve, error) {
	if err := adj.Validate(); err != nil {
		return RDPCurve{}, err
	}
	return RDPCurve{Adj: adj, Epsilon: func(float64) float64 { return math.Inf(1) }}, nil
}
