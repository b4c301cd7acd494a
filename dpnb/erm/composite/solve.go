package composite

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// Settings of Solve. The zero value and nil are right for a solution that is as exact as it can cheaply be.
type Settings struct {
	// Tolerance on Certificate.Bound, the distance of zero from ∂J + N_C. For qop's criterion (7) it is √(2τασ²). Zero
	// means 1e-9·(1 + ‖∇(J−r)‖) at the start.
	Tolerance float64
	// Modulus is μ, with which J − r is strongly convex on C: for quadratic objective perturbation ασ² where λ_min(W) ≥
	// α. It is taken on trust (LeastEigenvalue proves one). Zero means λ.
	Modulus float64
	// MaxPasses over the records; zero means 500, and over a Cone as many more as it takes for certain.
	MaxPasses int
	// Workers is the number of goroutines; zero means one for each processor. The result does not depend on it.
	Workers int
	// Start is where the search begins (length d); it is projected on C. nil is the origin.
	Start []float64
}

// Solution is a point of C with its certificate.
type Solution struct {
	Theta []float64
	// Value is J(Theta).
	Value       float64
	Certificate Certificate
	// Tolerance that was asked for.
	Tolerance float64
	// Passes over the records that were made, those for Hessians included.
	Passes int
	// Steps is the number of products with a d×d matrix, Factorisations that of Cholesky factors.
	Steps, Factorisations int
	// Method is the name of the method that was used.
	Method string
}

// search is the state of Solve.
type search struct {
	o        *objective
	s        Settings
	m        *model
	inner    minimiser
	pair     *pair
	x, g     []float64
	value    float64
	rounding float64
	// lift is added to the diagonal of the Hessian.
	lift float64
	best Solution
}

// Solve returns the minimiser of J over C to a certified distance of zero from ∂J + N_C of at most Settings.Tolerance,
// rounding errors included.
//
// Method: proximal Newton steps (one for the squared loss, but for refinement); the model is solved by an active set
// where r and C are separable, by its multipliers over a cone, by the alternating directions method elsewhere. Where
// these steps end too early over a cone, projected gradients arrive for certain, rounding apart.
//
// Errors: *matrix.DataError for input that has no answer; erm.ErrTolerance (wrapped, with the best point) if MaxPasses
// or the precision of float64 ends the search first; *matrix.ReadError if the records cannot be read any longer.
func Solve(p *Problem, settings *Settings) (found *Solution, err error) {
	defer matrix.Reading(&err)()
	var s Settings
	if settings != nil {
		s = *settings
	}
	r, err := newSearch(p, s)
	if err != nil {
		return nil, err
	}
	if err := r.begin(); err != nil {
		return nil, err
	}
	r.run()
	if _, cone := r.o.c.(*Cone); cone && (settings == nil || settings.MaxPasses == 0) {
		r.descend()
	}
	return r.solution()
}

func checkSettings(p *Problem, s *Settings) error {
	if err := p.Validate(); err != nil {
		return err
	}
	_, d := p.Rows.Dims()
	switch {
	case s.Start != nil && len(s.Start) != d:
		return dataError("the start has length %d, want d = %d", len(s.Start), d)
	case !matrix.Finite(s.Start...):
		return dataError("the start has an entry that is not finite")
	case !(s.Tolerance >= 0):
		return dataError("Tolerance = %v, want a positive number", s.Tolerance)
	case !(s.Modulus >= 0) || math.IsInf(s.Modulus, 1):
		return dataError("Modulus (μ) = %v, want a number that is not negative", s.Modulus)
	}
	return nil
}

func newSearch(p *Problem, s Settings) (*search, error) {
	if err := checkSettings(p, &s); err != nil {
		return nil, err
	}
	o, err := newObjective(p, s.Workers)
	if err != nil {
		return nil, err
	}
	if s.Modulus == 0 {
		s.Modulus = o.p.Lambda
	}
	if s.Modulus == 0 && !structural(o.r, o.c) {
		return nil, dataError("with the %s regulariser and the %s constraint optimality is certified through the "+
			"strong "+
			"convexity of J: state Modulus, or a Lambda", o.r.Name(), o.c.Name())
	}
	if s.MaxPasses == 0 {
		s.MaxPasses = 500
	}
	v := func() []float64 { return make([]float64, o.d) }
	r := &search{o: o, s: s, m: newModel(o.d), pair: newPair(o.d), x: v(), g: v()}
	r.best.Theta = make([]float64, o.d)
	r.best.Certificate.Residual = math.Inf(1)
	if c, ok := o.c.(*Cone); ok {
		r.inner = &coneStep{m: r.m, c: c, x: v()}
	} else if intervals(o.r, o.c) {
		r.inner = newActiveSet(r.m, o.r, o.c)
	} else {
		r.inner = newSplitting(o, r.m)
	}
	return r, nil
}

// begin evaluates J at the start.
func (r *search) begin() error {
	copy(r.x, r.s.Start)
	r.o.c.Project(r.x, r.x)
	r.value, r.rounding = r.o.eval(r.g, r.x)
	if !matrix.Finite(r.value, r.rounding) || !matrix.Finite(r.g...) {
		return dataError("the objective is not finite at the start: clean or scale the records, or start elsewhere")
	}
	if r.s.Tolerance == 0 {
		r.s.Tolerance = 1e-9 * (1 + floats.Norm(r.g, 2))
	}
	r.record()
	return nil
}

// record keeps the point if it is the best so far.
func (r *search) record() {
	c := r.o.certify(r.x, r.g, r.rounding, r.pair, r.s.Modulus)
	if c.Bound() > r.s.Tolerance && c.Residual <= r.s.Tolerance && r.rounding > 0.25*r.s.Tolerance {
		// The records' part of the gradient is not known exactly enough.
		r.rounding = r.o.h.Refine(r.g, r.x)
		c = r.o.certify(r.x, r.g, r.rounding, r.pair, r.s.Modulus)
	}
	if c.Bound() < r.best.Certificate.Bound() || r.best.Method == "" {
		copy(r.best.Theta, r.x)
		r.best.Value = r.value
		r.best.Certificate, r.best.Method = c, r.inner.name()
	}
}

func (r *search) done() bool { return r.best.Certificate.Bound() <= r.s.Tolerance }

// run makes proximal Newton steps until the certificate is good enough, the passes are spent or nothing is to be gained
// any more.
func (r *search) run() {
	_, quadratic := r.o.p.Loss.(loss.Squared)
	first := r.best.Certificate.Bound()
	trial, trialG := make([]float64, r.o.d), make([]float64, r.o.d)
	patience := 30 // steps in sequence that may fail to gain a third
	if quadratic {
		patience = 3
	}
	for stalled, step := 0, 0; !r.done() && stalled < patience && r.o.h.Passes() < r.s.MaxPasses; step++ {
		if step == 0 || !quadratic {
			r.o.h.Hessian(r.m.h, r.x)
			r.damp()
			r.inner.renew(r.s.Modulus)
		}
		copy(r.m.centre, r.x)
		copy(r.m.bar, r.g)
		before := r.best.Certificate.Bound()
		target := 0.3 * r.s.Tolerance
		if !quadratic {
			target = math.Max(target, before*math.Min(0.1, before/first))
		}
		next := r.inner.minimise(target, r.s.Modulus, r.pair)
		length := r.move(next, trial, trialG)
		switch {
		case length == 0 && (quadratic || r.lift > 1e3*r.m.top):
			return
		case length < 0.2: // the model is good nearby only
			r.lift = math.Max(8*r.lift, 1e-6*r.m.top)
		case length == 1:
			r.lift /= 8
		}
		if length == 0 {
			continue
		}
		r.record()
		if r.best.Certificate.Bound() > 0.7*before {
			stalled++
		} else {
			stalled = 0
		}
	}
}

// damp lifts the Hessian by what float64 takes for zero, lest it be singular, and where steps had to be short by more
// (Levenberg and Marquardt).
func (r *search) damp() {
	var trace float64
	for j := range r.o.d {
		trace += r.m.h[j*r.o.d+j]
	}
	for j := range r.o.d {
		r.m.h[j*r.o.d+j] += 1e-14*trace + r.lift
	}
}

// move goes towards next as far as J falls enough. J is compared with a grain of salt, as near the minimum its
// differences are lost in rounding. It returns the share of the way.
func (r *search) move(next, trial, trialG []float64) float64 {
	slope := r.o.r.Value(next) - r.o.r.Value(r.x)
	for j, x := range next {
		slope += r.g[j] * (x - r.x[j])
	}
	for a := 1.0; a > 1e-3; a *= 0.25 {
		if a == 1 {
			copy(trial, next)
		} else {
			for j, x := range next {
				trial[j] = r.x[j] + a*(x-r.x[j])
			}
			r.o.c.Project(trial, trial)
		}
		value, rounding := r.o.eval(trialG, trial)
		if value <= r.value+1e-4*a*math.Min(slope, 0)+1e-11*math.Abs(r.value) {
			copy(r.x, trial)
			copy(r.g, trialG)
			r.value, r.rounding = value, rounding
			return a
		}
		if r.o.h.Passes() >= r.s.MaxPasses {
			return 0
		}
	}
	return 0
}

// solution returns the best point, and ErrTolerance if it is not good enough.
func (r *search) solution() (*Solution, error) {
	b := &r.best
	b.Tolerance, b.Passes = r.s.Tolerance, r.o.h.Passes()
	b.Steps, b.Factorisations = r.m.steps, r.m.factors
	if c := b.Certificate; !(c.Bound() <= r.s.Tolerance) {
		return b, fmt.Errorf("composite: %w: dist(0, ∂J + N_C) ≤ %.3g (of which rounding %.3g) after %d passes, want "+
			"%.3g; "+
			"allow more passes or a larger tolerance",
			erm.ErrTolerance, c.Bound(), c.Rounding, b.Passes, r.s.Tolerance)
	}
	return b, nil
}
