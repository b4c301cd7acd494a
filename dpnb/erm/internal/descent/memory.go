package descent

import "gonum.org/v1/gonum/floats"

// Memory keeps the last pairs (s, y) of steps and gradient differences of a limited-memory quasi-Newton method.
type Memory struct {
	s, y  [][]float64
	rho   []float64
	alpha []float64
	used  int // how many pairs are there
	head  int // where the next goes
}

// NewMemory returns an empty memory of the given number of pairs in dimension d.
func NewMemory(d, pairs int) *Memory {
	l := &Memory{rho: make([]float64, pairs), alpha: make([]float64, pairs)}
	for range pairs {
		l.s = append(l.s, make([]float64, d))
		l.y = append(l.y, make([]float64, d))
	}
	return l
}

// Reset forgets all pairs.
func (l *Memory) Reset() { l.used, l.head = 0, 0 }

// Update stores the pair of the step a·dir and gNew − g.
func (l *Memory) Update(a float64, dir, g, gNew []float64) {
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

// Direction writes −H g to dir, H the two-loop inverse Hessian (Nocedal 1980) started from the metric, of which solve
// overwrites v by the inverse times v.
func (l *Memory) Direction(dir, g []float64, solve func(v []float64)) {
	floats.ScaleTo(dir, -1, g)
	for k := 1; k <= l.used; k++ {
		i := (l.head - k + len(l.s)) % len(l.s)
		l.alpha[i] = l.rho[i] * floats.Dot(l.s[i], dir)
		floats.AddScaled(dir, -l.alpha[i], l.y[i])
	}
	solve(dir)
	for k := l.used; k >= 1; k-- {
		i := (l.head - k + len(l.s)) % len(l.s)
		b := l.rho[i] * floats.Dot(l.y[i], dir)
		floats.AddScaled(dir, l.alpha[i]-b, l.s[i])
	}
}
