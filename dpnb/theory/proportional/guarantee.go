package proportional

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// ZCDP returns the zero-concentrated guarantee of what p describes, under the adjacency of its target: μ²/2 for a
// Gaussian mechanism, Corollary 5.2 of dtz24 for objective perturbation where it is not proved to be one at every
// order.
//
// Errors: *privacy.ParamError for what no prediction of a private mechanism contains; privacy.ErrUnsupported for
// objective perturbation under replace-one outside the Gaussian case.
func (p Prediction) ZCDP() (privacy.Rho, error) {
	if err := p.Task.sensitive(); err != nil {
		return privacy.Rho{}, err
	}
	if !(p.Nu > 0) || p.Mechanism != NoisyDescent && !(p.Lambda > 0) || p.Mechanism == NoisyDescent && p.Steps < 1 {
		return privacy.Rho{}, &privacy.ParamError{Name: "Nu, Lambda, Steps", Value: fmt.Sprint(p.Nu, ", ", p.Lambda,
			", ", p.Steps), Want: "noise, and a ridge or at least one step"}
	}
	adj, moves := p.Target.Adjacency, p.Target.moves()
	l := p.Task.Loss.Lipschitz() * p.Task.Radius
	switch p.Mechanism {
	case Output:
		return privacy.RhoOfGaussian(moves*l/(p.Lambda*p.Nu), adj), nil
	case NoisyDescent:
		return privacy.RhoOfGaussian(moves*p.Task.Radius*p.Task.slopes(p.Steps)/p.Nu, adj), nil
	case Objective:
		c, err := p.Task.curve()
		if err != nil {
			return privacy.Rho{}, err
		}
		if objective.IsGaussian(c, p.Lambda, p.Nu) {
			return privacy.RhoOfGaussian(moves*objective.Slope(c)/p.Nu, adj), nil
		}
		if adj != privacy.AddRemove {
			return privacy.Rho{}, fmt.Errorf("%w: zero-concentrated privacy of objective perturbation under %s "+
				"outside the Gaussian case; use add/remove-one", privacy.ErrUnsupported, adj)
		}
		rho, err := objective.ZCDP(objective.Config{Curve: c, Lambda: p.Lambda, Sigma: p.Nu, Bound: objective.DTZ24})
		return privacy.Rho{Value: rho, Adj: adj}, err
	}
	return privacy.Rho{}, &privacy.ParamError{Name: "Mechanism", Value: p.Mechanism,
		Want: "Objective, Output or NoisyDescent"}
}
