package composite

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dpnb/notebooks/dpnb/internal/kernel"
)

// model is the quadratic model of the smooth terms around a point x̄,
//
//	m(x) = ⟨ḡ, x−x̄⟩ + ½(x−x̄)ᵀH(x−x̄),
//
// exact for the squared loss. All is written in x − x̄, so that solving again from the last answer refines it.
type model struct {
	d           int
	h           []float64 // d×d, in full
	centre, bar []float64 // x̄ and ḡ
	tmp         []float64
	top         float64 // estimate of λ_max(H)
	// steps is the number of products with a d×d matrix that took to minimise, factors that of Cholesky factors.
	steps, factors int
}

// minimiser finds where r is least beside a model.
type minimiser interface {
	// name is that of the method.
	name() string
	// renew says that the matrix of the model has changed, J − r being μ-strongly convex.
	renew(modulus float64)
	// minimise returns a point with a certificate of at most tol, if float64 allows, and its pair, if it knows that.
	minimise(tol, modulus float64, found *pair) []float64
}

func newModel(d int) *model {
	v := func(n int) []float64 { return make([]float64, n) }
	return &model{d: d, h: v(d * d), centre: v(d), bar: v(d), tmp: v(d)}
}

// gradient writes ḡ + H(x−x̄) to g.
func (m *model) gradient(g, x []float64) {
	floats.SubTo(m.tmp, x, m.centre)
	kernel.Margins(g, m.h, m.tmp)
	floats.Add(g, m.bar)
}

// value returns m(x), given its gradient there: ½⟨ḡ + g, x−x̄⟩.
func (m *model) value(g, x []float64) float64 {
	var sum float64
	for j, xj := range x {
		sum += (m.bar[j] + g[j]) * (xj - m.centre[j])
	}
	return 0.5 * sum
}

// estimateTop sets top by the power method. An estimate too low is raised by whoever finds that it is.
func (m *model) estimateTop() {
	m.top = powerMethod(m.h, m.d, 12)
}

// powerMethod estimates λ_max of a d×d positive semidefinite matrix from below. The start is fixed and has no symmetry
// that a matrix is likely to have.
func powerMethod(h []float64, d, steps int) float64 {
	a, b := make([]float64, d), make([]float64, d)
	for j := range a {
		a[j] = 1 + 0.5*math.Sin(1+1.7*float64(j)+0.01*float64(j*j))
	}
	var norm float64
	for range steps {
		norm = floats.Norm(a, 2)
		if !(norm > 0) {
			return 0
		}
		floats.Scale(1/norm, a)
		kernel.Margins(b, h, a)
		a, b = b, a
	}
	return floats.Norm(a, 2)
}

// factor overwrites the upper triangle of the k×k matrix a by its Cholesky factor.
func factor(a []float64, k int) (blas64.Triangular, bool) {
	return lapack64.Potrf(blas64.Symmetric{N: k, Stride: k, Data: a, Uplo: blas.Upper})
}

// solveFactored overwrites b by the solution.
func solveFactored(t blas64.Triangular, b []float64) {
	v := blas64.Vector{N: len(b), Inc: 1, Data: b}
	blas64.Trsv(blas.Trans, t, v)
	blas64.Trsv(blas.NoTrans, t, v)
}
