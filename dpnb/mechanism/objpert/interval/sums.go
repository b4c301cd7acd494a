package interval

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
)

// sumsBytes bounds the memory of the sums of goroutines beside the first.
const sumsBytes = 1 << 28

// goroutines is how many there is room for: each has its sums twice, in float64 and in integers.
func goroutines(blocks, workers, d int, scores bool) int {
	each := 16*float64(d)*float64(d) + 1
	if scores {
		each *= 2
	}
	return min(parallel.Workers(blocks, workers), 1+int(sumsBytes/each))
}

// moments returns M and, if it is wanted, V at theta. What a record adds is a function of the record and of theta
// alone, rounded to multiples of a step, so that the sums are exact: one record more changes them by its own part,
// whatever the others are. Entries beyond 2⁵³ steps are cut to that, which moves no two matrices apart.
func moments(fit objpert.Objective, rows matrix.Rows, labels, theta []float64, scores bool, workers int) (hessian,
	score *mat.SymDense) {
	n, d := rows.Dims()
	const block = 256
	blocks, slope := (n+block-1)/block, fit.Loss.Lipschitz()
	all := make([]*moment, goroutines(blocks, workers, d, scores))
	for k := range all {
		all[k] = &moment{x: make([]float64, block*d), room: make([]float64, block*d), t: make([]float64, block),
			w: make([]float64, block), m: newParts(d, fit.Smoothness(), fit.Loss.Smoothness())}
		if scores {
			all[k].v = newParts(d, fit.Lipschitz()*fit.Lipschitz(), slope*slope)
		}
	}
	_ = parallel.For(context.Background(), blocks, len(all), func(worker, b int) error { // which cannot fail
		all[worker].add(fit.Loss, rows, labels, theta, b*block, min(n, (b+1)*block))
		return nil
	})
	for _, more := range all[1:] {
		all[0].m.Join(more.m.Outer)
		if scores {
			all[0].v.Join(more.v.Outer)
		}
	}
	if scores {
		score = all[0].v.Matrix()
	}
	return all[0].m.Matrix(), score
}

// moment is M and, unless nil, V of some records, with room for a block.
type moment struct {
	m, v          *parts
	x, room, t, w []float64
}

// add adds the records lo ≤ i < hi.
func (s *moment) add(of loss.Loss, rows matrix.Rows, labels, theta []float64, lo, hi int) {
	t, w, labels := s.t[:hi-lo], s.w[:hi-lo], labels[lo:hi]
	matrix.Block(rows, s.x, lo, hi)
	if _, sparse := rows.(*matrix.CSR); sparse { // whose margins are of the entries alone
		matrix.MarginsAlone(rows, t, theta, lo, hi)
	} else {
		matrix.MarginsAlone(matrix.NewDense(hi-lo, len(theta), s.x[:(hi-lo)*len(theta)]), t, theta, 0, hi-lo)
	}
	of.Curvature(w, t, labels)
	s.m.add(s.x, w, s.room)
	if s.v != nil {
		of.ValueSlope(w, t, labels)
		for i, f := range w {
			w[i] = f * f
		}
		s.v.add(s.x, w, s.room)
	}
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
