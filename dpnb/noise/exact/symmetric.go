package exact

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Symmetric is the noise of a symmetric d×d matrix: independent variates on the diagonal and beside it, drawn as far as
// their first digits. It may be used once.
type Symmetric struct{ diagonal, beside *Noise }

// SymmetricNormals draws the first digits of d(d + 1)/2 normal variates.
func (s *Sampler) SymmetricNormals(d int) *Symmetric {
	return &Symmetric{s.Normals(d), s.Normals(d * (d - 1) / 2)}
}

// SymmetricLaplaces draws the first digits of d(d + 1)/2 Laplace variates.
func (s *Sampler) SymmetricLaplaces(d int) *Symmetric {
	return &Symmetric{s.Laplaces(d), s.Laplaces(d * (d - 1) / 2)}
}

// AddRounded adds the noise to m, with one scale on the diagonal and one beside it, and rounds the real sums to the
// grid: see Noise.AddRounded, also for what panics.
func (n *Symmetric) AddRounded(m *mat.SymDense, diagonal, beside, grid float64) {
	d := m.SymmetricDim()
	on, off := make([]float64, 0, d), make([]float64, 0, d*(d-1)/2)
	for i := range d {
		on = append(on, m.At(i, i))
		for j := i + 1; j < d; j++ {
			off = append(off, m.At(i, j))
		}
	}
	n.diagonal.AddRounded(on, diagonal, grid)
	n.beside.AddRounded(off, beside, grid)
	for i := range d {
		m.SetSym(i, i, on[i])
		for j := i + 1; j < d; j++ {
			m.SetSym(i, j, off[0])
			off = off[1:]
		}
	}
}

// AddFrobenius adds to m, of normal variates, a matrix whose Frobenius coordinates are independent N(0, sigma²): a
// scale of σ on the diagonal and of σ/√2 beside it, rounded up. The real sums are rounded to the grid of the smaller
// scale.
func (n *Symmetric) AddFrobenius(m *mat.SymDense, sigma float64) {
	beside := sigma / math.Sqrt2 * (1 + 0x1p-50)
	n.AddRounded(m, sigma, beside, Grid(beside))
}
