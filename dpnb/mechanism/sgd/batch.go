package sgd

import (
	"math"
	"runtime"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
)

// records are what all runs on the same data share.
type records struct {
	rows   matrix.Rows
	labels []float64
	n, d   int
	// thin has the records, without their zeros, of which isThin says so; nil if there is none.
	thin   *matrix.CSR
	isThin []bool
	// largest[i] is C'/‖xᵢ‖, the largest |f′| that is not clipped; nil, as isThin is, of records that are not kept in
	// memory (newPassed).
	largest []float64
	// clipped is C', lost what underflows in a norm.
	clipped, lost float64
	// step is h: each record's clipped gradient is rounded to multiples of it, so that sums are exact.
	step    float64
	entries int // that are gone through, in all rows
}

// newRecords reads the norms. Dense rows of which less than a quarter is not zero are copied without the zeros: they
// are gone through thousands of times. That is decided row by row: sums in another order round otherwise, which is all
// there is to a margin of long rows, and one record must not decide how others are summed.
func newRecords(rows matrix.Rows, labels []float64, clip float64) *records {
	r := &records{rows: rows, labels: labels}
	r.n, r.d = rows.Dims()
	r.isThin = make([]bool, r.n)
	r.largest = make([]float64, r.n)
	r.rows.Norms(r.largest, 0, r.n)
	switch m := rows.(type) {
	case *matrix.CSR:
		r.thin, r.entries = m, m.Nonzeros()
		for i := range r.isThin {
			r.isThin[i] = true
		}
	case *matrix.Dense:
		r.thinOut(m)
	default:
		r.entries = r.n * r.d
	}
	r.clipTo(clip)
	r.slopes(r.largest)
	return r
}

// newPassed is newRecords for sums over all records, block by block: of rows that are not in memory it keeps nothing
// for each.
func newPassed(rows matrix.Rows, labels []float64, clip float64) *records {
	switch rows.(type) {
	case *matrix.Dense, *matrix.CSR:
		return newRecords(rows, labels, clip)
	}
	r := &records{rows: rows, labels: labels}
	r.n, r.d = rows.Dims()
	r.clipTo(clip)
	return r
}

// clipTo sets C', lost and the step for gradients that are no longer than C.
func (r *records) clipTo(clip float64) {
	r.step = exact.Step(clip, 25)
	// A norm of d squares, the quotient, the product with xᵢ and its own norm err by at most (d + 16)·2⁻⁵³ together,
	// and the rounded gradient is longer by at most ½h√d: with that much less, it is not longer than C.
	clip -= 0.5 * r.step * math.Sqrt(float64(r.d)) * (1 + 0x1p-40)
	r.clipped = clip * (1 - (float64(r.d)+16)*0x1p-53)
	// What underflows in the squares is below √d·2⁻⁵¹¹.
	r.lost = math.Sqrt(float64(r.d)) * 0x1p-511
}

// slopes makes of norms the largest slopes that are not clipped.
func (r *records) slopes(norms []float64) {
	for i, norm := range norms {
		norms[i] = r.clipped / (norm + r.lost)
	}
}

// made returns rows of which those from first on are the records lo ≤ i < hi: all of them or, where rows are made
// whenever they are read, these alone, in room.
func (r *records) made(room *[]float64, lo, hi int) (rows matrix.Rows, first int) {
	if !matrix.Made(r.rows) {
		return r.rows, lo
	}
	*room = slices.Grow((*room)[:0], (hi-lo)*r.d)[:(hi-lo)*r.d]
	matrix.Block(r.rows, *room, lo, hi)
	return matrix.NewDense(hi-lo, r.d, *room), 0
}

// weights returns the largest slopes of the records lo ≤ i < hi, which are made; in room, if they are not kept.
func (r *records) weights(room []float64, lo, hi int, rows matrix.Rows, first int) []float64 {
	if r.largest != nil {
		return r.largest[lo:hi]
	}
	rows.Norms(room[:hi-lo], first, first+hi-lo)
	r.slopes(room[:hi-lo])
	return room[:hi-lo]
}

// thinAt reports whether thin has record i.
func (r *records) thinAt(i int) bool { return r.isThin != nil && r.isThin[i] }

// thinOut copies the rows of m that are mostly zeros.
func (r *records) thinOut(m *matrix.Dense) {
	thin := &matrix.CSR{N: r.n, D: r.d, Starts: make([]int, 1, r.n+1)}
	for i := range r.isThin {
		row := m.Data[i*r.d : (i+1)*r.d]
		count := 0
		for _, v := range row {
			if v != 0 {
				count++
			}
		}
		if r.isThin[i] = 4*count < r.d; r.isThin[i] {
			for j, v := range row {
				if v != 0 {
					thin.Columns, thin.Values = append(thin.Columns, int32(j)), append(thin.Values, v)
				}
			}
			r.thin = thin
			r.entries += count
		} else {
			r.entries += r.d
		}
		thin.Starts = append(thin.Starts, len(thin.Values))
	}
}

const (
	// blockEntries of gathered rows stay in the second-level cache.
	blockEntries = 1 << 14
	// chunkEntries are the work for which it pays to wake another processor.
	chunkEntries = 1 << 16
)

// batch sums the clipped gradients of a sample. It allocates when it is made, and in a step only if a sample is larger
// than any before.
type batch struct {
	*records
	loss     loss.Loss
	logistic bool
	// block and chunk are numbers of records; block divides chunk. Sums of rounded gradients are exact, so that they do
	// not depend on either, nor on the workers.
	block, chunk int
	workers      int
	scratch      []scratch
	partial      [][]float64
	total        *exact.Total
	theta        []float64
	index        []int
	deal         *parallel.Dealer
}

type scratch struct {
	t, y, s []float64
	rows    matrix.Dense // the gathered records of a block that are not thin
	// at has their places in the block, u their margins and then their slopes.
	at []int
	u  []float64
	// seen keeps the compiler from leaving out the reads of touch.
	seen float64
}

func newBatch(r *records, l loss.Loss, size, workers int) *batch {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	_, logistic := l.(loss.Logistic)
	b := &batch{records: r, loss: l, logistic: logistic, total: exact.NewTotal(r.d, r.step)}
	each := max(1, r.entries/max(1, r.n))
	b.block = min(max(blockEntries/each&^3, 4), 1024)
	b.chunk = b.block * max(1, chunkEntries/each/b.block)
	b.workers = max(1, min(workers, (size+b.chunk-1)/b.chunk))
	for range b.workers {
		s := scratch{t: make([]float64, b.block), y: make([]float64, b.block), s: make([]float64, b.block)}
		if slices.Contains(r.isThin, false) {
			s.at, s.u = make([]int, b.block), make([]float64, b.block)
			s.rows = matrix.Dense{N: b.block, D: r.d, Data: make([]float64, b.block*r.d)}
		}
		b.scratch = append(b.scratch, s)
	}
	b.deal = parallel.NewDealer(b.workers, 0, b.work)
	b.grow(size)
	return b
}

func (b *batch) grow(size int) {
	for len(b.partial) < (size+b.chunk-1)/b.chunk {
		b.partial = append(b.partial, make([]float64, b.d))
	}
}

// sum writes Σ round_h(clip(∇ℓᵢ(θ))) over the sample to dst, exactly: what a record adds is a function of the record
// and of θ, of norm at most C. A sum beyond 2⁵³h ≥ 2²⁷C is cut to that, which moves no two sums apart.
func (b *batch) sum(dst, theta []float64, index []int) {
	b.grow(len(index))
	b.theta, b.index = theta, index
	chunks := (len(index) + b.chunk - 1) / b.chunk
	b.deal.Deal(chunks)
	b.total.Clear()
	for _, p := range b.partial[:chunks] {
		b.total.Add(p)
	}
	b.total.Write(dst)
}

// work sums the gradients of a chunk.
func (b *batch) work(worker, chunk int) {
	g := b.partial[chunk]
	clear(g)
	hi := min((chunk+1)*b.chunk, len(b.index))
	for lo := chunk * b.chunk; lo < hi; lo += b.block {
		b.add(g, &b.scratch[worker], b.index[lo:min(lo+b.block, hi)])
	}
}

// add adds the clipped and rounded gradients of one block to g.
func (b *batch) add(g []float64, s *scratch, index []int) {
	t, y, w := s.t[:len(index)], s.y[:len(index)], s.s[:len(index)]
	if b.thin != nil {
		s.seen += touch(b.thin, index)
	}
	thick := 0
	for k, i := range index {
		y[k] = b.labels[i]
		if b.isThin[i] {
			b.thin.Margins(t[k:k+1], b.theta, i, i+1)
			continue
		}
		b.gather(s.rows.Data[thick*b.d:(thick+1)*b.d], i)
		s.at[thick] = k
		thick++
	}
	if thick > 0 {
		// Groups of four are filled up with what is there, which is not read and saves an allocation: a record's slope
		// depends on the record alone.
		full := (thick + 3) &^ 3
		matrix.MarginsAlone(&s.rows, s.u[:full], b.theta, 0, full)
		for j, k := range s.at[:thick] {
			t[k] = s.u[j]
		}
	}
	b.slopes(w, t, y)
	for k, i := range index {
		if w[k] = clipped(w[k], b.largest[i]); b.isThin[i] {
			at, end := b.thin.Starts[i], b.thin.Starts[i+1]
			exact.AddSparse(g, w[k], b.thin.Columns[at:end], b.thin.Values[at:end], b.step)
		}
	}
	if thick > 0 {
		for j, k := range s.at[:thick] {
			s.u[j] = w[k]
		}
		exact.AddRows(g, s.u[:thick], s.rows.Data[:thick*b.d], b.step)
	}
}

// gather copies a row.
func (b *batch) gather(dst []float64, i int) {
	if dense, ok := b.rows.(*matrix.Dense); ok {
		copy(dst, dense.Data[i*b.d:(i+1)*b.d])
		return
	}
	b.rows.Row(dst, i)
}

// clipped cuts a slope to the interval of ±most, so that the gradient f′·x has norm at most C. What is no number counts
// as zero: with coefficients that have run off to infinity, too, no record may contribute more than C.
func clipped(slope, most float64) float64 {
	switch {
	case slope > most:
		return most
	case slope < -most:
		return -most
	case math.IsNaN(slope):
		return 0
	}
	return slope
}

// slopes writes f′ at the margins t. The logistic ones need no logarithm, as the value is not asked for.
func (b *batch) slopes(slope, t, y []float64) {
	if !b.logistic {
		b.loss.ValueSlope(slope, t, y)
		return
	}
	for k, v := range t {
		slope[k] = -y[k] / (1 + math.Exp(y[k]*v))
	}
}

// touch reads a little of each row. The rows of a sample lie anywhere in memory, and reads that do not wait for each
// other wait together: the sums that follow find the rows in cache.
func touch(m *matrix.CSR, index []int) float64 {
	var sum float64
	for _, i := range index {
		if lo, hi := m.Starts[i], m.Starts[i+1]; lo < hi {
			sum += m.Values[lo] + m.Values[(lo+hi)/2] + m.Values[hi-1] + float64(m.Columns[lo]) +
				float64(m.Columns[hi-1])
		}
	}
	return sum
}
