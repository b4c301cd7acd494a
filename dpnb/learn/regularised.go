package learn

import (
	"errors"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/constrained"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Regulariser is added to the sum objective of a learner: a function of the coefficients alone, so it costs no privacy.
// At most one of its weights may be set, and at most one of its constraints; they must not be chosen by looking at the
// records. The intercept is exempt from all of them but Ball.
//
// What is released need not meet a constraint exactly, because noise is added to the output.
type Regulariser struct {
	// L1 is ω of ω‖θ‖₁, which sets coefficients that explain little to zero. If your ω is per record, as scikit-learn's
	// alpha is, multiply it by the planned number of records.
	L1 float64
	// GroupL1 is ω of ω Σ_g √|g|·‖θ_g‖₂, the groups g being the columns: all indicators of a category's column are
	// zero, or none is.
	GroupL1 float64
	// Ball r > 0 holds all coefficients together to ‖θ‖₂ ≤ r, Box b > 0 each to |θⱼ| ≤ b, NonNegative each to θⱼ ≥ 0;
	// zero does not.
	Ball, Box   float64
	NonNegative bool
}

// sizes returns the weight and the groups of features of r, for records like those of d.
func (r Regulariser) sizes(d *frame.Design) (weight float64, groups []int, err error) {
	for _, w := range []struct {
		name  string
		value float64
	}{{"L1", r.L1}, {"GroupL1", r.GroupL1}, {"Ball", r.Ball}, {"Box", r.Box}} {
		if !(w.value >= 0) || math.IsInf(w.value, 1) {
			return 0, nil, &privacy.ParamError{Name: w.name, Value: w.value, Want: "a positive number, or 0 for none"}
		}
	}
	features := d.Width()
	if intercept(d) {
		features--
	}
	switch {
	case r.Ball > 0 && r.Box > 0 || r.NonNegative && r.Ball+r.Box > 0:
		return 0, nil, errors.New("dpnb: one of Ball, Box and NonNegative can be set, not several")
	case r.L1 > 0 && r.GroupL1 > 0:
		return 0, nil, errors.New("dpnb: one of L1 and GroupL1 can be set, not both")
	case r.GroupL1 > 0 && d.Encoding == nil:
		return 0, nil, errors.New("dpnb: these records were made of no table, and have no columns to group by: use L1")
	case r.GroupL1 > 0:
		return r.GroupL1, d.Encoding.Groups(), nil
	}
	return r.L1, slices.Repeat([]int{1}, features), nil
}

func (r Regulariser) composite(d *frame.Design) (composite.GroupL1, error) {
	weight, groups, err := r.sizes(d)
	return composite.GroupL1{Weight: weight, Groups: groups}, err
}

// constraint returns what the coefficients are held to, nil for nothing.
func (r Regulariser) constraint(d *frame.Design) composite.Constraint {
	if r.Ball > 0 {
		return composite.Ball{Radius: r.Ball}
	}
	if r.Box == 0 && !r.NonNegative {
		return nil
	}
	lower, upper := -r.Box, r.Box
	if r.NonNegative {
		lower, upper = 0, math.Inf(1)
	}
	box := composite.Box{Lower: slices.Repeat([]float64{lower}, d.Width()),
		Upper: slices.Repeat([]float64{upper}, d.Width())}
	if last := d.Width() - 1; intercept(d) {
		box.Lower[last], box.Upper[last] = math.Inf(-1), math.Inf(1)
	}
	return box
}

var errShareAndRegulariser = errors.New("dpnb: a curvature gives no intervals where coefficients are held at zero: " +
	"leave CurvatureShare out, or L1 and GroupL1")

// regularised chooses objective perturbation with a regulariser, at the λ and the noise without it.
func regularised(p spec, d *frame.Design, epsilon, delta float64) (mechanism.Mechanism, error) {
	r, err := p.regulariser.composite(d)
	if err != nil {
		return nil, err
	}
	if p.curvatureShare != 0 {
		return nil, errShareAndRegulariser
	}
	k, err := perturbation(p, d, epsilon, delta)
	if err != nil {
		return nil, err
	}
	return constrained.Objective{Objective: k.Fit, Regulariser: r, Constraint: p.regulariser.constraint(d),
		Dimension: d.Width(), Adjacency: privacy.AddRemove,
		Epsilon: epsilon, Delta: delta}, nil
}

// solved returns the minimiser of a problem without noise, with what is added to it and what holds it, nil for nothing.
func (p spec) solved(problem erm.Problem, r composite.Regulariser, c composite.Constraint, s erm.Settings) ([]float64,
	error) {
	if s.Workers = p.workers; r == nil && c == nil {
		least, err := erm.Minimize(&problem, &s)
		if err != nil {
			return nil, err
		}
		return least.Theta, nil
	}
	least, err := composite.Solve(&composite.Problem{Problem: problem, Regulariser: r, Constraint: c},
		&composite.Settings{Workers: s.Workers, Start: s.Start, Tolerance: s.Tolerance})
	if err != nil {
		return nil, err
	}
	return least.Theta, nil
}

// with adds a regulariser to a specification of objective perturbation.
func (p spec) with(r Regulariser) spec {
	if r != (Regulariser{}) {
		p.regulariser, p.choose = r, regularised
		p.entry += " with a regulariser"
	}
	return p
}
