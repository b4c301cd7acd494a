package descent

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// With exact line searches the memory's method ends a quadratic of dimension d within d + 1 steps, in any metric.
func TestMemoryEndsAQuadratic(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const d = 6
	var h [d][d]float64
	for range 20 {
		var v [d]float64
		for j := range v {
			v[j] = rng.NormFloat64()
		}
		for i := range d {
			for j := range d {
				h[i][j] += v[i] * v[j]
			}
		}
	}
	gradient := func(dst, x []float64) {
		for i := range d {
			dst[i] = floats.Dot(h[i][:], x) - 1
		}
	}
	for name, solve := range map[string]func([]float64){
		"none":     func([]float64) {},
		"diagonal": func(v []float64) { floats.MulTo(v, v, []float64{1, 2, 3, 0.5, 0.2, 4}) },
	} {
		m := NewMemory(d, d+1)
		x, g, next, dir, hd := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d),
			make([]float64, d)
		gradient(g, x)
		for range d + 1 {
			m.Direction(dir, g, solve)
			for i := range d {
				hd[i] = floats.Dot(h[i][:], dir)
			}
			a := -floats.Dot(g, dir) / floats.Dot(dir, hd)
			floats.AddScaled(x, a, dir)
			gradient(next, x)
			m.Update(a, dir, g, next)
			copy(g, next)
		}
		if norm := floats.Norm(g, 2); norm > 1e-7 {
			t.Errorf("metric %s: ‖∇‖ = %g after d + 1 steps", name, norm)
		}
		m.Reset()
		m.Direction(dir, []float64{1, 0, 0, 0, 0, 0}, func([]float64) {})
		if dir[0] != -1 || floats.Norm(dir[1:], 2) != 0 {
			t.Errorf("metric %s: a reset memory remembers: %v", name, dir)
		}
	}
}

func TestLineSearch(t *testing.T) {
	for name, phi := range map[string]func(a float64) (float64, float64){
		"far":      func(a float64) (float64, float64) { return (a - 900) * (a - 900), 2 * (a - 900) },
		"near":     func(a float64) (float64, float64) { return (a - 1e-5) * (a - 1e-5), 2 * (a - 1e-5) },
		"overflow": func(a float64) (float64, float64) { return math.Exp(800*a) - 2e3*a, 800*math.Exp(800*a) - 2e3 },
		"rounded":  func(a float64) (float64, float64) { return 1e20 + (a-99)*(a-99), 2 * (a - 99) },
		"cosh":     func(a float64) (float64, float64) { return math.Cosh(a - 3), math.Sinh(a - 3) },
	} {
		f0, s0 := phi(0)
		a, r := LineSearch(phi, f0, s0, 100)
		f, s := phi(a)
		if !r.Accepted || r.Value != f || f > f0 || !(math.Abs(s) <= 0.9*math.Abs(s0)) {
			t.Errorf("%s: step %g, %+v, φ %g → %g, φ′ %g → %g", name, a, r, f0, f, s0, s)
		}
	}
	newton := func(a float64) (float64, float64) { return (a - 1) * (a - 1), 2 * (a - 1) }
	if a, r := LineSearch(newton, 1, -2, 1); a != 1 || !r.Accepted {
		t.Errorf("the step of Newton's method is not the first that is tried: %v, %+v", a, r)
	}
	rising := func(a float64) (float64, float64) { return a, 1 }
	if _, r := LineSearch(rising, 0, -1, 5); r.Accepted || !r.BudgetSpent {
		t.Errorf("a function that does not fall: %+v", r)
	}
}

// Conjugate gradients solve a system of n unknowns in n steps, whatever the preconditioner, leave the residual that
// there is, and whenever they are stopped the answer is a direction of descent.
func TestConjugate(t *testing.T) {
	const n = 6
	rng := rand.New(rand.NewPCG(2, 2))
	a := mat.NewDense(n+2, n, nil)
	for i := range a.RawMatrix().Data {
		a.RawMatrix().Data[i] = rng.NormFloat64()
	}
	var h mat.SymDense
	h.SymOuterK(1, a.T())
	product := func(dst, v []float64) { mat.NewVecDense(n, dst).MulVec(&h, mat.NewVecDense(n, v)) }
	b, v, left := make([]float64, n), make([]float64, n), make([]float64, n)
	for j := range b {
		b[j] = rng.NormFloat64()
	}
	for name, precondition := range map[string]func(v []float64){"none": func([]float64) {},
		"diagonal": func(v []float64) {
			for j := range v {
				v[j] /= h.At(j, j)
			}
		}} {
		for most := range n + 1 {
			c, made := NewConjugate(n), 0
			copy(c.Residual, b)
			steps := c.Solve(v, product, precondition, func() bool { made++; return made <= most }, 1e-9)
			if product(left, v); most > 0 {
				floats.SubTo(left, b, left)
				if !(floats.Distance(left, c.Residual, 2) <= 1e-9) {
					t.Errorf("%s: after %d steps the residual is %v, said to be %v", name, steps, left, c.Residual)
				}
			}
			if !(floats.Dot(v, b) > 0) || steps != most || most == n && floats.Norm(c.Residual, 2) > 1e-9 {
				t.Errorf("%s: %d steps of %d, vᵀb = %v, ‖Hv − b‖ = %v", name, steps, most, floats.Dot(v, b),
					floats.Norm(c.Residual, 2))
			}
		}
		c := NewConjugate(n)
		copy(c.Residual, b)
		if steps := c.Solve(v, product, precondition, func() bool { return true }, 0.5*floats.Norm(b, 2)); steps >= n ||
			floats.Norm(c.Residual, 2) > 0.5*floats.Norm(b, 2) {
			t.Errorf("%s: half the residual after %d steps", name, steps)
		}
	}
}
