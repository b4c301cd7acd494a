package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Neighbours is objective perturbation on two neighbours in any dimension: Z has the records of Rows and Labels, Z′ has
// one more, (Extra, ExtraLabel).
//
// The density of the output is explicit,
//
//	p_Z(θ) = φ_σ(∇J(θ; Z))·det ∇²J(θ; Z),
//
// so the privacy loss at a drawn θ is computed exactly, and δ(ε) = E(1 − e^{ε−loss})₊ is the mean of a variable in [0,
// 1].
type Neighbours struct {
	Loss          loss.Loss
	Rows          *matrix.Dense
	Labels        []float64
	Extra         []float64
	ExtraLabel    float64
	Lambda, Sigma float64
	// Shrinkage is a further ridge on single coordinates, as in erm.Problem; nil is none.
	Shrinkage []float64
}

// problem returns that of Z′ (with the extra record) or of Z.
func (nb *Neighbours) problem(with bool) *erm.Problem {
	n, d := nb.Rows.Dims()
	p := &erm.Problem{Rows: nb.Rows, Labels: nb.Labels, Loss: nb.Loss, Lambda: nb.Lambda, Shrinkage: nb.Shrinkage,
		Linear: make([]float64, d)}
	if with || n == 0 {
		// Without any record the minimiser is −b/λ, which needs no solver, but one code path is less to get wrong: a
		// record of zeros changes nothing.
		rows := matrix.NewDense(n+1, d, append(append([]float64(nil), nb.Rows.Data...), make([]float64, d)...))
		if with {
			copy(rows.Data[n*d:], nb.Extra)
		}
		p.Rows = rows
		p.Labels = append(append([]float64(nil), nb.Labels...), nb.ExtraLabel)
	}
	return p
}

// ridges returns the diagonal λ + ω.
func (nb *Neighbours) ridges(d int) []float64 {
	r := make([]float64, d)
	for j := range r {
		r[j] = nb.Lambda
		if nb.Shrinkage != nil {
			r[j] += nb.Shrinkage[j]
		}
	}
	return r
}

// privacyLoss draws θ from Z′ (Remove) or Z (Add) and returns log p/q there, p being the density that θ was drawn from.
// tolerance of the solver: the density is that of the exact minimiser, so θ is polished until the error is far below
// what is estimated.
func (nb *Neighbours) privacyLoss(dir privacy.Direction, src *noise.Seeded) (float64, error) {
	theta, err := nb.draw(dir == privacy.Remove, src)
	if err != nil {
		return 0, err
	}
	log, err := nb.logRatio(theta)
	if dir == privacy.Add {
		log = -log
	}
	return log, err
}

// draw draws the noise and returns the minimiser under Z′ (with) or Z.
func (nb *Neighbours) draw(with bool, src *noise.Seeded) ([]float64, error) {
	p := nb.problem(with)
	src.Gaussian(p.Linear, nb.Sigma)
	s, err := erm.Minimize(p, &erm.Settings{Tolerance: 1e-9 * (1 + nb.Sigma), Workers: 1})
	if err != nil {
		return nil, err
	}
	return s.Theta, nil
}

// logRatio returns log p_{Z′}(θ)/p_Z(θ) = (‖∇J‖² − ‖∇J′‖²)/(2σ²) + log(1 + f″ xᵀH⁻¹x), J and H those of Z, J′ that of
// Z′.
func (nb *Neighbours) logRatio(theta []float64) (float64, error) {
	grad, h := nb.derivatives(theta, false)
	slope, curv, spread, err := nb.extra(theta, h)
	// ‖∇J‖² − ‖∇J + f′x‖² = −2f′xᵀ∇J − f′²‖x‖²
	quad := -2*slope*floats.Dot(nb.Extra, grad) - slope*slope*floats.Dot(nb.Extra, nb.Extra)
	return quad/(2*nb.Sigma*nb.Sigma) + math.Log1p(curv*spread), err
}

// extra returns f′ and f″ of the extra record at θ, and xᵀH⁻¹x.
func (nb *Neighbours) extra(theta []float64, h *mat.SymDense) (slope, curv, spread float64, err error) {
	t, s, c, y := []float64{floats.Dot(nb.Extra, theta)}, []float64{0}, []float64{0}, []float64{nb.ExtraLabel}
	nb.Loss.ValueSlope(s, t, y)
	nb.Loss.Curvature(c, t, y)
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		return 0, 0, 0, errors.New("audit: the Hessian is not positive definite")
	}
	x := mat.NewVecDense(len(nb.Extra), nb.Extra)
	var hx mat.VecDense
	if err := chol.SolveVecTo(&hx, x); err != nil {
		return 0, 0, 0, fmt.Errorf("audit: %w", err)
	}
	return s[0], c[0], mat.Dot(x, &hx), nil
}

// Interval is an estimate with a confidence interval of the stated level.
type Interval struct {
	Estimate, Lower, Upper, Level float64
}

// DeltaInterval estimates δ(ε) in one direction from samples draws, with a Clopper–Pearson interval: each draw's (1 −
// e^{ε−loss})₊ is turned into a coin of that probability, so the count is exactly binomial and the interval covers with
// at least the stated level. The result does not depend on the number of workers.
//
// Errors: *privacy.ParamError if samples < 1 or level is outside (0, 1); a draw that cannot be solved.
func (nb *Neighbours) DeltaInterval(dir privacy.Direction, eps float64, samples int, level float64,
	src *noise.Seeded) (Interval, error) {
	if err := cmp.Or(privacy.Within(samples >= 1, "samples", samples, "at least 1"),
		privacy.Fraction("level", level)); err != nil {
		return Interval{}, err
	}
	values, heads := make([]float64, samples), make([]bool, samples)
	err := parallel.For(context.Background(), samples, 0, func(_, k int) error {
		stream := src.Stream(k)
		l, err := nb.privacyLoss(dir, stream)
		if err == nil {
			values[k] = math.Max(0, -math.Expm1(eps-l))
			heads[k] = stream.Float64() < values[k]
		}
		return err
	})
	if err != nil {
		return Interval{}, err
	}
	count := 0
	for k := range values {
		if heads[k] {
			count++
		}
	}
	iv := ClopperPearson(count, samples, level)
	iv.Estimate = floats.Sum(values) / float64(samples)
	return iv, nil
}

// ClopperPearson returns the exact two-sided confidence interval for the probability of a coin that showed heads k
// times out of n.
//
// Source: Clopper and Pearson 1934.
func ClopperPearson(k, n int, level float64) Interval {
	a := (1 - level) / 2
	iv := Interval{Estimate: float64(k) / float64(n), Upper: 1, Level: level}
	if k > 0 {
		iv.Lower = distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(a)
	}
	if k < n {
		iv.Upper = distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(1 - a)
	}
	return iv
}

// Parts are the three numbers of which the privacy loss at one θ is made.
type Parts struct {
	// Gamma is γ = ‖x‖f′(xᵀθ), U is u′ = x̂ᵀb′ with b′ = −∇J(θ; Z′), and R is r = S/(w + S), S = ‖x‖²f″, w =
	// 1/(x̂ᵀH⁻¹x̂), H = ∇²J(θ; Z).
	Gamma, U, R float64
}

// Decompose draws θ from Z′ and returns log p_{Z′}(θ)/p_Z(θ) from determinants of the whole Hessians, together with the
// parts from which one dimension gives it.
func (nb *Neighbours) Decompose(src *noise.Seeded) (logRatio float64, parts Parts, err error) {
	theta, err := nb.draw(true, src)
	if err != nil {
		return 0, parts, err
	}
	without, hWithout := nb.derivatives(theta, false)
	with, hWith := nb.derivatives(theta, true)
	var a, b mat.Cholesky
	if !a.Factorize(hWithout) || !b.Factorize(hWith) {
		return 0, parts, fmt.Errorf("audit: the Hessian is not positive definite")
	}
	logRatio = (floats.Dot(without, without)-floats.Dot(with, with))/(2*nb.Sigma*nb.Sigma) + b.LogDet() - a.LogDet()

	slope, curv, spread, err := nb.extra(theta, hWithout)
	norm := floats.Norm(nb.Extra, 2)
	size := norm * norm
	return logRatio, Parts{Gamma: norm * slope, U: -floats.Dot(nb.Extra, with) / norm,
		R: size * curv / (size/spread + size*curv)}, err
}

// derivatives returns ∇J and ∇²J at θ under Z′ (with) or Z, b left out.
func (nb *Neighbours) derivatives(theta []float64, with bool) ([]float64, *mat.SymDense) {
	p := nb.problem(with)
	n, d := p.Rows.Dims()
	grad := make([]float64, d)
	p.Linear = nil
	erm.Evaluate(p, grad, theta)
	t, curv := make([]float64, n), make([]float64, n)
	p.Rows.Margins(t, theta, 0, n)
	p.Loss.Curvature(curv, t, p.Labels)
	h := mat.NewSymDense(d, nil)
	row := make([]float64, d)
	for j, ridge := range nb.ridges(d) {
		h.SetSym(j, j, ridge)
	}
	for i := range n {
		p.Rows.Row(row, i)
		h.SymRankOne(h, curv[i], mat.NewVecDense(d, row))
	}
	return grad, h
}
