package erm

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/internal/kernel"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// precise computes ∇J in double-double arithmetic, in one pass over the rows: what certifies where the rounding of a
// pass in float64 is too much for the tolerance. It costs some twenty of those passes. Its results do not depend on the
// number of workers.
type precise struct {
	e *evaluator
	f loss.PreciseGradient
	// sumDepth is the relative depth of the sum in u².
	sumDepth float64
}

func newPrecise(e *evaluator) *precise {
	p := &precise{e: e, f: e.f.Precise()}
	chunks := float64(len(e.chunks))
	p.sumDepth = e.preciseDepth(float64(e.n)/chunks+float64(e.block)) + 3.1*chunks
	for c := range e.chunks {
		if e.chunks[c].Low == nil {
			e.chunks[c].Low = make([]float64, e.size)
		}
	}
	return p
}

// preciseDepth returns the relative depth, in u², of the sum over m records.
func (r *records) preciseDepth(m float64) float64 {
	per := float64(r.perCoefficient())
	return 1.1*m*per*(float64(r.period)*per+6) + 3
}

// addPrecise writes the gradient of the records lo ≤ i < hi at At + Low to c.
func (r *records) addPrecise(c *Sums, s *scratch, q *Query, lo, hi int) {
	if s.row == nil {
		s.row, s.precise = make([]float64, r.d), make([]dd.Number, r.k)
	}
	t, f, grad, low := s.precise, r.f.Precise(), c.Vector, c.Low
	clear(low)
	for i := lo; i < hi; i++ {
		for k := range r.forms {
			f := &r.forms[k]
			columns, values := entries(f.rows, s.row, i)
			if columns != nil {
				t[k] = kernel.SparseDot2(columns, values, q.At[f.lo:f.hi], q.Low[f.lo:f.hi])
			} else {
				t[k] = kernel.Dot2(values, q.At[f.lo:f.hi], q.Low[f.lo:f.hi])
			}
		}
		f.Slopes(t, r.labels[i])
		for k := range r.forms {
			f, w := &r.forms[k], t[k]
			c.Slopes += math.Abs(w.Hi)
			columns, values := entries(f.rows, s.row, i)
			if columns != nil {
				kernel.SparseAddScaled2(grad[f.lo:f.hi], low[f.lo:f.hi], columns, values, w)
			} else {
				kernel.AddScaled2(grad[f.lo:f.hi], low[f.lo:f.hi], values, w)
			}
		}
		if (i-lo+1)%r.period == 0 {
			kernel.Normalise2(grad, low)
		}
	}
	kernel.Normalise2(grad, low)
}

// entries returns the entries of row i that are stored, with their columns, which are nil for all of them or none. row
// is working space for rows of other packages.
func entries(rows matrix.Rows, row []float64, i int) (columns []int32, values []float64) {
	switch rows := rows.(type) {
	case *matrix.Dense:
		return nil, rows.Data[i*rows.D : (i+1)*rows.D]
	case *matrix.CSR:
		return rows.Entries(i)
	}
	rows.Row(row, i)
	return nil, row
}

// gradient writes ∇J(x) to g and returns a bound on the Euclidean norm of its error. A pass in float64, which finds the
// longest record, must have been made.
func (p *precise) gradient(g, x dd.Vector) (rounding float64) {
	e := p.e
	e.gradients += e.n
	before := e.sumDepth
	e.pass(Query{Kind: Precise, At: x.Hi, Low: x.Lo})
	if e.source != nil {
		p.sumDepth, e.sumDepth = e.sumDepth, before
	}
	clear(g.Hi)
	clear(g.Lo)
	var slopes float64
	for k := range e.chunks {
		c := &e.chunks[k]
		slopes += c.Slopes
		for j := range g.Hi {
			g.Set(j, g.At(j).Add(dd.Number{Hi: c.Vector[j], Lo: c.Low[j]}))
		}
	}
	early := e.penalty.precise(g, x)
	return p.roundingBound(slopes, floats.Norm(x.Hi, 2)) + 1.01*early
}

// roundingBound bounds the Euclidean norm of the error of the gradient of the records.
// With u = 2⁻⁵³, R, F and β as in the evaluator's, m records in a chunk and sums normalised after every B:
//
//   - a record's forms err by 1.1(d+3)²u²R‖θ‖ (kernel.Dot2), which moves ∇f by at most β
//     times that;
//   - ∇f errs by what the loss says of itself, and by βuR‖θ‖ if it rounds the forms;
//   - the sum of a chunk errs by (1.1mF(BF+6) + 3)u² of R·Σᵢ_k|∂f/∂tᵢ_k|
//     (kernel.AddScaled2), that of the chunks by 3.1u² for each, or both by what a Source says;
//   - the penalty's terms are added to it: 12u² of it, and what they say themselves;
//   - what underflows: four times kernel.Underflow, products being split.
//
// The factor 1.01 pays for second-order terms and for the rounding of the norms.
func (p *precise) roundingBound(slopes, norm float64) float64 {
	const u = 0x1p-53
	e := p.e
	n, d := float64(e.n), float64(e.d)
	maxNorm := e.maxNorm + math.Sqrt(d)*0x1p-511 // what underflows in the squares
	beta := e.f.Smoothness()
	absolute := p.f.Absolute
	if p.f.Rounded {
		absolute += beta * u * maxNorm * norm
	}
	sum := maxNorm * slopes
	err := n * maxNorm * beta * (1.1 * (d + 3) * (d + 3) * u * u * maxNorm * norm)
	err += p.f.Relative*sum + n*maxNorm*absolute
	err += p.sumDepth * u * u * sum
	err += 12 * u * u * sum
	err += 4 * kernel.Underflow(e.n*e.k, e.d, maxNorm, beta, slopes)
	return 1.01 * err
}
