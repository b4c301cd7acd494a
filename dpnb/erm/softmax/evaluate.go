package softmax

import (
	"math"
	"runtime"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/kernel"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

const (
	// blockBytes of records are read from memory once for each evaluation and
	// from the cache once more for each class.
	blockBytes = 128 << 10
	// maxChunks bounds the number of partial gradients. It does not depend on
	// the number of workers, so neither does the result.
	maxChunks = 32
)

// evaluator computes J, ∇J and ∇²J·v, each in one pass over the rows. It
// allocates when it is made and never in a pass.
type evaluator struct {
	p       *Problem
	n, d, k int
	block   int
	// direct adds the records of a chunk straight to its gradient: for sparse
	// rows, where a sum for each block would cost more than the block.
	direct  bool
	chunks  []chunk
	workers int
	scratch []scratch
	dealer  *parallel.Dealer
	// at is the point of the pass under way, or the direction of a product.
	at      []float64
	product bool
	// prob holds the probabilities of the last evaluation if it is not nil, block
	// by block, in each block class by class (length n·K).
	prob []float64
	// norms asks for the norms of the records in the next pass.
	norms   bool
	maxNorm float64
	// slopes is Σᵢ‖pᵢ − e_{yᵢ}‖₁ at the last evaluation.
	slopes float64
	passes int
}

// chunk is a fixed range of rows with its share of value and gradient.
type chunk struct {
	lo, hi                 int
	value, slopes, maxNorm float64
	grad                   []float64
}

// scratch of a worker: margins and weights by classes, sums over the classes.
type scratch struct{ t, top, sum, g []float64 }

func newEvaluator(p *Problem, workers int) *evaluator {
	n, d := p.Rows.Dims()
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	size := nonzeros(p)
	block := blockBytes * n / max(1, 8*size)
	block = min(max(block&^3, 8), matrix.MaxBlock)
	blocks := (n + block - 1) / block
	// The partial gradients take less than a sixteenth of the records' memory.
	count := max(1, min(maxChunks, blocks, max(4, size/(16*p.Classes*d))))
	e := &evaluator{p: p, n: n, d: d, k: p.Classes, block: block, workers: min(workers, count), norms: true}
	e.direct = 2*size < n*d
	for c := range count {
		lo, hi := c*blocks/count*block, (c+1)*blocks/count*block
		e.chunks = append(e.chunks, chunk{lo: lo, hi: min(hi, n), grad: make([]float64, p.Classes*d)})
	}
	for range e.workers {
		e.scratch = append(e.scratch, scratch{make([]float64, block*p.Classes), make([]float64, block), make([]float64, block), make([]float64, p.Classes*d)})
	}
	e.dealer = parallel.NewDealer(e.workers, count, e.work)
	return e
}

// nonzeros returns the number of stored entries of the rows.
func nonzeros(p *Problem) int {
	if s, ok := p.Rows.(interface{ Nonzeros() int }); ok {
		return s.Nonzeros()
	}
	n, d := p.Rows.Dims()
	return n * d
}

// keep makes evaluations keep the probabilities, for products with the Hessian.
func (e *evaluator) keep() {
	if e.prob == nil {
		e.prob = make([]float64, e.n*e.k)
	}
}

// eval writes ∇J(θ) to grad and returns J(θ) and a bound on the Euclidean norm
// of the rounding error in grad (see roundingBound).
func (e *evaluator) eval(grad, theta []float64) (value, rounding float64) {
	e.pass(theta, false)
	clear(grad)
	var slopes, maxNorm float64
	for c := range e.chunks {
		value += e.chunks[c].value
		slopes += e.chunks[c].slopes
		maxNorm = math.Max(maxNorm, e.chunks[c].maxNorm)
		floats.Add(grad, e.chunks[c].grad)
	}
	norm := floats.Norm(theta, 2)
	value += 0.5 * e.p.Lambda * norm * norm
	// B + λθ comes last and as one: the two may be large and cancel.
	if e.p.Linear == nil {
		floats.AddScaled(grad, e.p.Lambda, theta)
	} else {
		value += floats.Dot(e.p.Linear, theta)
		for j, b := range e.p.Linear {
			grad[j] += b + e.p.Lambda*theta[j]
		}
	}
	if e.norms {
		e.norms, e.maxNorm = false, maxNorm
	}
	e.slopes = slopes
	return value, e.roundingBound(slopes, norm)
}

// hessian writes ∇²J·v to dst, at the point of the last evaluation, the
// probabilities of which must have been kept.
func (e *evaluator) hessian(dst, v []float64) {
	e.pass(v, true)
	floats.ScaleTo(dst, e.p.Lambda, v)
	for c := range e.chunks {
		floats.Add(dst, e.chunks[c].grad)
	}
}

func (e *evaluator) pass(at []float64, product bool) {
	e.passes++
	e.at, e.product = at, product
	e.dealer.Run()
}

// work makes the pass over one chunk.
func (e *evaluator) work(worker, i int) {
	s, c := &e.scratch[worker], &e.chunks[i]
	c.value, c.slopes, c.maxNorm = 0, 0, 0
	clear(c.grad)
	for lo := c.lo; lo < c.hi; lo += e.block {
		e.oneBlock(s, c, lo, min(lo+e.block, c.hi))
	}
}

func (e *evaluator) oneBlock(s *scratch, c *chunk, lo, hi int) {
	m, rows := hi-lo, e.p.Rows
	if e.norms && !e.product {
		rows.Norms(s.top[:m], lo, hi)
		for _, v := range s.top[:m] {
			c.maxNorm = math.Max(c.maxNorm, v) // NaN stays NaN
		}
	}
	t := s.t[:m*e.k]
	for k := range e.k {
		rows.Margins(t[k*m:(k+1)*m], e.at[k*e.d:(k+1)*e.d], lo, hi)
	}
	if e.product {
		multiply(t, e.prob[lo*e.k:hi*e.k], s.sum[:m])
	} else {
		var prob []float64
		if e.prob != nil {
			prob = e.prob[lo*e.k : hi*e.k]
		}
		value, slopes := residuals(t, prob, s.top[:m], s.sum[:m], e.p.Labels[lo:hi])
		c.value += value
		c.slopes += slopes
	}
	sum := c.grad
	if !e.direct {
		sum = s.g
		clear(sum)
	}
	for k := range e.k {
		rows.AddScaled(sum[k*e.d:(k+1)*e.d], t[k*m:(k+1)*m], lo, hi)
	}
	if !e.direct {
		floats.Add(c.grad, sum)
	}
}

// residuals overwrites the margins t of m records, class by class, by p − e_y,
// writes p to prob if it is not nil, and returns Σ [log Σ_c e^{t_c} − t_y] and
// Σ‖p − e_y‖₁. top and sum have length m. Nothing overflows for finite margins:
// the largest one is subtracted first.
func residuals(t, prob, top, sum []float64, y []int) (value, slopes float64) {
	m := len(y)
	copy(top, t[:m])
	for k := m; k < len(t); k += m {
		for i, v := range t[k : k+m] {
			if v > top[i] {
				top[i] = v
			}
		}
	}
	for i, c := range y {
		value += top[i] - t[c*m+i]
	}
	clear(sum)
	for k := 0; k < len(t); k += m {
		tk := t[k : k+m]
		for i, v := range tk {
			tk[i] = top[i] - v
		}
		kernel.ExpNegAbs(tk, tk)
		floats.Add(sum, tk)
	}
	for i, v := range sum {
		value += math.Log(v)
		sum[i] = 1 / v
	}
	for k := 0; k < len(t); k += m {
		floats.Mul(t[k:k+m], sum)
	}
	if prob != nil {
		copy(prob, t)
	}
	for i, c := range y {
		slopes += 2 * (1 - t[c*m+i])
		t[c*m+i]--
	}
	return value, slopes
}

// multiply overwrites the products u of m records with the K vectors of a
// direction by (diag(p) − ppᵀ)u.
func multiply(u, prob, sum []float64) {
	m := len(sum)
	clear(sum)
	for k := 0; k < len(u); k += m {
		p := prob[k : k+m]
		for i, v := range u[k : k+m] {
			sum[i] += p[i] * v
		}
	}
	for k := 0; k < len(u); k += m {
		p, uk := prob[k:k+m], u[k:k+m]
		for i, v := range uk {
			uk[i] = p[i] * (v - sum[i])
		}
	}
}

// roundingBound bounds the Euclidean norm of the error of the computed
// gradient. With u = 2⁻⁵³, R = max‖xᵢ‖ and B the number of records in a block:
//
//   - a record's margins err by a vector of norm at most (d+1)u·R‖θ‖, which
//     moves p by at most half of that, the largest eigenvalue of diag(p) − ppᵀ;
//   - subtracting the largest margin errs by at most u·|t_c − top|, which moves p
//     by at most 2uΣ p_c|t_c − top| ≤ (2/e)(K−1)u; the exponential errs by at
//     most 4u relatively, the sum of K of them by (K+4)u, the reciprocal and the
//     product by 2u, p_y − 1 by u: all in all p − e_y errs by at most 3(K+12)u;
//   - the sum of the (p − e_y) ⊗ x goes through one accumulator of B terms, one
//     of the blocks of a chunk and one of the chunks: its relative depth is at
//     most h = B + ⌈n/(B·chunks)⌉ + chunks + 5 (for sparse rows, where the first
//     two are one, the number of records of a chunk + B + chunks + 4), and the
//     matrix of Σ|p − e_y| ⊗ |x| has norm at most R·Σ‖p − e_y‖₁;
//   - λθ + B takes a product and two additions more: at most 4u(λ‖θ‖ + ‖B‖);
//   - what underflows, for each class: kernel.Underflow.
//
// The factor 1.01 pays for second-order terms and for the rounding of R.
func (e *evaluator) roundingBound(slopes, norm float64) float64 {
	const u = 0x1p-53
	maxNorm := e.maxNorm + math.Sqrt(float64(e.d))*0x1p-511 // what underflows in the squares
	n, chunks := float64(e.n), float64(len(e.chunks))
	h := float64(e.block) + chunks + 5 + n/(float64(e.block)*chunks)
	if e.direct {
		h = n/chunks + float64(e.block) + chunks + 4
	}
	err := n * maxNorm * (0.5*float64(e.d+1)*u*maxNorm*norm + 3*float64(e.k+12)*u)
	err += h * u * maxNorm * slopes
	early := e.p.Lambda * norm
	if e.p.Linear != nil {
		early += floats.Norm(e.p.Linear, 2)
	}
	err += 4*u*early + kernel.Underflow(e.n*e.k, e.d, maxNorm, 0.5, 1)
	return 1.01 * err
}

// Evaluate returns J(θ) and writes ∇J(θ) to grad if it is not nil (length K·d).
// The problem must be valid.
func Evaluate(p *Problem, grad, theta []float64) float64 {
	e := newEvaluator(p, 0)
	e.norms = false
	if grad == nil {
		grad = make([]float64, e.k*e.d)
	}
	v, _ := e.eval(grad, theta)
	return v
}
