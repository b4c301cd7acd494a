package heavytail

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// The projection on W ∩ ball is within ξ of the nearest point of a fine search, for a ball, a box and a simplex; and it
// is in both.
func TestNearBall(t *testing.T) {
	testscale.InTurn(t)
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

// Algorithm 3 says that it has not stopped; where it stops, and how soon, heavytail/prop2.9 and lemD.5 check.
func TestSubgradientEnds(t *testing.T) {
	if _, _, err := Subgradient(Exactly(composite.Ball{Radius: 1}), absolute([]float64{1, 0}, 3), []float64{0, 0}, 1e-3,
		2, 100); err == nil {
		t.Error("100 steps are enough for α = 1e-3")
	}
}

// Minimise is Algorithm 3 on the joint objective, of which heavytail/lem2.7 checks that it has the minimum of the
// extended one at the same w.
func TestJoint(t *testing.T) {
	losses := []Function{absolute([]float64{3}, 2), absolute([]float64{0.5}, -1), absolute([]float64{2}, 0.4)}
	j := Joint{Losses: losses, C: 1, Lambda: 0.7, Centre: []float64{0.1}}
	w := Exactly(composite.Ball{Radius: 1})
	got, steps := measure.Must2(j.Minimise(w, w, []float64{0}, 0.1, 2, 5e7))
	want, same := measure.Must2(Subgradient(product{w, w, 1}, j.At, j.Start([]float64{0}), 0.1, 4, 5e7))
	if !slices.Equal(got, want[:1]) || steps != same {
		t.Errorf("%v after %d steps, want %v after %d", got, steps, want[:1], same)
	}
}
