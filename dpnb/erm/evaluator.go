package erm

import (
	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
)

// Evaluator computes Σᵢ f(tᵢ₁, …, tᵢ_K; yᵢ), its gradient with a bound on the rounding
// error, and its Hessian, without ridge or linear term: what a solver of another
// objective over the same records builds on. It allocates when it is made and,
// for the Hessian, once. It is not safe for concurrent use; its results do not
// depend on the number of workers.
type Evaluator struct {
	e *evaluator
	m *primalMetric
	p *precise
	// x and g are the point and the gradient of p.
	x, g dd.Vector
}

// NewEvaluator returns the evaluator of the records of p; Lambda and Linear are
// not looked at. workers ≤ 0 means one for each processor.
//
// Errors: *DataError as Problem.Validate, except that entries of the records
// which are not finite show in the first gradient only.
func NewEvaluator(p *Problem, workers int) (*Evaluator, error) {
	if err := p.ValidateRecords(); err != nil {
		return nil, err
	}
	return &Evaluator{e: newEvaluator(p.records(0), workers)}, nil
}

// ValidateRecords is Validate without Lambda, Linear and the entries of the records.
func (p *Problem) ValidateRecords() error {
	return p.records(1).validateShape()
}

// records returns the problem of the records of p alone, with the given ridge.
func (p *Problem) records(lambda float64) *Problem {
	return &Problem{Rows: p.Rows, Forms: p.Forms, Labels: p.Labels, Loss: p.Loss, Joint: p.Joint, Lambda: lambda}
}

// Gradient writes that of Σf to grad and returns Σf and a bound on the
// Euclidean norm of the error of grad, what loss.SlopeError grants included.
func (v *Evaluator) Gradient(grad, theta []float64) (value, rounding float64) {
	return v.e.eval(grad, theta)
}

// Refine writes the gradient to grad once more, computed in double-double arithmetic
// and rounded to float64, and returns a bound on its error, which does not grow with
// the number of records to speak of. It takes some twenty passes' time. Gradient must
// have been called.
func (v *Evaluator) Refine(grad, theta []float64) (rounding float64) {
	if v.p == nil {
		v.p, v.x, v.g = newPrecise(v.e), dd.NewVector(v.e.size), dd.NewVector(v.e.size)
	}
	copy(v.x.Hi, theta)
	rounding = v.p.gradient(v.g, v.x)
	copy(grad, v.g.Hi)
	return rounding + 1.01*0x1p-53*floats.Norm(grad, 2)
}

// MaxNorm returns max Rᵢ (Problem.ValidateNorm) once a gradient was computed.
func (v *Evaluator) MaxNorm() float64 { return v.e.maxNorm }

// Passes returns the number of passes over the records so far.
func (v *Evaluator) Passes() int { return v.e.passes }

// Hessian writes that of Σf to the upper triangle of the D×D matrix dst,
// row by row. What it writes below the diagonal is not defined.
func (v *Evaluator) Hessian(dst, theta []float64) {
	if v.m == nil {
		v.m = newPrimalMetric(v.e.p, 1, v.e.ridge, v.e.workers, true)
	}
	v.e.passes++
	v.m.hessian(theta)
	for i := range v.m.size {
		copy(dst[i*v.m.size:(i+1)*v.m.size], v.m.h[i*v.m.stride:])
	}
}
