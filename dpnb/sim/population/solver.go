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

// directLimit is the largest min(n, d) for which Solver factors the Hessian in
// every step; larger problems are left to erm.Minimize, which needs fewer flops.
const directLimit = 160

// Solver minimises many problems one after the other, most of them tiny, without
// what erm.Minimize spends on choosing a method. The zero value is ready; a Solver
// is for one goroutine.
//
// It is Newton's method with backtracking on
//
//	J(β) = Σᵢ f(xᵢᵀβ; yᵢ) + (λ/2)‖β‖² + bᵀβ,
//
// in the d coordinates of β where d ≤ n, and else in the n coordinates a of
// β = Xᵀa − b/λ, where the minimiser lies: with K = XXᵀ, D = diag(f″) and
// w = f′ + λa the gradient is Xᵀw and the Newton step
// −(w − D^{1/2}(λI + D^{1/2}KD^{1/2})⁻¹D^{1/2}Kw)/λ.
type Solver struct {
	beta, grad, step           []float64 // d
	slope, curv, t, dt, a, da  []float64 // n
	scaled, gram, factor, work []float64
}

// Minimize returns the minimiser of p to a gradient norm of at most tol, which is
// computed afresh from the answer and includes a bound on its rounding error. The
// answer is overwritten by the next call.
//
// Errors: *matrix.DataError for input that has no answer; erm.ErrTolerance, wrapped,
// where tol is below what float64 allows.
func (s *Solver) Minimize(p *erm.Problem, tol float64) ([]float64, error) {
	x, dense := p.Rows.(*matrix.Dense)
	if dense && p.Loss != nil && min(x.N, x.D) <= directLimit && !math.IsInf(p.Loss.Smoothness(), 1) {
		if err := p.Validate(); err != nil {
			return nil, err
		}
		s.resize(x.N, x.D)
		if x.D <= x.N {
			s.primal(p, x, tol)
		} else {
			s.dual(p, x, tol)
		}
		if s.certified(p, x) <= tol {
			return s.beta, nil
		}
	}
	// Large, or too hard for plain steps.
	set := &erm.Settings{Tolerance: tol, Workers: 1}
	sol, err := erm.Minimize(p, set)
	if err != nil {
		return nil, fmt.Errorf("population: %w", err)
	}
	return sol.Theta, nil
}

func (s *Solver) resize(n, d int) {
	for _, v := range []*[]float64{&s.beta, &s.grad, &s.step} {
		sized(v, d)
	}
	for _, v := range []*[]float64{&s.slope, &s.curv, &s.t, &s.dt, &s.a, &s.da} {
		sized(v, n)
	}
	k := min(n, d)
	sized(&s.scaled, n*d)
	sized(&s.gram, k*k)
	sized(&s.factor, k*k)
	sized(&s.work, max(n, d))
}

const newtonSteps = 60

func (s *Solver) primal(p *erm.Problem, x *matrix.Dense, tol float64) {
	n, d, lambda := x.N, x.D, p.Lambda
	clear(s.beta)
	clear(s.t)
	clear(s.da) // a belongs to the other form
	value := p.Loss.ValueSlope(s.slope, s.t, p.Labels)
	for range newtonSteps {
		for j, v := range s.beta {
			s.grad[j] = lambda * v
		}
		if p.Linear != nil {
			floats.Add(s.grad, p.Linear)
		}
		x.AddScaled(s.grad, s.slope, 0, n)
		if floats.Norm(s.grad, 2) <= 0.1*tol {
			return
		}
		p.Loss.Curvature(s.curv, s.t, p.Labels)
		for i, c := range s.curv {
			c = math.Sqrt(c)
			row := s.scaled[i*d : (i+1)*d]
			for j, v := range x.Data[i*d : (i+1)*d] {
				row[j] = c * v
			}
		}
		h := blas64.Symmetric{N: d, Stride: d, Data: s.factor, Uplo: blas.Upper}
		blas64.Syrk(blas.Trans, 1, blas64.General{Rows: n, Cols: d, Stride: d, Data: s.scaled}, 0, h)
		if !s.solveShifted(h, lambda, s.step, s.grad) {
			return
		}
		floats.Scale(-1, s.step)
		x.Margins(s.dt, s.step, 0, n)
		value = s.search(p, value, floats.Dot(s.grad, s.step), func(e float64) float64 {
			return s.quadratic(p, e)
		})
	}
}

// quadratic is (λ/2)‖β‖² + bᵀβ at β + e·step.
func (s *Solver) quadratic(p *erm.Problem, e float64) float64 {
	var sq, lin float64
	for j, v := range s.beta {
		v += e * s.step[j]
		sq += v * v
		if p.Linear != nil {
			lin += p.Linear[j] * v
		}
	}
	return 0.5*p.Lambda*sq + lin
}

// search goes along (step, dt) until J has fallen enough, and moves beta, a, t and
// slope there. derivative is that of J at the start, which is negative.
func (s *Solver) search(p *erm.Problem, value, derivative float64, quadratic func(e float64) float64) float64 {
	e := 1.0
	for {
		for i, v := range s.dt {
			s.work[i] = s.t[i] + e*v
		}
		next := p.Loss.ValueSlope(s.slope, s.work[:len(s.t)], p.Labels) + quadratic(e)
		// At the precision of J the step is Newton's and right.
		if next <= value+1e-4*e*derivative+1e-14*(1+math.Abs(value)) || e < 1e-10 {
			copy(s.t, s.work)
			floats.AddScaled(s.beta, e, s.step)
			floats.AddScaled(s.a, e, s.da)
			return next
		}
		e *= 0.5
	}
}

// solveShifted writes (H + λI)⁻¹v to dst, destroying h.
func (s *Solver) solveShifted(h blas64.Symmetric, lambda float64, dst, v []float64) bool {
	for j := range h.N {
		h.Data[j*h.Stride+j] += lambda
	}
	t, ok := lapack64.Potrf(h)
	if !ok {
		return false
	}
	copy(dst, v)
	lapack64.Potrs(t, blas64.General{Rows: h.N, Cols: 1, Stride: 1, Data: dst})
	return true
}

func (s *Solver) dual(p *erm.Problem, x *matrix.Dense, tol float64) {
	n, d, lambda := x.N, x.D, p.Lambda
	k := blas64.Symmetric{N: n, Stride: n, Data: s.gram, Uplo: blas.Upper}
	blas64.Syrk(blas.NoTrans, 1, blas64.General{Rows: n, Cols: d, Stride: d, Data: x.Data}, 0, k)
	clear(s.a)
	clear(s.beta)
	clear(s.step) // β is put together at the end
	if p.Linear != nil {
		floats.AddScaled(s.beta, -1/lambda, p.Linear)
	}
	x.Margins(s.t, s.beta, 0, n)
	vector := func(v []float64) blas64.Vector { return blas64.Vector{N: n, Inc: 1, Data: v} }
	w, kw, ka := make([]float64, n), make([]float64, n), make([]float64, n)
	value := p.Loss.ValueSlope(s.slope, s.t, p.Labels)
	for range newtonSteps {
		for i, v := range s.slope {
			w[i] = v + lambda*s.a[i]
		}
		blas64.Symv(1, k, vector(w), 0, vector(kw))
		if math.Sqrt(math.Max(0, floats.Dot(w, kw))) <= 0.1*tol {
			break
		}
		p.Loss.Curvature(s.curv, s.t, p.Labels)
		for i, c := range s.curv {
			s.curv[i] = math.Sqrt(c)
		}
		for i := range n {
			for j := i; j < n; j++ {
				s.factor[i*n+j] = s.curv[i] * s.curv[j] * s.gram[i*n+j]
			}
			s.da[i] = s.curv[i] * kw[i]
		}
		if !s.solveShifted(blas64.Symmetric{N: n, Stride: n, Data: s.factor, Uplo: blas.Upper}, lambda, s.da, s.da) {
			break
		}
		for i := range n {
			s.da[i] = (s.curv[i]*s.da[i] - w[i]) / lambda
		}
		blas64.Symv(1, k, vector(s.da), 0, vector(s.dt))
		blas64.Symv(1, k, vector(s.a), 0, vector(ka))
		// (λ/2)aᵀKa along the step, up to a constant that value contains too.
		aka, akd, dkd := floats.Dot(s.a, ka), floats.Dot(s.da, ka), floats.Dot(s.da, s.dt)
		value = s.search(p, value, floats.Dot(w, s.dt), func(e float64) float64 {
			return 0.5 * lambda * (aka + e*(2*akd+e*dkd))
		})
	}
	x.AddScaled(s.beta, s.a, 0, n)
}

// certified returns ‖∇J(β)‖ as computed anew plus a bound on its rounding error:
// with u = 2⁻⁵³ each score is off by at most (d+2)u‖xᵢ‖‖β‖ and each slope by sup f″
// times that and what the loss says; the sums of n + 2 terms add (n+4)u of what
// they add up.
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
