package erm

import (
	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm/internal/descent"
)

const (
	// patience is the number of passes after which LBFGS turns to the full Hessian, whatever it costs.
	patience = 40
	// memory is how many steps LBFGS remembers.
	memory = 12
)

// LBFGS is the method of Nocedal (1980) whose initial metric is the Hessian over a sample of the records, factored at
// the minimiser over that sample; one pass over the records for each trial step. Where d is too large for that, the
// metric is diagonal. If it takes more than 40 passes, or from the second on where the full Hessian is cheap beside a
// pass, it becomes Newton's method with that, in its dual form if d > n, as long as one of the two is at most 2,500.
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

// lbfgs searches from x with the metric m. After patience passes it goes on with the exact Hessian or, if told not to,
// returns false: the search is not over.
func (r *search) lbfgs(m metric, mayFactor bool) (over bool) {
	pairs := descent.NewMemory(r.e.size, memory)
	dir, trial, trialGrad := make([]float64, r.e.size), make([]float64, r.e.size), make([]float64, r.e.size)
	builtAt := floats.Norm(r.g, 2)
	builds, stalled, slow := 1, 0, false
	for r.left() > 0 && stalled < 3 {
		norm := floats.Norm(r.g, 2)
		early := mayFactor && !r.rough && r.e.passes > 1 && norm > 1e4*r.s.Tolerance && r.wholePays()
		if !r.exact && (early || r.e.passes > patience) {
			if !mayFactor {
				return false
			}
			if exact := r.exactMetric(); exact != nil {
				m, r.m, r.exact, slow = exact, exact, true, true
			}
		}
		switch {
		case r.exact && slow:
			pairs.Reset()
			m.refresh(r.x)
		case !r.exact && (!r.sampled || r.e.k > 1) && norm < builtAt/30 && builds < 4:
			m.refresh(r.x)
			builtAt = norm
			builds++
		}
		pairs.Direction(dir, r.g, m.solve)
		slope0 := floats.Dot(dir, r.g)
		if !(slope0 < 0) {
			// Rounding has eaten the direction: start again from the metric.
			pairs.Reset()
			pairs.Direction(dir, r.g, m.solve)
			if slope0 = floats.Dot(dir, r.g); !(slope0 < 0) {
				break
			}
		}
		step, ok := r.along(dir, slope0, &trial, &trialGrad)
		if !ok.Accepted {
			pairs.Reset()
			stalled++
			m.refresh(r.x)
			if ok.BudgetSpent {
				break
			}
			continue
		}
		pairs.Update(step, dir, trialGrad, r.g)
		slow = floats.Norm(r.g, 2) > 0.2*norm
		if r.advance(&stalled) {
			return true
		}
	}
	return true
}
