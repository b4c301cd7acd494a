package frame

import (
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// sparse reports whether centred rows are kept as what they are made of: where numbers have hats, of which two are not
// zero, and where categories have hundreds of levels. Others are dense, so that a fit of stored rows, which are dense,
// has the same bits.
func (e *Encoding) sparse() bool {
	if !e.settings.Centred || e.Open() {
		return false
	}
	entries := 1
	for _, c := range e.encoders {
		if entries++; c.hats > 0 {
			entries += 2
		}
	}
	for _, x := range e.crosses {
		if entries += x.rows + x.levels; e.encoders[x.a].levels == nil { // lines, waves and hats are hardly ever 0
			entries += x.width()
		}
	}
	const few = 16
	return e.settings.Curves > 0 || few*entries < len(e.Features)
}

// entries are those of a row that are not zero.
type entries struct {
	columns []int32
	values  []float64
}

func (s *entries) add(column int, value float64) {
	s.columns, s.values = append(s.columns, int32(column)), append(s.values, value)
}

// mean is what is taken from each feature of the column (write), where it is the same for all records and not sparse.
func (e *encoder) mean(dst []float64) {
	own := dst[e.at : e.at+e.width()]
	switch {
	case e.levels != nil:
		for j := range own {
			own[j] = 1 / float64(len(own))
		}
	case e.field.Typical == nil:
		for j := range e.hats {
			own[1+j] = 1 / float64(e.hats)
		}
	}
}

// enter adds what a record has of a column to s, before the mean is taken from it, and returns the squared norm after
// that: what write writes.
func (e *encoder) enter(s *entries, v given) (square float64) {
	switch {
	case e.levels != nil:
		return e.enterLevel(s, v.place)
	case v.place == 1:
		return e.enterMissing(s)
	case e.periodic():
		var own [2 * harmonics]float64
		wave(own[:], v.share, 1)
		for j, w := range own {
			s.add(e.at+j, w)
			square += w * w
		}
		return square
	}
	return e.enterNumber(s, v.share)
}

// enterLevel is enter for place k of a category, or none.
func (e *encoder) enterLevel(s *entries, k int) (square float64) {
	if k >= 0 {
		s.add(e.at+k, 1)
		return e.longest()
	}
	for j := range e.width() { // zeros after the mean is taken
		s.add(e.at+j, 1/float64(e.width()))
	}
	return 0
}

// enterMissing is enter for a number that is missing and has an indicator of that.
func (e *encoder) enterMissing(s *entries) (square float64) {
	if e.field.Typical == nil {
		for j := range e.hats {
			s.add(e.at+1+j, 1/float64(e.hats))
		}
	}
	s.add(e.at+e.size, 1)
	return 1
}

// enterNumber is enter for the share u of a number's scale.
func (e *encoder) enterNumber(s *entries, u float64) (square float64) {
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

// shortest is the norm below which rows are scaled as if they had it: whoever is typical in everything has a row near
// zero, and what is added up has no factor of more than its inverse, so that sums are not lost in rounding.
const shortest = 1. / 32

// thin returns centred rows as what they are made of: row i is aᵢ times what enter adds less the mean, and the bias.
func (e *Encoding) thin(n int, encoders []encoder) *matrix.Affine {
	const block = 2048
	parts, scales := make([]entries, (n+block-1)/block), make([]float64, n)
	starts := make([]int, n+1)
	parallel.Each(len(parts), 0, func(b int) {
		own, part := slices.Clone(encoders), &parts[b] // each remembers its last text
		of := make([]given, len(own))
		part.columns = make([]int32, 0, block*3*len(own))
		part.values = make([]float64, 0, block*3*len(own))
		for i := b * block; i < min(n, (b+1)*block); i++ {
			before := len(part.values)
			for k := range own {
				of[k] = own[k].given(i)
			}
			scales[i] = e.scaleOf(math.Sqrt(e.enter(part, own, of)))
			starts[i+1] = len(part.values) - before
		}
	})
	return e.entered(parts, starts, scales)
}

// entered returns the rows whose entries are those of the parts, in order, with the numbers of entries in starts from
// place 1 on, and the factors that bring them to their norm.
func (e *Encoding) entered(parts []entries, starts []int, scales []float64) *matrix.Affine {
	n, d := len(scales), len(e.Features)
	mean := make([]float64, d)
	for k := range e.encoders {
		e.encoders[k].mean(mean)
	}
	for _, x := range e.crosses {
		for j := range x.width() {
			mean[x.at+j] = -x.usual(e.encoders)
		}
	}
	for i := range n {
		starts[i+1] += starts[i]
	}
	out := &matrix.CSR{N: n, D: d, Starts: starts, Columns: make([]int32, 0, starts[n]),
		Values: make([]float64, 0, starts[n])}
	for b := range parts {
		out.Columns, out.Values = append(out.Columns, parts[b].columns...), append(out.Values, parts[b].values...)
		parts[b] = entries{}
	}
	return &matrix.Affine{Base: out, A: scales, U: mean, Bias: e.Bias(), Longest: e.RowNorm}
}

// scaleOf is what a row of a norm is scaled by (scaleRow): the computed norm and the products err by less than is taken
// off.
func (e *Encoding) scaleOf(norm float64) float64 {
	s := &e.settings
	target, safe := s.RowNorm+s.ClipNorm, 1-float64(len(e.Features)+16)*0x1p-53
	if target == 0 || s.ClipNorm > 0 && norm <= s.ClipNorm*safe {
		return 1
	}
	return target * safe / math.Max(norm, shortest)
}

// Scale is where a number stands in rows before they are scaled: its line is in Feature, and (v − Lower)/Width of that
// is its share of the scale. At is the line at its typical value, or else at its lower bound.
type Scale struct {
	Feature          int
	Lower, Width, At float64
}

// detailed reports whether rows may have more than their own features.
func (e *Encoding) detailed() bool {
	return e.sparse() && e.settings.Curves > 0 && !e.settings.Additive && !e.Clipped()
}

// Scales returns those of the numbers within bounds that are not on a logarithmic scale, of rows that are kept as what
// they are made of; nil where there are to be no cells.
func (e *Encoding) Scales() (all []Scale) {
	for _, c := range e.encoders {
		if c.hats == 0 || c.field.Log || c.field.Rises != 0 || !e.detailed() {
			continue
		}
		n := Scale{Feature: c.at, Lower: -c.typical / c.reach, Width: 1 / c.reach}
		if c.field.Typical == nil {
			n.At = (0 - c.typical) / c.reach
		}
		all = append(all, n)
	}
	return all
}

// block is how many features a product with another column is made of, the first of the column: the line of a number or
// its waves, the indicators of a category.
func (e *encoder) block() int {
	switch {
	case e.levels != nil:
		return e.width()
	case e.periodic():
		return e.size
	}
	return 1
}

// longestBlock bounds the squared norm of the block, of a line by 1.
func (e *encoder) longestBlock() float64 {
	if e.levels == nil {
		return 1 + 0x1p-47
	}
	return e.longest()
}

// evenBlock is the mean square of the block, of a number that is spread evenly over its scale.
func (e *encoder) evenBlock() float64 {
	if e.levels == nil && !e.periodic() {
		return (e.typical*e.typical*e.typical + math.Pow(1-e.typical, 3)) / (3 * e.reach * e.reach)
	}
	return e.longest()
}

// Blocks returns for each column the features that a product with another column is made of: the line of a number, or
// its waves, the indicators of a category, but none of what must rise or fall; nil where there are to be none.
func (e *Encoding) Blocks() (all []matrix.Span) {
	if !e.detailed() {
		return nil
	}
	for _, c := range e.encoders {
		if c.field.Rises != 0 { // it would depend on the other column
			continue
		}
		all = append(all, matrix.Span{First: c.at, Len: c.block()})
	}
	return all
}

// TypicalProducts is the norm of the products of the Blocks of every two columns, of a row of norm 1 whose squares are
// shared among its features as in the mean of rows with numbers that are spread evenly.
func (e *Encoding) TypicalProducts() float64 {
	var all, each float64
	for _, c := range e.encoders {
		if c.field.Rises != 0 {
			continue
		}
		plain := c.evenBlock()
		all, each = all+plain, each+plain*plain
	}
	square := math.Pow(e.TypicalNorm(), 2)
	return math.Sqrt((all*all-each)/2) / square
}
