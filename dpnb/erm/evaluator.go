package erm

import (
	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
)

// Evaluator computes Σᵢ f(xᵢᵀθ; yᵢ), its gradient with a bound on the rounding
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
	records := &Problem{Rows: p.Rows, Labels: p.Labels, Loss: p.Loss}
	return &Evaluator{e: newEvaluator(records, workers)}, nil
}

// ValidateRecords is Validate without Lambda, Linear and the entries of the records.
func (p *Problem) ValidateRecords() error {
	records := &Problem{Rows: p.Rows, Labels: p.Labels, Loss: p.Loss, Lambda: 1}
	return records.validateShape()
}

// Gradient writes Σf′(xᵢᵀθ; yᵢ)xᵢ to grad and returns Σf and a bound on the
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
		v.p, v.x, v.g = newPrecise(v.e), dd.NewVector(v.e.d), dd.NewVector(v.e.d)
	}
	copy(v.x.Hi, theta)
	rounding = v.p.gradient(v.g, v.x)
	copy(grad, v.g.Hi)
	return rounding + 1.01*0x1p-53*floats.Norm(grad, 2)
}

// MaxNorm returns max ‖xᵢ‖ once a gradient was computed.
func (v *Evaluator) MaxNorm() float64 { return v.e.maxNorm }

// Passes returns the number of passes over the records so far.
func (v *Evaluator) Passes() int { return v.e.passes }

// Hessian writes Σf″(xᵢᵀθ; yᵢ)xᵢxᵢᵀ to the upper triangle of the d×d matrix dst,
// row by row. What it writes below the diagonal is not defined.
func (v *Evaluator) Hessian(dst, theta []float64) {
	if v.m == nil {
		v.m = newPrimalMetric(v.e.p, 1, v.e.ridge, v.e.workers)
	}
	v.e.passes++
	m := v.m
	m.each(func(k, lo, hi int) { m.part(k, lo, hi, theta) })
	for i := range m.d {
		row := dst[i*m.d : (i+1)*m.d]
		copy(row, m.gram[0][i*m.pad:])
		for _, g := range m.gram[1:] {
			floats.Add(row, g[i*m.pad:i*m.pad+m.d])
		}
	}
}
