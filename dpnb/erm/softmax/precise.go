package softmax

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/internal/kernel"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// precise computes ∇J in double-double arithmetic, in one pass over the rows: what
// certifies where the rounding of a pass in float64 is too much for the tolerance. Its
// results do not depend on the number of workers.
type precise struct {
	e *evaluator
	// period is the number of records after which sums are normalised.
	period  int
	at      dd.Vector
	low     [][]float64 // lower parts of the chunks' sums; the upper ones are e's
	scratch []preciseScratch
	penalty []float64
	dealer  *parallel.Dealer
}

// preciseScratch of a worker: a record, its margins and then p − e_y by classes.
type preciseScratch struct {
	row []float64
	t   []dd.Number
}

func newPrecise(e *evaluator) *precise {
	size := e.k * e.d
	p := &precise{e: e, penalty: make([]float64, size)}
	p.period = max(matrix.MaxBlock, e.d*e.n/max(1, nonzeros(e.p)))
	low := make([]float64, len(e.chunks)*size)
	for c := range e.chunks {
		p.low = append(p.low, low[c*size:(c+1)*size])
	}
	for range e.workers {
		p.scratch = append(p.scratch, preciseScratch{make([]float64, e.d), make([]dd.Number, e.k)})
	}
	p.dealer = parallel.NewDealer(e.workers, len(e.chunks), p.work)
	return p
}

// work makes the pass over one chunk.
func (p *precise) work(worker, k int) {
	e, c, low, s := p.e, &p.e.chunks[k], p.low[k], &p.scratch[worker]
	clear(c.grad)
	clear(low)
	c.slopes = 0
	for i := c.lo; i < c.hi; i++ {
		values, sparse := s.row, false
		var columns []int32
		switch rows := e.p.Rows.(type) {
		case *matrix.Dense:
			values = rows.Data[i*rows.D : (i+1)*rows.D]
		case *matrix.CSR:
			lo, hi := rows.Starts[i], rows.Starts[i+1]
			columns, values, sparse = rows.Columns[lo:hi], rows.Values[lo:hi], true
		default:
			rows.Row(s.row, i)
		}
		for k := range s.t {
			hi, lo := p.at.Hi[k*e.d:(k+1)*e.d], p.at.Lo[k*e.d:(k+1)*e.d]
			if sparse {
				s.t[k] = kernel.SparseDot2(columns, values, hi, lo)
			} else {
				s.t[k] = kernel.Dot2(values, hi, lo)
			}
		}
		c.slopes += preciseResiduals(s.t, e.p.Labels[i])
		for k, w := range s.t {
			hi, lo := c.grad[k*e.d:(k+1)*e.d], low[k*e.d:(k+1)*e.d]
			if sparse {
				kernel.SparseAddScaled2(hi, lo, columns, values, w)
			} else {
				kernel.AddScaled2(hi, lo, values, w)
			}
		}
		if (i-c.lo+1)%p.period == 0 {
			kernel.Normalise2(c.grad, low)
		}
	}
	kernel.Normalise2(c.grad, low)
}

// preciseResiduals overwrites the margins of a record by p − e_y and returns its 1-norm.
func preciseResiduals(t []dd.Number, y int) (slopes float64) {
	top := t[0]
	for _, v := range t[1:] {
		if top.Less(v) {
			top = v
		}
	}
	var sum dd.Number
	for k, v := range t {
		t[k] = dd.Exp(v.Add(top.Neg()))
		sum = sum.Add(t[k])
	}
	for k, v := range t {
		t[k] = v.Div(sum)
		if k == y {
			t[k] = t[k].AddFloat(-1)
		}
		slopes += math.Abs(t[k].Hi)
	}
	return slopes
}

// gradient writes ∇J(x) to g and returns a bound on the Euclidean norm of its error. A
// pass in float64, which finds the longest record, must have been made.
func (p *precise) gradient(g, x dd.Vector) (rounding float64) {
	e := p.e
	e.passes++
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
		pull := x.At(j).MulFloat(e.p.Lambda)
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
//   - a record's margins err by a vector of norm 1.1(d+3)²u²R‖θ‖ (kernel.Dot2), which
//     moves p by at most half of that;
//   - subtracting the largest errs by 3u²|t_c − top|, which moves p by at most
//     (6/e)(K−1)u²; the exponential errs by dd.ExpError of itself or ExpUnderflow, the
//     sum by 3Ku², the quotient by 16u², p_y − 1 by 2u²: p − e_y errs by at most
//     3·dd.ExpError + 20(K+5)u² + 2K·dd.ExpUnderflow;
//   - the sum of a chunk errs by (1.1m(B+6) + 3)u² of R·Σ‖p − e_y‖₁ (kernel.AddScaled2),
//     that of the chunks by 3.1u² for each;
//   - λθ + B takes a product and two sums: 12u² of the norms of all terms;
//   - what underflows: four times kernel.Underflow, products being split.
//
// The factor 1.01 pays for second-order terms and for the rounding of the norms.
func (p *precise) roundingBound(slopes, norm float64) float64 {
	const u = 0x1p-53
	e := p.e
	n, d, k, chunks := float64(e.n), float64(e.d), float64(e.k), float64(len(e.chunks))
	maxNorm := e.maxNorm + math.Sqrt(d)*0x1p-511 // what underflows in the squares
	m := n/chunks + float64(e.block)
	sum := maxNorm * slopes
	err := n * maxNorm * (0.55*(d+3)*(d+3)*u*u*maxNorm*norm + 3*dd.ExpError + 20*(k+5)*u*u + 2*k*dd.ExpUnderflow)
	err += (1.1*m*float64(p.period+6) + 3 + 3.1*chunks) * u * u * sum
	early := floats.Norm(p.penalty, 2)
	if e.p.Linear != nil {
		early += floats.Norm(e.p.Linear, 2)
	}
	err += 12 * u * u * (sum + early)
	err += 4 * kernel.Underflow(e.n*e.k, e.d, maxNorm, 0.5, 1)
	return 1.01 * err
}
