package erm

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"
)

const (
	// blockRows records are read once for each evaluation: margins and
	// gradient are formed while the block is in cache.
	blockRows = 256
	// maxChunks bounds the number of partial gradients. It does not depend on
	// the number of workers, so neither does the result.
	maxChunks = 64
)

// evaluator computes J and ∇J in one pass over the rows. It allocates when it
// is made and never in a pass.
type evaluator struct {
	p       *Problem
	n, d    int
	chunks  []chunk
	workers int
	scratch []scratch
	next    atomic.Int64
	// passes counts the passes over the rows.
	passes int
}

// chunk is a fixed range of rows with its share of value and gradient.
type chunk struct {
	lo, hi int
	value  float64
	// slopes is Σ|f′ᵢ|, for the rounding bound.
	slopes float64
	grad   []float64
}

type scratch struct{ t, s, g []float64 }

func newEvaluator(p *Problem, workers int) *evaluator {
	n, d := p.Rows.Dims()
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	blocks := (n + blockRows - 1) / blockRows
	count := min(maxChunks, blocks)
	e := &evaluator{p: p, n: n, d: d, workers: min(workers, count)}
	for c := range count {
		lo, hi := c*blocks/count*blockRows, (c+1)*blocks/count*blockRows
		e.chunks = append(e.chunks, chunk{lo: lo, hi: min(hi, n), grad: make([]float64, d)})
	}
	for range e.workers {
		e.scratch = append(e.scratch, scratch{make([]float64, blockRows), make([]float64, blockRows), make([]float64, d)})
	}
	return e
}

// eval writes ∇J(θ) to grad and returns J(θ). It also returns a bound on the
// Euclidean norm of the rounding error in grad, for rows of norm at most
// maxNorm (see roundingBound).
func (e *evaluator) eval(grad, theta []float64, maxNorm float64) (value, rounding float64) {
	e.passes++
	e.next.Store(0)
	if e.workers == 1 {
		e.work(&e.scratch[0], theta)
	} else {
		var wg sync.WaitGroup
		for w := range e.workers {
			wg.Add(1)
			go func() {
				defer wg.Done()
				e.work(&e.scratch[w], theta)
			}()
		}
		wg.Wait()
	}
	p := e.p
	for j := range grad {
		grad[j] = p.Ridge * theta[j]
	}
	if p.Linear != nil {
		floats.Add(grad, p.Linear)
		value += floats.Dot(p.Linear, theta)
	}
	norm := floats.Norm(theta, 2)
	value += 0.5 * p.Ridge * norm * norm
	var slopes float64
	for c := range e.chunks {
		value += e.chunks[c].value
		slopes += e.chunks[c].slopes
		floats.Add(grad, e.chunks[c].grad)
	}
	return value, e.roundingBound(slopes, norm, maxNorm)
}

// work takes chunks until there are none left. Which worker takes which chunk
// is left to chance; what a chunk holds afterwards is not.
func (e *evaluator) work(s *scratch, theta []float64) {
	for {
		k := int(e.next.Add(1)) - 1
		if k >= len(e.chunks) {
			return
		}
		c := &e.chunks[k]
		c.value, c.slopes = 0, 0
		clear(c.grad)
		for lo := c.lo; lo < c.hi; lo += blockRows {
			hi := min(lo+blockRows, c.hi)
			t, slope := s.t[:hi-lo], s.s[:hi-lo]
			e.p.Rows.Margins(t, theta, lo, hi)
			c.value += e.p.Loss.ValueSlope(slope, t, e.p.Labels[lo:hi])
			for _, v := range slope {
				c.slopes += math.Abs(v)
			}
			clear(s.g)
			e.p.Rows.AddScaled(s.g, slope, lo, hi)
			floats.Add(c.grad, s.g)
		}
	}
}

// roundingBound bounds the Euclidean norm of the error of the computed
// gradient. With u = 2⁻⁵³ and R = max‖xᵢ‖:
//
//   - a margin errs by at most (d+1)u·R‖θ‖, which moves f′ by at most f″_max
//     times that; f′ itself errs by at most 8u|f′|;
//   - the sum of f′ᵢxᵢ goes through one accumulator of blockRows terms, one of
//     the blocks of a chunk and one of the chunks: its relative depth is at
//     most h = blockRows + n/(blockRows·maxChunks) + maxChunks + 4, and the
//     vector of Σ|f′ᵢ||xᵢⱼ| has norm at most R·Σ|f′ᵢ|;
//   - λθ + b goes through the additions of the chunks too: (maxChunks + 4)u each.
//
// The factor 1.01 pays for second-order terms.
func (e *evaluator) roundingBound(slopes, norm, maxNorm float64) float64 {
	const u = 0x1p-53
	h := float64(blockRows+maxChunks+4) + float64(e.n)/float64(blockRows*maxChunks) + 1
	margin := float64(e.d+1) * u * maxNorm * norm
	err := (h + 8) * u * maxNorm * slopes
	err += float64(e.n) * maxNorm * e.p.Loss.Smoothness() * margin
	early := e.p.Ridge * norm
	if e.p.Linear != nil {
		early += floats.Norm(e.p.Linear, 2)
	}
	err += (maxChunks + 4) * u * early
	return 1.01 * err
}

// Evaluate returns J(θ) and writes ∇J(θ) to grad if it is not nil (length d).
func Evaluate(p *Problem, grad, theta []float64) float64 {
	e := newEvaluator(p, 0)
	if grad == nil {
		grad = make([]float64, e.d)
	}
	v, _ := e.eval(grad, theta, 0)
	return v
}
