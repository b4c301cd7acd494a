package learn

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/recent"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// calibration asks for the mechanism of p with records like those of d.
func (p spec) calibration(d *frame.Design, epsilon, delta float64) objpert.Config {
	c := p.asked(d, epsilon, delta)
	c.Loss, c.Clip, c.Bound, c.Rule = weighed(d, p.loss(d.Target)), p.clip(d), p.bound, p.rule
	if c.Bound == 0 && p.ridge > 0 { // where the Gaussian case is not to be had it halves λ, in a tenth of a second
		c.Bound = objective.Tight
	}
	// In the Gaussian case ridges are raised after the calibration: tilted.
	if c.Bound != 0 && c.Bound != objective.Tight {
		c.Planned = objpert.Planned{Records: p.records, Features: d.Width()}
	}
	return c
}

// asked is what the mechanisms of all losses are asked for.
func (p spec) asked(d *frame.Design, epsilon, delta float64) objpert.Config {
	return objpert.Config{RowNorm: d.RowNorm, Epsilon: epsilon, Delta: delta, Adjacency: privacy.AddRemove,
		Lambda: p.lambda, Tolerance: p.tolerance}
}

// tilted chooses objective perturbation, with a count of the records before it where nothing is said of their number,
// or with the release of its curvature after it if that has a share of the budget.
func tilted(p spec, d *frame.Design, epsilon, delta float64) (mechanism.Mechanism, error) {
	if p.counts() {
		return counted(p, d, epsilon, delta)
	}
	k, err := perturbation(p, d, epsilon, delta)
	if err != nil {
		return nil, err
	}
	if p.records != 0 && p.lambda == 0 && k.Fit.Gaussian() {
		planned := objpert.Planned{Records: p.records, Features: d.Width()}
		if err := planned.Validate(); err != nil {
			return nil, err
		}
		k.Fit = k.Fit.Suited(planned, intercept(d), p.baseRate)
	}
	if k.Sigma == 0 {
		return k.Fit, nil
	}
	return k, nil
}

// perturbation calibrates objective perturbation and, if that has a share, the release of its curvature; else only Fit
// is set.
func perturbation(p spec, d *frame.Design, epsilon, delta float64) (interval.Curvature, error) {
	c, share := p.calibration(d, epsilon, delta), p.curvatureShare
	if c.Lambda == 0 && p.ridge > 0 && c.Bound == objective.Tight {
		unit, err := privacy.GaussianSigma(epsilon, delta)
		if err != nil {
			return interval.Curvature{}, err
		}
		l := p.clipped(d)
		unit /= math.Sqrt(1 - share) // the fit's share of μ² makes the noise that much larger
		c.Lambda = unit * d.RowNorm * d.RowNorm * math.Max(p.ridge*few(d.Width(), unit)*l.Lipschitz(),
			0.5*l.Smoothness())
	}
	if share == 0 {
		m, err := calibratedObjective(c)
		return interval.Curvature{Fit: m}, err
	}
	type key struct {
		objpert.Config
		share float64
	}
	return calibrated(key{c, share}, func() (interval.Curvature, error) {
		_, k, err := interval.Calibrate(c, interval.Share{Curvature: share})
		return k, err
	})
}

// few is the share of the ridge that d coefficients need at the noise σ = unit·L, from ½ to 1: the best λ is in
// proportion to dσ²/n, that of the rule to σ, and n is not known. docs/theory/learners.md, section 4.
func few(d int, unit float64) float64 { return math.Max(0.5, math.Min(1, float64(d)*unit/250)) }

func calibratedObjective(c objpert.Config) (objpert.Objective, error) {
	return calibrated(c, func() (objpert.Objective, error) { return objpert.Calibrate(c) })
}

// countShare is the part of μ² that counting the records has where nothing is said of their number: the fit has half a
// percent more noise, and the count a standard deviation of about 580 records at ε = 0.05 and 37 at ε = 1 (δ = 10⁻⁵).
const countShare = 0.01

// counts says whether the number of records is to be counted with noise, so that λ can be chosen for it: where λ is
// left to the rule, no number was planned, and any λ costs the same, which the Gaussian case grants to two classes.
// Where the curvature is released, the intervals for the population want the least λ.
func (p spec) counts() bool {
	return p.task == frame.TwoClasses && p.lambda == 0 && p.records == 0 && p.rule == objpert.Automatic &&
		p.ridge == 0 &&
		p.curvatureShare == 0 && (p.bound == 0 || p.bound == objective.Tight)
}

// intercept says whether the last feature is the constant. If a column of that name is taken for it, its ridge is
// another, and nothing else.
func intercept(d *frame.Design) bool { return d.Features[len(d.Features)-1] == "bias" }

// counted chooses a noisy count of the records and, after it, objective perturbation with the ridges for that number.
// What the fit costs does not depend on them; both are Gaussian mechanisms and are charged as one.
func counted(p spec, d *frame.Design, epsilon, delta float64) (mechanism.Mechanism, error) {
	c := p.calibration(d, epsilon, delta)
	type key struct {
		objpert.Config
		counted bool
	}
	m, err := calibrated(key{c, true}, func() (objpert.Counted, error) {
		return objpert.CalibrateCounted(c, countShare,
			false)
	})
	m.Intercept, m.BaseRate = intercept(d), p.baseRate
	return m, err
}

// calibrations remembers what was calibrated: the tight bound takes a tenth of a second, and a measurement makes the
// same fit with many seeds.
var calibrations = recent.Values[any, any]{Kept: 1024}

// calibrated returns what find returns for such a key, which says all that find depends on.
func calibrated[T any](key any, find func() (T, error)) (T, error) {
	m, err := calibrations.Of(key, func() (any, error) { return find() })
	if err != nil {
		found, _ := m.(T)
		return found, err
	}
	return m.(T), nil // of another type it is of another question, and no mechanism
}
