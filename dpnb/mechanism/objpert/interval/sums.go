package interval

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
)

// rounding is by what share of its sensitivity a record's part of a matrix may grow when
// it is rounded; the noise pays for it.
const rounding = 1e-6

// partStep returns h, to whose multiples the entries of a record's part are rounded, for
// parts of Frobenius norm at most s: at most 2⁻²⁶s, and such that d² entries, each of
// them moved by ½h, move it by ½hd ≤ rounding·s.
func partStep(s float64, d int) float64 {
	return math.Min(exact.Step(s, 26), exact.Step(2*rounding/float64(d)*s, 0))
}

// moments returns M and, if it is wanted, V at theta. What a record adds is a function of
// the record and of theta alone, rounded to multiples of a step, so that the sums
// are exact: one record more changes them by its own part, whatever the others are.
// Entries beyond 2⁵³ steps are cut to that, which moves no two matrices apart.
func moments(fit objpert.Objective, rows matrix.Rows, labels, theta []float64, scores bool) (hessian,
	score *mat.SymDense) {
	n, d := rows.Dims()
	// block divides flush: so many records stay in the range of exact sums.
	const block, flush = 256, 1 << 20
	x := make([]float64, block*d)
	t, w := make([]float64, block), make([]float64, block)
	slope := fit.Loss.Lipschitz()
	m := newParts(d, fit.Smoothness(), fit.Loss.Smoothness())
	var v *parts
	if scores {
		v = newParts(d, fit.Lipschitz()*fit.Lipschitz(), slope*slope)
	}
	for lo := 0; lo < n; lo += block {
		hi := min(lo+block, n)
		t, w := t[:hi-lo], w[:hi-lo]
		matrix.MarginsAlone(rows, t, theta, lo, hi)
		fit.Loss.Curvature(w, t, labels[lo:hi])
		m.add(rows, x, w, lo)
		if scores {
			fit.Loss.ValueSlope(w, t, labels[lo:hi])
			for i, f := range w {
				w[i] = f * f
			}
			v.add(rows, x, w, lo)
		}
		if hi%flush == 0 {
			m.flush()
			if scores {
				v.flush()
			}
		}
	}
	if scores {
		score = v.matrix()
	}
	return m.matrix(), score
}

// parts is a sum of matrices w·xxᵀ that are rounded one by one.
type parts struct {
	d          int
	step, most float64 // most is the largest weight
	sum        []float64
	total      *exact.Total
}

// newParts takes a bound s on the Frobenius norm of a part and one on the weights.
func newParts(d int, s, most float64) *parts {
	step := partStep(s, d)
	return &parts{d, step, most, make([]float64, d*d), exact.NewTotal(d*d, step)}
}

// add adds w·xxᵀ of the rows from lo on; x has room for them. A weight that is
// no number, or negative, counts as zero.
func (p *parts) add(rows matrix.Rows, x, w []float64, lo int) {
	for i, v := range w {
		row := x[i*p.d : (i+1)*p.d]
		rows.Row(row, lo+i)
		root := 0.0
		if v > 0 {
			root = math.Sqrt(min(v, p.most))
		}
		for j := range row {
			row[j] *= root
		}
	}
	exact.AddOuter(p.sum, x, len(w), p.d, p.step)
}

// flush moves the sum to integers.
func (p *parts) flush() {
	p.total.Add(p.sum)
	clear(p.sum)
}

// matrix returns the sum of all parts.
func (p *parts) matrix() *mat.SymDense {
	p.flush()
	m := mat.NewSymDense(p.d, nil)
	p.total.Write(m.RawSymmetric().Data)
	return m
}
