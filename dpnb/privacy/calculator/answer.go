// Package calculator answers, for events given as text, what they cost: ε at a
// δ, δ at an ε, the noise for an (ε, δ).
package calculator

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/account"
	"github.com/dpnb/notebooks/dpnb/privacy/internal/elementary"
	"github.com/dpnb/notebooks/dpnb/privacy/pld"
)

// Query is a composition to ask about.
type Query struct {
	Lines     []Line
	Adjacency privacy.Adjacency
	// Settings of the accountant; nil is right.
	Settings *pld.Settings
}

// Answer says that the composition is (Epsilon, Delta)-DP, and that at this
// Delta no ε below EpsilonLower would be true of the composed profiles.
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

// Caveat is implemented by events whose figures are no guarantee; the answer's
// method then says why.
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

// Epsilon answers with the ε of the composition at delta.
//
// Bound: Epsilon is an upper bound, EpsilonLower a lower one.
// Errors: *privacy.ParamError, privacy.ErrUnsupported, privacy.ErrAdjacency.
func (c Calculator) Epsilon(q Query, delta float64) (Answer, error) {
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

// Delta answers with the δ of the composition at eps, an upper bound; a
// positive δ below the smallest float64 is rounded up to it. EpsilonLower is
// the lower bound of ε at that δ.
//
// Errors: as Epsilon.
func (c Calculator) Delta(q Query, eps float64) (Answer, error) {
	a, caveat, err := c.accountant(q)
	if err != nil {
		return Answer{}, err
	}
	b, err := a.LogDeltaBounds(eps)
	if err != nil {
		return Answer{}, err
	}
	ans := Answer{Epsilon: eps, Delta: privacy.ExpUp(b.Upper), Adjacency: q.Adjacency, Method: string(b.Method) + caveat}
	if ans.Delta > 0 && ans.Delta < 1 {
		e, err := a.EpsilonBounds(ans.Delta)
		if err != nil {
			return Answer{}, err
		}
		ans.EpsilonLower = math.Min(eps, e.Lower)
	}
	return ans, nil
}

// Sigma answers with the smallest sigma, rounded up, at which count runs of the
// event are (eps, delta)-DP; line holds the other fields.
//
// Bound: the guarantee is proved at the sigma returned; relative distance to
// the smallest below 1e-9, for compositions within the accountant's tolerance.
// Errors: *privacy.ParamError if the type has no field sigma or no sigma
// suffices; as Epsilon.
func (c Calculator) Sigma(line Line, adj privacy.Adjacency, eps, delta float64) (float64, error) {
	if !(eps >= 0) || math.IsInf(eps, 1) {
		return 0, &privacy.ParamError{Name: "epsilon", Value: eps, Want: "a finite number ≥ 0"}
	}
	if !(delta > 0 && delta < 1) {
		return 0, &privacy.ParamError{Name: "delta", Value: delta, Want: "a number in (0, 1)"}
	}
	if _, given := line.Values.Numbers["sigma"]; given {
		return 0, &privacy.ParamError{Name: "sigma", Value: line.Values.Numbers["sigma"], Want: "nothing: it is what is asked for"}
	}
	want := elementary.Log(delta)
	want -= 3e-16 * math.Abs(want)
	tolerance := 1e-9
	if line.Count > 1 {
		tolerance = 1e-6
	}
	return privacy.Calibrate(func(sigma float64) (bool, error) {
		values := Values{Numbers: map[string]float64{"sigma": sigma}, Texts: line.Values.Texts}
		for k, v := range line.Values.Numbers {
			values.Numbers[k] = v
		}
		a, caveat, err := c.accountant(Query{Lines: []Line{{line.Type, values, line.Count}}, Adjacency: adj})
		if err != nil {
			return false, err
		}
		if caveat != "" {
			return false, fmt.Errorf("%w: no noise can be chosen by a figure that is no guarantee%s", privacy.ErrUnsupported, caveat)
		}
		l, err := a.LogDeltaUpper(eps)
		return l <= want, err
	}, tolerance)
}
