package objpert

import (
	"github.com/dpnb/notebooks/dpnb/loss"

	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// curve returns what the accountant must know of a loss: how much curvature a
// record of norm at most r can have where its gradient has a given size. False
// for a loss whose curve is not known: then only the bounds that need no more
// than L and s apply.
//
// A loss clipped at c has the gradients of norm at most r·c. Its records are
// some of those of the loss itself with such gradients (all of them if ‖x‖ = r),
// so that the curve cut at r·c covers it.
func curve(l loss.Loss, r float64) (objective.Curve, bool) {
	of, level, isClipped := loss.Unclip(l)
	var c objective.Curve
	var err error
	switch f := of.(type) {
	case loss.Logistic:
		c, err = objective.Logistic(r)
	case loss.Softplus:
		c, err = objective.Softplus(f.Width, r)
	case loss.SmoothedHinge:
		c, err = objective.SmoothedHinge(f.Width, r)
	case loss.Huber:
		c, err = objective.Huber(f.Threshold, r)
	case loss.PseudoHuber:
		c, err = objective.PseudoHuber(f.Threshold, r)
	case loss.Squared:
		// Unclipped its slope is unbounded; clipped it is Huber.
		if !isClipped {
			return nil, false
		}
		c, err = objective.Huber(level, r)
		return c, err == nil
	case loss.SquaredHinge:
		if !isClipped {
			return nil, false
		}
		c, err = objective.ClippedSquaredHinge(level*r, r)
		return c, err == nil
	case loss.Probit:
		if !isClipped {
			return nil, false
		}
		c, err = objective.ClippedProbit(level*r, r)
		return c, err == nil
	case loss.Poisson:
		if !isClipped {
			return nil, false
		}
		c, err = objective.ClippedPoisson(f.MaxCount, level*r, r)
		return c, err == nil
	default:
		return nil, false
	}
	if err == nil && isClipped {
		c, err = objective.Clipped(c, level*r)
	}
	return c, err == nil
}
