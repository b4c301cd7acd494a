package composite

import (
	"math"
	"slices"
	"sync"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Affine is C = {θ : Aθ = b}, the rows of A independent. Create it with NewAffine.
type Affine struct {
	k, d  int
	a     []float64 // row by row
	b     []float64
	norms []float64
	tri   blas64.Triangular // of AAᵀ
	// least is a proven lower bound on the least singular value of A.
	least float64
	pool  *sync.Pool
}

// NewAffine returns {θ : Aθ = b}.
//
// Shapes: a is k×d with k ≤ d, b has length k.
// Errors: *matrix.DataError, also if the rows are not provably independent.
func NewAffine(a mat.Matrix, b []float64) (*Affine, error) {
	k, d := a.Dims()
	if k > d || len(b) != k {
		return nil, dataError("A is %d×%d and b has length %d: want no more rows than columns, and one b for each",
			k, d, len(b))
	}
	c := &Affine{k: k, d: d, a: make([]float64, k*d), b: slices.Clone(b), norms: make([]float64, k)}
	gram := mat.NewSymDense(k, nil)
	var trace float64
	for i := range k {
		mat.Row(c.row(i), i, a)
		c.norms[i] = floats.Norm(c.row(i), 2) * (1 + edge(d))
		trace += c.norms[i] * c.norms[i]
		for j := range i + 1 {
			gram.SetSym(i, j, floats.Dot(c.row(i), c.row(j)))
		}
	}
	if !matrix.Finite(c.a...) || !matrix.Finite(c.b...) {
		return nil, dataError("A or b has an entry that is not finite")
	}
	// The computed AAᵀ errs by at most (d+2)u‖aᵢ‖‖aⱼ‖ in each entry, by (d+2)u·trace in norm.
	square, ok := LeastEigenvalue(gram)
	if square -= edge(d) * trace; !ok || !(square > 1e-12*trace) {
		return nil, dataError("the rows of A depend on each other, or nearly so: leave out those that follow from " +
			"others")
	}
	c.least = math.Sqrt(square) * (1 - 4*unit)
	c.tri, ok = factor(gram.RawSymmetric().Data, k)
	if !ok {
		return nil, dataError("the rows of A depend on each other")
	}
	c.pool = &sync.Pool{New: func() any { return &affineWork{make([]float64, k)} }}
	return c, nil
}

type affineWork struct{ y []float64 }

func (c *Affine) row(i int) []float64 { return c.a[i*c.d : (i+1)*c.d] }

// miss returns ‖Aθ − b‖ and a bound on the error of that.
func (c *Affine) miss(theta []float64) (miss, rounding float64) {
	size := floats.Norm(theta, 2)
	for i := range c.k {
		miss = math.Hypot(miss, floats.Dot(c.row(i), theta)-c.b[i])
		rounding += edge(c.d) * (c.norms[i]*size + math.Abs(c.b[i]))
	}
	return miss, rounding
}

// Name returns "affine subspace".
func (*Affine) Name() string { return "affine subspace" }

// Validate checks d.
func (c *Affine) Validate(d int) error {
	if c.pool == nil || d != c.d {
		return dataError("the affine subspace is one of %d coordinates, not of d = %d: make it with NewAffine", c.d, d)
	}
	return nil
}

// Contains grants the rounding of a projection: some hundred times that of Aθ.
func (c *Affine) Contains(theta []float64) bool {
	miss, rounding := c.miss(theta)
	return miss <= 100*rounding
}

// Project is v − Aᵀ(AAᵀ)⁻¹(Av − b), made twice, against rounding.
func (c *Affine) Project(dst, v []float64) {
	w := c.pool.Get().(*affineWork)
	defer c.pool.Put(w)
	copy(dst, v)
	for range 2 {
		for i := range c.k {
			w.y[i] = floats.Dot(c.row(i), dst) - c.b[i]
		}
		solveFactored(c.tri, w.y)
		for i, y := range w.y {
			floats.AddScaled(dst, -y, c.row(i))
		}
	}
}

// Nearest projects v on the span of the rows of A, the normals at every point.
func (c *Affine) Nearest(dst, v, _ []float64) { c.span(dst, v) }

// Gap moves v to that span; what is left to gain is what θ is off C.
func (c *Affine) Gap(v, theta []float64) (slack, rounding float64) {
	rounding = c.span(v, v)
	return floats.Norm(v, 2) * (1 + edge(c.d)) * c.shift(theta), rounding
}

// span writes Aᵀy with y = (AAᵀ)⁻¹Av to dst and returns a bound on its error.
func (c *Affine) span(dst, v []float64) (rounding float64) {
	w := c.pool.Get().(*affineWork)
	defer c.pool.Put(w)
	for i := range c.k {
		w.y[i] = floats.Dot(c.row(i), v)
	}
	solveFactored(c.tri, w.y)
	clear(dst)
	for i, y := range w.y {
		floats.AddScaled(dst, y, c.row(i))
		rounding += float64(c.k+8) * unit * math.Abs(y) * c.norms[i]
	}
	return rounding
}

// shift bounds the distance of θ from C by (‖Aθ − b‖ + rounding)/σ_min(A).
func (c *Affine) shift(theta []float64) float64 {
	miss, rounding := c.miss(theta)
	return (miss*(1+edge(c.k)) + rounding) / c.least
}
