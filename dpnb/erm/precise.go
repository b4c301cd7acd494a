package erm

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/internal/kernel"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// precise computes ∇J in double-double arithmetic, in one pass over the rows: what
// certifies where the rounding of a pass in float64 is too much for the tolerance. It
// costs some twenty of those passes. Its results do not depend on the number of workers.
type precise struct {
	e *evaluator
	f loss.PreciseGradient
	// period is the number of records after which sums are normalised: for sparse rows
	// no more often than their entries are worth.
	period int
	at     dd.Vector
	low    [][]float64 // lower parts of the chunks' sums; the upper ones are e's
	rows   [][]float64 // for rows of other packages, by workers
	forms  [][]dd.Number
	dealer *parallel.Dealer
}

func newPrecise(e *evaluator) *precise {
	p := &precise{e: e, f: e.f.Precise()}
	p.period = max(matrix.MaxBlock, e.d*e.n/max(1, nonzeros(e.forms)))
	low := make([]float64, len(e.chunks)*e.size)
	for c := range e.chunks {
		p.low = append(p.low, low[c*e.size:(c+1)*e.size])
	}
	for range e.workers {
		p.rows, p.forms = append(p.rows, make([]float64, e.d)), append(p.forms, make([]dd.Number, e.k))
	}
	p.dealer = parallel.NewDealer(e.workers, len(e.chunks), p.work)
	return p
}

// work makes the pass over one chunk.
func (p *precise) work(worker, k int) {
	e, c, low := p.e, &p.e.chunks[k], p.low[k]
	row, t := p.rows[worker], p.forms[worker]
	clear(c.grad)
	clear(low)
	c.slopes = 0
	for i := c.lo; i < c.hi; i++ {
		for k := range e.forms {
			f := &e.forms[k]
			columns, values := entries(f.rows, row, i)
			if columns != nil {
				t[k] = kernel.SparseDot2(columns, values, p.at.Hi[f.lo:f.hi], p.at.Lo[f.lo:f.hi])
			} else {
				t[k] = kernel.Dot2(values, p.at.Hi[f.lo:f.hi], p.at.Lo[f.lo:f.hi])
			}
		}
		p.f.Slopes(t, e.p.Labels[i])
		for k := range e.forms {
			f, w := &e.forms[k], t[k]
			c.slopes += math.Abs(w.Hi)
			columns, values := entries(f.rows, row, i)
			if columns != nil {
				kernel.SparseAddScaled2(c.grad[f.lo:f.hi], low[f.lo:f.hi], columns, values, w)
			} else {
				kernel.AddScaled2(c.grad[f.lo:f.hi], low[f.lo:f.hi], values, w)
			}
		}
		if (i-c.lo+1)%p.period == 0 {
			kernel.Normalise2(c.grad, low)
		}
	}
	kernel.Normalise2(c.grad, low)
}

// entries returns the entries of row i that are stored, with their columns, which are nil
// for all of them. row is working space for rows of other packages.
func entries(rows matrix.Rows, row []float64, i int) (columns []int32, values []float64) {
	switch rows := rows.(type) {
	case *matrix.Dense:
		return nil, rows.Data[i*rows.D : (i+1)*rows.D]
	case *matrix.CSR:
		if columns, values = rows.Entries(i); columns == nil {
			columns = []int32{}
		}
		return columns, values
	}
	rows.Row(row, i)
	return nil, row
}

// gradient writes ∇J(x) to g and returns a bound on the Euclidean norm of its error. A
// pass in float64, which finds the longest record, must have been made.
func (p *precise) gradient(g, x dd.Vector) (rounding float64) {
	e := p.e
	e.passes++
	e.gradients += e.n
	p.at = x
	p.dealer.Run()
	clear(g.Hi)
	clear(g.Lo)
	var slopes float64
	for k := range e.chunks {
		c := &e.chunks[k]
		slopes += c.slopes
		for j := range g.Hi {
			g.Set(j, g.At(j).Add(dd.Number{Hi: c.grad[j], Lo: p.low[k][j]}))
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
//     (kernel.AddScaled2), that of the chunks by 3.1u² for each;
//   - the penalty's terms are added to it: 12u² of it, and what they say themselves;
//   - what underflows: four times kernel.Underflow, products being split.
//
// The factor 1.01 pays for second-order terms and for the rounding of the norms.
func (p *precise) roundingBound(slopes, norm float64) float64 {
	const u = 0x1p-53
	e := p.e
	n, d, chunks := float64(e.n), float64(e.d), float64(len(e.chunks))
	maxNorm := e.maxNorm + math.Sqrt(d)*0x1p-511 // what underflows in the squares
	beta, per := e.f.Smoothness(), float64(e.perCoefficient())
	absolute := p.f.Absolute
	if p.f.Rounded {
		absolute += beta * u * maxNorm * norm
	}
	m := (n/chunks + float64(e.block)) * per
	sum := maxNorm * slopes
	err := n * maxNorm * beta * (1.1 * (d + 3) * (d + 3) * u * u * maxNorm * norm)
	err += p.f.Relative*sum + n*maxNorm*absolute
	err += (1.1*m*(float64(p.period)*per+6) + 3 + 3.1*chunks) * u * u * sum
	err += 12 * u * u * sum
	err += 4 * kernel.Underflow(e.n*e.k, e.d, maxNorm, beta, slopes)
	return 1.01 * err
}
