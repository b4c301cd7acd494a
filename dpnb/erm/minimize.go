package erm

import (
	"errors"
	"math"

	"github.com/dpnb/notebooks/dpnb/matrix"
)

// Settings of Minimize. The zero value and nil are right for a fit that is as exact as it can cheaply be.
type Settings struct {
	// Tolerance τ on the certified ‖∇J(θ)‖₂. Zero means 1e-9·(1 + n·L·R): as exact as is worth while for a sum of n
	// gradients of size up to L·R, with the mean of Σ_k|∂f/∂tᵢ_k| at the start (at least 1) in place of an infinite L.
	Tolerance float64
	// MaxPasses over the records; zero means 1,000.
	MaxPasses int
	// Persist goes on beyond MaxPasses, by steps that are proved to reach every tolerance that double-double arithmetic
	// can certify, however many they are.
	Persist bool
	// Workers is the number of goroutines; zero means one for each processor. The result does not depend on it.
	Workers int
	// Start is where the search begins (length D); nil is the origin, or what a sample of the records says.
	Start []float64
	// Method is how to search; nil means Auto.
	Method Method
}

// Certificate bounds how far a point is from the minimiser θ⋆ of a λ-strongly convex J. It comes from the gradient at
// the point alone, whatever found it.
type Certificate struct {
	// GradientNorm is ‖∇J(θ)‖₂ as computed; where float64 was not enough, that at θ + θ′, θ being θ + θ′ rounded to
	// float64.
	GradientNorm float64
	// Rounding bounds the error of the computed gradient, of its norm, and λ‖θ′‖.
	Rounding float64
	// Distance bounds ‖θ − θ⋆‖₂ by (GradientNorm + Rounding)/λ.
	Distance float64
	// Gap bounds J(θ) − J(θ⋆), by (GradientNorm + Rounding)²/(2λ) and what θ′ adds.
	Gap float64
}

// Bound returns the certified bound on ‖∇J(θ)‖₂, rounding included; where float64 was not enough, on λ‖θ − θ⋆‖₂ alone,
// which is what such a bound is for.
func (c Certificate) Bound() float64 { return c.GradientNorm + c.Rounding }

// Solution is a point with its certificate.
type Solution struct {
	Theta       []float64
	Value       float64
	Certificate Certificate
	// Tolerance τ that was asked for.
	Tolerance float64
	// Passes over the records that were made.
	Passes int
	// Gradients is the number of single ∇f(tᵢ; yᵢ) that were evaluated, those on samples and those of the certificate
	// included.
	Gradients int
	// Products is the number of products of single ∇²f(tᵢ; yᵢ).
	Products int
	// Method is the name of the method that was used.
	Method string
}

// ErrTolerance says that the certificate is worse than what was asked for. A private mechanism releases nothing then.
var ErrTolerance = errors.New("erm: the tolerance was not reached")

// Minimize returns the minimiser of p to a certified gradient norm of at most Settings.Tolerance, rounding errors
// included. Without records (n = 0) that is θⱼ = −bⱼ/(λ + ωⱼ).
//
// Errors: *DataError for input that has no answer; ErrTolerance (wrapped, with the best point) if MaxPasses or the
// precision of float64 ends the search first; *matrix.ReadError if the records cannot be read any longer.
func Minimize(p *Problem, settings *Settings) (found *Solution, err error) {
	defer matrix.Reading(&err)()
	if err := p.validateShape(); err != nil {
		return nil, err
	}
	var s Settings
	if settings != nil {
		s = *settings
	}
	d := p.Size()
	if s.Start != nil && len(s.Start) != d {
		return nil, dataError("the start has length %d, want %d, one for each coefficient", len(s.Start), d)
	}
	if s.Tolerance < 0 || math.IsNaN(s.Tolerance) {
		return nil, dataError("Tolerance = %v, want a positive number", s.Tolerance)
	}
	if err := p.bounded(); err != nil {
		return nil, err
	}
	switch s.Method.(type) {
	case SAG, SVRG:
		if p.Quadratic != nil {
			return nil, dataError("%s looks at single records, beside which a quadratic term is dear: take another "+
				"method", s.Method.Name())
		}
		if _, elsewhere := p.Rows.(Source); elsewhere {
			return nil, dataError("%s looks at single records, which are not here: take another method",
				s.Method.Name())
		}
	}
	if s.MaxPasses == 0 {
		s.MaxPasses = 1000
	}
	if s.Method == nil {
		s.Method = Auto{}
	}
	r := newSearch(p, s)
	run := s.Method.run
	if r.e.n == 0 {
		run = withoutRecords
	}
	if err := run(r); err != nil {
		return nil, err
	}
	if !(r.best.Certificate.Bound() <= r.s.Tolerance) {
		r.refine()
	}
	return r.solution(s.Method)
}
