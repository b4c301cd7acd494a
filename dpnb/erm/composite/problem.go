// Package composite minimises regularised empirical risks with a quadratic perturbation, a regulariser that need not be
// smooth and a constraint,
//
//	J(θ) = h(θ) + r(θ),  θ ∈ C,  h(θ) = Σᵢ f(xᵢᵀθ; yᵢ) + ½(θ−c)ᵀQ(θ−c) + bᵀθ + (λ/2)‖θ‖²,
//
// h any objective of erm, and returns, with the minimiser, a certificate of how close it is: a bound on dist(0, ∂J(θ) +
// N_C(θ)) that includes rounding.
//
// It may enter erm, matrix and loss; mechanisms with regularisers or constraints enter it.
//
// Source: Cortild and Cartis 2026, Quadratic Objective Perturbation (qop), appendix G. Proof: docs/theory/composite.md.
package composite

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// Problem is the objective J over C: a sum (not a mean) over the records. The ridge and the regulariser act on every
// coordinate, an intercept included.
type Problem struct {
	// Problem has the smooth terms; its λ may be 0.
	erm.Problem
	// Regulariser is r; nil is zero.
	Regulariser Regulariser
	// Constraint is C, which must be a Projector; nil is ℝᵈ.
	Constraint Constraint
}

func dataError(format string, a ...any) error {
	return &matrix.DataError{Text: "composite: " + fmt.Sprintf(format, a...)}
}

// Validate checks shapes, labels and parameters, not the entries of the records nor that Q is positive semidefinite. It
// returns a *matrix.DataError.
func (p *Problem) Validate() error {
	if err := p.ValidateConvex(); err != nil {
		return err
	}
	return Usable(p.Size(), p.Regulariser, p.Constraint)
}

// Usable returns a *matrix.DataError for a regulariser or a constraint, nil being none, that no problem of d
// coordinates can have.
func Usable(d int, r Regulariser, c Constraint) error {
	if r != nil {
		if err := r.Validate(d); err != nil {
			return err
		}
	}
	if c == nil {
		return nil
	}
	if _, ok := c.(Projector); !ok {
		return dataError("the constraint %s has no projection, without which no point is known to lie in it: "+
			"use a Box, Ball, Simplex, Affine or Cone, or implement Projector", c.Name())
	}
	if _, cone := c.(*Cone); cone && r != nil {
		return dataError("a cone goes with no regulariser")
	}
	return c.Validate(d)
}

func (p *Problem) regulariser() Regulariser {
	if p.Regulariser == nil {
		return None{}
	}
	return p.Regulariser
}

// projector returns C. It wants a problem that is valid.
func (p *Problem) projector() Projector {
	if p.Constraint == nil {
		return Everywhere{}
	}
	return p.Constraint.(Projector)
}
