package objpert

import "math"

// nearEnough is by how much ln δ may lie below its target where a crossing is taken as found: computed bounds are
// themselves good to half a percent.
const nearEnough = 0.004

// farOff is the same where a rough function is searched.
const farOff = 0.05

// crossing returns about the smallest x ≥ least with excess(x) ≤ 0, excess falling, for a function that is dear. It is
// looked for roughly, and from there as well as it can be had. +Inf if there is none up to 1e12·guess. What is returned
// is to be checked by who asked: excess may be wrong by the error of what it computes.
func crossing(least, guess float64, excess func(x float64, roughly bool) (float64, error)) (float64, error) {
	rough := func(x float64) (float64, error) { return excess(x, true) }
	closely := func(x float64) (float64, error) { return excess(x, false) }
	r, err := search(least, guess, farOff, rough)
	if err != nil || math.IsInf(r.x, 1) {
		return r.x, err
	}
	// Steps with the rough slope, until there is a bracket.
	x, slope := r.x, r.slope
	var lastX, last float64
	for k := range 6 {
		f, err := closely(x)
		if err != nil {
			return 0, err
		}
		if f <= 0 && (f > -nearEnough || x <= least) {
			return x, nil
		}
		if k > 0 {
			seen := (f - last) / math.Log(x/lastX)
			if (f > 0) != (last > 0) && math.Abs(math.Log(x/lastX)) < 1e-5 {
				return math.Max(x, lastX), nil
			}
			// A jump of what is computed says nothing of the slope.
			if seen < 0 && math.Abs(f-last) > 2*nearEnough {
				slope = seen
			}
		}
		if !(slope < 0) {
			break
		}
		lastX, last = x, f
		x = math.Max(least, x*math.Exp(math.Max(-1, math.Min(1, -(f+0.5*nearEnough)/slope))))
		if x == lastX {
			break
		}
	}
	r, err = search(least, x, nearEnough, closely)
	return r.x, err
}

// found is a root and d excess/d ln x near it, 0 if that is not known.
type found struct{ x, slope float64 }

// search returns x ≥ least with −near < excess(x) ≤ 0, or about the least with excess(x) ≤ 0: a bracket from the guess,
// then the secant's step in ln x with Illinois' safeguard.
func search(least, guess, near float64, excess func(x float64) (float64, error)) (found, error) {
	const widen = 3
	high := math.Max(guess, least)
	above, err := excess(high)
	if err != nil {
		return found{}, err
	}
	low, below := high, above
	for step := high; above > 0; {
		low, below = high, above
		if high > 1e12*step {
			return found{x: math.Inf(1)}, nil
		}
		high *= widen
		if above, err = excess(high); err != nil {
			return found{}, err
		}
	}
	// From points that are far enough apart for an error of near not to matter.
	steep := 0.0
	slope := func(low, below, high, above float64) float64 {
		if below-above > 4*near || steep == 0 && low < high {
			steep = (above - below) / math.Log(high/low)
		}
		return steep
	}
	slope(low, below, high, above)
	for below <= 0 {
		s := slope(low, below, high, above)
		high, above = low, below
		if high <= least || above > -near {
			return found{high, s}, nil
		}
		low = math.Max(least, low/widen)
		if below, err = excess(low); err != nil {
			return found{}, err
		}
	}
	a, b := math.Log(low), math.Log(high)
	// The same values, without what the safeguard does to them.
	left, right := below, above
	for side := 0; b-a > 1e-5 && right <= -near; {
		x := b - above*(b-a)/(above-below)
		// Not at an end, where rounding would keep it for ever.
		x = math.Max(a+0.01*(b-a), math.Min(b-0.01*(b-a), x))
		f, err := excess(math.Exp(x))
		if err != nil {
			return found{}, err
		}
		switch {
		case f > 0:
			a, below, left = x, f, f
			slope(math.Exp(a), left, math.Exp(b), right)
			if side == 1 {
				above /= 2
			}
			side = 1
		default:
			b, above, right = x, f, f
			slope(math.Exp(a), left, math.Exp(b), right)
			if f > -near {
				return found{math.Exp(b), steep}, nil
			}
			if side == -1 {
				below /= 2
			}
			side = -1
		}
	}
	return found{math.Exp(b), steep}, nil
}
