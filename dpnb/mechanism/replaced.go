package mechanism

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Replaced is a mechanism whose guarantee is for records that are replaced, their number being public: to replace is to
// remove and to add, by privacy.ReplaceProfile. What is μ-GDP for one record more or less is 2μ-GDP then, exactly.
//
// Statement: dpnb/replace-one; proof: docs/theory/composition.md.
type Replaced struct{ Of Mechanism }

// ForReplacement returns a choice of mechanisms for records that are replaced, choose being one for a record more or
// less: it is asked for half of the μ of (ε, δ), or of ε where δ = 0, and of what is not quite a Gaussian mechanism for
// as much more or less as it takes, to half a percent of ε.
//
// Errors, of what it returns: those of choose; one that wraps privacy.ErrUnsupported where no such part is enough.
func ForReplacement(choose Choice) Choice {
	return func(epsilon, delta float64) (Mechanism, error) {
		if delta == 0 {
			m, err := choose(epsilon/2*(1-1e-12), 0)
			return Replaced{m}, err
		}
		mu, err := privacy.MuOf(epsilon, delta)
		if err != nil {
			return nil, err
		}
		var best Mechanism
		part, enough, more := 0.5*(1-1e-9), 0.0, 1.0
		for range 8 {
			// ε is asked for, at the same δ: what is Gaussian is then of the part of μ.
			alone, err := privacy.EpsilonUpper(privacy.GaussianProfile(part*mu, privacy.AddRemove), delta)
			if err != nil {
				return nil, err
			}
			if alone == 0 { // δ alone holds that much
				return nil, fmt.Errorf("%w: (%g, %g) for records that are replaced: take a smaller δ",
					privacy.ErrUnsupported, epsilon, delta)
			}
			m, err := choose(alone, delta)
			if err != nil {
				return nil, err
			}
			r := Replaced{m}
			p, err := Profile(r)
			if err != nil {
				return nil, err
			}
			reached, err := privacy.EpsilonUpper(p, delta)
			if err != nil {
				return nil, err
			}
			over, err := privacy.MuOf(reached, delta)
			if err != nil {
				return nil, err
			}
			next := part * mu / over * (1 - 1e-3)
			if privacy.DeltaUpper(p, epsilon) <= delta {
				if best, enough = r, part; reached >= 0.995*epsilon {
					break
				}
			} else {
				more = part
			}
			if part = next; !(part > enough && part < more) {
				part = (enough + more) / 2
			}
		}
		if best != nil {
			return best, nil
		}
		return nil, fmt.Errorf("%w: no part of (%g, %g) was found at which replacing a record costs that",
			privacy.ErrUnsupported, epsilon, delta)
	}
}

// Validate implements Mechanism.
func (r Replaced) Validate() error {
	_, err := r.Event()
	return err
}

// Event implements Mechanism.
//
// Errors: as that of Of; one that wraps privacy.ErrUnsupported unless it is under add/remove-one.
func (r Replaced) Event() (privacy.Event, error) {
	p, err := ofARow(r.Of, 1, "what replacing costs is")
	if err != nil {
		return nil, err
	}
	if _, _, ok := privacy.GaussianMu(p); !ok {
		p = privacy.Interpolated(p, 32) // the infimum asks for many values, and some are dear
	}
	p, err = privacy.ReplaceProfile(p)
	return Known(r, p, err)
}

// Describe implements Mechanism.
func (r Replaced) Describe() Description {
	d := r.Of.Describe()
	d.Adjacency = privacy.ReplaceOne
	d.Bound += "; replacing as removing and adding (docs/theory/composition.md)"
	return d
}

// String describes the mechanism with its parameters.
func (r Replaced) String() string { return fmt.Sprintf("%v, for records that are replaced", r.Of) }

// Feasible implements Mechanism.
func (r Replaced) Feasible(features, records int) error { return r.Of.Feasible(features, records) }

// Check implements Mechanism.
func (r Replaced) Check(rows matrix.Rows, labels []float64) error {
	return r.Of.Check(rows, labels)
}

// Run implements Mechanism. Fitted of the release is what Of has released with; its cost is that of Guarantee.
func (r Replaced) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *Settings) (*Release, error) {
	return rerun(r, r.Of, 0, rows, labels, src, settings)
}
