package proportional

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/internal/quadrature"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
)

// Without a ridge the objective has a minimiser in the limit if and only if its recession function is positive in every
// direction: with a ≤ v ≤ b the range of the slopes,
//
//	max over v of  E[S·v]/δ − √(E v²/δ + ν²) > 0,
//
// the maximum over square integrable v within the range, S = Z for a regression, S = cZ₁ + Z₂ for every c in a
// classification. The best v is mS cut to [a, b] for some m > 0.

// exists decides it for λ = 0.
func (r Regression) exists() (bool, string) {
	bound := r.Loss.Lipschitz()
	margin := bestMultiple(r.AspectRatio, r.Nu, bound, func(m float64) (linear, square float64) {
		// v = mZ cut to [−L, L].
		a := bound / m
		second, inside := truncated(0, 1, a)
		return m * inside, m * m * second
	})
	if margin > 1 {
		return true, ""
	}
	return false, fmt.Sprintf("λ = 0 at d/n = %g, ν = %g: the perturbation outweighs the losses in some direction, so "+
		"that the objective has no minimiser; take λ > 0", r.AspectRatio, r.Nu)
}

// plausible is exists: there is one direction only.
func (r Regression) plausible() (bool, string) { return r.exists() }

// bestMultiple, for slopes up to bound, returns the largest E[Sv]/(δ√(E v²/δ + ν²)) over v = mS cut to the slopes;
// there is a minimiser if it exceeds 1. at returns E[Sv] and E v².
// The largest E[Sv] for a given E v² is concave in √(E v²), and the root below convex: the quotient rises, then falls.
//
// Beyond m = 3000·bound all of v is cut, and what is left of it uncut is rounding.
func bestMultiple(ratio, nu, bound float64, at func(m float64) (linear, square float64)) float64 {
	unit := math.Log(bound)
	if math.IsInf(bound, 1) {
		unit = math.Log(math.Max(nu, 1))
	}
	_, v := univariate.GoldenLeft(func(logM float64) float64 {
		lin, sq := at(math.Exp(logM))
		return -lin / (ratio * math.Sqrt(sq/ratio+nu*nu))
	}, unit-25, unit+8, 34)
	return -v
}

// slopeRange returns the range of the slopes of each label, from far out, as a₊, b₊, a₋, b₋, and the largest size.
func (c Classification) slopeRange() (v []float64, bound float64) {
	far := []float64{-1e8, 1e8, -1e8, 1e8}
	y := []float64{1, 1, -1, -1}
	v = make([]float64, 4)
	c.Loss.ValueSlope(v, far, y)
	for i := range v {
		if math.Abs(v[i]) > 1e6 {
			v[i] = math.Copysign(math.Inf(1), v[i])
		}
	}
	for _, x := range v {
		bound = math.Max(bound, math.Abs(x))
	}
	return v, bound
}

// plausible asks in the direction without signal.
func (c Classification) plausible() (bool, string) {
	v, bound := c.slopeRange()
	post := newPosterior(c.Link, c.Kappa, 0, 1)
	prob, _ := post.at(0)
	margin := bestMultiple(c.AspectRatio, c.Nu, bound, func(m float64) (linear, square float64) {
		for k, p := range [2]float64{prob, 1 - prob} {
			l, q := clippedMoments(0, m, v[2*k], v[2*k+1])
			linear += p * l
			square += p * q
		}
		return linear, square
	})
	return margin > 1, c.noMinimiser()
}

func (c Classification) noMinimiser() string {
	return fmt.Sprintf("λ = 0 at d/n = %.6g, κ = %.6g, ν = %.6g: with high probability a hyperplane separates the "+
		"labels well enough, or the perturbation outweighs the losses, so that the objective has no minimiser; "+
		"take λ > 0", c.AspectRatio, c.Kappa, c.Nu)
}

// scoreNodes are nodes for E g(Z)P(κZ): panels of width ½ and around zero, where the link rises, as narrow as it is.
func (c Classification) scoreNodes() (z, w []float64) {
	edges := []float64{0}
	for b := 0.5 * c.Link.Width() / math.Max(c.Kappa, 1e-9); b < 0.5; b *= 2 {
		edges = append(edges, b)
	}
	for b := 0.5; b <= normalRange; b += 0.5 {
		edges = append(edges, b)
	}
	x, m := quadrature.Nodes(edges)
	for i, t := range x {
		p := m[i] * normal.Density(t)
		z, w = append(z, t, -t), append(w, p, p)
	}
	return z, w
}

// exists decides it for λ = 0.
func (c Classification) exists() (bool, string) {
	v, bound := c.slopeRange()
	z, w := c.scoreNodes()
	worst := func(tilt float64) float64 {
		return bestMultiple(c.AspectRatio, c.Nu, bound, func(m float64) (linear, square float64) {
			for i, z1 := range z {
				prob := c.Link.Prob(c.Kappa * z1)
				for k, p := range [2]float64{prob, 1 - prob} {
					l, q := clippedMoments(tilt*z1, m, v[2*k], v[2*k+1])
					linear += w[i] * p * l
					square += w[i] * p * q
				}
			}
			return linear, square
		})
	}
	// A maximum of functions linear in the tilt is convex in it.
	if _, lowest := univariate.GoldenLeft(worst, -40, 40, 34); lowest > 1 {
		return true, ""
	}
	return false, c.noMinimiser()
}

// clippedMoments returns E[Sv] and E v² for S ~ N(mean, 1), v = mS cut to [a, b], a ≤ 0 ≤ b, either of them infinite or
// zero.
func clippedMoments(mean, m, a, b float64) (linear, square float64) {
	lo, hi := a/m, b/m // in units of S
	x, y := lo-mean, hi-mean
	px, py := 0.0, 0.0
	var xpx, ypy float64
	if !math.IsInf(x, 0) {
		px = normal.Density(x)
		xpx = x * px
	}
	if !math.IsInf(y, 0) {
		py = normal.Density(y)
		ypy = y * py
	}
	inside := normal.Mass(x, y)
	second := (mean*mean+1)*inside + 2*mean*(px-py) + xpx - ypy // E S² inside
	below, above := 0.0, 0.0
	linear, square = m*second, m*m*second
	if !math.IsInf(x, 0) {
		below = normal.CDF(x)
		linear += a * (mean*below - px)
		square += a * a * below
	}
	if !math.IsInf(y, 0) {
		above = normal.CDF(-y)
		linear += b * (mean*above + py)
		square += b * b * above
	}
	return linear, square
}
