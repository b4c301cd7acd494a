package composite

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/erm"
)

// objective is a problem with what computes its smooth terms h.
type objective struct {
	p    *Problem
	n, d int
	h    *erm.Evaluator
	r    Regulariser
	c    Projector
}

// newObjective wants a problem that is valid.
func newObjective(p *Problem, workers int) (*objective, error) {
	h, err := erm.NewEvaluator(&p.Problem, workers)
	if err != nil {
		return nil, err
	}
	return &objective{p: p, n: len(p.Labels), d: p.Size(), h: h, r: p.regulariser(), c: p.projector()}, nil
}

// eval writes ∇h to grad and returns J(θ) (without ι_C) and a bound on the Euclidean norm of the error of the gradient.
func (o *objective) eval(grad, theta []float64) (value, rounding float64) {
	value, rounding = o.h.Gradient(grad, theta)
	return value + o.r.Value(theta), rounding
}

// lipschitzOfOne returns nβ·max‖xᵢ‖² + λ_max(Q) + λ: the Lipschitz constant of n times one term of the sum with its
// share of the rest, if all of them point the same way. λ_max is an estimate by the power method.
func (o *objective) lipschitzOfOne() float64 {
	lip := float64(o.n)*o.h.RecordSmoothness() + o.p.Lambda
	if q := o.h.Quadratic(); q != nil {
		lip += powerMethod(q, o.d, 40)
	}
	return math.Max(lip, math.SmallestNonzeroFloat64)
}
