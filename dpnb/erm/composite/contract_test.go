package composite

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/matrix"
)

// convex is a function φ with a point of its domain, for checks by definition.
type convex struct {
	phi   Subdifferential
	value func(theta []float64) float64
	prox  func(dst, v []float64, step float64)
}

func ofRegulariser(r Regulariser) convex { return convex{r, r.Value, r.Prox} }

func ofConstraint(c Projector) convex {
	return convex{c, func([]float64) float64 { return 0 }, func(dst, v []float64, _ float64) { c.Project(dst, v) }}
}

// check holds prox, subdifferential and conjugate against their definitions at random points, and returns the first
// violation beyond tol.
func (f convex) check(rng *rand.Rand, d int, tol float64) error {
	vector := func(scale float64) []float64 {
		v := make([]float64, d)
		for j := range v {
			v[j] = scale * rng.NormFloat64()
		}
		return v
	}
	scales := []float64{0.1, 1, 10}
	var others [][]float64 // points of the domain, on kinks and off them
	for range 60 {
		z := vector(scales[rng.IntN(3)])
		f.prox(z, z, []float64{1e-9, 0.5, 3}[rng.IntN(3)])
		others = append(others, z)
	}
	for range 100 {
		step := math.Exp(rng.NormFloat64())
		v := vector(scales[rng.IntN(3)])
		x := make([]float64, d)
		f.prox(x, v, step)
		at := func(z []float64) float64 {
			r := floats.Distance(z, v, 2)
			return step*f.value(z) + 0.5*r*r
		}
		for _, z := range others {
			r := floats.Distance(x, z, 2)
			if at(x)+0.5*r*r > at(z)+tol*(1+at(z)) {
				return fmt.Errorf("prox of %v with step %v: %v is worse than %v", v, step, x, z)
			}
		}
		s := make([]float64, d)
		floats.SubTo(s, v, x)
		floats.Scale(1/step, s)
		of := make([]float64, d)
		if f.phi.Nearest(of, s, x); floats.Distance(of, s, 2) > tol*(1+floats.Norm(s, 2)) {
			return fmt.Errorf("what the prox proves to be a subgradient is %v from ∂φ(%v)", floats.Distance(of, s, 2),
				x)
		}
		// The nearest subgradient to some w: a subgradient, and nearer than others.
		w, near, another := vector(5), make([]float64, d), vector(5)
		f.phi.Nearest(near, w, x)
		f.phi.Nearest(another, another, x)
		for _, z := range others {
			if f.value(z) < f.value(x)+inner(near, z, x)-tol*(1+floats.Norm(near, 2)*floats.Distance(z, x, 2)) {
				return fmt.Errorf("%v is no subgradient at %v: the plane lies above φ(%v)", near, x, z)
			}
		}
		if turn := inner(another, w, near) - floats.Dot(near, w) + floats.Dot(near,
			near); turn > tol*100*(1+floats.Norm(w, 2)*floats.Norm(another, 2)) {
			return fmt.Errorf("%v is nearer to %v than %v, in ∂φ(%v)", another, w, near, x)
		}
		// Gap: of a subgradient nothing, of any s enough.
		moved := append([]float64(nil), near...)
		slack, rounding := f.phi.Gap(moved, x)
		if slack > 10*tol*(1+floats.Norm(near, 2)*floats.Norm(x, 2)) || floats.Distance(moved, near,
			2) > 10*tol*(1+floats.Norm(near, 2)) || rounding > tol*(1+floats.Norm(near, 2)) {
			return fmt.Errorf("the subgradient %v has the gap %v", near, slack)
		}
		copy(moved, w)
		slack, _ = f.phi.Gap(moved, x)
		for _, z := range others {
			if f.value(z) < f.value(x)+inner(moved, z, x)-slack-1e-13*(1+f.value(x)+math.Abs(inner(moved, z, x))) {
				return fmt.Errorf("gap %v is too small for %v at %v", slack, moved, x)
			}
		}
	}
	return nil
}

// inner returns ⟨s, z − x⟩.
func inner(s, z, x []float64) float64 {
	var sum float64
	for j, v := range s {
		sum += v * (z[j] - x[j])
	}
	return sum
}

func simpleAffine(d int) *Affine {
	a := mat.NewDense(2, d, nil)
	for j := range d {
		a.Set(0, j, 1)
		a.Set(1, j, math.Cos(float64(j)))
	}
	c, err := NewAffine(a, []float64{0.5, -0.2})
	if err != nil {
		panic(err)
	}
	return c
}

// rising is the cone of coefficients after the first that rise together with a line.
func rising(d int) *Cone {
	var rows []matrix.Direction
	for k := range d - 2 {
		w := make([]float64, d)
		w[0], w[1+k], w[2+k] = 0.3, -1, 1
		rows = append(rows, matrix.Direction{Weights: w})
	}
	c, err := NewCone(d, rows)
	if err != nil {
		panic(err)
	}
	return c
}

func functions(d int) map[string]convex {
	upper := make([]float64, d)
	for j := range upper {
		upper[j] = float64(j % 3)
	}
	return map[string]convex{
		"none":      ofRegulariser(None{}),
		"l1":        ofRegulariser(L1{0.7}),
		"l2":        ofRegulariser(L2{1.5}),
		"group":     ofRegulariser(GroupL1{0.8, []int{2, 1}}),
		"all":       ofConstraint(Everywhere{}),
		"box":       ofConstraint(NewBox(0.5)),
		"half box":  ofConstraint(Box{Upper: upper}),
		"point box": ofConstraint(Box{Lower: []float64{1}, Upper: []float64{1}}),
		"ball":      ofConstraint(Ball{0.8}),
		"simplex":   ofConstraint(Simplex{2}),
		"affine":    ofConstraint(simpleAffine(d)),
		"cone":      ofConstraint(rising(d)),
	}
}

func TestFunctionsAgainstTheirDefinitions(t *testing.T) {
	for name, f := range functions(6) {
		if err := f.check(rand.New(rand.NewPCG(1, 2)), 6, 1e-9); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Wrong versions that the check must find.
type (
	halfStep  struct{ L1 }
	wrongSign struct{ Box }
	lazyGap   struct{ L2 }
	tooFar    struct{ Ball }
	tooWide   struct{ L1 }
)

func (r halfStep) Prox(dst, v []float64, step float64) { r.L1.Prox(dst, v, step/2) }
func (c wrongSign) Nearest(dst, v, theta []float64) {
	c.Box.Nearest(dst, v, theta)
	floats.Scale(-1, dst)
}
func (lazyGap) Gap(_, _ []float64) (slack, rounding float64) { return 0, 0 }
func (c tooFar) Project(dst, v []float64) {
	c.Ball.Project(dst, v)
	floats.Scale(0.99, dst)
}
func (r tooWide) Nearest(dst, v, theta []float64) { L1{2 * r.Weight}.Nearest(dst, v, theta) }

func TestTheCheckFindsWrongFunctions(t *testing.T) {
	for name, f := range map[string]convex{
		"prox with half the step":      ofRegulariser(halfStep{L1{0.7}}),
		"normals that point inwards":   ofConstraint(wrongSign{NewBox(0.5)}),
		"a gap of zero for everything": ofRegulariser(lazyGap{L2{1.5}}),
		"projection short of the ball": ofConstraint(tooFar{Ball{0.8}}),
		"subgradients twice as large":  ofRegulariser(tooWide{L1{0.7}}),
	} {
		if f.check(rand.New(rand.NewPCG(1, 2)), 6, 1e-9) == nil {
			t.Errorf("%s passes", name)
		}
	}
}

// The joint distance against a search over a grid of subgradients and normals.
func TestJointDistance(t *testing.T) {
	for _, c := range []struct {
		r     Regulariser
		c     Projector
		g, at []float64
		want  float64
		exact bool
	}{
		{L1{1}, NewBox(1), []float64{0.5, -3}, []float64{0, 1}, 0, true},
		{L1{1}, NewBox(1), []float64{1.5, 3}, []float64{0, 1}, math.Hypot(0.5, 4), true},
		{L1{1}, Box{Lower: []float64{0}}, []float64{5, -5}, []float64{0, 0}, 4, true},
		{L1{1}, Box{Lower: []float64{0}, Upper: []float64{0}}, []float64{5, -5}, []float64{0, 0}, 0, true},
		{nil, Ball{1}, []float64{-2, 1}, []float64{1, 0}, 1, true},
		{nil, Ball{1}, []float64{2, 1}, []float64{1, 0}, math.Sqrt(5), true},
		{L2{1}, Everywhere{}, []float64{3, 4}, []float64{0, 0}, 4, true},
		{nil, Simplex{1}, []float64{1, 1, 2}, []float64{0.5, 0.5, 0}, 0, true},
		{nil, Simplex{1}, []float64{1, 2, 2}, []float64{0.5, 0.5, 0}, math.Sqrt(0.5), true},
		// At (1, 0) the normals of the ball are ν(1, 0), and s₁ is 1, s₂ free.
		{L1{1}, Ball{1}, []float64{-3, 0.9}, []float64{1, 0}, 0, false},
		{L1{1}, Ball{1}, []float64{-3, 1.9}, []float64{1, 0}, 0.9, false},
	} {
		r := c.r
		if r == nil {
			r = None{}
		}
		got, exact := JointDistance(r, c.c, c.g, c.at)
		if !(math.Abs(got-c.want) <= 1e-9) || exact != c.exact {
			t.Errorf("%s, %s at %v, g=%v: %v (exact %v), want %v (%v)", r.Name(), c.c.Name(), c.at, c.g, got, exact,
				c.want, c.exact)
		}
	}
}
