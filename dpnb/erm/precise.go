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
// costs some ten of those passes. Its results do not depend on the number of workers.
type precise struct {
	e *evaluator
	// slope is the loss's, if it has one; else slopes are those of a batch of one.
	slope loss.Precise
	known bool
	// period is the number of records after which sums are normalised: for sparse rows
	// no more often than their entries are worth.
	period  int
	at      dd.Vector
	low     [][]float64 // lower parts of the chunks' sums; the upper ones are e's
	rows    [][]float64 // for rows of other packages, by workers
	penalty []float64
	dealer  *parallel.Dealer
}

func newPrecise(e *evaluator) *precise {
	p := &precise{e: e, penalty: make([]float64, e.d)}
	p.slope, p.known = loss.PreciseSlope(e.p.Loss)
	p.period = max(matrix.MaxBlock, e.d*e.n/max(1, matrix.Nonzeros(e.p.Rows)))
	low := make([]float64, len(e.chunks)*e.d)
	for c := range e.chunks {
		p.low = append(p.low, low[c*e.d:(c+1)*e.d])
	}
	for range e.workers {
		p.rows = append(p.rows, make([]float64, e.d+2))
	}
	p.dealer = parallel.NewDealer(e.workers, len(e.chunks), p.work)
	return p
}

// work makes the pass over one chunk.
func (p *precise) work(worker, k int) {
	e, c, low := p.e, &p.e.chunks[k], p.low[k]
	row, one, slope := p.rows[worker][:e.d], p.rows[worker][e.d:e.d+1], p.rows[worker][e.d+1:]
	clear(c.grad)
	clear(low)
	c.slopes = 0
	for i := c.lo; i < c.hi; i++ {
		var columns []int32
		values := row
		switch rows := e.p.Rows.(type) {
		case *matrix.Dense:
			values = rows.Data[i*rows.D : (i+1)*rows.D]
		case *matrix.CSR:
			columns, values = rows.Entries(i)
		default:
			rows.Row(row, i)
		}
		sparse := columns != nil || len(values) != e.d
		var t dd.Number
		if sparse {
			t = kernel.SparseDot2(columns, values, p.at.Hi, p.at.Lo)
		} else {
			t = kernel.Dot2(values, p.at.Hi, p.at.Lo)
		}
		var w dd.Number
		if p.known {
			w = p.slope.Slope(t, e.p.Labels[i])
		} else {
			one[0] = t.Hi
			e.p.Loss.ValueSlope(slope, one, e.p.Labels[i:i+1])
			w = dd.From(slope[0])
		}
		c.slopes += math.Abs(w.Hi)
		if sparse {
			kernel.SparseAddScaled2(c.grad, low, columns, values, w)
		} else {
			kernel.AddScaled2(c.grad, low, values, w)
		}
		if (i-c.lo+1)%p.period == 0 {
			kernel.Normalise2(c.grad, low)
		}
	}
	kernel.Normalise2(c.grad, low)
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
	for j := range g.Hi {
		ridge := dd.From(e.p.Lambda)
		if e.p.Shrinkage != nil {
			ridge = dd.Sum(e.p.Lambda, e.p.Shrinkage[j])
		}
		pull := x.At(j).Mul(ridge)
		p.penalty[j] = pull.Hi
		if e.p.Linear != nil {
			pull = pull.AddFloat(e.p.Linear[j])
		}
		g.Set(j, g.At(j).Add(pull))
	}
	return p.roundingBound(slopes, floats.Norm(x.Hi, 2))
}

// roundingBound bounds the Euclidean norm of the error of the gradient. With u = 2⁻⁵³,
// R = max‖xᵢ‖, m records in a chunk and sums normalised after every B:
//
//   - a margin errs by 1.1(d+3)²u²R‖θ‖ (kernel.Dot2), which moves f′ by at most f″_max
//     times that;
//   - f′ errs by what the loss says of itself; a loss that has no precise slope by
//     8u|f′|, its SlopeError, and f″_max·u·R‖θ‖, for the margin is rounded;
//   - the sum of a chunk errs by (1.1m(B+6) + 3)u² of R·Σ|f′| (kernel.AddScaled2), that
//     of the chunks by 3.1u² for each;
//   - (λ + ω)θ + b takes a product and two sums: 12u² of the norms of all terms;
//   - what underflows: four times kernel.Underflow, products being split.
//
// The factor 1.01 pays for second-order terms and for the rounding of the norms.
func (p *precise) roundingBound(slopes, norm float64) float64 {
	const u = 0x1p-53
	e := p.e
	n, d, chunks := float64(e.n), float64(e.d), float64(len(e.chunks))
	maxNorm := e.maxNorm + math.Sqrt(d)*0x1p-511 // what underflows in the squares
	beta := e.p.Loss.Smoothness()
	relative, absolute := p.slope.Relative, p.slope.Absolute
	if !p.known {
		relative, absolute = 8*u, loss.SlopeError(e.p.Loss)+beta*u*maxNorm*norm
	}
	m := n/chunks + float64(e.block)
	sum := maxNorm * slopes
	err := n * maxNorm * beta * (1.1 * (d + 3) * (d + 3) * u * u * maxNorm * norm)
	err += relative*sum + n*maxNorm*absolute
	err += (1.1*m*float64(p.period+6) + 3 + 3.1*chunks) * u * u * sum
	early := floats.Norm(p.penalty, 2)
	if e.p.Linear != nil {
		early += floats.Norm(e.p.Linear, 2)
	}
	err += 12 * u * u * (sum + early)
	err += 4 * kernel.Underflow(e.n, e.d, maxNorm, beta, slopes)
	return 1.01 * err
}
