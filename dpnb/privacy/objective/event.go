package objective

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Event is one release by objective perturbation; it implements privacy.Event.
type Event struct {
	Config
}

var _ privacy.Event = Event{}

// Profile implements privacy.Event. Under add/remove-one it is New(e.Config).
// Under replace-one it is the (2L/σ)-GDP profile where the mechanism is proved
// to be the Gaussian one and the bound is Tight.
//
// Errors: *ParamError if a field or adj is out of range; otherwise an error that
// wraps ErrUnsupported under replace-one, where the add/remove-one profile is to
// be converted (a replacement is a removal and an addition).
func (e Event) Profile(adj privacy.Adjacency) (privacy.Profile, error) {
	if err := adj.Validate(); err != nil {
		return nil, err
	}
	if adj == privacy.ReplaceOne {
		if err := e.Config.Validate(); err != nil {
			return nil, err
		}
		if e.Bound == Tight && IsGaussian(e.Curve, e.Lambda, e.Sigma) {
			return privacy.GaussianProfile(2*Slope(e.Curve)/e.Sigma*(1+4e-16), adj), nil
		}
		return nil, fmt.Errorf("objective: under replace-one; convert the add/remove-one profile: %w", privacy.ErrUnsupported)
	}
	p, err := New(e.Config)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// String describes the event.
func (e Event) String() string {
	return fmt.Sprintf("ObjectivePerturbation(%v, λ=%g, σ=%g, %v)", e.Curve, e.Lambda, e.Sigma, e.Bound)
}
