package population

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// dualLimit is the largest n for which Solver factors an n × n matrix in every step.
const dualLimit = 160

// Solver minimises many problems one after the other, most of them tiny. With fewer records than features it needs a
// tenth of the time of erm.Minimize, to which it leaves the others. The zero value is ready; a Solver is for one
// goroutine.
//
// It is Newton's method with backtracking on
//
//	J(β) = Σᵢ f(xᵢᵀβ; yᵢ) + (λ/2)‖β‖² + bᵀβ,
//
// in the n coordinates a of β = Xᵀa − b/λ, where the minimiser lies: with K = XXᵀ, D = diag(f″) and w = f′ + λa the
// gradient is Xᵀw and the Newton step −(w − D^{1/2}(λI + D^{1/2}KD^{1/2})⁻¹D^{1/2}Kw)/λ.
type Solver struct {
	beta, grad                []float64 // d
	slope, curv, t, dt, a, da []float64 // n
	w, kw, ka, next           []float64 // n
	gram, factor              []float64 // n × n
}

// Minimize returns the minimiser of p to a gradient norm of at most tol, which is computed afresh from the answer and
// includes a bound on its rounding error. The answer is overwritten by the next call.
//
// Errors: *matrix.DataError for input that has no answer; erm.ErrTolerance, wrapped, where tol is below what float64
// allows.
func (s *Solver) Minimize(p *erm.Problem, tol float64) ([]float64, error) {
	x, dense := p.Rows.(*matrix.Dense)
	if dense && p.Loss != nil && x.N < x.D && x.N <= dualLimit && !math.IsInf(p.Loss.Smoothness(), 1) {
		if err := p.Validate(); err != nil {
			return nil, err
		}
		s.dual(p, x, tol)
		if s.certified(p, x) <= tol {
			return s.beta, nil
		}
	}
	set := &erm.Settings{Tolerance: tol, Workers: 1}
	sol, err := erm.Minimize(p, set)
	if err != nil {
		return nil, fmt.Errorf("population: %w", err)
	}
	return sol.Theta, nil
}

const newtonSteps = 60

func (s *Solver) dual(p *erm.Problem, x *matrix.Dense, tol float64) {
	n, d, lambda := x.N, x.D, p.Lambda
	for _, v := range []*[]float64{&s.beta, &s.grad} {
		sized(v, d)
	}
	for _, v := range []*[]float64{&s.slope, &s.curv, &s.t, &s.dt, &s.a, &s.da, &s.w, &s.kw, &s.ka, &s.next} {
		sized(v, n)
	}
	vector := func(v []float64) blas64.Vector { return blas64.Vector{N: n, Inc: 1, Data: v} }
	symmetric := func(v *[]float64) blas64.Symmetric {
		return blas64.Symmetric{N: n, Stride: n, Data: sized(v, n*n), Uplo: blas.Upper}
	}
	k, h := symmetric(&s.gram), symmetric(&s.factor)
	blas64.Syrk(blas.NoTrans, 1, blas64.General{Rows: n, Cols: d, Stride: d, Data: x.Data}, 0, k)
	clear(s.a)
	clear(s.beta)
	if p.Linear != nil {
		floats.AddScaled(s.beta, -1/lambda, p.Linear)
	}
	x.Margins(s.t, s.beta, 0, n)
	value := p.Loss.ValueSlope(s.slope, s.t, p.Labels)
	for range newtonSteps {
		floats.AddScaledTo(s.w, s.slope, lambda, s.a)
		blas64.Symv(1, k, vector(s.w), 0, vector(s.kw))
		if math.Sqrt(math.Max(0, floats.Dot(s.w, s.kw))) <= 0.1*tol {
			break
		}
		p.Loss.Curvature(s.curv, s.t, p.Labels)
		for i, c := range s.curv {
			s.curv[i] = math.Sqrt(c)
		}
		for i := range n {
			for j := i; j < n; j++ {
				h.Data[i*n+j] = s.curv[i] * s.curv[j] * k.Data[i*n+j]
			}
			h.Data[i*n+i] += lambda
			s.da[i] = s.curv[i] * s.kw[i]
		}
		factor, ok := lapack64.Potrf(h)
		if !ok {
			break
		}
		lapack64.Potrs(factor, blas64.General{Rows: n, Cols: 1, Stride: 1, Data: s.da})
		for i := range n {
			s.da[i] = (s.curv[i]*s.da[i] - s.w[i]) / lambda
		}
		blas64.Symv(1, k, vector(s.da), 0, vector(s.dt))
		blas64.Symv(1, k, vector(s.a), 0, vector(s.ka))
		value = s.search(p, value)
	}
	x.AddScaled(s.beta, s.a, 0, n)
}

// search goes along (da, dt) until J has fallen enough, and moves a, t and slope there.
func (s *Solver) search(p *erm.Problem, value float64) float64 {
	// (λ/2)aᵀKa along the step, up to a constant that value contains too.
	aka, akd, dkd := floats.Dot(s.a, s.ka), floats.Dot(s.da, s.ka), floats.Dot(s.da, s.dt)
	derivative := floats.Dot(s.w, s.dt)
	for e := 1.0; ; e *= 0.5 {
		floats.AddScaledTo(s.next, s.t, e, s.dt)
		next := p.Loss.ValueSlope(s.slope, s.next, p.Labels) + 0.5*p.Lambda*(aka+e*(2*akd+e*dkd))
		// At the precision of J the step is Newton's and right.
		if next <= value+1e-4*e*derivative+1e-14*(1+math.Abs(value)) || e < 1e-10 {
			s.t, s.next = s.next, s.t
			floats.AddScaled(s.a, e, s.da)
			return next
		}
	}
}

// certified returns ‖∇J(β)‖ as computed anew plus a bound on its rounding error: with u = 2⁻⁵³ each score is off by at
// most (d+2)u‖xᵢ‖‖β‖ and each slope by sup f″ times that and what the loss says; the sums of n + 2 terms add (n+4)u of
// what they add up.
func (s *Solver) certified(p *erm.Problem, x *matrix.Dense) float64 {
	const u = 1.0 / (1 << 53)
	n, d := float64(x.N), float64(x.D)
	x.Margins(s.t, s.beta, 0, x.N)
	p.Loss.ValueSlope(s.slope, s.t, p.Labels)
	for j, v := range s.beta {
		s.grad[j] = p.Lambda * v
	}
	linear := 0.0
	if p.Linear != nil {
		floats.Add(s.grad, p.Linear)
		linear = floats.Norm(p.Linear, 2)
	}
	x.AddScaled(s.grad, s.slope, 0, x.N)
	norm := floats.Norm(x.Data, 2) // Frobenius, above the spectral
	beta, slope := floats.Norm(s.beta, 2), floats.Norm(s.slope, 2)
	off := p.Loss.Smoothness()*(d+2)*u*norm*beta + 8*u*slope + math.Sqrt(n)*loss.SlopeError(p.Loss)
	rounding := norm*off + (n+4)*u*(norm*slope+p.Lambda*beta+linear)
	return (floats.Norm(s.grad, 2) + rounding) * (1 + (n+d)*u)
}
