package main

import (
	"errors"
	"fmt"

	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/calculator"

	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// newCalculator returns the calculator of every mechanism that the project
// accounts for.
func newCalculator() calculator.Calculator {
	return calculator.New().With("objective-perturbation", calculator.Type{
		Fields: []calculator.Field{
			{Name: "loss", Text: true, Help: "logistic, huber, pseudo-huber, softplus or smoothed-hinge"},
			{Name: "radius", Help: "largest norm of a record"},
			{Name: "lambda", Help: "ridge λ, added to the sum of the losses"},
			{Name: "sigma", Help: "standard deviation of the noise in the objective"},
			{Name: "threshold", Optional: true, Default: 1, Help: "threshold of huber and pseudo-huber, width of softplus and smoothed-hinge"},
			{Name: "bound", Text: true, Optional: true, Help: "tight (the default), integral, pointwise, dtz24, rkw23, kst12 or gaussian-lower"},
		},
		Build: func(v calculator.Values, _ privacy.Adjacency) (privacy.Event, error) {
			return buildObjectivePerturbation(v)
		},
		Computed: true,
	})
}

// buildObjectivePerturbation makes the event that the fields describe.
func buildObjectivePerturbation(v calculator.Values) (privacy.Event, error) {
	radius, threshold := v.Numbers["radius"], v.Numbers["threshold"]
	var curve objective.Curve
	var err error
	switch name := v.Texts["loss"]; name {
	case "logistic":
		if threshold != 1 { // the default, which it may have for nothing
			return nil, &privacy.ParamError{Name: "threshold", Value: threshold, Want: "nothing: the logistic loss has none"}
		}
		curve, err = objective.Logistic(radius)
	case "huber":
		curve, err = objective.Huber(threshold, radius)
	case "pseudo-huber":
		curve, err = objective.PseudoHuber(threshold, radius)
	case "softplus":
		curve, err = objective.Softplus(threshold, radius)
	case "smoothed-hinge":
		curve, err = objective.SmoothedHinge(threshold, radius)
	default:
		err = &privacy.ParamError{Name: "loss", Value: name, Want: "logistic, huber, pseudo-huber, softplus or smoothed-hinge"}
	}
	if err != nil {
		return nil, err
	}
	bound := objective.Tight
	if name := v.Texts["bound"]; name != "" {
		if bound, err = objective.ParseBound(name); err != nil {
			return nil, err
		}
	}
	e := objectivePerturbation{objective.Event{Config: objective.Config{Curve: curve, Lambda: v.Numbers["lambda"], Sigma: v.Numbers["sigma"], Bound: bound}}}
	return e, e.Validate()
}

// objectivePerturbation has a profile under replace-one as well: remove then
// add, composed as trade-off functions.
type objectivePerturbation struct{ objective.Event }

// Profile implements privacy.Event.
func (e objectivePerturbation) Profile(adj privacy.Adjacency) (privacy.Profile, error) {
	p, err := e.Event.Profile(adj)
	if adj != privacy.ReplaceOne || !errors.Is(err, privacy.ErrUnsupported) {
		return p, err
	}
	if p, err = e.Event.Profile(privacy.AddRemove); err != nil {
		return nil, err
	}
	if p, err = privacy.ConvertAdjacency(p, adj); err != nil {
		return nil, fmt.Errorf("objective perturbation under %v: %w", adj, err)
	}
	return p, nil
}

// Caveat implements calculator.Caveat.
func (e objectivePerturbation) Caveat() string {
	if e.Bound == objective.GaussianLower {
		return "gaussian-lower is a LOWER bound of what the mechanism costs, no guarantee"
	}
	return ""
}
