package matrix

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/floats"
)

// Affine has rows that are those of a base, moved and scaled, each by its own factors, by vectors that all share:
//
//	xᵢ = aᵢ·(bᵢ − u) + wᵢ·v + (0, …, 0, e),
//
// with bᵢ the features Kept of row i of the Base. Centred rows are dense, and what they are made of is sparse: passes
// over them cost no more than passes over the base. The records are the float64s that Row writes.
type Affine struct {
	Base Rows
	// Kept are features of the base, −1 for a feature that is none of them; nil is all.
	Kept []int
	// A are the aᵢ; nil is 1. W are the wᵢ; nil is 0.
	A, W []float64
	// U and V have a number for each feature; nil is 0.
	U, V []float64
	// Bias is e.
	Bias float64
	// Longest bounds the norms of rows if it is known; 0 is not. It is believed: mechanisms and solvers look at no norm
	// then, and a guarantee is void where a row is longer.
	Longest float64
	// Aside says where the base has, for some features, what they were before rows were scaled; nil if it has not.
	Aside map[int]int
}

// Dims implements Rows.
func (m *Affine) Dims() (n, d int) {
	n, d = m.Base.Dims()
	if m.Kept != nil {
		d = len(m.Kept)
	}
	return n, d
}

var rooms sync.Pool // of *[]float64

// take returns room for count numbers, to be put back to rooms.
func take(count int) *[]float64 {
	room, ok := rooms.Get().(*[]float64)
	if !ok {
		room = new([]float64)
	}
	if cap(*room) < count {
		*room = make([]float64, count)
	}
	*room = (*room)[:count]
	return room
}

// dot is 0 for a nil vector.
func dot(x, theta []float64) (sum float64) {
	for j, v := range x {
		sum += v * theta[j]
	}
	return sum
}

// Margins implements Rows.
func (m *Affine) Margins(dst, theta []float64, lo, hi int) {
	full := theta
	if m.Kept != nil {
		_, d := m.Base.Dims()
		room := take(d)
		defer rooms.Put(room)
		full = *room
		clear(full)
		for j, k := range m.Kept {
			if k >= 0 {
				full[k] = theta[j]
			}
		}
	}
	m.Base.Margins(dst, full, lo, hi)
	m.shift(dst, theta, lo, hi)
}

// shift makes margins of the base those of the rows.
func (m *Affine) shift(dst, theta []float64, lo, hi int) {
	u, v, c := dot(m.U, theta), dot(m.V, theta), m.Bias*theta[len(theta)-1]
	dst = dst[:hi-lo]
	if m.A == nil {
		for i, t := range dst {
			dst[i] = t - u + c
		}
	} else {
		for i, a := range m.A[lo:hi] {
			dst[i] = a*(dst[i]-u) + c
		}
	}
	if m.W != nil {
		for i, w := range m.W[lo:hi] {
			dst[i] += w * v
		}
	}
}

// AddScaled implements Rows.
func (m *Affine) AddScaled(dst, w []float64, lo, hi int) {
	_, d := m.Base.Dims()
	room := take(hi - lo + d)
	defer rooms.Put(room)
	scaled, full := (*room)[:hi-lo], (*room)[hi-lo:]
	copy(scaled, w)
	if m.A != nil {
		for i, a := range m.A[lo:hi] {
			scaled[i] *= a
		}
	}
	var a, b, c float64
	for i, v := range scaled {
		a += v
		c += w[i]
	}
	if m.W != nil {
		for i, v := range m.W[lo:hi] {
			b += w[i] * v
		}
	}
	if m.Kept == nil {
		m.Base.AddScaled(dst, scaled, lo, hi)
	} else {
		clear(full)
		m.Base.AddScaled(full, scaled, lo, hi)
		for j, k := range m.Kept {
			if k >= 0 {
				dst[j] += full[k]
			}
		}
	}
	for j, u := range m.U {
		dst[j] -= a * u
	}
	for j, v := range m.V {
		dst[j] += b * v
	}
	dst[len(dst)-1] += c * m.Bias
}

// MaxNorm is Longest, or what Norms finds.
func (m *Affine) MaxNorm() float64 { return longest(m, m.Longest) }

// Norms implements Rows.
func (m *Affine) Norms(dst []float64, lo, hi int) { normsOf(m, dst, lo, hi) }

// normsOf are those of the rows as Row writes them.
func normsOf(r Rows, dst []float64, lo, hi int) {
	_, d := r.Dims()
	row := make([]float64, d)
	for i := lo; i < hi; i++ {
		r.Row(row, i)
		dst[i-lo] = math.Sqrt(SumSquares(row))
	}
}

// Row implements Rows.
func (m *Affine) Row(dst []float64, i int) { m.Block(dst, i, i+1) }

// Block writes the rows lo ≤ i < hi to dst, one after another.
func (m *Affine) Block(dst []float64, lo, hi int) {
	_, d := m.Dims()
	if m.Kept == nil {
		Block(m.Base, dst, lo, hi)
	} else {
		_, from := m.Base.Dims()
		room := take((hi - lo) * from)
		defer rooms.Put(room)
		Block(m.Base, *room, lo, hi)
		same := 0 // the first features, as a rule
		for same < d && m.Kept[same] == same {
			same++
		}
		for i := range hi - lo {
			own, row := (*room)[i*from:(i+1)*from], dst[i*d:(i+1)*d]
			copy(row[:same], own)
			for j := same; j < d; j++ {
				if row[j] = 0; m.Kept[j] >= 0 {
					row[j] = own[m.Kept[j]]
				}
			}
		}
	}
	for i := lo; i < hi; i++ {
		row := dst[(i-lo)*d : (i-lo+1)*d]
		if m.U != nil {
			floats.Sub(row, m.U)
		}
		if m.A != nil {
			floats.Scale(m.A[i], row)
		}
		if m.W != nil {
			floats.AddScaled(row, m.W[i], m.V)
		}
		row[d-1] += m.Bias
	}
}

// Nonzeros is what a pass reads of the base.
func (m *Affine) Nonzeros() int { return Nonzeros(m.Base) }

// Select returns a new matrix with the given rows, in the given order.
func (m *Affine) Select(index []int) Rows {
	out := &Affine{Base: Select(m.Base, index), Kept: m.Kept, U: m.U, V: m.V, Bias: m.Bias,
		Longest: m.Longest, Aside: m.Aside}
	some := func(of []float64) (s []float64) {
		if of == nil {
			return nil
		}
		s = make([]float64, len(index))
		for k, i := range index {
			s[k] = of[i]
		}
		return s
	}
	out.A, out.W = some(m.A), some(m.W)
	return out
}

// Terms bounds |aᵢ|(‖bᵢ‖ + ‖u‖) + |wᵢ|‖v‖ + |e|, the norm of what a row is summed of, rounded up: see Terms.
func (m *Affine) Terms() float64 {
	a, w := 1.0, 0.0
	if m.A != nil {
		a = largest(m.A)
	}
	if m.W != nil {
		w = largest(m.W)
	}
	norm := func(x []float64) float64 { return math.Sqrt(SumSquares(x)) }
	u, more := a*norm(m.U), w*norm(m.V)+math.Abs(m.Bias)
	if _, summed := m.Base.(interface{ Terms() float64 }); !summed && m.Longest > 0 {
		// What the base has is the row, less the rest: |aᵢ|‖bᵢ‖ ≤ ‖xᵢ‖ + |wᵢ|‖v‖ + |e| + |aᵢ|‖u‖.
		return (m.Longest + 2*(u+more)) * (1 + 0x1p-38)
	}
	return (a*Terms(m.Base) + u + more) * (1 + 0x1p-40)
}

func largest(x []float64) (most float64) {
	for _, v := range x {
		if v = math.Abs(v); v > most || v != v { // NaN stays NaN
			most = v
		}
	}
	return most
}

// Terms bounds the norm of what each row of r is summed of: with it in place of the norm of the longest row, and with
// TermsDepth more roundings, the errors of Margins and AddScaled are those of rows whose entries are stored
// (docs/theory/solvers.md). It is the norm of the longest row where entries are.
func Terms(r Rows) float64 {
	if t, ok := r.(interface{ Terms() float64 }); ok {
		return t.Terms()
	}
	return MaxNorm(r)
}

// TermsDepth is how many roundings more a number of Affine rows of Affine rows, in an HStack, has than one that is
// stored, on the way to a margin or to a sum, apart from three additions a block.
const TermsDepth = 32

// HStack has the features of several matrices of the same records beside each other.
type HStack struct {
	Parts []Rows
	// Longest bounds the norms of rows if it is known; 0 is not.
	Longest float64
}

// Dims implements Rows.
func (b HStack) Dims() (n, d int) {
	for _, r := range b.Parts {
		m, more := r.Dims()
		n, d = m, d+more
	}
	return n, d
}

// each calls use with every matrix and where its features begin and end.
func (b HStack) each(use func(r Rows, from, to int)) {
	at := 0
	for _, r := range b.Parts {
		_, d := r.Dims()
		use(r, at, at+d)
		at += d
	}
}

// Margins implements Rows.
func (b HStack) Margins(dst, theta []float64, lo, hi int) {
	room := take(hi - lo)
	defer rooms.Put(room)
	b.each(func(r Rows, from, to int) {
		if from == 0 {
			r.Margins(dst, theta[:to], lo, hi)
			return
		}
		r.Margins(*room, theta[from:to], lo, hi)
		floats.Add(dst[:hi-lo], *room)
	})
}

// AddScaled implements Rows.
func (b HStack) AddScaled(dst, w []float64, lo, hi int) {
	b.each(func(r Rows, from, to int) { r.AddScaled(dst[from:to], w, lo, hi) })
}

// Norms implements Rows.
func (b HStack) Norms(dst []float64, lo, hi int) { normsOf(b, dst, lo, hi) }

// Row implements Rows.
func (b HStack) Row(dst []float64, i int) { b.Block(dst, i, i+1) }

// Block writes the rows lo ≤ i < hi to dst, one after another.
func (b HStack) Block(dst []float64, lo, hi int) {
	_, d := b.Dims()
	b.each(func(r Rows, from, to int) {
		own := to - from
		room := take((hi - lo) * own)
		defer rooms.Put(room)
		Block(r, *room, lo, hi)
		for i := range hi - lo {
			copy(dst[i*d+from:i*d+to], (*room)[i*own:])
		}
	})
}

// Nonzeros is what a pass reads.
func (b HStack) Nonzeros() (all int) {
	for _, r := range b.Parts {
		all += Nonzeros(r)
	}
	return all
}

// Select returns a new matrix with the given rows, in the given order.
func (b HStack) Select(index []int) Rows {
	out := HStack{make([]Rows, len(b.Parts)), b.Longest}
	for k, r := range b.Parts {
		out.Parts[k] = Select(r, index)
	}
	return out
}

// MaxNorm is Longest, or what Norms finds.
func (b HStack) MaxNorm() float64 { return longest(b, b.Longest) }

// Terms is that of a row of all: see Terms.
func (b HStack) Terms() (most float64) {
	for _, r := range b.Parts {
		most = math.Hypot(most, Terms(r))
	}
	return most * (1 + 0x1p-40)
}

// InMemory reports whether rows lie in this process's memory.
func InMemory(r Rows) bool {
	switch m := r.(type) {
	case *Dense, *CSR:
		return true
	case *Affine:
		return InMemory(m.Base)
	case HStack:
		for _, r := range m.Parts {
			if !InMemory(r) {
				return false
			}
		}
		return true
	}
	return false
}
