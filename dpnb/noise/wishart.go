package noise

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	lapack "gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/chisquare"
)

// Wishart draws, for simulations, W = GGᵀ, G a d × m matrix of independent N(0, 1) variates, from its triangular
// factor: W = UUᵀ with U upper triangular, independent N(0, 1) above the diagonal and U_ii² of law χ² with m − d + 1 +
// i degrees of freedom, 0 ≤ i < d. That is d(d + 1)/2 variates in place of dm, and d³/3 multiplications in place of
// d²m. It panics unless m ≥ d ≥ 1.
//
// Source: Bartlett 1933, Proceedings of the Royal Society of Edinburgh 53, 260.
func Wishart(src *Seeded, d, m int) *mat.SymDense {
	if d < 1 || m < d {
		panic(fmt.Sprintf("noise: a Wishart matrix needs 1 ≤ d ≤ m, not d = %d, m = %d", d, m))
	}
	u := make([]float64, d*d)
	one := make([]float64, 1)
	normal := func() float64 {
		src.Gaussian(one, 1)
		return one[0]
	}
	for i := range d {
		row := u[i*d : (i+1)*d]
		row[i] = math.Sqrt(chisquare.Draw(m-d+1+i, normal))
		src.Gaussian(row[i+1:], 1)
	}
	lapack.Implementation{}.Dlauum(blas.Upper, d, u, d)
	return mat.NewSymDense(d, u) // which reads the upper half
}
