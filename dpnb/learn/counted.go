package learn

import (
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"

	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// countShare is the part of μ² that counting the records has where nothing is said
// of their number: the fit has half a percent more noise, and the count a standard
// deviation of about 580 records at ε = 0.05 and 37 at ε = 1 (δ = 10⁻⁵).
const countShare = 0.01

// counts says whether the number of records is to be counted with noise, so that λ
// can be chosen for it: where λ is left to the rule, no number was planned, and
// any λ costs the same, which the Gaussian case grants to two classes. Where the
// curvature is released, the intervals for the population want the least λ.
func (p plan) counts() bool {
	return p.task == frame.TwoClasses && p.lambda == 0 && p.records == 0 && p.rule == objpert.Automatic && p.ridge == 0 &&
		p.curvatureShare == 0 && (p.bound == 0 || p.bound == objective.Tight)
}

// intercept says whether the last feature is the constant. If a column of that name
// is taken for it, its ridge is another, and nothing else.
func intercept(d *frame.Design) bool { return d.Features[len(d.Features)-1] == "bias" }

// perturbCounted prepares a noisy count of the records and, after it, objective
// perturbation with the ridges for that number. What the fit costs does not depend
// on them; both are Gaussian mechanisms and are charged as one.
func perturbCounted(p plan, d *frame.Design, epsilon, delta float64) (prepared, error) {
	c := p.calibration(d, epsilon, delta)
	type key struct {
		objpert.Config
		counted bool
	}
	m, err := calibrated(key{c, true}, func() (objpert.Counted, error) { return objpert.CalibrateCounted(c, countShare, false) })
	if err != nil {
		return prepared{}, err
	}
	m.Intercept, m.BaseRate = intercept(d), p.baseRate
	out := objectivePerturbation(m.Fit, p, d)
	out.entry += ", records counted"
	out.settled = new(prepared)
	out.check = func() error {
		if err := m.Check(d.Rows, d.Labels); err != nil {
			return err
		}
		return certifiable(m.Fit.Attainable(d.Rows.D, 0))
	}
	out.run = func(src noise.Source) (*mechanism.Release, error) {
		r, fit, err := m.Run(d.Rows, d.Labels, src, p.settings())
		*out.settled = objectivePerturbation(fit, p, d)
		return r, err
	}
	return out, nil
}
