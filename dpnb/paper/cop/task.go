package cop

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/noise"
)

// Settings of the experiments of section 5 and appendix B.7 of cop.
var (
	// Star is θ⋆ of the base case, Centre the mean of the entries of A, by rows; in d = 5k dimensions both stand k
	// times side by side.
	Star   = []float64{0.5, -0.5, 1, -1, 1}
	Centre = [3][5]float64{{1, 0.5, 0, 0, 1}, {0.5, 0.5, 0, 0, 1}, {0, 0, -0.5, 0, 1}}
	// Epsilons, Counts and Dimensions of Figures 5, 7 and 8 and of Table 3.
	Epsilons   = []float64{0.2, 0.5, 1, 5}
	Counts     = []int{100, 500, 1000, 2000}
	Dimensions = []int{5, 10, 20, 30}
)

const (
	// Delta of the experiments here; cop does not print its own.
	Delta = 1e-5
	// forms is m, the residuals of a record.
	forms = 3
)

// Design is a law of records (y, A), A of m = 3 rows, y ~ N(Aθ⋆, I₃), and a loss of the residuals y − Aθ.
type Design struct {
	Loss Bent
	// Dimension d is a multiple of 5.
	Dimension int
	// Fixed is the experiment of Figure 7: every A is Centre. Else its entries are N(Centre, 1), and records (y, A)
	// with ‖A‖₂ > Norm are scaled down to it, without which no guarantee holds (docs/errata.md, cop-15).
	Fixed bool
}

// Star returns θ⋆, which minimises the population risk.
func (d Design) Star() []float64 {
	theta := make([]float64, d.Dimension)
	for j := range theta {
		theta[j] = Star[j%len(Star)]
	}
	return theta
}

// copies is k, d = 5k.
func (d Design) copies() float64 { return float64(d.Dimension) / 5 }

// Norm returns Ā, a public bound on ‖A‖₂: 4√k for d = 5k; if A is fixed, its norm.
func (d Design) Norm() float64 {
	if d.Fixed {
		return fixedNorm * math.Sqrt(d.copies())
	}
	return 4 * math.Sqrt(d.copies())
}

// fixedNorm is ‖Centre‖₂, rounded up; its Frobenius norm is √5.
const fixedNorm = 2.0764871

// Radius returns R_θ = 2√k, public, which is larger than ‖θ⋆‖.
func (d Design) Radius() float64 { return 2 * math.Sqrt(d.copies()) }

// Slope returns a bound on the norm of a record's gradient, Ā times that of the loss.
func (d Design) Slope() float64 { return d.Norm() * d.Loss.Lipschitz(forms) }

// matrix draws A into a (3 × d), scaled by the s ≤ 1 that it returns: y ~ N(Aθ⋆, s²I).
func (d Design) matrix(a []float64, src *noise.Seeded) float64 {
	if !d.Fixed {
		src.Gaussian(a, 1)
	} else {
		clear(a)
	}
	for i := range a {
		a[i] += Centre[i/d.Dimension][i%d.Dimension%5]
	}
	if d.Fixed {
		return 1
	}
	s := math.Min(1, d.Norm()/spectral(mat.NewDense(forms, d.Dimension, a)))
	floats.Scale(s, a)
	return s
}

// spectral returns ‖A‖₂, the largest singular value; mat.Norm(a, 2) is Frobenius's norm.
func spectral(a mat.Matrix) float64 {
	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDNone) {
		return math.Inf(1)
	}
	return svd.Values(nil)[0]
}

// Records are n records of a Design.
type Records struct {
	Design
	N int
	// A has the 3n rows one after the other, Y the 3n numbers.
	A, Y []float64
	best func() (Minimum, error)
}

// Draw returns n records.
func (d Design) Draw(n int, src *noise.Seeded) *Records {
	r := &Records{Design: d, N: n, A: make([]float64, forms*n*d.Dimension), Y: make([]float64, forms*n)}
	star := d.Star()
	src.Gaussian(r.Y, 1)
	for i := range n {
		a, y := r.record(i)
		s := d.matrix(a, src)
		for j := range y {
			y[j] = s*y[j] + floats.Dot(a[j*d.Dimension:(j+1)*d.Dimension], star)
		}
	}
	r.best = sync.OnceValues(func() (Minimum, error) { return r.minimise() })
	return r
}

// record returns A and y of record i.
func (r *Records) record(i int) (a, y []float64) {
	return r.A[forms*i*r.Dimension : forms*(i+1)*r.Dimension], r.Y[forms*i : forms*(i+1)]
}

// residuals writes y − Aθ of record i to u.
func (r *Records) residuals(u, theta []float64, i int) (a []float64) {
	a, y := r.record(i)
	for j := range u {
		u[j] = y[j] - floats.Dot(a[j*r.Dimension:(j+1)*r.Dimension], theta)
	}
	return a
}

// addGradient adds the gradient of record i at θ, −Aᵀ·(a subgradient at u), to sum.
func (r *Records) addGradient(sum, theta []float64, i int) {
	var g, u [forms]float64
	a := r.residuals(u[:], theta, i)
	r.Loss.Slope(g[:], u[:])
	for j, v := range g {
		if v != 0 {
			for l, x := range a[j*r.Dimension : (j+1)*r.Dimension] {
				sum[l] -= v * x
			}
		}
	}
}

// Risk returns the mean loss of the records at θ.
func (r *Records) Risk(theta []float64) float64 {
	var g, u [forms]float64
	sum := 0.0
	for i := range r.N {
		r.residuals(u[:], theta, i)
		sum += r.Loss.Slope(g[:], u[:])
	}
	return sum / float64(r.N)
}

// Best returns the fit without privacy, computed once.
func (r *Records) Best() (Minimum, error) { return r.best() }

// Excess returns the empirical risk of θ less the smallest one.
func (r *Records) Excess(theta []float64) (float64, error) {
	if len(theta) != r.Dimension {
		return 0, fmt.Errorf("cop: %d coefficients in %d dimensions", len(theta), r.Dimension)
	}
	best, err := r.Best()
	return r.Risk(theta) - best.Risk, err
}

// Population is the law of a Design for its risk: matrices A, over which the risk, in closed form given A, is averaged.
type Population struct {
	Design
	a, scale []float64 // 3n rows, and each record's s
	star     float64
}

// populationSize is how many A the population risk is averaged over: the same ones for every θ, so that differences of
// risks err by far less than the risks.
const populationSize = 1000

// Population draws the matrices; the fixed one needs no draw.
func (d Design) Population(src *noise.Seeded) *Population {
	n := populationSize
	if d.Fixed {
		n = 1
	}
	p := &Population{Design: d, a: make([]float64, n*forms*d.Dimension)}
	for i := 0; i < len(p.a); i += forms * d.Dimension {
		p.scale = append(p.scale, d.matrix(p.a[i:i+forms*d.Dimension], src))
	}
	p.star = p.Risk(d.Star())
	return p
}

// Risk returns F(θ) = E f(A(θ⋆ − θ) + sN), the expectation over N exactly.
func (p *Population) Risk(theta []float64) float64 {
	delta := p.Star()
	for j, v := range theta {
		delta[j] -= v
	}
	var g, u [forms]float64
	sum, at := 0.0, 0
	for _, s := range p.scale {
		for j := range u {
			u[j] = floats.Dot(p.a[at:at+p.Dimension], delta)
			at += p.Dimension
		}
		sum += p.Loss.Blur(s).Bend(g[:], nil, u[:])
	}
	return sum / float64(len(p.scale))
}

// Relative returns the relative risk (F(θ) − F(θ⋆))/F(θ⋆) of Figures 5, 7 and 8.
func (p *Population) Relative(theta []float64) float64 { return p.Risk(theta)/p.star - 1 }

// Minimum is a point of the least risk.
type Minimum struct {
	Theta []float64
	// Risk at Theta; no point has less than Risk − Gap.
	Risk, Gap float64
}

// tilted is J(θ) = Σᵢ f(yᵢ − Aᵢθ) + (λ/2)‖θ‖² + bᵀθ.
type tilted struct {
	*Records
	Smooth
	Lambda float64
	Linear []float64
}

// at returns J(θ), and writes its gradient, and its Hessian unless hess is nil.
func (o *tilted) at(theta, grad []float64, hess *mat.SymDense) float64 {
	d := o.Dimension
	var g, u [forms]float64
	var h [forms * forms]float64
	var bends []float64
	if hess != nil {
		bends = h[:]
		hess.Zero()
	}
	value := 0.0
	for j, t := range theta {
		grad[j] = o.Lambda*t + o.Linear[j]
		value += 0.5*o.Lambda*t*t + o.Linear[j]*t
		if hess != nil {
			hess.SetSym(j, j, o.Lambda)
		}
	}
	for i := range o.N {
		a := o.residuals(u[:], theta, i)
		value += o.Bend(g[:], bends, u[:])
		for j, v := range g {
			floats.AddScaled(grad, -v, a[j*d:(j+1)*d])
		}
		if hess == nil {
			continue
		}
		raw := hess.RawSymmetric()
		for j := range forms {
			for l := range forms {
				if c := h[j*forms+l]; c != 0 {
					for p, x := range a[j*d : (j+1)*d] {
						floats.AddScaled(raw.Data[p*raw.Stride+p:p*raw.Stride+d], c*x, a[l*d+p:(l+1)*d])
					}
				}
			}
		}
	}
	return value
}

// errNotMinimised is the error of a solver that stops above its tolerance.
var errNotMinimised = errors.New("cop: the minimiser was not found to the tolerance")

// search moves theta to the least of J along theta − t·step, t > 0, and returns t. J′ along the line rises; a t at
// which it is half as large as at 0 or less is bracketed and then found by false position (Illinois), Newton's t = 1
// first.
func (o *tilted) search(theta, step []float64) float64 {
	from, along := make([]float64, forms*o.N), make([]float64, forms*o.N)
	for i := range o.N {
		a := o.residuals(from[forms*i:forms*(i+1)], theta, i)
		for j := range forms {
			along[forms*i+j] = floats.Dot(a[j*o.Dimension:(j+1)*o.Dimension], step)
		}
	}
	var still, moving float64 // of the quadratic part
	for j, s := range step {
		still -= s * (o.Lambda*theta[j] + o.Linear[j])
		moving += o.Lambda * s * s
	}
	slope := func(t float64) float64 {
		var g, u [forms]float64
		sum := still + t*moving
		for i := range o.N {
			for j := range u {
				u[j] = from[forms*i+j] + t*along[forms*i+j]
			}
			o.Bend(g[:], nil, u[:])
			sum += floats.Dot(g[:], along[forms*i:forms*(i+1)])
		}
		return sum
	}
	start := slope(0)
	if !(start < 0) {
		return 0
	}
	lo, hi, below, above := 0.0, 1.0, start, slope(1)
	for above < 0.5*start && hi < 0x1p60 {
		lo, below, hi = hi, above, 4*hi
		above = slope(hi)
	}
	best, found := hi, above
	for k := 0; k < 60 && math.Abs(found) > -0.5*start && hi-lo > 1e-15*hi; k++ {
		best = (lo*above - hi*below) / (above - below)
		if found = slope(best); found > 0 {
			hi, above, below = best, found, below/2
		} else {
			lo, below, above = best, found, above/2
		}
	}
	floats.AddScaled(theta, -best, step)
	return best
}

// minimise runs Newton's method with an exact line search from theta, in place, until ‖∇J‖ ≤ tolerance, and returns
// that norm. With λ > 0 the minimiser is within ‖∇J‖/λ.
func (o *tilted) minimise(theta []float64, tolerance float64) (norm float64, err error) {
	d := o.Dimension
	grad := make([]float64, d)
	hess := mat.NewSymDense(d, nil)
	step := mat.NewVecDense(d, nil)
	for range 400 {
		o.at(theta, grad, hess)
		if norm = floats.Norm(grad, 2); norm <= tolerance {
			return norm, nil
		}
		// Where no record bends, the Hessian is nearly singular; a damped one has a step.
		var chol mat.Cholesky
		for damp := 0.0; !chol.Factorize(hess); damp = math.Max(2*damp, 1e-12*mat.Trace(hess)+1e-300) {
			for j := range d {
				hess.SetSym(j, j, hess.At(j, j)+damp)
			}
		}
		if err := chol.SolveVecTo(step, mat.NewVecDense(d, grad)); err != nil {
			var ill mat.Condition
			if !errors.As(err, &ill) {
				return norm, err
			}
		}
		if o.search(theta, step.RawVector().Data) == 0 {
			break
		}
	}
	return norm, errNotMinimised
}

// minimise returns the fit without privacy. The envelope e_w of the loss, w small, has f − w′ ≤ e_w ≤ f with w′ = Gap:
// so the least of Σe_w, which Newton's method finds to what its gradient and a ball certify, is a lower bound for that
// of Σf.
func (r *Records) minimise() (Minimum, error) {
	theta := make([]float64, r.Dimension)
	best := Minimum{Risk: math.Inf(1)}
	for w := 1.0; w > 1e-6; w *= 0.2 {
		// A ridge so small that it moves the risk by less than the envelope does.
		o := tilted{Records: r, Smooth: r.Loss.Envelope(w), Lambda: 1e-6 * w * float64(r.N),
			Linear: make([]float64, r.Dimension)}
		norm, err := o.minimise(theta, 1e-3*w*float64(r.N))
		if err != nil {
			return best, err
		}
		n := float64(r.N)
		least := (o.at(theta, make([]float64, r.Dimension), nil) - norm*norm/(2*o.Lambda)) / n
		// The ridge at the minimiser of Σf, which is taken to lie within ten times R_θ.
		least -= 0.5 * o.Lambda / n * 100 * r.Radius() * r.Radius()
		if risk := r.Risk(theta); risk-least < best.Gap || math.IsInf(best.Risk, 1) {
			best = Minimum{append([]float64(nil), theta...), risk, risk - least}
		}
	}
	return best, nil
}
