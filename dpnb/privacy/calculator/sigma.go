package calculator

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/internal/elementary"
)

// Sigma answers with the smallest sigma, rounded up, at which count runs of the event are (eps, delta)-DP; line holds
// the other fields.
//
// Bound: the guarantee is proved at the sigma returned; relative distance to the smallest at which it is proved below
// 1e-9 for one run, 1e-6 for several, 1e-5 for a type whose δ is Computed.
// Errors: *privacy.ParamError if the type has no field sigma or no sigma suffices; as Epsilon.
func (c Calculator) Sigma(line Line, adj privacy.Adjacency, eps, delta float64) (float64, error) {
	if err := cmp.Or(privacy.NotNegative("epsilon", eps), privacy.Fraction("delta", delta)); err != nil {
		return 0, err
	}
	if _, given := line.Values.Numbers["sigma"]; given {
		return 0, &privacy.ParamError{Name: "sigma", Value: line.Values.Numbers["sigma"],
			Want: "nothing: it is what is asked for"}
	}
	want := elementary.Log(delta)
	want -= 4e-16 * math.Abs(want)
	tolerance := 1e-9
	switch {
	case c.types[line.Type].Computed:
		tolerance = 1e-5
	case line.Count > 1:
		tolerance = 1e-6
	}
	return smallestScale(func(sigma float64) (float64, error) {
		values := Values{Numbers: map[string]float64{"sigma": sigma}, Texts: line.Values.Texts}
		for k, v := range line.Values.Numbers {
			values.Numbers[k] = v
		}
		a, caveat, err := c.accountant(Query{Lines: []Line{{line.Type, values, line.Count}}, Adjacency: adj})
		if err != nil {
			return 0, err
		}
		if caveat != "" {
			return 0, fmt.Errorf("%w: no noise can be chosen by a figure that is no guarantee%s",
				privacy.ErrUnsupported, caveat)
		}
		b, err := a.LogDeltaBounds(eps)
		return b.Upper - want, err
	}, tolerance)
}

// smallestScale returns the smallest scale at which excess ≤ 0, within a relative tolerance, for a falling function
// that is dear: steps of the secant in ln scale. excess was seen to be ≤ 0 at what is returned.
//
// Errors: *privacy.ParamError if there is none up to 1e300; what excess returned.
func smallestScale(excess func(scale float64) (float64, error), tolerance float64) (float64, error) {
	// ln δ is −∞ far out; where the secant is taken that is steep enough.
	at := func(x float64) (float64, error) {
		v, err := excess(math.Exp(x))
		return math.Max(v, -1e4), err
	}
	const end = 690 // e^690 = 1e300
	x, step := 0.0, 1.5
	v, err := at(x)
	if err != nil {
		return 0, err
	}
	lo, hi, flo, fhi := x, x, v, v
	for out := v > 0; (v > 0) == out; step *= 2 {
		switch {
		case x >= end:
			return 0, &privacy.ParamError{Name: "scale", Value: math.Inf(1),
				Want: "a target that some amount of noise reaches"}
		case x <= -end:
			return math.Exp(x), nil
		case out:
			lo, flo = x, v
			x = math.Min(x+step, end)
		default:
			hi, fhi = x, v
			x = math.Max(x-step, -end)
		}
		if v, err = at(x); err != nil {
			return 0, err
		}
	}
	if v > 0 {
		lo, flo = x, v
	} else {
		hi, fhi = x, v
	}
	before, right := math.Inf(1), false
	for k := 0; hi-lo > tolerance; k++ {
		width := hi - lo
		x = lo + width*flo/(flo-fhi)
		// To the side of the root that the last step was not on, so that the bracket closes from both.
		if right {
			x -= 0.4 * tolerance
		} else {
			x += 0.4 * tolerance
		}
		if k%3 == 2 {
			if width > 0.25*before {
				x = lo + 0.5*width // a jump, or a bend that the secant does not follow
			}
			before = width
		}
		x = math.Max(lo+0.01*math.Min(width, tolerance), math.Min(x, hi-0.01*math.Min(width, tolerance)))
		if v, err = at(x); err != nil {
			return 0, err
		}
		// Illinois: an end that stays counts for half.
		was := right
		if right = v <= 0; right {
			hi, fhi = x, v
			if was && k > 0 {
				flo *= 0.5
			}
		} else {
			lo, flo = x, v
			if !was && k > 0 {
				fhi *= 0.5
			}
		}
	}
	return math.Exp(hi), nil
}
