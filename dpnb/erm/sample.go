package erm

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/matrix"
)

const (
	// minSample is the least number of records in a sample.
	minSample = 1000
	// sampleBytes bounds the memory for a sample of records that are not in memory.
	sampleBytes = 64 << 20
)

// sampleSize returns how many records the metric is built from, and the start is found on. The relative error of the
// metric is about 2√(d/m); its price, m·d² multiplications at ten times the speed of a pass over memory, is held to
// about three passes, its memory to a quarter of the records', and to a fortieth if they are many.
func sampleSize(n, d, nonzeros int) int {
	m := max(80*d, n/40)
	m = min(m, 30*nonzeros/(d*d))
	return min(n, max(m, 4*d, minSample))
}

// sampled returns the problem over m evenly spaced records of p, divided by n/m, so that its rows, being copied, lie
// side by side:
//
//	Σ_sample f + (m/n)·[(λ/2)‖θ‖² + ½Σωⱼθⱼ² + ½(θ−c)ᵀQ(θ−c) + bᵀθ].
//
// Its minimiser is near that of p.
func (p *Problem) sampled(m int) *Problem {
	n, _ := p.forms()[0].rows.Dims()
	share := float64(m) / float64(n)
	s := &Problem{Labels: make([]float64, m), Loss: p.Loss, Joint: p.Joint, Lambda: p.Lambda * share}
	index := make([]int, m)
	for k := range index {
		index[k] = int((int64(k)*2 + 1) * int64(n) / int64(2*m))
	}
	if source, ok := p.Rows.(Source); ok {
		s.Rows, s.Labels = sampleOf(source, index)
	} else {
		mapped, _ := p.Rows.(interface{ Done(lo, hi int) })
		held := 0
		for k, i := range index {
			s.Labels[k] = p.Labels[i]
			if mapped != nil && i-held >= labelsHeld {
				mapped.Done(held, i)
				held = i
			}
		}
		if p.Rows != nil {
			s.Rows = selected(p.Rows, index)
		}
	}
	for _, rows := range p.Forms {
		s.Forms = append(s.Forms, selected(rows, index))
	}
	s.Linear, s.Shrinkage, s.Centre = times(p.Linear, share), times(p.Shrinkage, share), p.Centre
	if p.Quadratic != nil {
		s.Quadratic = new(mat.SymDense)
		s.Quadratic.ScaleSym(share, p.Quadratic)
	}
	return s
}

// selected returns a copy of the given rows.
func selected(rows matrix.Rows, index []int) matrix.Rows {
	if sparse, ok := rows.(*matrix.CSR); ok {
		return sparse.Select(index)
	}
	return matrix.Copied(rows, index)
}

// times returns a new slice c·v, nil if v is.
func times(v []float64, c float64) []float64 {
	if v == nil {
		return nil
	}
	return floats.ScaleTo(make([]float64, len(v)), c, v)
}
