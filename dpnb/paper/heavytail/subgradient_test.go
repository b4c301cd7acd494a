package heavytail

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// The projection on W ∩ ball is within ξ of the nearest point of a fine search, for a ball, a box and a simplex; and it
// is in both.
func TestNearBall(t *testing.T) {
	src := noise.NewSeeded(1)
	pentagon, tight := polygon, 0.0
	for _, w := range []struct {
		name   string
		of     Region
		centre []float64
	}{
		{"ball", composite.Ball{Radius: 1}, []float64{0.8, 0}}, {"box", composite.NewBox(1), []float64{1, 0.5}},
		{"simplex", composite.Simplex{Sum: 1}, []float64{0.3, 0.7}},
		{"ellipse", Ellipsoid{[]float64{2, 0.4}}, []float64{1.5, -0.2}}, {"polygon", pentagon, []float64{0.5, 0.5}},
	} {
		for range 20 {
			y := make([]float64, 2)
			src.Gaussian(y, 2)
			r, xi := 0.05+0.5*src.Float64(), math.Pow(10, -1-6*src.Float64())
			b := NearBall{Exactly(w.of), w.centre, r}
			got := make([]float64, 2)
			bound := b.Certified(got, y, xi)
			if !w.of.Contains(got) || floats.Distance(got, w.centre, 2) > r*(1+1e-12) {
				t.Fatalf("%s: %v is outside", w.name, got)
			}
			// The nearest point by Dykstra's alternating projections.
			want, p, q, before := append([]float64(nil), y...), make([]float64, 2), make([]float64, 2),
				make([]float64, 2)
			for range 20000 {
				for k, part := range [][]float64{p, q} {
					floats.Add(want, part)
					copy(before, want)
					if k == 0 {
						w.of.Project(want, want)
					} else if far := floats.Distance(want, w.centre, 2); far > r {
						for j := range want {
							want[j] = w.centre[j] + (want[j]-w.centre[j])*r/far
						}
					}
					floats.SubTo(part, before, want)
				}
			}
			off := floats.Distance(got, want, 2)
			if off > bound+1e-6 || bound > xi {
				t.Errorf("%s, ξ = %.1e: %.2e from the nearest point, bound %.2e", w.name, xi, off, bound)
			}
			if bound > 1e-4 {
				tight = math.Max(tight, off/bound)
			}
		}
	}
	if tight < 0.5 {
		t.Errorf("the distance is %.2f of the certificate at most: one that is half would not be seen", tight)
	}
}

// Algorithm 3 stops with a proof that holds, within the number of steps that it should take, and one that is stopped by
// a condition of a tenth of its constant does not keep to α.
func TestSubgradient(t *testing.T) {
	src := noise.NewSeeded(2)
	early := 0
	for range 12 {
		phi, lipschitz := absoluteSum(src)
		k, alpha, g := Exactly(composite.Ball{Radius: 1}), 0.05, make([]float64, 2)
		w, steps := measure.Must2(Subgradient(k, phi, []float64{0, 0}, alpha, 2, 1e7))
		least := leastOnDisc(phi, 200)
		if got := phi(g, w); got > least+alpha {
			t.Errorf("%v above the minimum, want at most %v", got-least, alpha)
		}
		if most := math.Ceil(math.Pow(3*2*lipschitz/alpha, 2)); float64(steps) > most {
			t.Errorf("%d steps, want at most %v", steps, most)
		}
		if w, _, _ := Subgradient(k, phi, []float64{0.9, 0}, 60*alpha, 2, 1e7); phi(g, w) > least+alpha {
			early++
		}
		w, _ = Biased(k, phi, []float64{0, 0}, alpha, 2, lipschitz)
		if got := phi(g, w); got > least+alpha {
			t.Errorf("with steps set beforehand: %v above the minimum", got-least)
		}
	}
	if early == 0 {
		t.Error("a method that stops sixty times as early keeps to α, too: the test sees nothing")
	}
	if _, _, err := Subgradient(Exactly(composite.Ball{Radius: 1}), absolute([]float64{1, 0}, 3), []float64{0, 0}, 1e-3,
		2, 100); err == nil {
		t.Error("100 steps are enough for α = 1e-3")
	}
}

// The joint objective has the minimum of the extended one, at the same w, in one dimension, where the extension over an
// interval is known by search.
func TestJoint(t *testing.T) {
	losses := []Function{absolute([]float64{3}, 2), absolute([]float64{0.5}, -1), absolute([]float64{2}, 0.4)}
	j := Joint{Losses: losses, C: 1, Lambda: 0.7, Centre: []float64{0.1}}
	w := Exactly(composite.Ball{Radius: 1})
	const alpha = 0.02
	point, _ := measure.Must2(j.Minimise(w, w, []float64{0}, alpha, 2, 5e7))
	g := make([]float64, 1)
	extended := func(w float64) (v float64) {
		v = 0.5 * j.Lambda * (w - 0.1) * (w - 0.1)
		for _, f := range losses {
			least := math.Inf(1)
			for i := range 2001 {
				y := float64(i)/1000 - 1
				least = math.Min(least, f(g, []float64{y})+math.Abs(w-y))
			}
			v += least / 3
		}
		return v
	}
	least := math.Inf(1)
	for i := range 2001 {
		least = math.Min(least, extended(float64(i)/1000-1))
	}
	if got := extended(point[0]); got > least+alpha+1e-3 {
		t.Errorf("the extended objective is %v above its minimum, want at most %v", got-least, alpha)
	}
}

// Three ways to f_C agree: Algorithm 3 from above, the dual of a polyhedral loss from below, and where the ball does
// not bind the cut loss; and s is a subgradient to within the gap.
func TestExtensions(t *testing.T) {
	src := noise.NewSeeded(4)
	for range 6 {
		x := []float64{2 * src.NormFloat64(), 2 * src.NormFloat64()}
		y, c := src.NormFloat64(), 0.5
		f := absolute(x, y)
		p := Polyhedral{A: [][]float64{x, {-x[0], -x[1]}}, B: []float64{-y, y}, W: composite.Ball{Radius: 1}}
		w := []float64{0.6 * src.Float64(), 0.6 * src.Float64()}
		const alpha = 0.02
		above := measure.Must(ExtendedAt(f, w, Exactly(composite.Ball{Radius: 1}), c, alpha, 2, 1e8))
		below, s, gap := p.Extended(w, c, 30000)
		if above < below-1e-12 || above > below+gap+alpha || gap > 0.03 || floats.Norm(s, 2) > c*(1+1e-12) {
			t.Errorf("f_C between %v and %v + %v, s of norm %v", below, above, gap, floats.Norm(s, 2))
		}
		for range 50 {
			u := []float64{2*src.Float64() - 1, 2*src.Float64() - 1}
			if floats.Norm(u, 2) > 1 {
				continue
			}
			other, _, slack := p.Extended(u, c, 1000)
			if line := below + s[0]*(u[0]-w[0]) + s[1]*(u[1]-w[1]); line > other+slack+1e-9 {
				t.Errorf("s is no subgradient: %v above f_C", line-other)
			}
		}
		// Over all of the plane f_C is smaller, and the same where the kink is in the ball near w.
		free, _ := loss.Cut(loss.LeastAbsolute{}, c, floats.Norm(x, 2), floats.Dot(x, w), y)
		if free > above+1e-9 {
			t.Errorf("f_C over the plane %v is above that over the ball, %v", free, above)
		}
		if near := math.Abs(floats.Dot(x, w)-y) / floats.Norm(x, 2); near < 1-floats.Norm(w, 2) &&
			!(math.Abs(free-above) <= gap+alpha) {
			t.Errorf("the ball does not bind, yet %v and %v", free, above)
		}
	}
}
