package objpert

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Penalty is what is added to the ridge λ of every coefficient of a linear form of d features:
//
//	(ω/2)Σⱼ₍ⱼ<d₎θⱼ² + Σ (w/2)Σ(θⱼ − 2θⱼ₊₁ + θⱼ₊₂)².
//
// It is convex and knows nothing of the records, which the bounds of objective perturbation admit and make no use of.
type Penalty struct {
	// Shrinkage is ω ≥ 0, for records whose last feature is the constant of an intercept: the ridge of the other
	// coefficients is λ + ω, that of the intercept λ.
	Shrinkage float64
	// Rough are penalties on the second differences of runs of coefficients: of a number's hats, so that its curve is
	// smooth where there are few records.
	Rough []Roughness
}

// Roughness is the penalty
//
//	(w/2) Σ (θⱼ − 2θⱼ₊₁ + θⱼ₊₂)²
//
// over a run of Len coefficients from First on, w its Weight.
type Roughness struct {
	matrix.Span
	Weight float64
}

// Validate returns a *privacy.ParamError if a weight is out of range.
func (p Penalty) Validate(lambda float64) error {
	if !(p.Shrinkage >= 0) || math.IsInf(lambda+p.Shrinkage, 1) {
		return &privacy.ParamError{Name: "Shrinkage", Value: p.Shrinkage, Want: "a finite number that is not negative"}
	}
	for _, r := range p.Rough {
		if r.First < 0 || r.Len < 0 || !(r.Weight >= 0) || math.IsInf(16*r.Weight, 1) {
			return &privacy.ParamError{Name: "Rough", Value: r,
				Want: "runs of coefficients, weights that are finite and not negative"}
		}
	}
	return nil
}

// Check returns a *privacy.ParamError for runs that are not of d features.
func (p Penalty) Check(d int) error {
	for _, r := range p.Rough {
		if r.Len > d || r.First > d-r.Len {
			return &privacy.ParamError{Name: "Rough", Value: r, Want: fmt.Sprintf("a run of the %d coefficients", d)}
		}
	}
	return nil
}

// Words writes the ridges in words.
func (p Penalty) Words(lambda float64) string {
	ridge := fmt.Sprintf("λ = %.5g", lambda)
	if p.Shrinkage > 0 {
		ridge = fmt.Sprintf("λ = %.5g, of the intercept %.5g", lambda+p.Shrinkage, lambda)
	}
	if len(p.Rough) > 0 {
		ridge += fmt.Sprintf(", of second differences %.5g", p.Rough[0].Weight)
	}
	return ridge
}

// Ridge returns λ and the penalty for a ridge of the coefficients, where that is larger than λ. An intercept, which the
// last coefficient is then, is given the geometric mean of the two: at the least ridge its noise would hide what is
// left of the others, at theirs the rarer class would be predicted too seldom or never (docs/theory/lambda_rule.md,
// section 5).
func (p Penalty) Ridge(lambda, ridge float64, intercept bool) (float64, Penalty) {
	if !(ridge > lambda) {
		return lambda, p
	}
	last := ridge
	if intercept {
		last = math.Sqrt(lambda) * math.Sqrt(ridge)
	}
	p.Shrinkage = ridge - last
	return last, p
}

// Shrink returns ω as erm.Problem has it: at all of d places but the last, nil for none.
func (p Penalty) Shrink(d int) []float64 {
	if p.Shrinkage == 0 {
		return nil
	}
	w := make([]float64, d)
	for j := range w[:d-1] {
		w[j] = p.Shrinkage
	}
	return w
}

// Stiffest bounds the largest eigenvalue of the penalty and λ together.
func (p Penalty) Stiffest(lambda float64) float64 {
	top := lambda + p.Shrinkage
	for _, r := range p.Rough {
		top = math.Max(top, lambda+p.Shrinkage+16*r.Weight) // ‖D‖² ≤ (1 + 2 + 1)²
	}
	return top
}

// Quadratic returns the matrix of Rough for d features, nil for none.
func (p Penalty) Quadratic(d int) *mat.SymDense {
	if len(p.Rough) == 0 {
		return nil
	}
	q := mat.NewSymDense(d, nil)
	for _, r := range p.Rough {
		r.Roughen(q, r.Weight)
	}
	return q
}
