package erm

import "gonum.org/v1/gonum/floats"

const (
	// patience is the number of passes after which LBFGS turns to the full Hessian.
	patience = 40
	// memory is how many steps LBFGS remembers.
	memory = 12
)

// LBFGS is the method of Nocedal (1980) whose initial metric is the Hessian over
// a sample of the records, factored at the minimiser over that sample; one pass
// over the records for each trial step. Where d is too large for that, the
// metric is diagonal. If it takes more than 40 passes it becomes Newton's method
// with the full Hessian, in its dual form if d > n, as long as one of the two is
// at most 2,500.
type LBFGS struct{}

// Name returns "L-BFGS".
func (LBFGS) Name() string { return "L-BFGS" }

func (LBFGS) run(r *search) error {
	m, done, err := r.steer()
	if done || err != nil {
		return err
	}
	r.lbfgs(m, true)
	return nil
}

// lbfgs searches from x with the metric m. After patience passes it goes on with
// the exact Hessian or, if told not to, returns false: the search is not over.
func (r *search) lbfgs(m metric, mayFactor bool) (over bool) {
	pairs := newLBFGS(r.e.d, memory)
	dir, trial, trialGrad := make([]float64, r.e.d), make([]float64, r.e.d), make([]float64, r.e.d)
	builtAt := floats.Norm(r.g, 2)
	builds, stalled, slow := 1, 0, false
	for r.left() > 0 && stalled < 3 {
		norm := floats.Norm(r.g, 2)
		if r.e.passes > patience && !r.exact {
			if !mayFactor {
				return false
			}
			if exact := r.exactMetric(); exact != nil {
				m, r.exact, slow = exact, true, true
			}
		}
		switch {
		case r.exact && slow:
			pairs.reset()
			m.refresh(r.x)
		case !r.exact && !r.sampled && norm < builtAt/30 && builds < 4:
			m.refresh(r.x)
			builtAt = norm
			builds++
		}
		pairs.direction(dir, r.g, m)
		slope0 := floats.Dot(dir, r.g)
		if !(slope0 < 0) {
			// Rounding has eaten the direction: start again from the metric.
			pairs.reset()
			pairs.direction(dir, r.g, m)
			if slope0 = floats.Dot(dir, r.g); !(slope0 < 0) {
				break
			}
		}
		step, ok := r.along(dir, slope0, &trial, &trialGrad)
		if !ok.accepted {
			pairs.reset()
			stalled++
			m.refresh(r.x)
			if ok.budgetSpent {
				break
			}
			continue
		}
		pairs.update(step, dir, trialGrad, r.g)
		slow = floats.Norm(r.g, 2) > 0.2*norm
		before := r.best.Certificate.Bound()
		if r.record() {
			return true
		}
		if r.best.Certificate.Bound() < before {
			stalled = 0
		} else if floats.Norm(r.g, 2) < 4*r.rounding {
			stalled++
		}
	}
	return true
}

// lbfgs keeps the last pairs (s, y) of steps and gradient differences.
type lbfgs struct {
	s, y  [][]float64
	rho   []float64
	alpha []float64
	used  int // how many pairs are there
	head  int // where the next goes
}

func newLBFGS(d, memory int) *lbfgs {
	l := &lbfgs{rho: make([]float64, memory), alpha: make([]float64, memory)}
	for range memory {
		l.s = append(l.s, make([]float64, d))
		l.y = append(l.y, make([]float64, d))
	}
	return l
}

func (l *lbfgs) reset() { l.used, l.head = 0, 0 }

// update stores the pair of the step a·dir and gNew − g.
func (l *lbfgs) update(a float64, dir, g, gNew []float64) {
	s, y := l.s[l.head], l.y[l.head]
	floats.ScaleTo(s, a, dir)
	floats.SubTo(y, gNew, g)
	sy := floats.Dot(s, y)
	if !(sy > 0) {
		return // rounding: the curvature along a step is at least λ
	}
	l.rho[l.head] = 1 / sy
	l.head = (l.head + 1) % len(l.s)
	l.used = min(l.used+1, len(l.s))
}

// direction writes −H g to dir, H the two-loop inverse Hessian (Nocedal 1980)
// started from the metric.
func (l *lbfgs) direction(dir, g []float64, m metric) {
	floats.ScaleTo(dir, -1, g)
	for k := 1; k <= l.used; k++ {
		i := (l.head - k + len(l.s)) % len(l.s)
		l.alpha[i] = l.rho[i] * floats.Dot(l.s[i], dir)
		floats.AddScaled(dir, -l.alpha[i], l.y[i])
	}
	m.solve(dir)
	for k := l.used; k >= 1; k-- {
		i := (l.head - k + len(l.s)) % len(l.s)
		b := l.rho[i] * floats.Dot(l.y[i], dir)
		floats.AddScaled(dir, l.alpha[i]-b, l.s[i])
	}
}
