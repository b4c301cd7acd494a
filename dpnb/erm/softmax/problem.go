// Package softmax minimises the regularised empirical risk of multinomial
// logistic regression and returns, with the minimiser, a certificate of how
// close it is.
//
// The objective is a sum over records, never a mean, in θ = (θ_1, …, θ_K), one
// vector of length d for each class:
//
//	J(θ) = Σᵢ [log Σ_c e^{xᵢᵀθ_c} − xᵢᵀθ_{yᵢ}] + (λ/2)‖θ‖² + ⟨B, θ⟩.
package softmax

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/matrix"
)

// Problem is the objective
//
//	J(θ) = Σᵢ [log Σ_c e^{xᵢᵀθ_c} − xᵢᵀθ_{yᵢ}] + (λ/2)Σ_c‖θ_c‖² + Σ_c b_cᵀθ_c,
//
// a sum (not a mean) over the records; the ridge acts on every coordinate of
// every class, the intercepts included. With λ > 0 it is λ-strongly convex and
// has one minimiser, whose sum over the classes is −Σ_c b_c/λ.
type Problem struct {
	Rows matrix.Rows
	// Labels are the records' classes, 0 … Classes − 1.
	Labels []int
	// Classes is K ≥ 2.
	Classes int
	// Lambda is λ > 0.
	Lambda float64
	// Linear is B by classes, b_c at [c·d : (c+1)·d]; nil is zero.
	Linear []float64
}

// Validate checks shapes, labels, λ and that every number is finite.
//
// Errors: *matrix.DataError that says what to do.
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
	if p.Rows == nil {
		return fail("a problem needs rows")
	}
	n, d := p.Rows.Dims()
	switch {
	case d == 0:
		return fail("there are no features (d = 0): keep at least one column, or add a bias")
	case p.Classes < 2:
		return fail("Classes = %d, want at least 2", p.Classes)
	case len(p.Labels) != n:
		return fail("%d labels for %d records", len(p.Labels), n)
	case p.Linear != nil && len(p.Linear) != p.Classes*d:
		return fail("the linear term has length %d, want K·d = %d", len(p.Linear), p.Classes*d)
	case !(p.Lambda > 0) || math.IsInf(p.Lambda, 1):
		return fail("Lambda (λ) = %v, want a positive number: without it the objective has no unique minimiser", p.Lambda)
	}
	for i, y := range p.Labels {
		if y < 0 || y >= p.Classes {
			return fail("the label of record %d is no class from 0 to %d", i, p.Classes-1)
		}
	}
	for _, b := range p.Linear {
		if math.IsNaN(b) || math.IsInf(b, 0) {
			return fail("the linear term has an entry that is not finite")
		}
	}
	return nil
}

// Center subtracts from theta, K vectors of length d one after another, their
// mean over the classes: the projection on Σ_c θ_c = 0, which no probability
// depends on.
func Center(theta []float64, classes int) {
	d := len(theta) / classes
	for j := range d {
		var mean float64
		for c := range classes {
			mean += theta[c*d+j]
		}
		mean /= float64(classes)
		for c := range classes {
			theta[c*d+j] -= mean
		}
	}
}

// Probabilities writes to dst (length K) the probability of each class at x:
// e^{xᵀθ_c} over their sum.
func Probabilities(dst, theta, x []float64) {
	d := len(x)
	top := math.Inf(-1)
	for c := range dst {
		dst[c] = floats.Dot(theta[c*d:(c+1)*d], x)
		top = math.Max(top, dst[c])
	}
	var sum float64
	for c, t := range dst {
		dst[c] = math.Exp(t - top)
		sum += dst[c]
	}
	floats.Scale(1/sum, dst)
}

// sampled returns the problem over m evenly spaced records of p with λ and B
// scaled down by m/n, so that its minimiser is near that of p.
func (p *Problem) sampled(m int) *Problem {
	n, d := p.Rows.Dims()
	share := float64(m) / float64(n)
	s := &Problem{Labels: make([]int, m), Classes: p.Classes, Lambda: p.Lambda * share}
	index := make([]int, m)
	for k := range index {
		index[k] = int((int64(k)*2 + 1) * int64(n) / int64(2*m))
		s.Labels[k] = p.Labels[index[k]]
	}
	switch rows := p.Rows.(type) {
	case *matrix.CSR:
		s.Rows = rows.Select(index)
	case *matrix.Dense:
		s.Rows = rows.Select(index)
	default:
		dense := matrix.NewDense(m, d, nil)
		for k, i := range index {
			rows.Row(dense.Data[k*d:(k+1)*d], i)
		}
		s.Rows = dense
	}
	if p.Linear != nil {
		s.Linear = append([]float64(nil), p.Linear...)
		floats.Scale(share, s.Linear)
	}
	return s
}
