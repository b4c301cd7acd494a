package mechanism

import "math"

// nearEnough is by how much ln δ may lie below its target where a crossing is
// taken as found: computed bounds are themselves good to half a percent.
const nearEnough = 0.004

// crossing returns about the smallest x ≥ least with excess(x) ≤ 0, excess
// falling, for a function that is dear: a bracket from the guess, then the
// secant's step in ln x with Illinois' safeguard. +Inf if there is none up to
// 1e12·guess. What is returned is to be checked by who asked: excess may be
// wrong by the error of what it computes.
func crossing(least, guess float64, excess func(x float64) (float64, error)) (float64, error) {
	const widen = 3
	high := math.Max(guess, least)
	above, err := excess(high)
	if err != nil {
		return 0, err
	}
	low, below := high, above
	for step := high; above > 0; {
		low, below = high, above
		if high > 1e12*step {
			return math.Inf(1), nil
		}
		high *= widen
		if above, err = excess(high); err != nil {
			return 0, err
		}
	}
	for below <= 0 {
		high, above = low, below
		if high <= least || above > -nearEnough {
			return high, nil
		}
		low = math.Max(least, low/widen)
		if below, err = excess(low); err != nil {
			return 0, err
		}
	}
	a, b := math.Log(low), math.Log(high)
	best := b
	for side := 0; b-a > 1e-5; {
		x := b - above*(b-a)/(above-below)
		// Not at an end, where rounding would keep it for ever.
		x = math.Max(a+0.01*(b-a), math.Min(b-0.01*(b-a), x))
		f, err := excess(math.Exp(x))
		if err != nil {
			return 0, err
		}
		switch {
		case f > 0:
			a, below = x, f
			if side == 1 {
				above /= 2
			}
			side = 1
		default:
			b, above, best = x, f, x
			if f > -nearEnough {
				return math.Exp(best), nil
			}
			if side == -1 {
				below /= 2
			}
			side = -1
		}
	}
	return math.Exp(best), nil
}
