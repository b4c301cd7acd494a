// Package erm minimises regularised empirical risks of generalised linear
// models and returns, with the minimiser, a certificate of how close it is.
//
// The objective is a sum over records, never a mean:
//
//	J(θ) = Σᵢ f(xᵢᵀθ; yᵢ) + (λ/2)‖θ‖² + ½Σⱼ ωⱼθⱼ² + bᵀθ.
package erm

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// Problem is the objective
//
//	J(θ) = Σᵢ f(xᵢᵀθ; yᵢ) + (λ/2)‖θ‖² + ½Σⱼ ωⱼθⱼ² + bᵀθ,
//
// a sum (not a mean) over the records. The ridge λ acts on every coordinate, an
// intercept included; ω shrinks single ones further. With λ > 0 it is λ-strongly
// convex, whatever ω ≥ 0 is, and has one minimiser.
type Problem struct {
	Rows   matrix.Rows
	Labels []float64
	Loss   loss.Loss
	// Lambda is λ > 0.
	Lambda float64
	// Shrinkage is ω, of length d, finite and not negative; nil is zero.
	Shrinkage []float64
	// Linear is b, of length d; nil is zero.
	Linear []float64
}

// Validate checks shapes, labels, λ and that every number is finite. It returns
// a *DataError that says what to do.
func (p *Problem) Validate() error {
	_, err := p.ValidateNorm()
	return err
}

// ValidateNorm is Validate, and returns max ‖xᵢ‖₂, which it reads all records for.
func (p *Problem) ValidateNorm() (maxNorm float64, err error) {
	if err := p.validateShape(); err != nil {
		return 0, err
	}
	maxNorm = matrix.MaxNorm(p.Rows)
	if math.IsNaN(maxNorm) || math.IsInf(maxNorm, 0) {
		return 0, errNotFinite()
	}
	return maxNorm, nil
}

func errNotFinite() error {
	return &matrix.DataError{Text: "a record has an entry that is NaN, ±Inf or too large: clean or clip the columns first"}
}

// validateShape checks all but the entries of the records.
func (p *Problem) validateShape() error {
	fail := func(format string, a ...any) error { return &matrix.DataError{Text: fmt.Sprintf(format, a...)} }
	if p.Rows == nil || p.Loss == nil {
		return fail("a problem needs rows and a loss")
	}
	n, d := p.Rows.Dims()
	switch {
	case d == 0:
		return fail("there are no features (d = 0): keep at least one column, or add a bias")
	case len(p.Labels) != n:
		return fail("%d labels for %d records", len(p.Labels), n)
	case p.Linear != nil && len(p.Linear) != d:
		return fail("the linear term has length %d, want d = %d", len(p.Linear), d)
	case !(p.Lambda > 0) || math.IsInf(p.Lambda, 1):
		return fail("Lambda (λ) = %v, want a positive number: without it the objective need not have a unique minimiser", p.Lambda)
	}
	if p.Shrinkage != nil && len(p.Shrinkage) != d {
		return fail("Shrinkage has length %d, want d = %d", len(p.Shrinkage), d)
	}
	for _, w := range p.Shrinkage {
		if !(w >= 0) || math.IsInf(w, 1) {
			return fail("Shrinkage (ω) has the entry %v, want finite numbers that are not negative", w)
		}
	}
	for i, y := range p.Labels {
		if !p.Loss.ValidLabel(y) {
			return fail("the label of record %d is not what the %s loss wants: %s", i, p.Loss.Name(), p.Loss.Labels())
		}
	}
	for _, b := range p.Linear {
		if math.IsNaN(b) || math.IsInf(b, 0) {
			return fail("the linear term has an entry that is not finite")
		}
	}
	return nil
}

// ridges returns the diagonal λ + ω of the Hessian of the penalty.
func (p *Problem) ridges(d int) []float64 {
	r := make([]float64, d)
	for j := range r {
		r[j] = p.Lambda
		if p.Shrinkage != nil {
			r[j] += p.Shrinkage[j]
		}
	}
	return r
}
