package erm

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm/internal/descent"
	"github.com/dpnb/notebooks/dpnb/internal/kernel"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// search is the state that all methods share: the point, its gradient, what they cost, and the best point so far with
// its certificate.
type search struct {
	p *Problem
	s Settings
	e *evaluator
	// x is the point, f = J(x), g = ∇J(x), and rounding bounds the error of g.
	x, g        []float64
	f, rounding float64
	best        Solution
	// rough says to stop where the gradient is small beside what another sample of as many records would make of it.
	rough bool
	// sampled says that the start is the minimiser over a sample, so that the metric suffers from the sample and not
	// from where it was taken.
	sampled bool
	// m is the metric that the search was steered by, nil if there was none.
	m metric
	// exact says that it is the Hessian itself.
	exact bool
	// switched says that the method changed on the way.
	switched bool
	// extra is what was spent on samples, in ∇fᵢ.
	extra int
}

func newSearch(p *Problem, s Settings) *search {
	e := newEvaluator(p, s.Workers)
	r := &search{p: p, s: s, e: e, x: make([]float64, e.size), g: make([]float64, e.size)}
	inf := math.Inf(1)
	r.best = Solution{Theta: make([]float64, e.size), Value: math.NaN()}
	r.best.Certificate = Certificate{GradientNorm: inf, Distance: inf, Gap: inf}
	copy(r.x, s.Start)
	return r
}

// left returns how many more passes may be made.
func (r *search) left() int { return r.s.MaxPasses - r.e.passes }

// begin evaluates J at the start. If that is not finite it begins at the origin in its place. It reports whether the
// search is at its end already.
func (r *search) begin() (done bool, err error) {
	for range 2 {
		r.f, r.rounding = r.e.eval(r.g, r.x)
		if m := r.e.maxNorm; math.IsNaN(m) || math.IsInf(m, 0) {
			return false, errNotFinite()
		}
		if r.s.Tolerance == 0 {
			r.s.Tolerance = r.defaultTolerance()
		}
		if matrix.Finite(r.f) && matrix.Finite(floats.Norm(r.g, 2)) {
			return r.record(), nil
		}
		clear(r.x)
	}
	return false, dataError("the objective is not finite at θ = 0: scale the labels or the features down")
}

// record keeps the point if it is the best so far, and reports whether it is good enough, or would be if its gradient
// were known more exactly: that is for refine to see.
func (r *search) record() bool {
	norm := floats.Norm(r.g, 2)
	rounding := r.rounding + kernel.NormError(len(r.g))*norm
	if c := norm + rounding; c < r.best.Certificate.Bound() && matrix.Finite(r.f) {
		copy(r.best.Theta, r.x)
		r.best.Value = r.f
		r.best.Certificate = Certificate{norm, rounding, c / r.p.Lambda, c * c / (2 * r.p.Lambda)}
	}
	if r.rough {
		return norm <= 0.05*r.e.slopes*r.e.maxNorm/math.Sqrt(float64(r.e.n))
	}
	return r.best.Certificate.Bound() <= r.s.Tolerance || norm <= 0.5*r.s.Tolerance && rounding > 0.5*r.s.Tolerance
}

// advance is record, and counts the steps in sequence that gained nothing. Far from the minimum the gradient may rise
// while J falls; at the precision of the gradient it is a sign of the end.
func (r *search) advance(stalled *int) bool {
	before := r.best.Certificate.Bound()
	if r.record() {
		return true
	}
	if r.best.Certificate.Bound() < before {
		*stalled = 0
	} else if floats.Norm(r.g, 2) < 4*r.rounding {
		*stalled++
	}
	return false
}

// withoutRecords takes the minimiser of what is left without a record, (Λ + Q)θ = Qc − b.
func withoutRecords(r *search) error {
	clear(r.x)
	if r.e.q == nil {
		for j, b := range r.p.Linear {
			r.x[j] = -b / r.e.ridge[j]
		}
	} else {
		m := newPrimalMetric(r.p, 1, r.e.penalty, 1, true)
		m.refresh(r.x)
		r.e.eval(r.g, r.x)
		m.solve(r.g)
		floats.ScaleTo(r.x, -1, r.g)
		r.m = m
	}
	_, err := r.begin()
	return err
}

// defaultTolerance is as exact as is worth while for a sum of n gradients of size up to L·R. Where ∇f has no bound L,
// the mean of Σ_k|∂f/∂tᵢ_k| at the start and 1 take its place.
func (r *search) defaultTolerance() float64 {
	n := float64(r.e.n)
	slope := r.e.f.Lipschitz()
	if math.IsInf(slope, 1) {
		slope = math.Max(1, r.e.slopes/math.Max(n, 1))
	}
	return 1e-9 * (1 + n*slope*r.e.maxNorm)
}

// solution returns the best point, and ErrTolerance if it is not good enough.
func (r *search) solution(m Method) (*Solution, error) {
	b := &r.best
	b.Method = m.Name()
	if _, auto := m.(Auto); auto {
		b.Method = LBFGS{}.Name()
		if r.switched {
			b.Method += ", then " + NewtonCG{}.Name()
		}
	}
	b.Tolerance, b.Passes = r.s.Tolerance, r.e.passes
	b.Gradients, b.Products = r.e.gradients+r.extra, r.e.products
	if c := b.Certificate; !(c.Bound() <= r.s.Tolerance) {
		return b, fmt.Errorf("%w: ‖∇J‖ ≤ %.3g (of which rounding %.3g) after %d passes, want %.3g; "+
			"allow more passes or a larger tolerance", ErrTolerance, c.Bound(), c.Rounding, b.Passes, r.s.Tolerance)
	}
	return b, nil
}

// along searches along dir from x for a better point, and moves there. trial and trialGrad are overwritten and swapped
// with x and g.
func (r *search) along(dir []float64, slope0 float64, trial, trialGrad *[]float64) (step float64, ok descent.Result) {
	rounding := r.rounding
	step, ok = descent.LineSearch(func(a float64) (fa, slope float64) {
		floats.AddScaledTo(*trial, r.x, a, dir)
		fa, rounding = r.e.eval(*trialGrad, *trial)
		return fa, floats.Dot(*trialGrad, dir)
	}, r.f, slope0, r.left())
	if ok.Accepted {
		r.x, *trial = *trial, r.x
		r.g, *trialGrad = *trialGrad, r.g
		r.f, r.rounding = ok.Value, rounding
	}
	return step, ok
}
