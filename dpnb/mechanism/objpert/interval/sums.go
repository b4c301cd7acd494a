package interval

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
)

// moments returns M and, if it is wanted, V at theta. What a record adds is a function of the record and of theta
// alone, rounded to multiples of a step, so that the sums are exact: one record more changes them by its own part,
// whatever the others are. Entries beyond 2⁵³ steps are cut to that, which moves no two matrices apart.
func moments(fit objpert.Objective, rows matrix.Rows, labels, theta []float64, scores bool) (hessian,
	score *mat.SymDense) {
	n, d := rows.Dims()
	const block = 256
	x, room := make([]float64, block*d), make([]float64, block*d)
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
		matrix.Block(rows, x, lo, hi)
		if _, sparse := rows.(*matrix.CSR); sparse { // whose margins are of the entries alone
			matrix.MarginsAlone(rows, t, theta, lo, hi)
		} else {
			matrix.MarginsAlone(matrix.NewDense(hi-lo, d, x[:(hi-lo)*d]), t, theta, 0, hi-lo)
		}
		fit.Loss.Curvature(w, t, labels[lo:hi])
		m.add(x, w, room)
		if scores {
			fit.Loss.ValueSlope(w, t, labels[lo:hi])
			for i, f := range w {
				w[i] = f * f
			}
			v.add(x, w, room)
		}
	}
	if scores {
		score = v.Matrix()
	}
	return m.Matrix(), score
}

// parts is a sum of matrices w·xxᵀ that are rounded one by one.
type parts struct {
	*exact.Outer
	d    int
	most float64 // the largest weight
}

// newParts takes a bound s on the Frobenius norm of a part and one on the weights.
func newParts(d int, s, most float64) *parts { return &parts{exact.NewOuter(d, s), d, most} }

// add adds w·xxᵀ of the rows in x; room is for as many. A weight that is no number, or negative, counts as zero.
func (p *parts) add(x, w, room []float64) {
	d := p.d
	for i, v := range w {
		root := 0.0
		if v > 0 {
			root = math.Sqrt(min(v, p.most))
		}
		floats.ScaleTo(room[i*d:(i+1)*d], root, x[i*d:(i+1)*d])
	}
	p.Add(room, len(w))
}
