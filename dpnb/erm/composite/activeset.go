package composite

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

const (
	// gradientSteps of the accelerated method between two Newton steps.
	gradientSteps = 25
	// maxRounds of them, each with a Newton step or more.
	maxRounds = 20
)

// activeSet minimises model + ω‖x‖₁ over a box. Accelerated proximal gradient steps find which coordinates stay at 0 or
// at a bound, Newton's equation for the others makes the answer exact; its projection is taken while it gains.
type activeSet struct {
	m *model
	r Regulariser // None or L1
	c Projector   // Everywhere or Box
	p *pair
	// omega is the weight of L1.
	omega float64
	free  []int
	where []place
	// factored holds the set that chol was made for.
	factored []int
	chol     []float64
	tri      blas64.Triangular
	ok       bool
	// x is the point, g the gradient of the model there, w = g + s + v.
	x, g, w []float64
	// candidates
	y, gy, last, gLast, next, gNext, step []float64
}

func newActiveSet(m *model, r Regulariser, c Projector) *activeSet {
	d := m.d
	v := func() []float64 { return make([]float64, d) }
	a := &activeSet{m: m, r: r, c: c, p: newPair(d), chol: make([]float64, d*d),
		free: make([]int, 0, d), where: make([]place, d), factored: make([]int, 0, d),
		x: v(), g: v(), w: v(), y: v(), gy: v(), last: v(), gLast: v(), next: v(), gNext: v(), step: v()}
	if l, ok := r.(L1); ok {
		a.omega = l.Weight
	}
	return a
}

func (*activeSet) name() string { return "active set" }

func (a *activeSet) minimise(tol, _ float64, _ *pair) []float64 {
	a.solve(tol)
	return a.x
}

// renew forgets the factor.
func (a *activeSet) renew(float64) {
	a.factored, a.ok = a.factored[:0], false
	a.m.estimateTop()
}

// solve moves x from the centre of the model to where the residual of the model is at most tol, or as near as float64
// allows.
func (a *activeSet) solve(tol float64) {
	copy(a.x, a.m.centre)
	copy(a.g, a.m.bar)
	norm := a.residual()
	if !point(a.r) || !point(a.c) {
		a.accelerate(&norm, tol)
	}
	for round := 0; round < maxRounds && norm > tol; round++ {
		before := norm
		for norm > tol && a.newton(&norm) {
		}
		if norm > tol && round > 0 {
			a.pivot(&norm)
		}
		if norm > tol && round > 1 {
			a.faceByFace(&norm, tol)
		}
		if norm <= tol || round > 1 && norm > 0.9*before {
			return
		}
		a.accelerate(&norm, tol)
	}
}

// residual sets w at x and returns its norm.
func (a *activeSet) residual() float64 {
	norm := a.p.nearest(a.r, a.c, a.g, a.x)
	copy(a.w, a.p.rest)
	return norm
}

// objective returns model + ω‖x‖₁.
func (a *activeSet) objective(x, g []float64) float64 { return a.m.value(g, x) + a.r.Value(x) }

// accelerate makes proximal gradient steps with momentum, which is dropped when it points uphill (O'Donoghue and Candès
// 2015). The step is halved where the curvature met is larger than expected.
func (a *activeSet) accelerate(norm *float64, tol float64) {
	if !(a.m.top > 0) {
		a.m.top = math.SmallestNonzeroFloat64
	}
	copy(a.y, a.x)
	copy(a.gy, a.g)
	copy(a.last, a.x)
	copy(a.gLast, a.g)
	t := 1.0
	for range gradientSteps {
		a.m.steps++
		floats.AddScaledTo(a.next, a.y, -1/a.m.top, a.gy)
		a.r.Prox(a.next, a.next, 1/a.m.top)
		a.c.Project(a.next, a.next)
		a.m.gradient(a.gNext, a.next)
		var bend, move, uphill float64
		for j, x := range a.next {
			dx := x - a.y[j]
			bend += dx * (a.gNext[j] - a.gy[j])
			move += dx * dx
			uphill -= dx * (x - a.last[j])
		}
		if bend > 1.0001*a.m.top*move {
			a.m.top = 1.5 * math.Max(a.m.top, bend/move)
			t = 1
			copy(a.y, a.last)
			copy(a.gy, a.gLast)
			continue
		}
		if uphill > 0 {
			t = 1
		}
		u := 0.5 * (1 + math.Sqrt(1+4*t*t))
		beta := (t - 1) / u
		t = u
		for j, x := range a.next {
			a.y[j] = x + beta*(x-a.last[j])
			a.gy[j] = a.gNext[j] + beta*(a.gNext[j]-a.gLast[j])
		}
		a.last, a.next = a.next, a.last
		a.gLast, a.gNext = a.gNext, a.gLast
	}
	if a.objective(a.last, a.gLast) <= a.objective(a.x, a.g) {
		copy(a.x, a.last)
		copy(a.g, a.gLast)
		*norm = a.residual()
	}
}

// newton solves for the coordinates that are free to move and takes the step, cut where a coordinate meets 0 or a
// bound, if that is a gain.
func (a *activeSet) newton(norm *float64) bool {
	a.free = a.free[:0]
	for j, x := range a.x {
		if a.w[j] != 0 || !a.held(j, x) {
			a.free = append(a.free, j)
		}
	}
	k := len(a.free)
	if k == 0 || !a.factor() {
		return false
	}
	for i, j := range a.free {
		a.step[i] = -a.w[j]
	}
	solveFactored(a.tri, a.step[:k])
	copy(a.next, a.x)
	for i, j := range a.free {
		lo, hi := a.orthant(j)
		a.next[j] = cut(a.x[j]+a.step[i], lo, hi)
	}
	a.m.steps++
	a.m.gradient(a.gNext, a.next)
	before, after := a.objective(a.x, a.g), a.objective(a.next, a.gNext)
	a.x, a.next = a.next, a.x
	a.g, a.gNext = a.gNext, a.g
	now := a.residual()
	if now <= 0.5**norm || after < before-1e-12*math.Abs(before) {
		*norm = now
		return true
	}
	a.x, a.next = a.next, a.x
	a.g, a.gNext = a.gNext, a.g
	*norm = a.residual()
	return false
}

// faceByFace is the method of Lawson and Hanson (1974) for bounds and ℓ₁: the step to the minimum over the free
// coordinates ends where the first of them meets 0 or a bound, which holds it; where none does, the coordinate that
// pulls hardest is let go. Each step gains, so that no face comes twice.
func (a *activeSet) faceByFace(norm *float64, tol float64) {
	released := -1
	for range 10*a.m.d + 20 {
		a.free = a.free[:0]
		for j, x := range a.x {
			if j == released || !a.held(j, x) {
				a.free = append(a.free, j)
			}
		}
		blocked := false
		if len(a.free) > 0 {
			if !a.factor() {
				return
			}
			blocked = a.stepToFace()
		}
		if *norm = a.residual(); *norm <= tol {
			return
		}
		released = -1
		if blocked {
			continue
		}
		for j, w := range a.w {
			if a.held(j, a.x[j]) && w != 0 && (released < 0 || math.Abs(w) > math.Abs(a.w[released])) {
				released = j
			}
		}
		if released < 0 {
			return
		}
	}
}

// stepToFace goes from x to the minimum over the free coordinates or to where the first of them is held, and reports
// whether one is.
func (a *activeSet) stepToFace() (blocked bool) {
	k := len(a.free)
	for i, j := range a.free {
		a.step[i] = -a.w[j]
	}
	solveFactored(a.tri, a.step[:k])
	t, first, limit := 1.0, -1, 0.0
	for i, j := range a.free {
		lo, hi := a.orthant(j)
		end := lo
		if a.step[i] > 0 {
			end = hi
		}
		if target := a.x[j] + a.step[i]; target < lo || target > hi {
			if s := math.Max(0, (end-a.x[j])/a.step[i]); s < t {
				t, first, limit = s, j, end
			}
		}
	}
	for i, j := range a.free {
		a.x[j] += t * a.step[i]
	}
	if first >= 0 {
		a.x[first] = limit
	}
	a.m.steps++
	a.m.gradient(a.g, a.x)
	return first >= 0
}

// orthant returns the bounds of coordinate j within which r is linear, towards where it is free to move.
func (a *activeSet) orthant(j int) (lo, hi float64) {
	lo, hi = a.bounds(j)
	if a.omega > 0 && (a.x[j] > 0 || a.x[j] == 0 && a.w[j] < 0) {
		lo = math.Max(lo, 0)
	} else if a.omega > 0 {
		hi = math.Min(hi, 0)
	}
	return lo, hi
}

// held says that xⱼ is at a kink of r or at a bound.
func (a *activeSet) held(j int, x float64) bool {
	if a.omega > 0 && x == 0 {
		return true
	}
	lo, hi := a.bounds(j)
	return x <= lo || x >= hi
}

// factor makes the Cholesky factor of the free rows and columns of the matrix.
func (a *activeSet) factor() bool {
	if a.ok && slices.Equal(a.free, a.factored) {
		return true
	}
	a.factored = append(a.factored[:0], a.free...)
	k := len(a.free)
	for i, row := range a.free {
		h := a.m.h[row*a.m.d : (row+1)*a.m.d]
		to := a.chol[i*k : (i+1)*k]
		for c := i; c < k; c++ {
			to[c] = h[a.free[c]]
		}
	}
	a.m.factors++
	a.tri, a.ok = factor(a.chol[:k*k], k)
	return a.ok
}
