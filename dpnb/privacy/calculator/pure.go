package calculator

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// pure is Epsilon at δ = 0: the sum over the runs of the least ε at which the profile of each is 0. The largest losses
// of independent runs add up, so that it is that of the composed profiles.
//
// Errors: one that wraps privacy.ErrUnsupported if an event has no such ε, as Gaussian noise.
func (c Calculator) pure(q Query) (Answer, error) {
	// What Epsilon refuses is refused.
	if _, _, err := c.accountant(q); err != nil {
		return Answer{}, err
	}
	out := Answer{Adjacency: q.Adjacency, Method: "sum of the largest losses"}
	runs := 0
	for _, l := range q.Lines {
		l, err := c.check(l)
		if err != nil {
			return Answer{}, err
		}
		e, err := c.types[l.Type].Build(l.Values, q.Adjacency)
		if err != nil {
			return Answer{}, err
		}
		p, err := e.Profile(q.Adjacency)
		if err != nil {
			return Answer{}, err
		}
		zero := func(eps float64) bool { return math.IsInf(privacy.LogDeltaUpper(p, eps), -1) }
		const most = 1 << 20
		if !zero(most) {
			return Answer{}, fmt.Errorf("%w: at δ = 0, %v has no ε: only noise that is bounded in what it gives away, "+
				"such as Laplace noise, has one; give a δ > 0, for example 1e-6", privacy.ErrUnsupported, e)
		}
		if zero(0) {
			continue
		}
		lo, hi := univariate.Bisect(zero, 0, most, univariate.Arithmetic, 0)
		out.Epsilon += hi * float64(l.Count)
		out.EpsilonLower += lo * float64(l.Count)
		runs++
	}
	out.Epsilon *= 1 + float64(2*runs)*0x1p-52
	out.EpsilonLower *= 1 - float64(2*runs)*0x1p-52
	return out, nil
}
