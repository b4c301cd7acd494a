package account

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/pld"
)

// RDP is the accountant by Rényi curves: looser, without lower bounds, and the sharper one for private selection, which
// has no other guarantee.
type RDP struct{ ledger[privacy.RDPCurve] }

// NewRDP returns an accountant with nothing on its books.
//
// Errors: *privacy.ParamError for an invalid adjacency.
func NewRDP(adj privacy.Adjacency) (*RDP, error) {
	if err := adj.Validate(); err != nil {
		return nil, err
	}
	a := &RDP{}
	a.adj = adj
	a.accept = func(e privacy.Event) (privacy.RDPCurve, error) {
		r, ok := e.(privacy.RDPEvent)
		if !ok {
			return privacy.RDPCurve{}, fmt.Errorf("%w: %v has no Rényi curve; compose it by its profile",
				privacy.ErrUnsupported, e)
		}
		return r.RDP(adj)
	}
	return a, nil
}

// Curve returns the composed curve.
func (a *RDP) Curve() (privacy.RDPCurve, error) {
	if len(a.parts) == 0 {
		return privacy.RDPCurve{Adj: a.adj, Epsilon: func(float64) float64 { return 0 }}, nil
	}
	return privacy.ComposeRDP(a.counts(), a.parts...)
}

// EpsilonUpper implements Accountant.
func (a *RDP) EpsilonUpper(delta float64) (float64, error) {
	c, err := a.Curve()
	if err != nil {
		return 0, err
	}
	eps, err := c.EpsilonUpper(delta)
	if err == nil && len(a.parts) == 0 {
		eps = 0
	}
	return eps, err
}

// EpsilonLower implements Accountant: nothing is known.
func (a *RDP) EpsilonLower(delta float64) (float64, error) {
	if !(delta > 0 && delta < 1) {
		return 0, &privacy.ParamError{Name: "Delta", Value: delta, Want: "a number in (0, 1)"}
	}
	return 0, nil
}

// LogDeltaUpper implements Accountant.
func (a *RDP) LogDeltaUpper(eps float64) (float64, error) {
	b, err := nothing(eps)
	if err != nil || len(a.parts) == 0 {
		return b.Upper, err
	}
	c, err := a.Curve()
	if err != nil {
		return 0, err
	}
	return c.LogDeltaUpper(eps), nil
}

// LogDeltaLower implements Accountant: nothing is known.
func (a *RDP) LogDeltaLower(eps float64) (float64, error) {
	_, err := nothing(eps)
	return math.Inf(-1), err
}

// Method implements Accountant.
func (a *RDP) Method() string { return "Rényi curve" }

// nothing checks eps and returns the bounds of having run nothing.
func nothing(eps float64) (pld.Bounds, error) {
	if !(eps >= 0) || math.IsInf(eps, 1) {
		return pld.Bounds{}, &privacy.ParamError{Name: "Epsilon", Value: eps, Want: "a finite number ≥ 0"}
	}
	return pld.Bounds{Lower: math.Inf(-1), Upper: math.Inf(-1), Method: pld.Exact}, nil
}
