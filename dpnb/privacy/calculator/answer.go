// Package calculator answers, for events given as text, what they cost: ε at a δ, δ at an ε, the noise for an (ε, δ).
package calculator

import (
	"encoding/json"
	"math"

	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/account"
	"github.com/dpnb/notebooks/dpnb/privacy/pld"
)

// Query is a composition to ask about.
type Query struct {
	Lines     []Line
	Adjacency privacy.Adjacency
	// Settings of the accountant; nil is right.
	Settings *pld.Settings
}

// Answer says that the composition is (Epsilon, Delta)-DP, and that at this Delta no ε below EpsilonLower would be true
// of the composed profiles.
type Answer struct {
	Epsilon      float64
	EpsilonLower float64
	Delta        float64
	Adjacency    privacy.Adjacency
	Method       string
}

// MarshalJSON writes the answer; an infinite ε is the string "Infinity".
func (a Answer) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Epsilon      any    `json:"epsilon"`
		EpsilonLower any    `json:"epsilon_lower"`
		Delta        any    `json:"delta"`
		Adjacency    string `json:"adjacency"`
		Method       string `json:"method"`
	}{number(a.Epsilon), number(a.EpsilonLower), number(a.Delta), a.Adjacency.String(), a.Method})
}

func number(x float64) any {
	if math.IsInf(x, 1) {
		return "Infinity"
	}
	return x
}

// Caveat is implemented by events whose figures are no guarantee; the answer's method then says why.
type Caveat interface{ Caveat() string }

// accountant composes the query's lines, and collects their caveats.
func (c Calculator) accountant(q Query) (a *account.PLD, caveat string, err error) {
	if a, err = account.NewPLD(q.Adjacency, q.Settings); err != nil {
		return nil, "", err
	}
	if len(q.Lines) == 0 {
		return nil, "", &privacy.ParamError{Name: "events", Value: "none", Want: "at least one event"}
	}
	for _, l := range q.Lines {
		l, err := c.check(l)
		if err != nil {
			return nil, "", err
		}
		e, err := c.types[l.Type].Build(l.Values, q.Adjacency)
		if err != nil {
			return nil, "", err
		}
		if err := a.Compose(e, l.Count); err != nil {
			return nil, "", err
		}
		if n, ok := e.(Caveat); ok && n.Caveat() != "" {
			caveat = "; " + n.Caveat()
		}
	}
	return a, caveat, nil
}

// Epsilon answers with the ε of the composition at delta, which may be 0 where every event has a largest loss.
//
// Bound: Epsilon is an upper bound, EpsilonLower a lower one.
// Errors: *privacy.ParamError, privacy.ErrUnsupported, privacy.ErrAdjacency.
func (c Calculator) Epsilon(q Query, delta float64) (Answer, error) {
	if delta == 0 {
		return c.pure(q)
	}
	a, caveat, err := c.accountant(q)
	if err != nil {
		return Answer{}, err
	}
	b, err := a.EpsilonBounds(delta)
	if err != nil {
		return Answer{}, err
	}
	return Answer{b.Upper, b.Lower, delta, q.Adjacency, string(b.Method) + caveat}, nil
}

// DeltaAnswer says that the composition is (Epsilon, Delta)-DP, and that at this Epsilon no δ below DeltaLower would be
// true of the composed profiles.
type DeltaAnswer struct {
	Epsilon    float64
	Delta      float64
	DeltaLower float64
	Adjacency  privacy.Adjacency
	Method     string
}

// MarshalJSON writes the answer.
func (a DeltaAnswer) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Epsilon    float64 `json:"epsilon"`
		Delta      float64 `json:"delta"`
		DeltaLower float64 `json:"delta_lower"`
		Adjacency  string  `json:"adjacency"`
		Method     string  `json:"method"`
	}{a.Epsilon, a.Delta, a.DeltaLower, a.Adjacency.String(), a.Method})
}

// Delta answers with the δ of the composition at eps.
//
// Bound: Delta is an upper bound, a positive one below the smallest float64 rounded up to it; DeltaLower is a lower
// one, 0 where nothing is known.
// Errors: as Epsilon.
func (c Calculator) Delta(q Query, eps float64) (DeltaAnswer, error) {
	a, caveat, err := c.accountant(q)
	if err != nil {
		return DeltaAnswer{}, err
	}
	b, err := a.LogDeltaBounds(eps)
	if err != nil {
		return DeltaAnswer{}, err
	}
	// Rounded down: the logarithm by a part in 10¹⁵, its exponential by as much.
	lower := math.Nextafter(math.Exp(b.Lower-1e-15*math.Abs(b.Lower))*(1-1e-15), 0)
	delta := privacy.ExpUp(b.Upper)
	return DeltaAnswer{eps, delta, math.Min(lower, delta), q.Adjacency, string(b.Method) + caveat}, nil
}
