package multiclass

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// drawn is a pair of neighbours in any number of classes and features: the last record is the one that Z′ has and Z has
// not.
type drawn struct {
	classes       int
	rows          *matrix.Dense
	labels        []int
	lambda, sigma float64
}

// density returns ln[φ_σ(∇J(θ))·det ∇²J(θ)] of the first n records, but for a constant; the determinant of λ on the
// part that no record depends on is one.
func (s drawn) density(theta []float64, n int) float64 {
	d := s.rows.D
	size := s.classes * d
	g := make([]float64, size)
	floats.AddScaled(g, s.lambda, theta)
	h := mat.NewSymDense(size, nil)
	for j := range size {
		h.SetSym(j, j, s.lambda)
	}
	p := make([]float64, s.classes)
	for i := range n {
		x := s.rows.Data[i*d : (i+1)*d]
		forms := make([]float64, s.classes)
		for c := range forms {
			forms[c] = floats.Dot(theta[c*d:(c+1)*d], x)
		}
		loss.Softmax{Classes: s.classes}.Derivatives(nil, p, forms, make([]float64, 1))
		for a := range s.classes {
			floats.AddScaled(g[a*d:(a+1)*d], p[a], x)
			for b := range s.classes {
				w := -p[a] * p[b]
				if a == b {
					w += p[a]
				}
				for j, u := range x {
					for k, v := range x {
						if a*d+j <= b*d+k {
							h.SetSym(a*d+j, b*d+k, h.At(a*d+j, b*d+k)+w*u*v)
						}
					}
				}
			}
		}
		y := s.labels[i]
		floats.AddScaled(g[y*d:(y+1)*d], -1, x)
	}
	var c mat.Cholesky
	if !c.Factorize(h) {
		panic("a Hessian that is not positive definite")
	}
	return c.LogDet() - floats.Dot(g, g)/(2*s.sigma*s.sigma)
}

// delta estimates H_{e^ε} of the direction, with its standard error, from noise that is drawn and the minimiser that
// belongs to it, for any K and d. All but a share of 1/K of the draws push the last record as far towards one of the
// wrong classes as a loss of ε takes.
func (s drawn) delta(t *testing.T, rng *noise.Seeded, dir privacy.Direction, eps float64, draws int) (mean,
	se float64) {
	d, last := s.rows.D, len(s.labels)-1
	a := math.Sqrt2 / s.sigma
	x, y := s.rows.Data[last*d:], s.labels[last]
	n, push := last+1, math.Max(0, eps/a-0.5*a)*s.sigma/math.Sqrt2
	if dir == privacy.Add {
		n, push = last, -push
	}
	shifts := [][]float64{make([]float64, s.classes*d)}
	for c := range s.classes {
		if c != y {
			v := make([]float64, s.classes*d)
			floats.AddScaled(v[c*d:(c+1)*d], push, x)
			floats.AddScaled(v[y*d:(y+1)*d], -push, x)
			shifts = append(shifts, v)
		}
	}
	rows := &matrix.Dense{N: n, D: d, Data: s.rows.Data[:n*d]}
	labels := make([]float64, n)
	for i := range labels {
		labels[i] = float64(s.labels[i])
	}
	b := make([]float64, s.classes*d)
	var square float64
	for k := range draws {
		rng.Gaussian(b, s.sigma)
		floats.Add(b, shifts[k%len(shifts)])
		var mixture float64 // density of b over that of the noise
		for _, v := range shifts {
			mixture += math.Exp((2*floats.Dot(v, b)-floats.Dot(v, v))/(2*s.sigma*s.sigma)) / float64(len(shifts))
		}
		sol := must.Get(erm.Minimize(&erm.Problem{Rows: rows, Labels: labels, Joint: loss.Softmax{Classes: s.classes},
			Lambda: s.lambda, Linear: b}, &erm.Settings{Workers: 1}))
		loss := s.density(sol.Theta, last+1) - s.density(sol.Theta, last)
		if dir == privacy.Add {
			loss = -loss
		}
		v := math.Max(0, -math.Expm1(eps-loss)) / mixture
		mean += v / float64(draws)
		square += v * v / float64(draws)
	}
	return mean, math.Sqrt((square - mean*mean) / float64(draws))
}

// The bound against exact losses for four and five classes and two features, where no grid reaches: never below the
// mean, and claims that leave out a class, the √2 or the curvature are exceeded.
func TestBoundAgainstDrawnLosses(t *testing.T) {
	testscale.InTurn(t)
	rng := noise.NewSeeded(12)
	apart := func(classes int, lambda, sigma float64) drawn {
		return drawn{classes, matrix.NewDense(2, 2, []float64{0, 1, 1, 0}), []int{1, 0}, lambda, sigma}
	}
	among := func(classes int, lambda, sigma float64) drawn {
		return drawn{classes, matrix.NewDense(5, 2, []float64{1, 0, 1, 0, 0.6, 0.8, 0.8, -0.6, 1, 0}),
			[]int{1, 2, 3, 0, 0}, lambda, sigma}
	}
	var fewer, shorter, flat float64
	for _, c := range []struct {
		s drawn
		z float64 // ε in units of a
	}{{apart(4, 0.05, 5), 3}, {apart(5, 0.05, 5), 3}, {apart(4, 1.5, 2), 1}, {among(4, 0.3, 2), 1},
		{among(5, 1, 1), 0.5}, {among(4, 0.05, 5), 3}} {
		p := newVertexProfile(c.s.classes, 1, c.s.lambda, c.s.sigma, 1e-9)
		eps := c.z * math.Sqrt2 / c.s.sigma
		for _, dir := range privacy.Directions {
			mean, se := c.s.delta(t, rng, dir, eps, 2000)
			claim := math.Exp(p.LogDeltaUpper(dir, eps))
			least := mean - 4.5*se
			if least > claim || math.IsNaN(mean) {
				t.Errorf("K = %d, n = %d, λ = %g, σ = %g, %v, ε = %.3g: δ = %.4g ± %.2g, claimed %.4g", c.s.classes,
					len(c.s.labels), c.s.lambda, c.s.sigma, dir, eps, mean, se, claim)
			} else {
				t.Logf("K = %d, n = %d, λ = %g, σ = %g, %v, ε = %.3g: δ = %.4g ± %.2g, %.2f of the claim", c.s.classes,
					len(c.s.labels), c.s.lambda, c.s.sigma, dir, eps, mean, se, mean/claim)
			}
			k := float64(c.s.classes)
			if dir == privacy.Add {
				fewer = math.Max(fewer, least/claim*(k-1)/(k-2))
			} else {
				flat = math.Max(flat, least/(k-1)/math.Exp(gaussian(eps, p.a)))
			}
			shorter = math.Max(shorter, least/(k-1)/math.Exp(gaussian(eps, 1/c.s.sigma)))
		}
	}
	if fewer < 1 || shorter < 1 || flat < 1 {
		t.Errorf("δ is up to %.3f of a claim with a class less, %.3f of one without √2, %.3f of one without a price "+
			"for the curvature: not found out", fewer, shorter, flat)
	}
}
