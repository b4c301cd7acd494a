package learn

import (
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Tuned is a learner with λ, τ and the noise set, for tests of the fit path.
func Tuned(l Learner, lambda, tolerance float64, src noise.Source) Learner {
	p := l.spec()
	p.lambda, p.tolerance, p.noise = lambda, tolerance, src
	return tuned{p}
}

type tuned struct{ p spec }

func (t tuned) Fit(data *Dataset, a Allowance) (*Model, error)  { return fit(data, a, t.p) }
func (t tuned) FitWithoutPrivacy(data *Dataset) (*Model, error) { return fitWithoutPrivacy(data, t.p) }
func (t tuned) spec() spec                                      { return t.p }

// AxisOf is the label of the axis of Bands.
var AxisOf = axisOf

// TunedParts returns the mean number of runs of a tuned model, the noise of the score, and what the fits cost.
func TunedParts(m *Model) (runs, scoreSigma float64, fits []privacy.Profile) {
	b := m.ran.(bestOf)
	for _, f := range b.Fits {
		p, err := mechanism.Profile(f)
		if err != nil {
			panic(err)
		}
		fits = append(fits, p)
	}
	return b.MeanRuns, b.ScoreSigma, fits
}

// TuneScore is the score of coefficients by which Tune chooses, without its noise.
func TuneScore(data *Dataset, theta []float64) float64 {
	return tuneChoice{design: data.design}.score(theta, nil)
}

// OnEnded has f called at moments of a release under a name: begun, charged, kept.
func OnEnded(f func(moment string)) { ended = f }

// OfGroup is what FitBy makes of a table's rows and of an allowance, for a group.
func OfGroup(a Allowance, part DataFrame) (DataFrame, Allowance) {
	part.group, a.partition = &ofGroup{Name: "heart"}, "test"
	return part, a.of("ward", part.group)
}

// MuOf is the μ that an allowance has.
func MuOf(a Allowance) float64 { return a.part.Mu }
