package erm

import (
	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/internal/kernel"
)

// Evaluator computes J, its gradient with a bound on the rounding error, and its Hessian: what a solver with a
// regulariser or a constraint builds on. It allocates when it is made and, for the Hessian, once. It is not safe for
// concurrent use; its results do not depend on the number of workers.
type Evaluator struct {
	e *evaluator
	m *primalMetric
	p *precise
	// one is for single records.
	one *oneRecord
	// x and g are the point and the gradient of p.
	x, g dd.Vector
}

// NewEvaluator returns the evaluator of p, of which λ may be 0. workers ≤ 0 means one for each processor.
//
// Errors: *DataError as Problem.Validate, except that entries of the records which are not finite show in the first
// gradient only.
func NewEvaluator(p *Problem, workers int) (*Evaluator, error) {
	if err := p.ValidateConvex(); err != nil {
		return nil, err
	}
	return &Evaluator{e: newEvaluator(p, workers)}, nil
}

// Gradient writes that of J to grad and returns J and a bound on the Euclidean norm of the error of grad, what
// loss.SlopeError grants included.
func (v *Evaluator) Gradient(grad, theta []float64) (value, rounding float64) {
	return v.e.eval(grad, theta)
}

// Refine writes the gradient to grad once more, computed in double-double arithmetic and rounded to float64, and
// returns a bound on its error, which does not grow with the number of records to speak of. It takes some twenty
// passes' time. Gradient must have been called.
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

// Hessian writes that of J to the D×D matrix dst, row by row.
func (v *Evaluator) Hessian(dst, theta []float64) {
	if v.m == nil {
		v.m = newPrimalMetric(v.e.p, 1, v.e.penalty, v.e.workers, true)
	}
	v.e.passes++
	v.m.hessian(theta)
	v.m.rest.addHessian(v.m.h, v.m.order, v.m.stride)
	for i := range v.m.size {
		copy(dst[i*v.m.size:(i+1)*v.m.size], v.m.h[i*v.m.stride:])
	}
	kernel.Mirror(dst, v.m.size)
}

// Smoothness bounds the Lipschitz constant of the gradient once one was computed.
func (v *Evaluator) Smoothness() float64 { return v.e.smoothness() }

// RecordSmoothness returns βR², the Lipschitz constant of the gradient of one record, once a gradient was computed.
func (v *Evaluator) RecordSmoothness() float64 { return v.e.f.Smoothness() * v.e.maxNorm * v.e.maxNorm }

// Penalty writes the gradient of all terms of J but the records' to grad.
func (v *Evaluator) Penalty(grad, theta []float64) {
	floats.MulTo(grad, v.e.ridge, theta)
	if v.e.q != nil {
		v.e.turns(theta)
		floats.Add(grad, v.e.turn)
	}
	if v.e.p.Linear != nil {
		floats.Add(grad, v.e.p.Linear)
	}
}

// Quadratic returns Q in full, row by row, for reading; nil if there is none.
func (v *Evaluator) Quadratic() []float64 { return v.e.q }

// AddRecord adds w·∇fᵢ(θ) of record i to grad.
func (v *Evaluator) AddRecord(grad, theta []float64, w float64, i int) {
	if v.one == nil {
		v.one = newOneRecord(v.e, 0)
	}
	v.one.change(theta, i, false)
	v.one.add(grad, w, i)
}
