package erm

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"gonum.org/v1/gonum/floats"
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

// shrunk adds ω to p: 0 on the first coordinate, rising from there.
func shrunk(p *Problem) *Problem {
	_, d := p.Rows.Dims()
	q := *p
	q.Shrinkage = make([]float64, d)
	for j := range q.Shrinkage {
		q.Shrinkage[j] = 7 * p.Lambda * float64(j)
	}
	return &q
}

// sparseProblem has n records of norm 1 with about k of d features each.
func sparseProblem(n, d, k int, ridge float64) *Problem {
	rng := noise.NewSeeded(uint64(n + d))
	m := &matrix.CSR{N: n, D: d, Starts: make([]int, 1, n+1)}
	theta := make([]float64, d)
	rng.Gaussian(theta, 5)
	labels := make([]float64, n)
	for i := range n {
		from := len(m.Values)
		for j := rng.IntN(2*d/k) - 1; j < d; j += 1 + rng.IntN(2*d/k) {
			if j >= 0 {
				m.Columns = append(m.Columns, int32(j))
				m.Values = append(m.Values, rng.Float64()-0.5)
			}
		}
		var t float64
		if row := m.Values[from:]; len(row) > 0 {
			floats.Scale(1/floats.Norm(row, 2), row)
			for k, v := range row {
				t += v * theta[m.Columns[from+k]]
			}
		}
		m.Starts = append(m.Starts, len(m.Values))
		labels[i] = -1
		if rng.Float64() < 1/(1+math.Exp(-t)) {
			labels[i] = 1
		}
	}
	return &Problem{Rows: m, Labels: labels, Loss: loss.Logistic{}, Lambda: ridge}
}
