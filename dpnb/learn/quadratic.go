package learn

import (
	"fmt"
	"strings"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/qop"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Interpolation is what Quadratic assumes: qop.Interpolation.
type Interpolation = qop.Interpolation

// AssumeInterpolation states that one θ⋆, within eta of the anchor, minimises the loss of every record that could ever
// be in the data: qop.AssumeInterpolation.
func AssumeInterpolation(anchor []float64, eta float64) Interpolation {
	return qop.AssumeInterpolation(anchor, eta)
}

// Quadratic is least squares for a number (Regression), or Huber's loss, by quadratic perturbation of the objective
// (qop, Mechanism 3), with a regulariser and a constraint. It is private only where one θ⋆ predicts the target of every
// possible record without error, for example where a model is fitted to the predictions of another. The user has to
// state this assumption, and every result repeats it. For other data use Linear or Huber.
//
//	model, err := dpnb.Quadratic{Interpolation: dpnb.AssumeInterpolation(public.Theta(), 0.1)}.
//		Fit(data, budget.Spend(0.5))
type Quadratic struct {
	// Interpolation is required: the anchor, in the order of the features and in their scales as Model.Theta is, was
	// found without the data.
	Interpolation Interpolation
	// Threshold T > 0 takes Huber's loss in place of the squared one, in units of half the width of the target's
	// bounds.
	Threshold float64
	// Regularise adds a regulariser or a constraint to the objective, at no cost in privacy.
	Regularise Regulariser
	// Lambda is a ridge λ ≥ 0 around 0; zero is none, as none is needed.
	Lambda float64
	// Records is a guess of the number of records, Distance one of how far θ⋆ is from the best fit; zero is 1 of each.
	// They are made without the data and choose between noises of the same guarantee.
	Records  int
	Distance float64
	// Noise is the source of the noise; nil is noise.NewSecure().
	Noise noise.Source
	// Workers is the number of goroutines; zero means one for each processor.
	Workers int
}

// Fit releases a private model: see Learner.
func (l Quadratic) Fit(data *Dataset, allowance Allowance) (*Model, error) {
	m, err := fit(data, allowance, l.spec())
	if err == nil {
		m.dataWarning = join("RESTS ON INTERPOLATION: if the target of a single record that could be in the data is "+
			"not predicted exactly by one common model near the anchor, nothing is protected.", m.dataWarning)
	}
	return m, err
}

// FitWithoutPrivacy returns the fit of the same loss, for comparison on public data.
func (l Quadratic) FitWithoutPrivacy(data *Dataset) (*Model, error) {
	return fitWithoutPrivacy(data, l.spec())
}

func (l Quadratic) spec() spec {
	var f loss.Loss = loss.Squared{}
	if l.Threshold != 0 {
		f = loss.Huber{Threshold: l.Threshold}
	}
	return spec{
		learner: "Quadratic", title: "linear regression by quadratic perturbation", entry: "quadratic",
		task: frame.Number, loss: func(frame.Target) loss.Loss { return f }, lambda: l.Lambda, noise: l.Noise,
		workers: l.Workers, regulariser: l.Regularise, own: parameter{"Threshold", l.Threshold},
		choose: func(p spec, d *frame.Design, epsilon, delta float64) (mechanism.Mechanism, error) {
			if n := len(l.Interpolation.Anchor()); n > 0 && n != d.Width() {
				return nil, &privacy.ParamError{Name: "Interpolation", Value: fmt.Sprintf("an anchor of %d numbers", n),
					Want: fmt.Sprintf("one of %d, in the order of %s", d.Width(), strings.Join(d.Features, ", "))}
			}
			r, err := p.regulariser.composite(d)
			if err != nil {
				return nil, err
			}
			return chosen(qop.Calibrate(qop.Config{Loss: f, RowNorm: d.RowNorm, Epsilon: epsilon, Delta: delta,
				Adjacency: privacy.AddRemove, Interpolation: l.Interpolation, Regulariser: r,
				Constraint: p.regulariser.constraint(d), Lambda: l.Lambda, Records: l.Records, Distance: l.Distance}))
		},
	}
}
