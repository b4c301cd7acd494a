package main

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/calculator"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// newCalculator returns the calculator of every mechanism that the project accounts for.
func newCalculator() calculator.Calculator {
	return calculator.New().With("objective-perturbation", calculator.Type{
		Fields: []calculator.Field{
			{Name: "loss", Text: true, Help: "logistic, huber, pseudo-huber, softplus or smoothed-hinge"},
			{Name: "radius", Help: "largest norm of a record"},
			{Name: "lambda", Help: "ridge λ, added to the sum of the losses"},
			{Name: "sigma", Help: "standard deviation of the noise in the objective"},
			{Name: "threshold", Optional: true, Default: 1,
				Help: "threshold of huber and pseudo-huber, width of softplus and smoothed-hinge"},
			{Name: "bound", Text: true, Optional: true,
				Help: "tight (the default), integral, pointwise, dtz24, rkw23, kst12 or gaussian-lower"},
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
	losses := map[string]loss.Loss{
		"logistic":       loss.Logistic{},
		"huber":          loss.Huber{Threshold: threshold},
		"pseudo-huber":   loss.PseudoHuber{Threshold: threshold},
		"softplus":       loss.Softplus{Width: threshold},
		"smoothed-hinge": loss.SmoothedHinge{Width: threshold},
	}
	name := v.Texts["loss"]
	l, known := losses[name]
	switch {
	case !known:
		return nil, &privacy.ParamError{Name: "loss", Value: name,
			Want: "logistic, huber, pseudo-huber, softplus or smoothed-hinge"}
	case name == "logistic" && threshold != 1: // the default, which it may have for nothing
		return nil, &privacy.ParamError{Name: "threshold", Value: threshold,
			Want: "nothing: the logistic loss has none"}
	}
	for _, p := range []struct {
		name  string
		value float64
	}{{"Threshold", threshold}, {"Radius", radius}} {
		if !(p.value > 0) || math.IsInf(p.value, 1) {
			return nil, &privacy.ParamError{Name: p.name, Value: p.value, Want: "a positive finite number"}
		}
	}
	curve, err := loss.CurveOf(l, radius)
	if err != nil {
		return nil, err
	}
	bound := objective.Tight
	if name := v.Texts["bound"]; name != "" {
		if bound, err = objective.ParseBound(name); err != nil {
			return nil, err
		}
	}
	config := objective.Config{Curve: curve, Lambda: v.Numbers["lambda"], Sigma: v.Numbers["sigma"], Bound: bound}
	e := objective.Event{Config: config}
	return e, e.Validate()
}
