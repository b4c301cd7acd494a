package rkw23

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// clippable are losses with a label each and the largest slope worth cutting at.
var clippable = []struct {
	loss   loss.Loss
	y, top float64
}{
	{loss.Logistic{}, 1, 1}, {loss.Squared{}, 0.4, 3}, {loss.Huber{Threshold: 2}, -1, 2},
	{loss.PseudoHuber{Threshold: 1}, 0.5, 1},
	{loss.SquaredHinge{}, -1, 2}, {loss.Probit{}, 1, 2}, {loss.Poisson{MaxCount: 5}, 3, 2},
}

// clipFunc makes the clipped loss at a level.
type clipFunc func(l loss.Loss, level float64) loss.Loss

// at returns value and slope of l for the label y.
func at(l loss.Loss, y, t float64) (value, slope float64) {
	s := []float64{0}
	value = l.ValueSlope(s, []float64{t}, []float64{y})
	return value, s[0]
}

// edge returns a point where the slope of l reaches the level from below.
func edge(l loss.Loss, y, level float64) float64 {
	lo, _ := univariate.Bisect(func(t float64) bool {
		_, s := at(l, y, t)
		return s >= level
	}, -30, 30, univariate.Arithmetic, 0)
	return lo
}

// eachPair calls f for pairs t < t + h, half of them about the clip points.
func eachPair(rng *noise.Seeded, l loss.Loss, y, level float64, count int, f func(t, h float64)) {
	edges := []float64{edge(l, y, -level), edge(l, y, level)}
	for i := range count {
		h := math.Exp(-8 * rng.Float64())
		t := 6 * rng.NormFloat64()
		if e := edges[i%2]; i%4 < 2 && math.Abs(e) < 25 {
			t = e - h*rng.Float64()
		}
		f(math.Max(-20, math.Min(20, t)), h)
	}
}

func clippedIsConvex(run measure.Run, clip clipFunc) claim.Outcome {
	count := measure.Sized(run.Size, 4000, 200_000)
	rng := noise.NewSeeded(64)
	var slopes, chords, jump, norms float64
	for _, c := range clippable {
		for _, share := range []float64{0.3, 0.8} {
			level := share * c.top
			g := clip(c.loss, level)
			low, high := edge(c.loss, c.y, -level), edge(c.loss, c.y, level)
			// f_C as printed, without f(u_L) and f(u_H).
			printed := func(t float64) float64 {
				switch {
				case t < low && low > -25:
					return -level * (t - low)
				case t > high && high < 25:
					return level * (t - high)
				}
				v, _ := at(c.loss, c.y, t)
				return v
			}
			eachPair(rng, c.loss, c.y, level, count, func(t, h float64) {
				_, raw := at(c.loss, c.y, t)
				v0, s0 := at(g, c.y, t)
				v1, s1 := at(g, c.y, t+h)
				slopes = math.Max(slopes, math.Abs(s0-math.Max(-level, math.Min(level, raw))))
				// s0 ≤ (v1 − v0)/h ≤ s1 for every pair is convexity, and no jump.
				rounding := 1e-13 * (1 + math.Abs(v0)) / h
				chords = math.Max(chords, math.Max(s0-(v1-v0)/h, (v1-v0)/h-s1)-rounding)
				chord := (printed(t+h) - printed(t)) / h
				jump = math.Max(jump, math.Max(s0-chord, chord-s1)*h)
				// A record with ‖x‖ = 1: the gradient times min{1, C/|xᵀθ|}.
				norms = math.Max(norms, math.Abs(raw)*math.Min(1, level/math.Abs(t))/level)
			})
		}
	}
	o := claim.Decide(fmt.Sprintf("slopes and chords off by %s; as printed f_C jumps by up to %.2f, and gradients "+
		"reach %.0e·C", claim.Roughly(math.Max(slopes, chords), 1e-9), jump, norms),
		"1e-9 each; a jump above 0.1 and gradients above 2C show that the check can tell", slopes < 1e-9 &&
			chords < 1e-9 && jump > 0.1 && norms > 2,
		"f_C is not convex, or its gradient is not the clipped one, or the check cannot tell")
	return o.Corrected("with + f(u_L), + f(u_H) and the factor min{1, C/‖u‖}, u the gradient")
}

// cutElsewhere is f between −1 and 1 and straight lines of slopes ±level beyond: each piece is as smooth as f, but they
// do not fit.
type cutElsewhere struct {
	loss.Loss
	level float64
}

func (c cutElsewhere) ValueSlope(slope, t, y []float64) float64 {
	v := c.Loss.ValueSlope(slope, t, y)
	for i, ti := range t {
		if math.Abs(ti) > 1 {
			slope[i] = math.Copysign(c.level, ti)
		}
	}
	return v
}

func cutOutside(l loss.Loss, level float64) loss.Loss { return cutElsewhere{l, level} }

// jumping is a clipped loss as printed, without f(u_L) and f(u_H).
type jumping struct{ loss.Loss }

func (j jumping) ValueSlope(slope, t, y []float64) float64 {
	of, level, _ := loss.Unclip(j.Loss)
	v := j.Loss.ValueSlope(slope, t, y)
	for i := range t {
		if slope[i] == level || slope[i] == -level {
			inside, _ := at(of, y[i], edge(of, y[i], slope[i]))
			v -= inside
		}
	}
	return v
}

// clippedIsSmooth takes β times a factor.
func clippedIsSmooth(run measure.Run, clip clipFunc, factor float64) claim.Outcome {
	count := measure.Sized(run.Size, 4000, 200_000)
	rng := noise.NewSeeded(65)
	var quotient, elsewhere float64
	for _, c := range clippable {
		for _, share := range []float64{0.3, 0.8} {
			level := share * c.top
			g, bad := clip(c.loss, level), cutOutside(c.loss, level)
			beta := factor * c.loss.Smoothness()
			if math.IsInf(beta, 1) {
				beta = factor * (5 + level) // Poisson: f″ = f′ + y where |f′| ≤ C
			}
			eachPair(rng, c.loss, c.y, level, count, func(t, h float64) {
				_, s0 := at(g, c.y, t)
				_, s1 := at(g, c.y, t+h)
				quotient = math.Max(quotient, math.Abs(s1-s0)/h/beta-1e-12/h)
				_, s0 = at(bad, c.y, 1-h/2)
				_, s1 = at(bad, c.y, 1+h/2)
				elsewhere = math.Max(elsewhere, math.Abs(s1-s0)/h/beta)
			})
		}
	}
	o := claim.Decide(fmt.Sprintf("largest quotient %.4f·β; of pieces that do not fit above %.0e·β", quotient,
		math.Pow(10, math.Floor(math.Log10(elsewhere)))), "at most 1; above 10",
		quotient <= 1+1e-9 && quotient > 0.99 && elsewhere > 10,
		"f_C is less smooth than f, or the check cannot tell")
	if o.Verdict == claim.Holds {
		o.Note = "the printed proof looks at each piece by itself; what is needed besides is that f′ = ±C/‖x‖ at " +
			"u_L and u_H"
	}
	return o
}
