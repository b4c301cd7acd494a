package rkw23

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// bowl is ℓ(θ) = L√(w² + ‖θ − c‖²), w = L/β: convex, ‖∇ℓ‖ < L, ∇²ℓ ⪯ βI of full rank, and no function of one linear
// form of θ.
type bowl struct {
	centre      []float64
	slope, beta float64
}

// derivatives returns ∇ℓ and ∇²ℓ at θ.
func (b bowl) derivatives(theta []float64) ([]float64, *mat.SymDense) {
	d := len(theta)
	v := make([]float64, d)
	floats.SubTo(v, theta, b.centre)
	root := math.Hypot(b.slope/b.beta, floats.Norm(v, 2))
	h := mat.NewSymDense(d, nil)
	for j := range d {
		h.SetSym(j, j, b.slope/root)
	}
	h.SymRankOne(h, -b.slope/(root*root*root), mat.NewVecDense(d, v))
	floats.Scale(b.slope/root, v)
	return v, h
}

// lossFormula is a formula for log p_Z(θ)/p_{Z±z}(θ), sign +1 if z is added, from ∇J and H = ∇²J under Z and ∇ℓ and E =
// ∇²ℓ of z.
type lossFormula func(sign float64, gradJ, gradL []float64, h, e *mat.SymDense, sigma float64) float64

// perInstanceLoss is Theorem G.1, with ∇b = −∇²J, as b = −∇J.
func perInstanceLoss(sign float64, gradJ, gradL []float64, h, e *mat.SymDense, sigma float64) float64 {
	d := len(gradJ)
	values, vectors, ok := matrix.Eigen(e)
	measure.Ensure(ok, "claim: the eigenvalues of the Hessian were not found")
	a := mat.NewSymDense(d, nil)
	a.ScaleSym(-1, h)
	var logs float64
	for j, value := range values {
		u := mat.VecDenseCopyOf(vectors.ColView(j))
		var solved mat.VecDense
		measure.Try(solved.SolveVec(a, u))
		logs -= math.Log1p(-sign * value * mat.Dot(u, &solved))
		a.SymRankOne(a, -sign*value, u)
	}
	s2 := sigma * sigma
	return logs + floats.Dot(gradL, gradL)/(2*s2) + sign*floats.Dot(gradJ, gradL)/s2
}

// otherFormula is Theorem G.1 with ∇²J times a factor and another sign, to see the check fail.
func otherFormula(hessian, sign float64) lossFormula {
	return func(added float64, gradJ, gradL []float64, h, e *mat.SymDense, sigma float64) float64 {
		var scaled mat.SymDense
		scaled.ScaleSym(hessian, h)
		return perInstanceLoss(sign*added, gradJ, gradL, &scaled, e, sigma)
	}
}

func glmOversight(run measure.Run, formula lossFormula) claim.Outcome {
	rng := noise.NewSeeded(66)
	worst := formulaError(formula, rng.Stream(0))
	draws := measure.Sized(run.Size, 1000, 50_000)
	const eps, delta = 1.0, 1e-5
	var mean float64
	heads := 0
	for k := range measure.To(run, draws) {
		src := rng.Stream(k + 1)
		loss, alignment := scattered{dimension: 400, slope: 1, beta: 1, lambda: 2 / eps,
			sigma: math.Sqrt(8*math.Log(2/delta)+4*eps) / eps}.draw(src)
		mean += alignment / float64(draws)
		// A coin of the probability (1 − e^{ε−loss})₊ makes the count binomial.
		if src.Float64() < -math.Expm1(eps-loss) {
			heads++
		}
	}
	iv := audit.ClopperPearson(heads, draws, 1-1e-6)
	o := claim.Decide(fmt.Sprintf("formula off by %s; mean of −bᵀ∇ℓ/(σ‖∇ℓ‖) %.1f; δ(1) ≥ %.2f where δ = 1e-5 is "+
		"claimed", claim.Roughly(worst, 1e-9), mean, iv.Lower),
		"1e-9; above 10 (0 if independent); above 1e-5", worst < 1e-9 && mean > 10 && iv.Lower > delta)
	if o.Verdict == claim.Holds {
		o.Note = "∇b is −∇²J, b being −∇J; Theorem 2.8 is refuted for such losses, and holds for generalised " +
			"linear models (rkw23/thm2.8)"
	}
	return o
}

// scattered is objective perturbation on Z = ∅ and Z′ = {z} for the loss
//
//	ℓ(θ) = Σᵢ h(θᵢ),  h′(t) = (L/√d)·tanh(β√d·t/L),
//
// which is convex with ‖∇ℓ‖ < L and 0 ≺ ∇²ℓ ⪯ βI, and no function of one linear form: each coordinate of its gradient
// follows that coordinate of the noise. About √d of the curvatures are large at a time, and how many fluctuates: the
// determinant, to which a generalised linear model adds one factor, adds of the order of d^{1/4} to the privacy loss.
type scattered struct {
	dimension                  int
	slope, beta, lambda, sigma float64
}

// draw draws b, finds θ on Z′ and returns log p_{Z′}(θ)/p_Z(θ) and −bᵀ∇ℓ(θ)/(σ‖∇ℓ(θ)‖).
func (s scattered) draw(src *noise.Seeded) (loss, alignment float64) {
	b := make([]float64, s.dimension)
	src.Gaussian(b, s.sigma)
	top := s.slope / math.Sqrt(float64(s.dimension))
	var squares, inner float64
	for _, v := range b {
		// λθ + h′(θ) = −v with |h′| < top; one sign is enough, h being even.
		size := math.Abs(v)
		lo, _ := univariate.Bisect(func(t float64) bool { return s.lambda*t+top*math.Tanh(s.beta*t/top) >= size },
			math.Max(0, size-top)/s.lambda, size/s.lambda, univariate.Arithmetic, 1e-12)
		share := math.Tanh(s.beta * lo / top)
		g := top * share
		squares += g * g
		inner += size * g
		loss += math.Log1p(s.beta*(1-share*share)/s.lambda) - g*(2*s.lambda*lo+g)/(2*s.sigma*s.sigma)
	}
	return loss, inner / (s.sigma * math.Sqrt(squares))
}

// formulaError is the largest difference of a formula from the ratio of the densities φ_σ(∇J)·det ∇²J, over random
// bowls and both signs.
func formulaError(formula lossFormula, rng *noise.Seeded) (worst float64) {
	const d, lambda, sigma = 5, 0.7, 1.3
	for range 20 {
		theta := make([]float64, d)
		rng.Gaussian(theta, 1)
		gradJ, h := make([]float64, d), mat.NewSymDense(d, nil)
		for j := range d {
			gradJ[j] = lambda * theta[j]
			h.SetSym(j, j, lambda)
		}
		var gradL []float64
		var e *mat.SymDense
		for range 4 {
			c := make([]float64, d)
			rng.Gaussian(c, 1)
			gradL, e = bowl{c, 1 + rng.Float64(), 0.5 + rng.Float64()}.derivatives(theta)
			floats.Add(gradJ, gradL)
			h.AddSym(h, e)
		}
		for _, sign := range []float64{-1, 1} {
			// Z has the four losses; Z − z lacks the last, Z + z has it twice.
			other := make([]float64, d)
			floats.AddScaledTo(other, gradJ, sign, gradL)
			var scaled, otherH mat.SymDense
			scaled.ScaleSym(sign, e)
			otherH.AddSym(h, &scaled)
			var one, two mat.Cholesky
			measure.Ensure(one.Factorize(h) && two.Factorize(&otherH), "claim: a Hessian is not positive definite")
			exact := (floats.Dot(other, other)-floats.Dot(gradJ, gradJ))/(2*sigma*sigma) + one.LogDet() - two.LogDet()
			worst = math.Max(worst, math.Abs(formula(sign, gradJ, gradL, h, e, sigma)-exact))
		}
	}
	return worst
}
