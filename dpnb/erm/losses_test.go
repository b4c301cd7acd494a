package erm

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// The solvers must do without the batch code for the logistic loss: here is a loss without a bound on its slope, and
// one whose curvature jumps.

// half is (t − y)²/2.
type half struct{}

func (half) Name() string { return "half squared" }
func (half) ValueSlope(slope, t, y []float64) float64 {
	var sum float64
	for i := range t {
		slope[i] = t[i] - y[i]
		sum += slope[i] * slope[i] / 2
	}
	return sum
}
func (half) Curvature(curv, t, _ []float64) {
	for i := range t {
		curv[i] = 1
	}
}
func (half) Lipschitz() float64        { return math.Inf(1) }
func (half) Smoothness() float64       { return 1 }
func (half) ValidLabel(y float64) bool { return !math.IsNaN(y) && !math.IsInf(y, 0) }
func (half) Labels() string            { return "a number" }

// kinked is max(0, 1 − yt)²/2: its curvature is 0 or 1.
type kinked struct{ half }

func (kinked) Name() string { return "half squared hinge" }
func (kinked) ValueSlope(slope, t, y []float64) float64 {
	var sum float64
	for i := range t {
		m := math.Max(0, 1-y[i]*t[i])
		slope[i] = -y[i] * m
		sum += m * m / 2
	}
	return sum
}
func (kinked) Curvature(curv, t, y []float64) {
	for i := range t {
		curv[i] = 0
		if y[i]*t[i] < 1 {
			curv[i] = 1
		}
	}
}

// unbounded is a loss whose curvature has no bound.
type unbounded struct{ half }

func (unbounded) Smoothness() float64 { return math.Inf(1) }

// uneven has columns of sizes from 1 to 1e-3, a constant one, and a feature that one record in five hundred has.
func uneven(n, d int, ridge float64) *Problem {
	p := simulated(n, d, 1, ridge, 0)
	rng := noise.NewSeeded(5)
	rows := p.Rows.(*matrix.Dense)
	for i := range n {
		r := rows.Data[i*d : (i+1)*d]
		for j := range r {
			r[j] *= math.Pow(10, -float64(j%4))
		}
		r[0] = 1
		r[1] = 0
		if rng.IntN(500) == 0 {
			r[1] = 1
			p.Labels[i] = 1
		}
	}
	return p
}
