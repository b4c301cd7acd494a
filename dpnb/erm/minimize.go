package erm

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// Settings of Minimize. The zero value and nil are right for a fit that is as
// exact as it can cheaply be.
type Settings struct {
	// Tolerance τ on the certified ‖∇J(θ)‖₂. Zero means 1e-9·(1 + n·L·R): as
	// exact as is worth while for a sum of n gradients of size up to L·R.
	Tolerance float64
	// MaxPasses over the records; zero means 1,000.
	MaxPasses int
	// Workers is the number of goroutines; zero means one for each processor.
	// The result does not depend on it.
	Workers int
	// Start is where the search begins (length d); nil is the origin.
	Start []float64
}

// Certificate bounds how far a point is from the minimiser θ⋆ of a λ-strongly
// convex J. It comes from the gradient at the point alone, whatever found it.
type Certificate struct {
	// GradientNorm is ‖∇J(θ)‖₂ as computed.
	GradientNorm float64
	// Rounding bounds the error of the computed gradient.
	Rounding float64
	// Distance bounds ‖θ − θ⋆‖₂ by (GradientNorm + Rounding)/λ.
	Distance float64
	// Gap bounds J(θ) − J(θ⋆) by (GradientNorm + Rounding)²/(2λ).
	Gap float64
}

// Bound returns the certified bound on ‖∇J(θ)‖₂, rounding included.
func (c Certificate) Bound() float64 { return c.GradientNorm + c.Rounding }

// Solution is a point with its certificate.
type Solution struct {
	Theta       []float64
	Value       float64
	Certificate Certificate
	// Tolerance τ that was asked for.
	Tolerance float64
	// Passes over the records that were made.
	Passes int
}

// patience is the number of passes after which Minimize turns to the full Hessian.
const patience = 40

// ErrTolerance says that the certificate is worse than what was asked for. A
// private mechanism releases nothing then.
var ErrTolerance = errors.New("erm: the tolerance was not reached")

// Minimize returns the minimiser of p to a certified gradient norm of at most
// Settings.Tolerance, rounding errors included.
//
// Method: L-BFGS whose initial metric is the Hessian over an evenly spaced
// sample of the records (all of them if they are few), factored once in a
// while; one pass over the records for each trial step. If that takes more than
// 40 passes, Newton's method with the full Hessian.
//
// Errors: *DataError for input that has no answer; ErrTolerance (wrapped, with
// the best point) if MaxPasses or the precision of float64 ends the search first.
func Minimize(p *Problem, settings *Settings) (*Solution, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	var s Settings
	if settings != nil {
		s = *settings
	}
	n, d := p.Rows.Dims()
	maxNorm := MaxNorm(p.Rows)
	if s.Start != nil && len(s.Start) != d {
		return nil, &DataError{fmt.Sprintf("the start has length %d, want d = %d", len(s.Start), d)}
	}
	if s.Tolerance < 0 || math.IsNaN(s.Tolerance) {
		return nil, &DataError{fmt.Sprintf("Tolerance = %v, want a positive number", s.Tolerance)}
	}
	if s.Tolerance == 0 {
		slope := p.Loss.Lipschitz()
		if math.IsInf(slope, 1) {
			slope = 1
		}
		s.Tolerance = 1e-9 * (1 + float64(n)*slope*maxNorm)
	}
	if s.MaxPasses == 0 {
		s.MaxPasses = 1000
	}

	e := newEvaluator(p, s.Workers)
	x, g := make([]float64, d), make([]float64, d)
	copy(x, s.Start)
	f, rounding := e.eval(g, x, maxNorm)
	best := Solution{Theta: append([]float64(nil), x...), Tolerance: s.Tolerance}
	record := func() bool {
		norm := floats.Norm(g, 2)
		// The norm itself is a sum of d squares.
		rounding := rounding + float64(d/2+2)*0x1p-53*norm
		if c := norm + rounding; best.Passes == 0 || c < best.Certificate.Bound() {
			copy(best.Theta, x)
			best.Value = f
			best.Certificate = Certificate{GradientNorm: norm, Rounding: rounding, Distance: c / p.Ridge, Gap: c * c / (2 * p.Ridge)}
		}
		best.Passes = e.passes
		return best.Certificate.Bound() <= s.Tolerance
	}
	if record() {
		return &best, nil
	}

	metric := newMetric(p, e)
	memory := newLBFGS(d, 12)
	dir, xNew, gNew := make([]float64, d), make([]float64, d), make([]float64, d)
	metric.refresh(x)
	builtAt := floats.Norm(g, 2)
	stalled := 0
	for e.passes < s.MaxPasses && stalled < 3 {
		norm := floats.Norm(g, 2)
		switch {
		case e.passes > patience && metric.exact():
			// Newton's method: dear, but it gets there.
			memory.reset()
			metric.refresh(x)
		case norm < builtAt/30 && metric.builds < 4:
			metric.refresh(x)
			builtAt = norm
		}
		memory.direction(dir, g, metric)
		slope0 := floats.Dot(dir, g)
		if !(slope0 < 0) {
			// Rounding has eaten the direction: start again from the metric.
			memory.reset()
			memory.direction(dir, g, metric)
			slope0 = floats.Dot(dir, g)
			if !(slope0 < 0) {
				break
			}
		}
		step, ok := lineSearch(func(a float64) (fa, slope float64) {
			floats.AddScaledTo(xNew, x, a, dir)
			fa, rounding = e.eval(gNew, xNew, maxNorm)
			return fa, floats.Dot(gNew, dir)
		}, f, slope0, s.MaxPasses-e.passes)
		if !ok.accepted {
			memory.reset()
			stalled++
			metric.refresh(x)
			if ok.budgetSpent {
				break
			}
			continue
		}
		memory.update(step, dir, g, gNew)
		x, xNew = xNew, x
		g, gNew = gNew, g
		f = ok.value
		before := best.Certificate.Bound()
		if record() {
			return &best, nil
		}
		if best.Certificate.Bound() < before {
			stalled = 0
		} else if floats.Norm(g, 2) < 4*rounding {
			stalled++
		}
	}
	c := best.Certificate
	return &best, fmt.Errorf("%w: ‖∇J‖ ≤ %.3g (of which rounding %.3g) after %d passes, want %.3g; allow more passes or a larger tolerance",
		ErrTolerance, c.Bound(), c.Rounding, best.Passes, s.Tolerance)
}
