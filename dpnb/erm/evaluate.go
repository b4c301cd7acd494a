package erm

import (
	"math"
	"runtime"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/kernel"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

const (
	// blockBytes of records are read once for each evaluation: margins and
	// gradient are formed while the block is in the second-level cache.
	blockBytes = 128 << 10
	// maxChunks bounds the number of partial gradients. It does not depend on
	// the number of workers, so neither does the result.
	maxChunks = 64
)

// evaluator computes J, ∇J and ∇²J·v, each in one pass over the rows. It
// allocates when it is made and never in a pass.
type evaluator struct {
	p    *Problem
	n, d int
	// ridge is λ + ω, penalty its product with θ.
	ridge, penalty []float64
	block          int
	// valueSlope is the loss's, for blocks of records.
	valueSlope func(slope, t, y []float64) float64
	// direct adds the records of a chunk straight to its gradient: for sparse
	// rows, where a sum for each block would cost more than the block.
	direct  bool
	chunks  []chunk
	workers int
	scratch []scratch
	dealer  *parallel.Dealer
	// at is the point of the pass under way, or the direction v of a product.
	at []float64
	// product says that the pass under way is one of Hessian times vector.
	product bool
	// curvature holds f″ᵢ of the last evaluation, if it is not nil (length n).
	curvature []float64
	// norms asks for the norms of the records in the next pass.
	norms bool
	// maxNorm is max ‖xᵢ‖ once a pass with norms was made.
	maxNorm float64
	// slopes is Σ|f′ᵢ| at the last evaluation.
	slopes float64
	// passes counts the passes over the rows.
	passes int
	// gradients counts the f′ᵢ that were evaluated, products the f″ᵢ·xᵢᵀv.
	gradients, products int
}

// chunk is a fixed range of rows with its share of value and gradient.
type chunk struct {
	lo, hi int
	value  float64
	// slopes is Σ|f′ᵢ|, for the rounding bound.
	slopes  float64
	maxNorm float64
	grad    []float64
}

type scratch struct{ t, s, g []float64 }

func newEvaluator(p *Problem, workers int) *evaluator {
	n, d := p.Rows.Dims()
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	size := matrix.Nonzeros(p.Rows)
	block := blockBytes * n / max(1, 8*size)
	// Both bounds are multiples of four, as the kernels like it.
	block = min(max(block&^3, 8), matrix.MaxBlock)
	blocks := (n + block - 1) / block
	// The partial gradients take less than a twenty-fifth of the records' memory.
	count := max(1, min(maxChunks, blocks, max(4, size/(25*max(1, d)))))
	e := &evaluator{p: p, n: n, d: d, block: block, valueSlope: loss.BlockSlopes(p.Loss), workers: min(workers, count), norms: true}
	e.direct = 2*size < n*d
	e.ridge, e.penalty = p.ridges(d), make([]float64, d)
	sums := make([]float64, (count+min(workers, count))*d)
	take := func() []float64 { s := sums[:d:d]; sums = sums[d:]; return s }
	for c := range count {
		lo, hi := c*blocks/count*block, (c+1)*blocks/count*block
		e.chunks = append(e.chunks, chunk{lo: lo, hi: min(hi, n), grad: take()})
	}
	for range e.workers {
		e.scratch = append(e.scratch, scratch{make([]float64, block), make([]float64, block), take()})
	}
	e.dealer = parallel.NewDealer(e.workers, count, e.work)
	return e
}

// eval writes ∇J(θ) to grad and returns J(θ). It also returns a bound on the
// Euclidean norm of the rounding error in grad (see roundingBound).
func (e *evaluator) eval(grad, theta []float64) (value, rounding float64) {
	e.gradients += e.n
	e.pass(theta, false)
	p := e.p
	clear(grad)
	var slopes, maxNorm float64
	for c := range e.chunks {
		value += e.chunks[c].value
		slopes += e.chunks[c].slopes
		maxNorm = math.Max(maxNorm, e.chunks[c].maxNorm)
		floats.Add(grad, e.chunks[c].grad)
	}
	// b + (λ + ω)θ comes last and as one: the two may be large and cancel.
	floats.MulTo(e.penalty, e.ridge, theta)
	value += 0.5 * floats.Dot(e.penalty, theta)
	if p.Linear == nil {
		floats.Add(grad, e.penalty)
	} else {
		value += floats.Dot(p.Linear, theta)
		for j, b := range p.Linear {
			grad[j] += b + e.penalty[j]
		}
	}
	if e.norms {
		e.norms, e.maxNorm = false, maxNorm
	}
	e.slopes = slopes
	return value, e.roundingBound(slopes, floats.Norm(theta, 2), e.maxNorm)
}

// hessian writes ∇²J·v to dst, at the point of the last evaluation. It wants
// curvature to be there.
func (e *evaluator) hessian(dst, v []float64) {
	e.products += e.n
	e.pass(v, true)
	floats.MulTo(dst, e.ridge, v)
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
func (e *evaluator) work(worker, k int) {
	s, c := &e.scratch[worker], &e.chunks[k]
	c.value, c.slopes, c.maxNorm = 0, 0, 0
	clear(c.grad)
	for lo := c.lo; lo < c.hi; lo += e.block {
		hi := min(lo+e.block, c.hi)
		t, slope := s.t[:hi-lo], s.s[:hi-lo]
		if e.norms && !e.product {
			e.p.Rows.Norms(t, lo, hi)
			for _, v := range t {
				c.maxNorm = math.Max(c.maxNorm, v) // NaN stays NaN
			}
		}
		e.p.Rows.Margins(t, e.at, lo, hi)
		if e.product {
			floats.MulTo(slope, t, e.curvature[lo:hi])
		} else {
			e.losses(c, slope, t, lo, hi)
		}
		if e.direct {
			e.p.Rows.AddScaled(c.grad, slope, lo, hi)
			continue
		}
		clear(s.g)
		e.p.Rows.AddScaled(s.g, slope, lo, hi)
		floats.Add(c.grad, s.g)
	}
}

// losses adds the values of a block to c and writes the slopes at the margins t.
func (e *evaluator) losses(c *chunk, slope, t []float64, lo, hi int) {
	y := e.p.Labels[lo:hi]
	c.value += e.valueSlope(slope, t, y)
	if e.curvature != nil {
		e.p.Loss.Curvature(e.curvature[lo:hi], t, y)
	}
	var sum float64
	for _, v := range slope {
		sum += math.Abs(v)
	}
	c.slopes += sum
}

// roundingBound bounds the Euclidean norm of the error of the computed
// gradient. With u = 2⁻⁵³, R = max‖xᵢ‖ and B the number of records in a block:
//
//   - a margin errs by at most (d+1)u·R‖θ‖, which moves f′ by at most f″_max
//     times that; f′ itself errs by at most 8u|f′| and what loss.SlopeError
//     says of it;
//   - the sum of f′ᵢxᵢ goes through one accumulator of B terms, one of
//     the blocks of a chunk and one of the chunks: its relative depth is at
//     most h = B + ⌈n/(B·chunks)⌉ + chunks + 4 (for sparse rows, where the first
//     two are one, the number of records of a chunk + chunks + 4), and the
//     vector of Σ|f′ᵢ||xᵢⱼ| has norm at most R·Σ|f′ᵢ|;
//   - (λ + ω)θ + b takes a product and three additions more, penalty being the
//     product: at most 4u(‖(λ + ω)θ‖ + ‖b‖);
//   - what underflows: kernel.Underflow.
//
// The factor 1.01 pays for second-order terms and for the rounding of R and of the
// norms here. Proof: docs/theory/solvers.md.
func (e *evaluator) roundingBound(slopes, norm, maxNorm float64) float64 {
	const u = 0x1p-53
	maxNorm += math.Sqrt(float64(e.d)) * 0x1p-511 // what underflows in the squares
	chunks := float64(len(e.chunks))
	h := float64(e.block) + chunks + 4 + float64(e.n)/(float64(e.block)*chunks) + 1
	if e.direct {
		h = float64(e.n)/chunks + float64(e.block) + chunks + 4
	}
	margin := float64(e.d+1) * u * maxNorm * norm
	err := (h + 8) * u * maxNorm * slopes
	err += float64(e.n) * maxNorm * e.p.Loss.Smoothness() * margin
	early := floats.Norm(e.penalty, 2)
	if e.p.Linear != nil {
		early += floats.Norm(e.p.Linear, 2)
	}
	err += 4*u*early + float64(e.n)*maxNorm*loss.SlopeError(e.p.Loss)
	err += kernel.Underflow(e.n, e.d, maxNorm, e.p.Loss.Smoothness(), slopes)
	return 1.01 * err
}

// Evaluate returns J(θ) and writes ∇J(θ) to grad if it is not nil (length d).
func Evaluate(p *Problem, grad, theta []float64) float64 {
	e := newEvaluator(p, 0)
	e.norms = false
	if grad == nil {
		grad = make([]float64, e.d)
	}
	v, _ := e.eval(grad, theta)
	return v
}
