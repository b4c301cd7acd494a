package audit_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// What a fit costs together with a Gaussian mechanism, and what it costs where records are replaced, is computed here
// from the definitions alone: no accountant of the module has a part in it, nor what else this package computes.

// side is objective perturbation of records in one dimension, of which some are there several times: for what it
// releases, θ, J′(θ) ~ N(0, σ²).
type side struct {
	of           loss.Loss
	x, y, times  []float64
	lambda, tilt float64
	room         []float64
}

// slopes returns J′(θ) and J″(θ).
func (s side) slopes(theta float64) (g, h float64) {
	g, h = s.lambda*theta+s.tilt, s.lambda
	n := len(s.x)
	t, d, c := s.room[:n], s.room[n:2*n], s.room[2*n:3*n]
	for i, x := range s.x {
		t[i] = x * theta
	}
	s.of.ValueSlope(d, t, s.y)
	s.of.Curvature(c, t, s.y)
	for i, x := range s.x {
		g, h = g+s.times[i]*x*d[i], h+s.times[i]*x*x*c[i]
	}
	return g, h
}

// and returns the records and one more.
func (s side) and(x, y float64) side {
	with := func(of []float64, v float64) []float64 { return append(slices.Clip(of), v) }
	s.x, s.y, s.times = with(s.x, x), with(s.y, y), with(s.times, 1)
	s.room = make([]float64, 3*len(s.x))
	return s
}

// tail is P(N > z) of a normal N.
func tail(z float64) float64 { return 0.5 * math.Erfc(z/math.Sqrt2) }

// gaussianDelta is δ(ε) of a Gaussian mechanism of μ, or of nothing.
func gaussianDelta(eps, mu float64) float64 {
	if mu == 0 {
		return math.Max(0, -math.Expm1(eps))
	}
	return math.Max(0, tail(eps/mu-mu/2)-math.Exp(eps)*tail(eps/mu+mu/2))
}

// joined is δ(ε) of θ and a Gaussian mechanism of μ together, of one side over another: over intervals of θ, which are
// halved until the privacy loss hardly changes in them.
func joined(a, b side, sigma, mu, eps float64) (delta float64) {
	type point struct{ theta, z, loss float64 }
	at := func(theta float64) point {
		ga, ha := a.slopes(theta)
		gb, hb := b.slopes(theta)
		return point{theta, ga / sigma, (gb*gb-ga*ga)/(2*sigma*sigma) + math.Log(ha/hb)}
	}
	const beyond = 8.5
	var add func(p, q point, depth int)
	add = func(p, q point, depth int) {
		if q.z < -beyond || p.z > beyond {
			return
		}
		m := at(p.theta + (q.theta-p.theta)/2)
		change := math.Max(math.Abs(m.loss-p.loss), math.Abs(m.loss-q.loss))
		if depth > 0 && (q.z-p.z > 0.25 || change > 0.02) {
			add(p, m, depth-1)
			add(m, q, depth-1)
			return
		}
		mass := tail(p.z) - tail(q.z)
		if p.z < 0 {
			mass = tail(-q.z) - tail(-p.z)
		}
		delta += mass * gaussianDelta(eps-m.loss, mu)
	}
	far := 64.0
	for ; at(far).z < beyond || at(-far).z > -beyond; far *= 2 {
	}
	cuts := []float64{-far, -8, -2, -1, -0.5, 0, 0.5, 1, 2, 8, far} // on the scale of a record
	for k, c := range cuts[1:] {
		add(at(cuts[k]), at(c), 40)
	}
	return delta
}

// A fit beside a Gaussian mechanism, and a fit of records that are replaced, cost what is claimed or less, whatever
// losses, records and tilts are tried; beside a Gaussian mechanism hardly less, so that one whose μ is a tenth too
// small would be seen.
func TestJoinedByDefinition(t *testing.T) {
	testscale.Slow(t)
	rng := noise.NewSeeded(4)
	type of struct {
		of     loss.Loss
		labels []float64
		lambda float64
		bound  objective.Bound
		tight  bool
	}
	two, three := []float64{-1, 1}, []float64{-1, 0, 1}
	huber := loss.PseudoHuber{Threshold: 0.5}
	cases := []of{{loss.Logistic{}, two, 1, 0, true}, {huber, three, 0.8, objective.Pointwise, false}}
	if testscale.Full() {
		cases = append(cases, of{loss.Logistic{}, two, 0.25, objective.Tight, true},
			of{huber, three, 0.8, objective.Tight, true},
			of{loss.Clipped(loss.Poisson{MaxCount: 9}, 5), []float64{0, 3, 9}, 10, objective.Tight, false})
	}
	for _, c := range cases {
		m := must.Get(objpert.Calibrate(objpert.Config{Loss: c.of, RowNorm: 1, Epsilon: 1, Delta: 1e-3,
			Lambda: c.lambda, Bound: c.bound, Adjacency: privacy.AddRemove, Tolerance: 1e-9}))
		const mu, eps = 0.4, 0.7
		claimed := privacy.DeltaUpper(must.Get(m.WithGaussian(mu)), eps)
		less := privacy.DeltaUpper(must.Get(m.WithGaussian(0.9*mu)), eps)
		replaced := privacy.DeltaUpper(must.Get(mechanism.Profile(mechanism.Replaced{Of: m})), eps)
		worst := 0.0
		for k := range 9 {
			base := side{of: c.of, lambda: c.lambda, tilt: m.Sigma * 2 * rng.NormFloat64()}
			for range k % 3 {
				base = base.and(2*rng.Float64()-1, c.labels[rng.IntN(len(c.labels))])
				base.times[len(base.times)-1] = math.Exp(2 * rng.NormFloat64())
			}
			y := c.labels[rng.IntN(len(c.labels))]
			more, other := base.and(1, y), base.and(-1, y)
			added, removed := joined(base, more, m.Sigma, mu, eps), joined(more, base, m.Sigma, mu, eps)
			worst = math.Max(worst, math.Max(added, removed))
			if d := joined(more, other, m.Sigma, 0, eps); d > replaced*(1+1e-3) {
				t.Errorf("%s, %+v: replacing (1, %v) has δ = %v, claimed is %v", c.of.Name(), base, y, d, replaced)
			}
		}
		if share := worst / claimed; share > 1+1e-3 || c.tight && worst <= less {
			t.Errorf("%s: δ = %v is reached, claimed is %v, %v for a tenth less μ", c.of.Name(), worst, claimed, less)
		}
	}
}

// classesJoined is δ(ε) of the coefficients of K = 3 classes and a Gaussian mechanism of μ together, in both
// directions, of one record x of class 0 more than none: over a grid of the plane Σθ_c = 0 by an orthonormal basis.
func classesJoined(x, lambda, sigma, mu, eps float64, tilt [2]float64) (add, remove float64) {
	basis := mat.NewDense(3, 2, []float64{1 / math.Sqrt2, 1 / math.Sqrt(6), -1 / math.Sqrt2, 1 / math.Sqrt(6), 0,
		-2 / math.Sqrt(6)})
	const points, beyond = 80, 7.5
	const step = 2 * beyond / points
	var margins, slope, curved mat.VecDense
	for i := range points * points {
		at := [2]float64{(float64(i/points)+0.5)*step - beyond, (float64(i%points)+0.5)*step - beyond}
		z := mat.NewVecDense(2, at[:])
		u := mat.NewVecDense(2, []float64{(sigma*at[0] - tilt[0]) / lambda, (sigma*at[1] - tilt[1]) / lambda})
		margins.MulVec(basis, u)
		p := mat.NewVecDense(3, nil)
		for c := range 3 {
			p.SetVec(c, math.Exp(x*(margins.AtVec(c)-mat.Max(&margins))))
		}
		p.ScaleVec(1/mat.Sum(p), p)
		// With x = 1: the slope is basisᵀ(p − e₀), the Hessian basisᵀ(diag(p) − ppᵀ)basis.
		hessian := mat.NewDense(2, 2, []float64{lambda, 0, 0, lambda})
		for k := range 2 {
			column := basis.ColView(k)
			curved.MulElemVec(p, column)
			curved.AddScaledVec(&curved, -mat.Dot(p, column), p)
			for l := range 2 {
				hessian.Set(k, l, hessian.At(k, l)+x*x*mat.Dot(&curved, basis.ColView(l)))
			}
		}
		p.SetVec(0, p.AtVec(0)-1)
		slope.MulVec(basis.T(), p)
		slope.AddScaledVec(mat.NewVecDense(2, []float64{sigma * at[0], sigma * at[1]}), x, &slope)
		without := mat.Dot(z, z) / 2
		l := mat.Dot(&slope, &slope)/(2*sigma*sigma) - without - math.Log(mat.Det(hessian)/(lambda*lambda))
		w := math.Exp(-without) / (2 * math.Pi) * step * step
		add += w * gaussianDelta(eps-l, mu)
		remove += w * math.Exp(-l) * gaussianDelta(eps+l, mu)
	}
	return add, remove
}

// Of several classes a fit beside a Gaussian mechanism costs what is claimed or less, near ε = 0 and far out, whichever
// class the tilt draws a record to: noise that is a tenth too small would be seen far out, and a quarter near 0.
func TestClassesJoinedByDefinition(t *testing.T) {
	testscale.Slow(t)
	const sigma = 3
	for _, lambda := range []float64{0.4, 4} {
		for _, c := range []struct{ eps, mu, more float64 }{{0.03, 0.1, 1.35}, {1.9, 0.3, 1.1}} {
			m := multiclass.Softmax{Classes: 3, RowNorm: 1, Lambda: lambda, Sigma: sigma, Tolerance: 1e-12,
				OutputSigma: 1e-3}
			quiet := m
			quiet.Sigma *= c.more
			claimed := privacy.DeltaUpper(must.Get(m.WithGaussian(c.mu)), c.eps)
			less := privacy.DeltaUpper(must.Get(quiet.WithGaussian(c.mu/c.more)), c.eps)
			worst := 0.0
			for k := range 4 {
				sin, cos := math.Sincos(2 * math.Pi / 3 * float64(k))
				tilt := 20 * lambda * float64(min(k, 1)) // of the first none
				add, remove := classesJoined(1, lambda, sigma, c.mu, c.eps, [2]float64{tilt * cos, tilt * sin})
				worst = math.Max(worst, math.Max(add, remove))
			}
			if worst > claimed*(1+1e-3) || lambda == 4 && worst <= less {
				t.Errorf("λ = %v, %+v: δ = %v is reached, claimed is %v, %v with more noise", lambda, c, worst, claimed,
					less)
			}
		}
	}
}
