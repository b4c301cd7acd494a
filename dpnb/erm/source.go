package erm

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// Source is records that are elsewhere, with their labels: in other processes, on other machines. It adds up over all
// of them by itself, a pass at a time. A Problem whose Rows are a Source has no Labels but those and no Forms;
// everything that asks for passes alone runs on it, and what asks for single rows ends in a *matrix.ReadError
// (matrix.Elsewhere).
//
// What it returns must be a function of the query and of the records: not of how parts of it were dealt, of who was
// slow, or of a part that was computed twice. It is asked one query at a time.
type Source interface {
	matrix.Rows
	// Pass returns the sums that q asks for.
	//
	// Errors: whatever keeps it from reading every record once. The solver then ends with a *matrix.ReadError that
	// wraps it.
	Pass(q *Query) (*Sums, error)
	// Sample returns copies of the records at the given places, which rise.
	Sample(places []int) (matrix.Rows, []float64, error)
}

// Kind says what a pass adds up.
type Kind int

// The sums over records of which solvers are made.
const (
	// Gradient is Σf, Σ∇f and Σ_k|∂f/∂t_k| at At.
	Gradient Kind = iota
	// Precise is Σ∇f and Σ_k|∂f/∂t_k| at At + Low, in double-double.
	Precise
	// Product is Σ∇²f·Direction at At.
	Product
	// Hessian is Σ∇²f at At.
	Hessian
)

// Query is what a pass over the records is asked for. Its slices are not changed, and are valid during the pass.
type Query struct {
	Kind Kind
	// Loss is f, with K forms xᵢᵀθ_k of the same rows.
	Loss loss.Joint
	// At is θ, and Low what is added to it, of length D = Kd.
	At, Low []float64
	// Direction is v of a product.
	Direction []float64
	// Norms asks for the longest record and looks at the labels, too.
	Norms bool
}

// Sums is what a pass gives.
type Sums struct {
	// Value is Σf, Slopes Σᵢ_k|∂f/∂tᵢ_k|.
	Value, Slopes float64
	// MaxNorm is max ‖xᵢ‖₂ as Norms gives them, if the query asked for it; NaN if an entry is.
	MaxNorm float64
	// Wrong counts the labels that the loss is not made for, if the query asked for Norms.
	Wrong int
	// Vector is the gradient or the product (length D), or the Hessian (D×D, row by row, of which the part below the
	// diagonal is not read); Low is what a Precise gradient has beside it.
	Vector, Low []float64
	// Depth is h: each entry of Vector errs by at most h·u times the sum of the magnitudes of the terms that were added
	// to it, u = 2⁻⁵³; Vector + Low of a Precise gradient by h·u².
	Depth float64
}

// Merge adds the sums t of other records, of the same query, to s. A Source whose parts are merged in a fixed order has
// sums that do not depend on which of them came first. Depth grows by 1 for each part, by 3.1 in double-double.
//
// Proof: docs/theory/scale.md#dpnb-streamed-fit.
func (s *Sums) Merge(t *Sums) {
	s.Value, s.Slopes, s.Wrong = s.Value+t.Value, s.Slopes+t.Slopes, s.Wrong+t.Wrong
	s.MaxNorm, s.Depth = math.Max(s.MaxNorm, t.MaxNorm), math.Max(s.Depth, t.Depth)+1
	if t.Low == nil {
		for j, v := range t.Vector {
			s.Vector[j] += v
		}
		return
	}
	s.Depth += 2.1
	for j, v := range t.Vector {
		sum := dd.Number{Hi: s.Vector[j], Lo: s.Low[j]}.Add(dd.Number{Hi: v, Lo: t.Low[j]})
		s.Vector[j], s.Low[j] = sum.Hi, sum.Lo
	}
}

// ask makes a pass. It panics with what matrix.Reading takes.
func ask(s Source, f loss.Joint, q Query) *Sums {
	q.Loss = f
	sums, err := s.Pass(&q)
	if err != nil {
		panic(&matrix.ReadError{Err: err})
	}
	length := len(q.At)
	if q.Kind == Hessian {
		length *= length
	}
	if len(sums.Vector) != length || q.Kind == Precise && len(sums.Low) != length {
		panic(&matrix.ReadError{Err: fmt.Errorf("a pass gave %d and %d numbers, want %d", len(sums.Vector),
			len(sums.Low), length)})
	}
	if sums.Wrong > 0 {
		panic(dataError("%d labels are not what the %s loss wants: %s", sums.Wrong, f.Name(), f.Labels()))
	}
	return sums
}

// sampleOf is Source.Sample, with panics for errors.
func sampleOf(s Source, places []int) (matrix.Rows, []float64) {
	rows, labels, err := s.Sample(places)
	if err != nil {
		panic(&matrix.ReadError{Err: err})
	}
	return rows, labels
}

// inMemory reports whether all forms are of this process's memory.
func inMemory(all []form) bool {
	for _, f := range all {
		if !matrix.InMemory(f.rows) {
			return false
		}
	}
	return true
}

// Part adds up over records that are here, for a Source to have its passes made of: by chunks of records that it fixes
// once and for all, in any order and on any machine. It is for one goroutine; several share the rows.
type Part struct {
	r       *records
	s       scratch
	problem Problem
	metric  *primalMetric
}

// NewPart returns the part of the given records, labelled for f, which has K forms of the same rows.
//
// Errors: *matrix.DataError for shapes that do not fit.
func NewPart(rows matrix.Rows, labels []float64, f loss.Joint) (*Part, error) {
	n, d := rows.Dims()
	if len(labels) != n || d == 0 {
		return nil, dataError("%d labels for %d records of %d features", len(labels), n, d)
	}
	p := &Part{problem: Problem{Rows: rows, Labels: labels, Joint: f, Lambda: 1}}
	p.r = newRecords(&p.problem)
	p.s = p.r.newScratch()
	return p, nil
}

// Size returns D.
func (p *Part) Size() int { return p.r.size }

// Add writes the sums over the records lo ≤ i < hi to dst, whose slices it uses where they are long enough. q.Loss is
// not looked at: it is that of NewPart. The result depends on the query and these records alone.
//
// A Source merges the sums of its parts (Sums.Merge); an exact sum of parts of depth h that is rounded once has h + 2.
func (p *Part) Add(dst *Sums, q *Query, lo, hi int) {
	length := p.r.size
	if q.Kind == Hessian {
		length *= p.r.size
	}
	room := func(v []float64) []float64 {
		if cap(v) < length {
			return make([]float64, length)
		}
		return v[:length]
	}
	dst.Vector, dst.Wrong = room(dst.Vector), 0
	m := float64(hi - lo)
	switch q.Kind {
	case Hessian:
		p.hessian(dst, q, lo, hi)
		dst.Depth = m + 4
	case Precise:
		dst.Low = room(dst.Low)
		p.r.sum(dst, &p.s, q, lo, hi)
		dst.Depth = p.r.preciseDepth(m)
	default:
		p.r.sum(dst, &p.s, q, lo, hi)
		dst.Depth = p.r.depth(m)
	}
	if q.Norms {
		for _, y := range p.r.labels[lo:hi] {
			if !p.r.f.ValidLabel(y) {
				dst.Wrong++
			}
		}
	}
}

// hessian writes Σ∇²f of the records to dst.
func (p *Part) hessian(dst *Sums, q *Query, lo, hi int) {
	if p.metric == nil {
		p.metric = newPrimalMetric(&p.problem, 1, nil, 1, true)
	}
	m := p.metric
	m.from, m.n = lo, hi-lo
	m.hessian(q.At)
	for i := range m.size {
		copy(dst.Vector[i*m.size:(i+1)*m.size], m.h[i*m.stride:])
	}
	dst.Value, dst.Slopes, dst.MaxNorm = 0, 0, 0
}
