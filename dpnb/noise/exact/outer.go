package exact

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// OuterRounding is by what share of its bound a record's part of an Outer may grow when it is rounded; the noise has to
// pay for it.
const OuterRounding = 1e-6

// Outer is a sum of d×d matrices xxᵀ, each of Frobenius norm at most a bound s, that are rounded one by one, so that it
// is exact: one more changes it by its own part, whatever the others are.
type Outer struct {
	d, held int // held are the matrices in sum that are not in total
	step    float64
	sum     []float64
	room    []float64 // of Add
	total   *Total
}

// outerFlush is how many matrices, of up to 2¹⁶ features, stay in the range of exact sums in float64.
const outerFlush = 1 << 17

// NewOuter returns the sum of no matrix. s is of [2⁻⁴⁰⁰, 2⁴⁰⁰].
func NewOuter(d int, s float64) *Outer {
	step := outerStep(s, d)
	return &Outer{d: d, step: step, sum: make([]float64, d*d), total: NewTotal(d*d, step)}
}

// outerStep returns h, to whose multiples entries are rounded: at most 2⁻²⁶s, and such that d² entries, each of them
// moved by ½h, move a matrix by ½hd ≤ OuterRounding·s.
func outerStep(s float64, d int) float64 {
	return math.Min(Step(s, 26), Step(2*OuterRounding/float64(d)*s, 0))
}

// Add adds xxᵀ of each of k rows, fewer than outerFlush at a time.
func (o *Outer) Add(x []float64, k int) {
	if o.held += k; o.held > outerFlush {
		o.flush()
		o.held = k
	}
	used := o.used(x[:k*o.d])
	if few := len(used); 10*few < 9*o.d { // what is zero in all of them adds nothing
		o.room = append(o.room[:0], make([]float64, k*few+few*few)...)
		packed, sum := o.room[:k*few], o.room[k*few:]
		for i := range k {
			for a, j := range used {
				packed[i*few+a] = x[i*o.d+j]
			}
		}
		AddOuter(sum, packed, k, few, o.step)
		for a, j := range used {
			for b, l := range used {
				o.sum[j*o.d+l] += sum[a*few+b]
			}
		}
		return
	}
	AddOuter(o.sum, x, k, o.d, o.step)
}

// used returns the columns in which some row of x is not zero.
func (o *Outer) used(x []float64) (columns []int) {
	zero := slices.Repeat([]bool{true}, o.d)
	for ; len(x) > 0; x = x[o.d:] {
		for j, v := range x[:o.d] {
			zero[j] = zero[j] && v == 0
		}
	}
	for j, z := range zero {
		if !z {
			columns = append(columns, j)
		}
	}
	return columns
}

// Join adds the matrices of another sum of the same kind, which is used up.
func (o *Outer) Join(more *Outer) {
	o.flush()
	more.flush()
	for k, c := range more.total.count {
		o.total.count[k] += c
	}
}

// flush moves the sum to integers.
func (o *Outer) flush() {
	o.total.Add(o.sum)
	clear(o.sum)
	o.held = 0
}

// Matrix returns the sum, its entries cut to ±2⁵³ steps, which moves no two apart.
func (o *Outer) Matrix() *mat.SymDense {
	o.flush()
	m := mat.NewSymDense(o.d, nil)
	o.total.Write(m.RawSymmetric().Data)
	return m
}
