package audit

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Record is one record of a linear model.
type Record struct {
	X []float64
	Y float64
}

// Curvature is quadratic objective perturbation on two datasets that differ in one record, First in one and Second in
// the other, with exact anchor and solver:
//
//	θ = argmin Σᵢ f(xᵢᵀθ; yᵢ) + tᵀθ + (ω/2)‖θ‖² + (σ²/2)(θ − θ⋆)ᵀW(θ − θ⋆).
//
// Nothing here asks whether θ⋆ minimises the losses, so that it also measures what happens when it does not.
//
// The density of θ, formula (4) of qop, has a closed form. W is a function of θ but for a (d−1) × (d−1) block that is
// again a Wishart matrix T of m − 1 degrees of freedom: with v = θ − θ⋆, e = v/‖v‖, N orthonormal and orthogonal to e,
// and u = −σ⁻²(∇L + ∇r)(θ),
//
//	W = uuᵀ/(uᵀv) + NTNᵀ,
//	p(θ) ∝ ‖v‖^{−d} w₁^k exp(−(w₁ + ‖w₂‖²/w₁)/2)·E_T det(∇²L + ∇²r + σ²W),
//
// w₁ = eᵀWe = uᵀe/‖v‖ > 0, w₂ = NᵀWe, k = (m − d − 1)/2, and the mean of the determinant is a sum of elementary
// symmetric functions. Derivation: docs/theory/quadratic.md.
type Curvature struct {
	Loss   loss.Loss
	Rows   *matrix.Dense // the records that both have; N may be zero
	Labels []float64
	First  Record
	Second Record
	// Anchor is θ⋆, of length d.
	Anchor []float64
	// Tilt t and Ridge ω of the regulariser; nil and 0 are none.
	Tilt  []float64
	Ridge float64
	// Sigma2 is σ², Freedom is m > d.
	Sigma2  float64
	Freedom int
}

// records returns the rows and labels of one of the two datasets.
func (c *Curvature) records(second bool) (*matrix.Dense, []float64) {
	r := c.First
	if second {
		r = c.Second
	}
	n, d := c.Rows.Dims()
	return matrix.NewDense(n+1, d, append(append(make([]float64, 0, (n+1)*d), c.Rows.Data...), r.X...)),
		append(append(make([]float64, 0, n+1), c.Labels...), r.Y)
}

// derivatives writes ∇(L + r)(θ) and ∇²(L + r)(θ).
func (c *Curvature) derivatives(rows *matrix.Dense, labels, theta, grad []float64, h *mat.SymDense) {
	n, d := rows.Dims()
	t, slope, curv := make([]float64, n), make([]float64, n), make([]float64, n)
	rows.Margins(t, theta, 0, n)
	c.Loss.ValueSlope(slope, t, labels)
	c.Loss.Curvature(curv, t, labels)
	h.Zero()
	for j := range d {
		grad[j] = c.Ridge * theta[j]
		if c.Tilt != nil {
			grad[j] += c.Tilt[j]
		}
		h.SetSym(j, j, c.Ridge)
	}
	rows.AddScaled(grad, slope, 0, n)
	for i := range n {
		h.SymRankOne(h, curv[i], mat.NewVecDense(d, rows.Data[i*d:(i+1)*d]))
	}
}

// Draw draws W and returns θ under the first or the second dataset, to rounding error.
func (c *Curvature) Draw(second bool, src *noise.Seeded) ([]float64, error) {
	rows, labels := c.records(second)
	_, d := rows.Dims()
	w := noise.Wishart(src, d, c.Freedom)
	w.ScaleSym(c.Sigma2, w)
	found, err := composite.Solve(&composite.Problem{Problem: erm.Problem{Rows: rows, Labels: labels, Loss: c.Loss,
		Lambda: c.Ridge, Linear: c.Tilt, Quadratic: w, Centre: c.Anchor}}, &composite.Settings{Workers: 1})
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	return found.Theta, nil
}

// logDensity returns the logarithm of the density of θ, up to a term that is the same for both datasets; −Inf where
// there is none.
func (c *Curvature) logDensity(second bool, theta []float64) (float64, error) {
	rows, labels := c.records(second)
	_, d := rows.Dims()
	u := make([]float64, d)
	h := mat.NewSymDense(d, nil)
	c.derivatives(rows, labels, theta, u, h)
	floats.Scale(-1/c.Sigma2, u)
	basis, length := frame(theta, c.Anchor)
	if length == 0 {
		return math.Inf(-1), nil
	}
	// Everything in the basis (e, N).
	var uq mat.VecDense
	uq.MulVec(basis.T(), mat.NewVecDense(d, u))
	w1 := uq.AtVec(0) / length
	if !(w1 > 0) {
		return math.Inf(-1), nil
	}
	var w2 float64
	for j := 1; j < d; j++ {
		w2 += uq.AtVec(j) * uq.AtVec(j)
	}
	w2 /= length * length
	var hb, hq mat.Dense
	hb.Mul(h, basis)
	hq.Mul(basis.T(), &hb)
	entry := func(i, j int) float64 {
		return 0.5*(hq.At(i, j)+hq.At(j, i)) + c.Sigma2*uq.AtVec(i)*uq.AtVec(j)/(uq.AtVec(0)*length)
	}
	m1 := entry(0, 0)
	k := 0.5 * float64(c.Freedom-d-1)
	log := k*math.Log(w1) - 0.5*(w1+w2/w1) + math.Log(m1)
	if d == 1 {
		return log, nil
	}
	s := mat.NewSymDense(d-1, nil)
	for i := 1; i < d; i++ {
		for j := i; j < d; j++ {
			s.SetSym(i-1, j-1, (entry(i, j)-entry(i, 0)*entry(0, j)/m1)/c.Sigma2)
		}
	}
	var eig mat.EigenSym
	if !eig.Factorize(s, false) {
		return 0, fmt.Errorf("audit: no eigenvalues")
	}
	return log + math.Log(meanDeterminant(eig.Values(nil), c.Freedom-1)), nil
}

// frame returns an orthogonal matrix whose first column is (a − b)/‖a − b‖, and that length.
func frame(a, b []float64) (*mat.Dense, float64) {
	d := len(a)
	v := make([]float64, d)
	floats.SubTo(v, a, b)
	length := floats.Norm(v, 2)
	q := mat.NewDense(d, d, nil)
	if length == 0 {
		return q, 0
	}
	// The reflection that takes the first axis to ±v.
	sign := 1.0
	if v[0] > 0 {
		sign = -1
	}
	r := append([]float64(nil), v...)
	r[0] -= sign * length
	rr := floats.Dot(r, r)
	for i := range d {
		for j := range d {
			x := -2 * r[i] * r[j] / rr
			if i == j {
				x++
			}
			if j == 0 {
				x *= sign
			}
			q.Set(i, j, x)
		}
	}
	return q, length
}

// meanDeterminant returns E det(S + T) for T a Wishart matrix of freedom degrees and S with the given eigenvalues: Σ_j
// freedom(freedom−1)…(freedom−j+1)·e_{n−j}, e the elementary symmetric functions, as the minors of T are independent of
// those of S and E det T_j is that product.
func meanDeterminant(eigenvalues []float64, freedom int) float64 {
	n := len(eigenvalues)
	e := make([]float64, n+1)
	e[0] = 1
	for i, v := range eigenvalues {
		for j := i + 1; j > 0; j-- {
			e[j] += math.Max(0, v) * e[j-1]
		}
	}
	var sum float64
	factor := 1.0
	for j := 0; j <= n; j++ {
		sum += factor * e[n-j]
		factor *= float64(freedom - j)
	}
	return sum
}

// privacyLoss draws θ under the first dataset (Remove; else the second) and returns ln p₁/p₂ there, +Inf where the
// second has no density.
//
// Errors: that of Draw; also if the first has no density where it was drawn, which is so if the regulariser is least at
// θ⋆: then θ is θ⋆ under both.
func (c *Curvature) privacyLoss(dir privacy.Direction, src *noise.Seeded) (float64, error) {
	if dir == privacy.Add {
		c = c.Swap()
	}
	theta, err := c.Draw(false, src)
	if err != nil {
		return 0, err
	}
	loss, err := c.LossAt(theta)
	if err == nil && (math.IsInf(loss, -1) || math.IsNaN(loss)) {
		err = fmt.Errorf("audit: θ has no density where it was drawn: if the regulariser is least at θ⋆, θ = θ⋆ " +
			"tells nothing; tilt it")
	}
	return loss, err
}

// LossAt returns ln p₁/p₂ at θ: ±Inf where one of the two densities is zero, NaN where both are.
//
// Errors: a matrix without eigenvalues.
func (c *Curvature) LossAt(theta []float64) (float64, error) {
	p, err := c.logDensity(false, theta)
	if err != nil {
		return 0, err
	}
	q, err := c.logDensity(true, theta)
	return p - q, err
}

// Swap returns the pair with the two datasets exchanged.
func (c *Curvature) Swap() *Curvature {
	s := *c
	s.First, s.Second = c.Second, c.First
	return &s
}

// Losses returns so many privacy losses; the result does not depend on the number of workers.
func (c *Curvature) Losses(samples int, src *noise.Seeded) ([]float64, error) {
	return Losses(c, privacy.Remove, samples, 0, src)
}

// DeltaOfLosses estimates δ(ε) = E(1 − e^{ε−loss})₊ from drawn losses, with a Clopper–Pearson interval of the stated
// level for the mean: each value is turned into a coin of that probability.
func DeltaOfLosses(losses []float64, eps, level float64, src *noise.Seeded) Interval {
	var sum float64
	heads := 0
	for _, l := range losses {
		v := math.Max(0, -math.Expm1(eps-l))
		sum += v
		if src.Float64() < v {
			heads++
		}
	}
	iv := ClopperPearson(heads, len(losses), level)
	iv.Estimate = sum / float64(len(losses))
	return iv
}
