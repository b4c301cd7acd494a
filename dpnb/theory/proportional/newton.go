package proportional

import "math"

// maxUnknowns is the largest size of a system.
const maxUnknowns = 3

type vector [maxUnknowns]float64

// newton is Newton's method with a Jacobian by differences, which Broyden's updates stand in for while the residual
// falls fast.
type newton struct {
	s     system
	n     int
	x     vector // where the search is
	res   vector
	jac   [maxUnknowns][maxUnknowns]float64
	steps int
	tol   float64
	// left is how often the equations may yet be evaluated; interrupted says why to stop before.
	left        int
	interrupted func() error
}

// residual evaluates the equations, infinite where the search is to end.
func (w *newton) residual(res, x []float64) {
	if w.left--; w.left < 0 || w.interrupted() != nil {
		for i := range res {
			res[i] = math.Inf(1)
		}
		return
	}
	w.s.residual(res, x, w.tol)
}

// converged is the residual at which the search ends: well below what is promised, and above what rounding allows.
const converged = 1e-13

// run takes at most limit steps and reports whether the residual is small. A step changes no logarithm by more than 2
// and is halved until the residual falls.
func (w *newton) run(limit int) bool {
	if w.tol == 0 {
		w.tol = coarseTolerance
	}
	n := w.n
	w.residual(w.res[:n], w.x[:n])
	size := maxAbs(w.res[:n])
	fresh := false
	for range limit {
		if size <= converged {
			return true
		}
		if math.IsInf(size, 1) {
			return false
		}
		made := !fresh
		if made {
			w.differences()
		}
		step, ok := w.direction()
		if !ok {
			return size <= maxResidual/10
		}
		w.steps++
		if big := maxAbs(step[:n]); big > 2 {
			for i := range n {
				step[i] *= 2 / big
			}
		}
		var moved, res vector
		now, t := math.Inf(1), 1.0
		for range 14 {
			for i := range n {
				moved[i] = w.x[i] + t*step[i]
			}
			w.residual(res[:n], moved[:n])
			now = maxAbs(res[:n])
			if now < size*(1-1e-4*t) {
				break
			}
			t *= 0.5
		}
		if !(now < size) {
			// Nothing is gained any more: rounding, or a Jacobian that is too old.
			if made {
				return size <= maxResidual/10
			}
			fresh = false
			continue
		}
		w.broyden(moved, res)
		fresh = now < 0.2*size && t == 1
		w.x, w.res, size = moved, res, now
	}
	return size <= maxResidual/10
}

// differences writes the Jacobian at x.
func (w *newton) differences() {
	n := w.n
	for j := range n {
		h := 1e-6 * math.Max(1, math.Abs(w.x[j]))
		if w.tol > 1e-13 {
			h *= 10
		}
		at := w.x
		at[j] += h
		h = at[j] - w.x[j]
		var res vector
		w.residual(res[:n], at[:n])
		for i := range n {
			w.jac[i][j] = (res[i] - w.res[i]) / h
		}
	}
}

// broyden corrects the Jacobian by what the last step taught.
func (w *newton) broyden(moved, res vector) {
	var s vector
	var norm float64
	for i := range w.n {
		s[i] = moved[i] - w.x[i]
		norm += s[i] * s[i]
	}
	if norm == 0 {
		return
	}
	for i := range w.n {
		d := res[i] - w.res[i]
		for j := range w.n {
			d -= w.jac[i][j] * s[j]
		}
		for j := range w.n {
			w.jac[i][j] += d * s[j] / norm
		}
	}
}

// direction solves jac·step = −res by elimination with pivots.
func (w *newton) direction() (step vector, ok bool) {
	n, a, b := w.n, w.jac, w.res
	for k := range n {
		p := k
		for i := k + 1; i < n; i++ {
			if math.Abs(a[i][k]) > math.Abs(a[p][k]) {
				p = i
			}
		}
		if a[p][k] == 0 || !finite(a[p][k]) {
			return step, false
		}
		a[k], a[p] = a[p], a[k]
		b[k], b[p] = b[p], b[k]
		for i := k + 1; i < n; i++ {
			f := a[i][k] / a[k][k]
			for j := k; j < n; j++ {
				a[i][j] -= f * a[k][j]
			}
			b[i] -= f * b[k]
		}
	}
	for k := n - 1; k >= 0; k-- {
		v := -b[k]
		for j := k + 1; j < n; j++ {
			v -= a[k][j] * step[j]
		}
		step[k] = v / a[k][k]
	}
	return step, maxAbs(step[:n]) < math.Inf(1)
}

// backTo undoes what was done since kept, but for what it cost.
func (w *newton) backTo(kept newton) {
	kept.steps, kept.left = w.steps, w.left
	*w = kept
}

// continuation goes from a large ridge, where the first guess is good, to λ.
// The path exists: for every ridge above zero there is one solution, and it moves smoothly. It gives up after a bounded
// number of steps.
func (w *newton) continuation(lambda float64) bool {
	top := math.Max(lambda, 1e-3)
	found := false
	for range 24 {
		top *= 4
		w.s.ridge(top)
		w.s.start(w.x[:w.n])
		if w.run(newtonSteps) {
			found = true
			break
		}
	}
	if !found {
		return false
	}
	const smallest = 1e-10
	target := math.Log(math.Max(lambda, smallest))
	at, stride := math.Log(top), math.Log(4.0)
	last, lastAt := w.x, at
	have := false
	for range continuationSteps {
		if w.left < 0 {
			return false
		}
		if lambda == 0 && at < math.Log(0.1) {
			// Below a small ridge the end may be within reach.
			kept := *w
			w.s.ridge(0)
			if w.run(12) {
				return true
			}
			w.backTo(kept)
		}
		if at <= target {
			return lambda > 0
		}
		next := math.Max(target, at-stride)
		kept := *w
		if have {
			for i := range w.n {
				w.x[i] += (w.x[i] - last[i]) * (next - at) / (at - lastAt)
			}
		}
		if next == math.Log(lambda) {
			w.s.ridge(lambda)
		} else {
			w.s.ridge(math.Exp(next))
		}
		if w.run(12) {
			last, lastAt, have = kept.x, at, true
			at = next
			stride = math.Min(2*stride, 3)
			continue
		}
		w.backTo(kept)
		if stride *= 0.3; stride < 1e-5 {
			return false
		}
	}
	return false
}
