package softmax

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/erm/internal/descent"

	"github.com/dpnb/notebooks/dpnb/internal/kernel"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// Settings of Minimize. The zero value and nil are right for a fit that is as
// exact as it can cheaply be.
type Settings struct {
	// Tolerance τ on the certified ‖∇J(θ)‖₂. Zero means 1e-9·(1 + n·√2·R): as
	// exact as is worth while for a sum of n gradients of size up to √2·R.
	Tolerance float64
	// MaxPasses over the records; zero means 1,000.
	MaxPasses int
	// Persist goes on beyond MaxPasses, as in erm.Settings.
	Persist bool
	// Workers is the number of goroutines; zero means one for each processor.
	// The result does not depend on it.
	Workers int
	// Start is where the search begins (length K·d); nil is the origin, or what
	// a sample of the records says.
	Start []float64
}

// Solution is a point with its certificate.
type Solution struct {
	// Theta by classes: θ_c at [c·d : (c+1)·d].
	Theta       []float64
	Value       float64
	Certificate erm.Certificate
	// Tolerance τ that was asked for.
	Tolerance float64
	// Passes over the records that were made, products with the Hessian included.
	Passes int
}

const (
	// patience is the number of passes after which the search goes on by
	// truncated Newton steps.
	patience = 60
	// memory is how many steps the quasi-Newton method remembers.
	memory = 12
)

// Minimize returns the minimiser of p to a certified gradient norm of at most
// Settings.Tolerance, rounding errors included.
//
// The mean of θ over the classes is −ΣB/(Kλ) in closed form; what is left is
// searched for in Σ_c θ_c = 0 by L-BFGS with the diagonal blocks of the Hessian
// over a sample as its metric, from the minimiser over that sample, and, where
// that takes more than 60 passes, by Newton's method with conjugate gradients,
// preconditioned by the whole Hessian if K·d ≤ 1,500.
//
// Errors: *matrix.DataError for input that has no answer; erm.ErrTolerance (wrapped,
// with the best point) if MaxPasses or the precision of float64 ends the search
// first.
func Minimize(p *Problem, settings *Settings) (*Solution, error) {
	if err := p.validateShape(); err != nil {
		return nil, err
	}
	var s Settings
	if settings != nil {
		s = *settings
	}
	_, d := p.Rows.Dims()
	if s.Start != nil && len(s.Start) != p.Classes*d {
		return nil, &matrix.DataError{Text: fmt.Sprintf("the start has length %d, want K·d = %d", len(s.Start), p.Classes*d)}
	}
	if s.Tolerance < 0 || math.IsNaN(s.Tolerance) {
		return nil, &matrix.DataError{Text: fmt.Sprintf("Tolerance = %v, want a positive number", s.Tolerance)}
	}
	if s.MaxPasses == 0 {
		s.MaxPasses = 1000
	}
	r := newSearch(p, s)
	run := r.run
	if r.e.n == 0 {
		run = r.withoutRecords
	}
	if err := run(); err != nil {
		return nil, err
	}
	if !(r.best.Certificate.Bound() <= r.s.Tolerance) {
		r.refine()
	}
	return r.solution()
}

// search is the point, its gradient, what they cost, and the best point so far.
type search struct {
	p *Problem
	s Settings
	e *evaluator
	// x is the point, f = J(x), g = ∇J(x) and rounding bounds the error of g.
	x, g        []float64
	f, rounding float64
	// dir, trial and trialGrad are the working space of a step.
	dir, trial, trialGrad []float64
	best                  Solution
	// h is what the search was steered by, nil if there was nothing.
	h preconditioner
	// rough says to stop where the gradient is small beside what another sample
	// of as many records would make of it.
	rough bool
}

func newSearch(p *Problem, s Settings) *search {
	_, d := p.Rows.Dims()
	size := p.Classes * d
	v := make([]float64, 6*size)
	take := func() []float64 { t := v[:size:size]; v = v[size:]; return t }
	r := &search{p: p, s: s, e: newEvaluator(p, s.Workers), x: take(), g: take(), dir: take(), trial: take(), trialGrad: take()}
	inf := math.Inf(1)
	r.best = Solution{Theta: take(), Value: math.NaN(), Certificate: erm.Certificate{GradientNorm: inf, Distance: inf, Gap: inf}}
	copy(r.x, s.Start)
	return r
}

func (r *search) left() int { return r.s.MaxPasses - r.e.passes }

// run searches until the certificate is good enough, the passes are spent or
// nothing is to be gained any more.
func (r *search) run() error {
	n, d := r.p.Rows.Dims()
	sample, scale := r.p, 1.0
	if size := max(40*d, n/40, 1000); 3*size < n {
		sample, scale = r.p.sampled(size), float64(n)/float64(size)
	}
	if sample != r.p && r.s.Start == nil {
		s := newSearch(sample, Settings{MaxPasses: 100, Workers: r.s.Workers})
		s.rough = true
		if err := s.run(); err != nil {
			return err
		}
		copy(r.x, s.best.Theta)
	}
	r.setMean(r.x)
	if done, err := r.begin(); done || err != nil {
		return err
	}
	m := newMetric(sample, scale, r.p.Lambda, r.e.workers)
	m.refresh(r.x)
	r.h = m
	if r.quasiNewton(m) {
		return nil
	}
	r.e.keep()
	r.f, r.rounding = r.e.eval(r.g, r.x)
	var h preconditioner = m
	if len(r.x) <= maxExact {
		h = newExact(r.p, r.e.workers)
	}
	h.refresh(r.x)
	r.h = h
	r.newton(h)
	return nil
}

// setMean makes the mean of θ over the classes that of the minimiser, −ΣB/(Kλ).
func (r *search) setMean(theta []float64) {
	Center(theta, r.e.k)
	if r.p.Linear == nil {
		return
	}
	for j := range r.e.d {
		var mean float64
		for c := range r.e.k {
			mean += r.p.Linear[c*r.e.d+j]
		}
		mean /= float64(r.e.k) * r.p.Lambda
		for c := range r.e.k {
			theta[c*r.e.d+j] -= mean
		}
	}
}

// withoutRecords takes the minimiser −B/λ of what is left without a record.
func (r *search) withoutRecords() error {
	clear(r.x)
	for j, b := range r.p.Linear {
		r.x[j] = -b / r.p.Lambda
	}
	_, err := r.begin()
	return err
}

// begin evaluates J at the start, or at the origin if it is not finite there.
func (r *search) begin() (done bool, err error) {
	for range 2 {
		r.f, r.rounding = r.e.eval(r.g, r.x)
		if m := r.e.maxNorm; math.IsNaN(m) || math.IsInf(m, 0) {
			return false, errNotFinite()
		}
		if r.s.Tolerance == 0 {
			r.s.Tolerance = 1e-9 * (1 + float64(r.e.n)*math.Sqrt2*r.e.maxNorm)
		}
		if finite(r.f) && finite(floats.Norm(r.g, 2)) {
			return r.record(), nil
		}
		clear(r.x)
	}
	return false, &matrix.DataError{Text: "the objective is not finite at θ = 0: scale the features down"}
}

// record keeps the point if it is the best so far, and reports whether it is
// good enough, or would be if its gradient were known more exactly: that is for
// refine to see.
func (r *search) record() bool {
	norm := floats.Norm(r.g, 2)
	rounding := r.rounding + kernel.NormError(len(r.g))*norm
	if c := norm + rounding; c < r.best.Certificate.Bound() && finite(r.f) {
		copy(r.best.Theta, r.x)
		r.best.Value = r.f
		r.best.Certificate = erm.Certificate{GradientNorm: norm, Rounding: rounding, Distance: c / r.p.Lambda, Gap: c * c / (2 * r.p.Lambda)}
	}
	if r.rough {
		return norm <= 0.05*r.e.slopes*r.e.maxNorm/math.Sqrt(float64(r.e.n))
	}
	return r.best.Certificate.Bound() <= r.s.Tolerance || norm <= 0.5*r.s.Tolerance && rounding > 0.5*r.s.Tolerance
}

func (r *search) solution() (*Solution, error) {
	b := &r.best
	b.Tolerance, b.Passes = r.s.Tolerance, r.e.passes
	if c := b.Certificate; !(c.Bound() <= r.s.Tolerance) {
		return b, fmt.Errorf("%w: ‖∇J‖ ≤ %.3g (of which rounding %.3g) after %d passes, want %.3g; allow more passes or a larger tolerance",
			erm.ErrTolerance, c.Bound(), c.Rounding, b.Passes, r.s.Tolerance)
	}
	return b, nil
}

// step searches along dir from x for a better point, and moves there.
func (r *search) step(slope0 float64) (a float64, ok descent.Result) {
	rounding := r.rounding
	a, ok = descent.LineSearch(func(a float64) (fa, slope float64) {
		floats.AddScaledTo(r.trial, r.x, a, r.dir)
		fa, rounding = r.e.eval(r.trialGrad, r.trial)
		return fa, floats.Dot(r.trialGrad, r.dir)
	}, r.f, slope0, r.left())
	if ok.Accepted {
		r.x, r.trial = r.trial, r.x
		r.g, r.trialGrad = r.trialGrad, r.g
		r.f, r.rounding = ok.Value, rounding
	}
	return a, ok
}

// quasiNewton searches from x with the metric m. It returns false if it lost
// patience: the search is not over.
func (r *search) quasiNewton(m *metric) (over bool) {
	pairs := descent.NewMemory(len(r.x), memory)
	builtAt, builds, stalled := floats.Norm(r.g, 2), 1, 0
	for r.left() > 0 && stalled < 3 {
		if r.e.passes > patience {
			return false
		}
		if norm := floats.Norm(r.g, 2); norm < builtAt/30 && builds < 4 {
			m.refresh(r.x)
			builtAt = norm
			builds++
		}
		pairs.Direction(r.dir, r.g, m.solve)
		Center(r.dir, r.e.k)
		slope0 := floats.Dot(r.dir, r.g)
		if !(slope0 < 0) {
			pairs.Reset() // rounding has eaten the direction
			pairs.Direction(r.dir, r.g, m.solve)
			if slope0 = floats.Dot(r.dir, r.g); !(slope0 < 0) {
				return true
			}
		}
		a, ok := r.step(slope0)
		if !ok.Accepted {
			if ok.BudgetSpent {
				return true
			}
			pairs.Reset()
			stalled++
			m.refresh(r.x)
			continue
		}
		pairs.Update(a, r.dir, r.trialGrad, r.g)
		before := r.best.Certificate.Bound()
		if r.record() {
			return true
		}
		switch {
		case r.best.Certificate.Bound() < before:
			stalled = 0
		case floats.Norm(r.g, 2) < 4*r.rounding:
			stalled++
		}
	}
	return true
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
