package frame

import (
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// sparse reports whether centred rows are kept as what they are made of: where numbers have hats, of which two are not
// zero, and where it is less than half of the features.
func (e *Encoding) sparse() bool {
	if !e.settings.Centred || e.Open() {
		return false
	}
	entries := 1
	for i := range e.encoders {
		c := &e.encoders[i]
		if entries++; c.hats > 0 {
			entries += 2
		}
	}
	return e.settings.Curves > 0 || 2*entries < len(e.Features)
}

// entries are those of a row that are not zero.
type entries struct {
	columns []int32
	values  []float64
}

func (s *entries) add(column int, value float64) {
	s.columns, s.values = append(s.columns, int32(column)), append(s.values, value)
}

// mean is what is taken from each feature of the column (centre), where it is the same for all records and not sparse.
func (e *encoder) mean(dst []float64) {
	own := dst[e.at : e.at+e.width()]
	switch {
	case e.categories != nil:
		for j := range own {
			own[j] = 1 / float64(len(own))
		}
	case e.field.Typical == nil:
		for j := range e.hats {
			own[1+j] = 1 / float64(e.hats)
		}
	}
}

// enter adds row i of a column to s, before the mean is taken from it, and returns the squared norm after that: what
// centre writes.
func (e *encoder) enter(s *entries, i int) (square float64) {
	width := e.width()
	if e.categories != nil {
		k := e.place(i)
		if k >= 0 {
			s.add(e.at+k, 1)
			return e.longest()
		}
		for j := range width { // zeros after the mean is taken
			s.add(e.at+j, 1/float64(width))
		}
		return 0
	}
	v := e.column.Number(i)
	if width > 1+e.hats && math.IsNaN(v) {
		if e.field.Typical == nil {
			for j := range e.hats {
				s.add(e.at+1+j, 1/float64(e.hats))
			}
		}
		s.add(e.at+1+e.hats, 1)
		return 1
	}
	u := e.number(v)
	line := (u - e.typical) / e.reach
	s.add(e.at, line)
	square = line * line
	if e.hats == 0 {
		return square
	}
	var room [mostCurves]float64
	own := room[:e.hats]
	hat(own, u, 1)
	less := 0.0
	if e.field.Typical != nil {
		hat(own, e.typical, -1)
	} else {
		less = 1 / float64(e.hats)
	}
	for j, h := range own {
		if h != 0 {
			s.add(e.at+1+j, h)
		}
		square += (h - less) * (h - less)
	}
	return square
}

// shortest is the norm below which a row is not scaled: it stays as near to zero as it is.
const shortest = 1e-100

// thin returns centred rows as what they are made of: row i is aᵢ times what enter adds less the mean, and the bias.
func (e *Encoding) thin(n int, encoders []encoder) *matrix.Affine {
	d := len(e.Features)
	mean := make([]float64, d)
	for k := range encoders {
		encoders[k].mean(mean)
	}
	scales := make([]float64, n)
	const block = 2048
	parts := make([]entries, (n+block-1)/block)
	starts := make([]int, n+1)
	parallel.Each(len(parts), 0, func(b int) {
		own, part := slices.Clone(encoders), &parts[b] // each remembers its last text
		part.columns = make([]int32, 0, block*3*len(own))
		part.values = make([]float64, 0, block*3*len(own))
		for i := b * block; i < min(n, (b+1)*block); i++ {
			before, square := len(part.values), 0.0
			for k := range own {
				square += own[k].enter(part, i)
			}
			starts[i+1] = len(part.values) - before
			scales[i] = e.scaleOf(math.Sqrt(square))
		}
	})
	for i := range n {
		starts[i+1] += starts[i]
	}
	out := &matrix.CSR{N: n, D: d, Starts: starts, Columns: make([]int32, starts[n]), Values: make([]float64, starts[n])}
	for b := range parts {
		at := starts[b*block]
		copy(out.Columns[at:], parts[b].columns)
		copy(out.Values[at:], parts[b].values)
		parts[b] = entries{}
	}
	return &matrix.Affine{Base: out, A: scales, U: mean, Bias: e.Bias(), Longest: e.RowNorm}
}

// scaleOf is what a row of a norm is scaled by (scaleRow): the computed norm and the products err by less than is taken
// off.
func (e *Encoding) scaleOf(norm float64) float64 {
	s := &e.settings
	target, safe := s.RowNorm+s.ClipNorm, 1-float64(len(e.Features)+16)*0x1p-53
	if target == 0 || norm < shortest || s.ClipNorm > 0 && norm <= s.ClipNorm*safe {
		return 1
	}
	return target * safe / norm
}
