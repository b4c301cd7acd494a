package learn

import "github.com/dpnb/notebooks/dpnb/noise"

// Tuned is a learner with λ, τ and the noise set, for tests of the fit path.
func Tuned(l Learner, lambda, tolerance float64, src noise.Source) Learner {
	p := l.recipe()
	p.lambda, p.tolerance, p.noise = lambda, tolerance, src
	return tuned{p}
}

type tuned struct{ p recipe }

func (t tuned) Fit(data *Dataset, a Allowance) (*Model, error)  { return fit(data, a, t.p) }
func (t tuned) FitWithoutPrivacy(data *Dataset) (*Model, error) { return fitWithoutPrivacy(data, t.p) }
func (t tuned) recipe() recipe                                  { return t.p }

// AxisOf is the label of the axis of Bands.
var AxisOf = axisOf
