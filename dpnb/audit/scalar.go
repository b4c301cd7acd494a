// Package audit measures privacy by experiment: lower bounds on δ and ε for real neighbouring datasets, to be held
// against what the accountants claim.
package audit

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Scalar is objective perturbation in one dimension on two neighbours: Z has the records (X[i], Y[i]), Z′ has one more,
// (ExtraX, ExtraY):
//
//	J(θ) = Σ f(xθ; y) + (λ/2)θ² + r·θ,  θ̂ = argmin J(θ) + bθ,  b ~ N(0, σ²).
//
// There the law of θ̂ is explicit, P(θ̂ ≤ c) = P(b ≥ −J′(c)) = Φ(J′(c)/σ), so hockey-stick divergences can be computed
// instead of sampled.
type Scalar struct {
	Loss           loss.Loss
	X, Y           []float64
	ExtraX, ExtraY float64
	Lambda, Sigma  float64
	// Weights repeats records: record i counts Weights[i] times. Nil is once each.
	Weights []float64
	// Tilt r is the slope of a data-independent linear regulariser.
	Tilt float64
	// Regulariser is the slope r′(θ) of a further data-independent convex regulariser: non-decreasing and continuous.
	// Nil is none.
	Regulariser func(theta float64) float64
}

// gradients returns J′(θ) under Z and under Z′.
func (s *Scalar) gradients(theta float64, t, slope []float64) (without, with float64) {
	n := len(s.X)
	for i, x := range s.X {
		t[i] = x * theta
	}
	t[n] = s.ExtraX * theta
	s.Loss.ValueSlope(slope[:n], t[:n], s.Y)
	s.Loss.ValueSlope(slope[n:], t[n:], []float64{s.ExtraY})
	without = s.Lambda*theta + s.Tilt
	if s.Regulariser != nil {
		without += s.Regulariser(theta)
	}
	for i, x := range s.X {
		g := slope[i] * x
		if s.Weights != nil {
			g *= s.Weights[i]
		}
		without += g
	}
	return without, without + slope[n]*s.ExtraX
}

// Cells cuts the line of outputs into cells and returns their probabilities under Z (without the extra record) and Z′
// (with it). Coarsening cannot increase a divergence, so whatever is computed from the cells is a lower bound for the
// mechanism itself, and close to it if the cells are small.
func (s *Scalar) Cells(count int) (without, with []float64) {
	t, slope := make([]float64, len(s.X)+1), make([]float64, len(s.X)+1)
	root := func(target float64, pick func(a, b float64) float64) float64 {
		lo, hi := s.bracket(-math.Abs(target), math.Abs(target), 2, t, slope)
		beyond := func(theta float64) bool { return pick(s.gradients(theta, t, slope)) >= target }
		lo, _ = univariate.Bisect(beyond, lo, hi, univariate.Arithmetic, 1e-15)
		return lo
	}
	// Beyond 38 standard deviations on both sides nothing is left in float64.
	lo, hi := root(-38*s.Sigma, math.Max), root(38*s.Sigma, math.Min)
	// Cells are even in the noise: an interval of θ is halved until both gradients grow by at most a small part of σ in
	// it.
	h := 76 * s.Sigma / float64(count)
	var ends [][2]float64
	end := func(a, b float64) { ends = append(ends, [2]float64{a / s.Sigma, b / s.Sigma}) }
	var split func(lo, loA, loB, hi, hiA, hiB float64, depth int)
	split = func(lo, loA, loB, hi, hiA, hiB float64, depth int) {
		if depth == 0 || math.Max(hiA-loA, hiB-loB) <= h {
			end(hiA, hiB)
			return
		}
		mid := lo + (hi-lo)/2
		a, b := s.gradients(mid, t, slope)
		split(lo, loA, loB, mid, a, b, depth-1)
		split(mid, a, b, hi, hiA, hiB, depth-1)
	}
	loA, loB := s.gradients(lo, t, slope)
	hiA, hiB := s.gradients(hi, t, slope)
	end(loA, loB)
	split(lo, loA, loB, hi, hiA, hiB, 60)
	return masses(ends, math.Inf(-1), normalMass)
}

// bracket returns θ at which both gradients are at most low, and at least high, where steps of a factor first find
// them.
func (s *Scalar) bracket(low, high, factor float64, t, slope []float64) (lo, hi float64) {
	lo, hi = -1, 1
	for math.Max(s.gradients(lo, t, slope)) > low {
		lo *= factor
	}
	for math.Min(s.gradients(hi, t, slope)) < high {
		hi *= factor
	}
	return lo, hi
}

// CellsAt returns the probabilities under Z and Z′ of the cells between the given cuts, which ascend, and of the two
// beyond them. Use it to compare laws that come from different pairs of neighbours on the same cells.
func (s *Scalar) CellsAt(cuts []float64) (without, with []float64) {
	t, slope := make([]float64, len(s.X)+1), make([]float64, len(s.X)+1)
	ends := make([][2]float64, len(cuts))
	for i, c := range cuts {
		a, b := s.gradients(c, t, slope)
		ends[i] = [2]float64{a / s.Sigma, b / s.Sigma}
	}
	return masses(ends, math.Inf(-1), normalMass)
}

// masses returns the probabilities under two laws of the cells between ends, of which each law has its own in units of
// a common law with the given mass, which begins at from.
func masses(ends [][2]float64, from float64, mass func(a, b float64) float64) (without, with []float64) {
	last := [2]float64{from, from}
	for _, e := range append(ends, [2]float64{math.Inf(1), math.Inf(1)}) {
		without, with = append(without, mass(last[0], e[0])), append(with, mass(last[1], e[1]))
		last = e
	}
	return without, with
}

// normalMass returns Φ(b) − Φ(a) for a ≤ b, up to rounding.
func normalMass(a, b float64) float64 { return math.Max(0, normal.Mass(a, b)) }

// DeltaLower returns a lower bound on δ(ε) in the given direction: Remove draws the output from the dataset that has
// the extra record.
func (s *Scalar) DeltaLower(dir privacy.Direction, eps float64) float64 {
	return s.delta(dir, eps, 20_000)
}

// delta is DeltaLower of so many cells.
func (s *Scalar) delta(dir privacy.Direction, eps float64, cells int) float64 {
	without, with := s.Cells(cells)
	if dir == privacy.Add {
		return HockeyStick(without, with, eps)
	}
	return HockeyStick(with, without, eps)
}

// HockeyStick returns Σ (pᵢ − e^ε qᵢ)₊ of two vectors of probabilities.
func HockeyStick(p, q []float64, eps float64) float64 {
	e := math.Exp(eps)
	var sum float64
	for i, v := range p {
		if d := v - e*q[i]; d > 0 {
			sum += d
		}
	}
	return sum
}
