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
	f loss.Joint
	// forms are the K forms of d coefficients each; there are n records and size = D
	// coefficients.
	forms         []form
	n, d, k, size int
	*penalty
	block int
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
	// curvature holds c of the last evaluation, block by block, if it is not nil (n·K).
	curvature []float64
	// norms asks for the norms of the records in the next pass.
	norms bool
	// maxNorm is max Rᵢ once a pass with norms was made.
	maxNorm float64
	// slopes is Σᵢ_k|∂f/∂tᵢ_k| at the last evaluation.
	slopes float64
	// passes counts the passes over the rows.
	passes int
	// gradients counts the ∇fᵢ that were evaluated, products those with ∇²fᵢ.
	gradients, products int
}

// chunk is a fixed range of rows with its share of value and gradient.
type chunk struct {
	lo, hi int
	value  float64
	// slopes is its share of the evaluator's, for the rounding bound.
	slopes  float64
	maxNorm float64
	grad    []float64
}

type scratch struct{ t, s, g []float64 }

func newEvaluator(p *Problem, workers int) *evaluator {
	all := p.forms()
	n, d := all[0].rows.Dims()
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	entries, size := nonzeros(all), size(all)
	block := blockBytes * n / max(1, 8*entries)
	// Both bounds are multiples of four, as the kernels like it.
	block = min(max(block&^3, 8), matrix.MaxBlock)
	blocks := (n + block - 1) / block
	// The partial gradients take less than a twenty-fifth of the records' memory.
	count := max(1, min(maxChunks, blocks, max(4, entries/(25*max(1, size)))))
	e := &evaluator{f: p.joint(), forms: all, n: n, d: d, k: len(all), size: size, norms: true}
	e.block, e.workers = block, min(workers, count)
	e.direct = 2*entries < n*d*e.perCoefficient()
	e.penalty = newPenalty(p, size)
	sums := make([]float64, (count+min(workers, count))*size)
	take := func() []float64 { s := sums[:size:size]; sums = sums[size:]; return s }
	for c := range count {
		lo, hi := c*blocks/count*block, (c+1)*blocks/count*block
		e.chunks = append(e.chunks, chunk{lo: lo, hi: min(hi, n), grad: take()})
	}
	for range e.workers {
		e.scratch = append(e.scratch, scratch{make([]float64, block*e.k), make([]float64, block*e.k), take()})
	}
	e.dealer = parallel.NewDealer(e.workers, count, e.work)
	return e
}

// perCoefficient returns how many forms of a record see each coefficient.
func (e *evaluator) perCoefficient() int { return e.k * e.d / max(1, e.size) }

// eval writes ∇J(θ) to grad and returns J(θ). It also returns a bound on the
// Euclidean norm of the rounding error in grad (see roundingBound).
func (e *evaluator) eval(grad, theta []float64) (value, rounding float64) {
	e.gradients += e.n
	e.pass(theta, false)
	clear(grad)
	var slopes, maxNorm float64
	for c := range e.chunks {
		value += e.chunks[c].value
		slopes += e.chunks[c].slopes
		maxNorm = math.Max(maxNorm, e.chunks[c].maxNorm)
		floats.Add(grad, e.chunks[c].grad)
	}
	others, early := e.add(grad, theta)
	value += others
	if e.norms {
		e.norms, e.maxNorm = false, maxNorm
	}
	e.slopes = slopes
	return value, e.roundingBound(slopes, floats.Norm(theta, 2), e.maxNorm) + 1.01*early
}

// hessian writes ∇²J·v to dst, at the point of the last evaluation. It wants
// curvature to be there.
func (e *evaluator) hessian(dst, v []float64) {
	e.products += e.n
	e.pass(v, true)
	e.penalty.product(dst, v)
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
		m := hi - lo
		t, slope := s.t[:m*e.k], s.s[:m*e.k]
		if e.norms && !e.product {
			together{e.forms[0].rows, e.forms}.Norms(t[:m], lo, hi)
			for _, v := range t[:m] {
				c.maxNorm = math.Max(c.maxNorm, v) // NaN stays NaN
			}
		}
		for k := range e.forms {
			f := &e.forms[k]
			f.rows.Margins(t[k*m:(k+1)*m], e.at[f.lo:f.hi], lo, hi)
		}
		if e.product {
			multiply(slope, t, e.curvature[lo*e.k:hi*e.k], e.f.Coupling(), m)
		} else {
			e.losses(c, slope, t, lo, hi)
		}
		sum := c.grad
		if !e.direct {
			sum = s.g
			clear(sum)
		}
		for k := range e.forms {
			f := &e.forms[k]
			f.rows.AddScaled(sum[f.lo:f.hi], slope[k*m:(k+1)*m], lo, hi)
		}
		if !e.direct {
			floats.Add(c.grad, sum)
		}
	}
}

// multiply writes (diag(c) − κccᵀ)u of m records to dst.
func multiply(dst, u, c []float64, coupling float64, m int) {
	if coupling == 0 {
		floats.MulTo(dst, u, c)
		return
	}
	along := dst[len(dst)-m:] // κcᵀu, until the last form is written there
	clear(along)
	for k := 0; k < len(u); k += m {
		for i, v := range u[k : k+m] {
			along[i] += coupling * c[k+i] * v
		}
	}
	for k := 0; k < len(u); k += m {
		to, ck := dst[k:k+m], c[k:k+m]
		for i, v := range u[k : k+m] {
			to[i] = ck[i] * (v - along[i])
		}
	}
}

// losses adds the values of a block to c and writes the slopes at the forms t.
func (e *evaluator) losses(c *chunk, slope, t []float64, lo, hi int) {
	var curv []float64
	if e.curvature != nil {
		curv = e.curvature[lo*e.k : hi*e.k]
	}
	c.value += e.f.Derivatives(slope, curv, t, e.p.Labels[lo:hi])
	var sum float64
	for _, v := range slope {
		sum += math.Abs(v)
	}
	c.slopes += sum
}

// roundingBound bounds the Euclidean norm of the error of the computed gradient of the
// records, to which the penalty's is to be added. With u = 2⁻⁵³, R = max Rᵢ, which bounds
// ‖xᵢ‖ and ‖(aᵢ_k)‖_F, B the number of records in a block and F that of the forms that see
// one coefficient (1, or K):
//
//   - a record's forms err by a vector of norm at most (d+1)u·R‖θ‖, which moves ∇f by at
//     most β = λ_max(∇²f) times that; ∇f itself errs by at most 8u of each slope and what
//     its SlopeError says; and a gradient moves by R times that;
//   - the sum of the slopes' products with the rows goes through one accumulator of BF
//     terms, one of the blocks of a chunk and one of the chunks: its relative depth is at
//     most h = BF + ⌈n/(B·chunks)⌉ + chunks + 5 (for sparse rows, where the first
//     two are one, the number of records of a chunk times F + BF + chunks + 4), and the
//     vector of the sums of magnitudes has norm at most R·Σᵢ_k|∂f/∂tᵢ_k|;
//   - what underflows: kernel.Underflow.
//
// The factor 1.01 pays for second-order terms and for the rounding of R and of the
// norms here. Proof: docs/theory/solvers.md.
func (e *evaluator) roundingBound(slopes, norm, maxNorm float64) float64 {
	const u = 0x1p-53
	maxNorm += math.Sqrt(float64(e.d)) * 0x1p-511 // what underflows in the squares
	n, chunks, beta := float64(e.n), float64(len(e.chunks)), e.f.Smoothness()
	terms := float64(e.block * e.perCoefficient())
	h := terms + chunks + 4 + n/(float64(e.block)*chunks) + 1
	if e.direct {
		h = n*float64(e.perCoefficient())/chunks + terms + chunks + 4
	}
	margin := float64(e.d+1) * u * maxNorm * norm
	err := (h + 8) * u * maxNorm * slopes
	err += n * maxNorm * beta * margin
	err += n * maxNorm * e.f.SlopeError()
	err += kernel.Underflow(e.n*e.k, e.d, maxNorm, beta, slopes)
	return 1.01 * err
}

// smoothness bounds the largest eigenvalue of ∇²J: that of the penalty and nβR².
func (e *evaluator) smoothness() float64 {
	norm := e.maxNorm + math.Sqrt(float64(e.d))*0x1p-511
	return (e.largest() + float64(e.n)*e.f.Smoothness()*norm*norm) * (1 + 0x1p-40)
}

// Evaluate returns J(θ) and writes ∇J(θ) to grad if it is not nil (length D).
func Evaluate(p *Problem, grad, theta []float64) float64 {
	e := newEvaluator(p, 0)
	e.norms = false
	if grad == nil {
		grad = make([]float64, e.size)
	}
	v, _ := e.eval(grad, theta)
	return v
}
