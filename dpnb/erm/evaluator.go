package erm

import (
	"gonum.org/v1/gonum/floats"
)

// Evaluator computes Σᵢ f(xᵢᵀθ; yᵢ), its gradient with a bound on the rounding
// error, and its Hessian, without ridge or linear term: what a solver of another
// objective over the same records builds on. It allocates when it is made and,
// for the Hessian, once. It is not safe for concurrent use; its results do not
// depend on the number of workers.
type Evaluator struct {
	e *evaluator
	m *primalMetric
}

// NewEvaluator returns the evaluator of the records of p; Ridge and Linear are
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

// ValidateRecords is Validate without Ridge, Linear and the entries of the records.
func (p *Problem) ValidateRecords() error {
	records := &Problem{Rows: p.Rows, Labels: p.Labels, Loss: p.Loss, Ridge: 1}
	return records.validateShape()
}

// Gradient writes Σf′(xᵢᵀθ; yᵢ)xᵢ to grad and returns Σf and a bound on the
// Euclidean norm of the error of grad, what loss.SlopeError grants included.
func (v *Evaluator) Gradient(grad, theta []float64) (value, rounding float64) {
	return v.e.eval(grad, theta)
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
