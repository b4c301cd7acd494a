// Package composite minimises regularised empirical risks with a quadratic
// perturbation, a regulariser that need not be smooth and a constraint,
//
//	J(θ) = Σᵢ f(xᵢᵀθ; yᵢ) + ½(θ−c)ᵀQ(θ−c) + bᵀθ + (λ/2)‖θ‖² + r(θ),  θ ∈ C,
//
// and returns, with the minimiser, a certificate of how close it is: a bound on
// dist(0, ∂J(θ) + N_C(θ)) that includes rounding.
//
// Source: Cortild and Cartis 2026, Quadratic Objective Perturbation (qop),
// appendix G. Proof: docs/theory/composite.md.
package composite

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// Problem is the objective J over C: a sum (not a mean) over the records. The
// ridge and the regulariser act on every coordinate, an intercept included.
type Problem struct {
	Rows   matrix.Rows
	Labels []float64
	Loss   loss.Loss
	// Quadratic is Q, d×d, symmetric and positive semidefinite; nil is zero. For
	// quadratic objective perturbation it is σ²W.
	Quadratic *mat.SymDense
	// Centre is c, of length d; nil is zero.
	Centre []float64
	// Linear is b, of length d; nil is zero.
	Linear []float64
	// Lambda is λ ≥ 0.
	Lambda float64
	// Regulariser is r; nil is zero.
	Regulariser Regulariser
	// Constraint is C, which must be a Projector; nil is ℝᵈ.
	Constraint Constraint
}

func dataError(format string, a ...any) error {
	return &matrix.DataError{Text: "composite: " + fmt.Sprintf(format, a...)}
}

// Validate checks shapes, labels and parameters, not the entries of the records
// nor that Q is positive semidefinite. It returns a *matrix.DataError.
func (p *Problem) Validate() error {
	if p.Rows == nil || p.Loss == nil {
		return dataError("a problem needs rows and a loss")
	}
	if err := p.records().ValidateRecords(); err != nil {
		return err
	}
	_, d := p.Rows.Dims()
	switch {
	case p.Quadratic != nil && p.Quadratic.SymmetricDim() != d:
		return dataError("the quadratic term is of order %d, want d = %d", p.Quadratic.SymmetricDim(), d)
	case p.Centre != nil && len(p.Centre) != d:
		return dataError("the centre has length %d, want d = %d", len(p.Centre), d)
	case p.Linear != nil && len(p.Linear) != d:
		return dataError("the linear term has length %d, want d = %d", len(p.Linear), d)
	case !(p.Lambda >= 0) || math.IsInf(p.Lambda, 1):
		return dataError("Lambda (λ) = %v, want a number that is not negative", p.Lambda)
	case !finite(p.Centre...) || !finite(p.Linear...):
		return dataError("the centre or the linear term has an entry that is not finite")
	case math.IsInf(p.Loss.Smoothness(), 1):
		return dataError("the %s loss has no bound on its curvature, so that no gradient can be certified: clip it", p.Loss.Name())
	}
	if p.Quadratic != nil {
		for i := range d {
			for j := i; j < d; j++ {
				if !finite(p.Quadratic.At(i, j)) {
					return dataError("the quadratic term has an entry that is not finite")
				}
			}
			if p.Quadratic.At(i, i) < 0 {
				return dataError("the quadratic term has %v on its diagonal: it is not positive semidefinite", p.Quadratic.At(i, i))
			}
		}
	}
	return Usable(d, p.Regulariser, p.Constraint)
}

// Usable returns a *matrix.DataError for a regulariser or a constraint, nil being none,
// that no problem of d coordinates can have.
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
		return dataError("the constraint %s has no projection, without which no point is known to lie in it: use a Box, Ball, Simplex or Affine, or implement Projector", c.Name())
	}
	return c.Validate(d)
}

// finite reports whether every number is.
func finite(x ...float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

func (p *Problem) records() *erm.Problem {
	return &erm.Problem{Rows: p.Rows, Labels: p.Labels, Loss: p.Loss}
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
