package matrix

import (
	"math"
	"sort"
)

// Part is the rows Lo ≤ i < Hi of some.
type Part struct {
	Rows
	Lo, Hi int
}

// Stacked is rows below each other that are kept apart. What is computed of a block of them has the bits of the same
// rows in one matrix: of a block that lies across a border the rows are copied, at most MaxBlock at a time.
type Stacked struct {
	parts []Part
	ends  []int // where each part ends
	n, d  int
}

// Stack returns the rows of all parts, which are of d features. It panics if they are not.
func Stack(d int, parts ...Part) *Stacked {
	s := &Stacked{d: d}
	for _, p := range parts {
		if p.Lo >= p.Hi {
			continue
		}
		if n, width := p.Dims(); width != d || p.Lo < 0 || p.Hi > n {
			panic("matrix: a part of other rows")
		}
		s.n += p.Hi - p.Lo
		s.parts, s.ends = append(s.parts, p), append(s.ends, s.n)
	}
	return s
}

// Dims implements Rows.
func (s *Stacked) Dims() (n, d int) { return s.n, s.d }

// at returns the part that has row i, and what its rows are numbered higher by than those of s.
func (s *Stacked) at(i int) (p *Part, plus int) {
	k := sort.SearchInts(s.ends, i+1)
	p = &s.parts[k]
	return p, p.Hi - s.ends[k]
}

// each calls use with the rows lo ≤ i < hi, which are the rows from+plus on of r, block by block.
func (s *Stacked) each(lo, hi int, use func(r Rows, from, to, plus int)) {
	for from := lo; from < hi; from += MaxBlock {
		to := min(from+MaxBlock, hi)
		if p, plus := s.at(from); to+plus <= p.Hi {
			use(p.Rows, from, to, plus)
			continue
		}
		block := NewDense(to-from, s.d, nil)
		for i := range block.N {
			s.Row(block.Data[i*s.d:(i+1)*s.d], from+i)
		}
		use(block, from, to, -from)
	}
}

// Margins implements Rows.
func (s *Stacked) Margins(dst, theta []float64, lo, hi int) {
	s.each(lo, hi, func(r Rows, from, to, plus int) { r.Margins(dst[from-lo:to-lo], theta, from+plus, to+plus) })
}

// AddScaled implements Rows.
func (s *Stacked) AddScaled(dst, w []float64, lo, hi int) {
	s.each(lo, hi, func(r Rows, from, to, plus int) { r.AddScaled(dst, w[from-lo:to-lo], from+plus, to+plus) })
}

// Norms implements Rows.
func (s *Stacked) Norms(dst []float64, lo, hi int) {
	s.each(lo, hi, func(r Rows, from, to, plus int) { r.Norms(dst[from-lo:to-lo], from+plus, to+plus) })
}

// Row implements Rows.
func (s *Stacked) Row(dst []float64, i int) {
	p, plus := s.at(i)
	p.Rows.Row(dst, i+plus)
}

// MaxNorm returns the norm of the longest row, or a bound that the parts know: of all of their rows, in a part or not.
func (s *Stacked) MaxNorm() (most float64) {
	for _, p := range s.parts {
		if known, ok := p.Rows.(interface{ MaxNorm() float64 }); ok {
			most = math.Max(most, known.MaxNorm()) // NaN stays NaN
		} else {
			most = math.Max(most, longest(p.Rows, 0))
		}
	}
	return most
}
