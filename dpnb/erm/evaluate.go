package erm

import (
	"math"
	"runtime"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/internal/kernel"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

const (
	// blockBytes of records are read once for each evaluation: margins and gradient are formed while the block is in
	// the second-level cache.
	blockBytes = 128 << 10
	// maxChunks bounds the number of partial gradients. It does not depend on the number of workers, so neither does
	// the result.
	maxChunks = 64
)

// records are what a pass is made over: forms, labels and loss. A pass changes none of it but curvature.
type records struct {
	f loss.Joint
	// forms are the K forms of d coefficients each; there are n records and size = D coefficients.
	forms         []form
	labels        []float64
	n, d, k, size int
	block         int
	// direct adds the records of a chunk straight to its gradient: for sparse rows, where a sum for each block would
	// cost more than the block.
	direct bool
	// curvature holds c of the last evaluation, block by block, if it is not nil (n·K). Where it is, products with the
	// Hessian take it from there.
	curvature []float64
	// period is the number of records after which sums in double-double are normalised: for sparse rows no more often
	// than their entries are worth.
	period int
}

func newRecords(p *Problem) *records {
	all := p.forms()
	n, d := all[0].rows.Dims()
	r := &records{f: p.joint(), forms: all, labels: p.Labels, n: n, d: d, k: len(all), size: size(all)}
	entries := nonzeros(all)
	r.block = blockBytes * n / max(1, 8*entries)
	// Both bounds are multiples of four, as the kernels like it.
	r.block = min(max(r.block&^3, 8), matrix.MaxBlock)
	r.direct = 2*entries < n*d*r.perCoefficient() && r.block*entries < n*d
	r.period = max(matrix.MaxBlock, d*n/max(1, entries))
	return r
}

// perCoefficient returns how many forms of a record see each coefficient.
func (r *records) perCoefficient() int { return r.k * r.d / max(1, r.size) }

// depth returns the relative depth of the sum over m records in float64: roundingBound.
func (r *records) depth(m float64) float64 {
	terms := float64(r.block * r.perCoefficient())
	if r.direct {
		return m*float64(r.perCoefficient()) + terms + 4
	}
	return terms + m/float64(r.block) + 5
}

// evaluator computes J, ∇J and ∇²J·v, each in one pass over the rows. It allocates when it is made and never in a pass.
type evaluator struct {
	*records
	*penalty
	// source makes the passes where the records are not here; nil where they are.
	source  Source
	chunks  []chunk
	workers int
	scratch []scratch
	dealer  *parallel.Dealer
	// query is the pass under way; last is the point of the last evaluation.
	query Query
	last  []float64
	// norms asks for the norms of the records in the next pass.
	norms bool
	// maxNorm is max Rᵢ once a pass with norms was made; terms bounds what rows are summed of as they are read, 0 where
	// their entries are stored (matrix.Terms).
	maxNorm, terms float64
	// slopes is Σᵢ_k|∂f/∂tᵢ_k| at the last evaluation, sumDepth the relative depth of its sum.
	slopes, sumDepth float64
	// passes counts the passes over the rows.
	passes int
	// gradients counts the ∇fᵢ that were evaluated, products those with ∇²fᵢ.
	gradients, products int
}

// chunk is a fixed range of rows with its share of the sums of a pass.
type chunk struct {
	lo, hi int
	Sums
}

// scratch is room for a block: forms t and u, slopes s, curvatures c, and a gradient g; and for one record in
// double-double.
type scratch struct {
	t, s, g, u, c []float64
	row           []float64
	precise       []dd.Number
}

func (r *records) newScratch() scratch {
	return scratch{t: make([]float64, r.block*r.k), s: make([]float64, r.block*r.k), g: make([]float64, r.size)}
}

func newEvaluator(p *Problem, workers int) *evaluator {
	r := newRecords(p)
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	blocks := (r.n + r.block - 1) / r.block
	// The partial gradients take less than a twenty-fifth of the records' memory.
	count := max(1, min(maxChunks, blocks, max(4, nonzeros(r.forms)/(25*max(1, r.size)))))
	e := &evaluator{records: r, penalty: newPenalty(p, r.size), norms: true, last: make([]float64, r.size)}
	if e.source, _ = p.Rows.(Source); e.source != nil {
		count = 1
	}
	if known, ok := p.Rows.(interface{ MaxNorm() float64 }); ok && p.Forms == nil && e.source == nil {
		e.norms, e.maxNorm = false, known.MaxNorm()
	}
	for k, f := range r.forms {
		if _, summed := f.rows.(interface{ Terms() float64 }); summed && (k == 0 || !apart(r.forms)) {
			e.terms = math.Hypot(e.terms, matrix.Terms(f.rows))
		}
	}
	e.workers = min(workers, count)
	sums := make([]float64, count*r.size)
	for c := range count {
		lo, hi := c*blocks/count*r.block, (c+1)*blocks/count*r.block
		e.chunks = append(e.chunks, chunk{lo, min(hi, r.n), Sums{Vector: sums[c*r.size : (c+1)*r.size : (c+1)*r.size]}})
	}
	if e.source != nil {
		return e
	}
	e.sumDepth = float64(count) + r.depth(float64(r.n)/float64(count))
	for range e.workers {
		e.scratch = append(e.scratch, r.newScratch())
	}
	e.dealer = parallel.NewDealer(e.workers, count, func(worker, k int) {
		e.sum(&e.chunks[k].Sums, &e.scratch[worker], &e.query, e.chunks[k].lo, e.chunks[k].hi)
	})
	return e
}

// keepCurvature has evaluations keep what products with the Hessian are made of, for records that are in memory: beside
// others it would take too much of it, and is computed again.
func (e *evaluator) keepCurvature() {
	if e.curvature == nil && inMemory(e.forms) {
		e.curvature = make([]float64, e.n*e.k)
	}
}

// eval writes ∇J(θ) to grad and returns J(θ). It also returns a bound on the Euclidean norm of the rounding error in
// grad (see roundingBound).
func (e *evaluator) eval(grad, theta []float64) (value, rounding float64) {
	e.gradients += e.n
	copy(e.last, theta)
	e.pass(Query{Kind: Gradient, At: theta, Norms: e.norms})
	clear(grad)
	var slopes, maxNorm float64
	for c := range e.chunks {
		value += e.chunks[c].Value
		slopes += e.chunks[c].Slopes
		maxNorm = math.Max(maxNorm, e.chunks[c].MaxNorm)
		floats.Add(grad, e.chunks[c].Vector)
	}
	others, early := e.penalty.add(grad, theta)
	value += others
	if e.norms {
		e.norms, e.maxNorm = false, maxNorm
	}
	e.slopes = slopes
	return value, e.roundingBound(slopes, floats.Norm(theta, 2), e.maxNorm) + 1.01*early
}

// hessian writes ∇²J·v to dst, at the point of the last evaluation.
func (e *evaluator) hessian(dst, v []float64) {
	e.products += e.n
	e.pass(Query{Kind: Product, At: e.last, Direction: v})
	e.penalty.product(dst, v)
	for c := range e.chunks {
		floats.Add(dst, e.chunks[c].Vector)
	}
}

// pass has every chunk added up.
func (e *evaluator) pass(q Query) {
	e.passes++
	if e.source != nil {
		e.chunks[0].Sums = *ask(e.source, e.f, q)
		e.sumDepth = e.chunks[0].Depth
		return
	}
	e.query = q
	e.dealer.Run()
}

// sum makes the pass q over the records lo ≤ i < hi: it writes their sums to c, whose Vector has room for them.
func (r *records) sum(c *Sums, s *scratch, q *Query, lo, hi int) {
	c.Value, c.Slopes, c.MaxNorm = 0, 0, 0
	clear(c.Vector)
	if q.Kind == Precise {
		r.addPrecise(c, s, q, lo, hi)
		return
	}
	for from := lo; from < hi; from += r.block {
		r.addBlock(c, s, q, from, min(from+r.block, hi))
	}
}

func (r *records) addBlock(c *Sums, s *scratch, q *Query, lo, hi int) {
	m := hi - lo
	t, slope, y := s.t[:m*r.k], s.s[:m*r.k], r.labels[lo:hi]
	if q.Norms {
		together{r.forms[0].rows, r.forms}.Norms(t[:m], lo, hi)
		for _, v := range t[:m] {
			c.MaxNorm = math.Max(c.MaxNorm, v) // NaN stays NaN
		}
	}
	if q.Kind == Product {
		curv := r.curvatures(s, q.At, lo, hi)
		r.margins(t, q.Direction, lo, hi)
		multiply(slope, t, curv, r.f.Coupling(), m)
	} else {
		r.margins(t, q.At, lo, hi)
		var curv []float64
		if r.curvature != nil {
			curv = r.curvature[lo*r.k : hi*r.k]
		}
		c.Value += r.f.Derivatives(slope, curv, t, y)
		var sum float64
		for _, v := range slope {
			sum += math.Abs(v)
		}
		c.Slopes += sum
	}
	sum := c.Vector
	if !r.direct {
		sum = s.g
		clear(sum)
	}
	for k := range r.forms {
		f := &r.forms[k]
		f.rows.AddScaled(sum[f.lo:f.hi], slope[k*m:(k+1)*m], lo, hi)
	}
	if !r.direct {
		floats.Add(c.Vector, sum)
	}
}

// margins writes the forms of the records at θ to t.
func (r *records) margins(t, theta []float64, lo, hi int) {
	m := hi - lo
	for k := range r.forms {
		f := &r.forms[k]
		f.rows.Margins(t[k*m:(k+1)*m], theta[f.lo:f.hi], lo, hi)
	}
}

// curvatures returns c of the records at θ: what is kept, or computed again.
func (r *records) curvatures(s *scratch, theta []float64, lo, hi int) []float64 {
	if r.curvature != nil {
		return r.curvature[lo*r.k : hi*r.k]
	}
	if s.u == nil {
		s.u, s.c = make([]float64, r.block*r.k), make([]float64, r.block*r.k)
	}
	m := (hi - lo) * r.k
	r.margins(s.u[:m], theta, lo, hi)
	r.f.Derivatives(s.s[:m], s.c[:m], s.u[:m], r.labels[lo:hi]) // the same bits as those that are kept
	return s.c[:m]
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

// roundingBound bounds the Euclidean norm of the error of the computed gradient of the records, to which the penalty's
// is to be added. With u = 2⁻⁵³, R = max Rᵢ, which bounds ‖xᵢ‖ and ‖(aᵢ_k)‖_F, B the number of records in a block and F
// that of the forms that see one coefficient (1, or K):
//
//   - a record's forms err by a vector of norm at most (d+1)u·R‖θ‖, which moves ∇f by at
//     most β = λ_max(∇²f) times that; ∇f itself errs by at most 8u of each slope and what
//     its SlopeError says; and a gradient moves by R times that;
//   - the sum of the slopes' products with the rows goes through one accumulator of BF
//     terms, one of the blocks of a chunk and one of the chunks: its relative depth is at
//     most h = BF + ⌈n/(B·chunks)⌉ + chunks + 5 (for sparse rows, where the first
//     two are one, the number of records of a chunk times F + BF + chunks + 4), or what a
//     Source says, and the vector of the sums of magnitudes has norm at most R·Σᵢ_k|∂f/∂tᵢ_k|;
//   - what underflows: kernel.Underflow;
//   - of rows that are summed as they are read, R in the first two is their Terms where it stands for the size of what
//     is rounded, with TermsDepth roundings more.
//
// The factor 1.01 pays for second-order terms and for the rounding of R and of the norms here. Proof:
// docs/theory/solvers.md.
func (e *evaluator) roundingBound(slopes, norm, maxNorm float64) float64 {
	const u = 0x1p-53
	maxNorm += math.Sqrt(float64(e.d)) * 0x1p-511 // what underflows in the squares
	n, beta := float64(e.n), e.f.Smoothness()
	terms, deeper := maxNorm, 0.0
	if e.terms > 0 {
		terms, deeper = math.Max(maxNorm, e.terms), matrix.TermsDepth
	}
	margin := (float64(e.d+1) + deeper) * u * terms * norm
	err := (e.sumDepth*(1+deeper/float64(8*e.block)) + 8 + deeper) * u * terms * slopes
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
