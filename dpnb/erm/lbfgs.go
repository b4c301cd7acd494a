package erm

import "gonum.org/v1/gonum/floats"

// lbfgs keeps the last pairs (s, y) of steps and gradient differences.
type lbfgs struct {
	s, y  [][]float64
	rho   []float64
	alpha []float64
	used  int // how many pairs are there
	head  int // where the next goes
}

func newLBFGS(d, memory int) *lbfgs {
	l := &lbfgs{rho: make([]float64, memory), alpha: make([]float64, memory)}
	for range memory {
		l.s = append(l.s, make([]float64, d))
		l.y = append(l.y, make([]float64, d))
	}
	return l
}

func (l *lbfgs) reset() { l.used, l.head = 0, 0 }

// update stores the pair of the step a·dir and gNew − g.
func (l *lbfgs) update(a float64, dir, g, gNew []float64) {
	s, y := l.s[l.head], l.y[l.head]
	floats.ScaleTo(s, a, dir)
	floats.SubTo(y, gNew, g)
	sy := floats.Dot(s, y)
	if !(sy > 0) {
		return // rounding: the curvature along a step is at least λ
	}
	l.rho[l.head] = 1 / sy
	l.head = (l.head + 1) % len(l.s)
	l.used = min(l.used+1, len(l.s))
}

// direction writes −H g to dir, H the two-loop inverse Hessian (Nocedal 1980)
// started from the metric.
func (l *lbfgs) direction(dir, g []float64, m *metric) {
	floats.ScaleTo(dir, -1, g)
	for k := 1; k <= l.used; k++ {
		i := (l.head - k + len(l.s)) % len(l.s)
		l.alpha[i] = l.rho[i] * floats.Dot(l.s[i], dir)
		floats.AddScaled(dir, -l.alpha[i], l.y[i])
	}
	m.solve(dir)
	for k := l.used; k >= 1; k-- {
		i := (l.head - k + len(l.s)) % len(l.s)
		b := l.rho[i] * floats.Dot(l.y[i], dir)
		floats.AddScaled(dir, l.alpha[i]-b, l.s[i])
	}
}
