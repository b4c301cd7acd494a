package heavytail

import (
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// polygon is one of five sides about the origin.
var polygon = Polygon{{-1, -0.5}, {1, -0.5}, {1, 0.4}, {0.4, 0.9}, {-1, 0.25}}

// The nearest point obeys ⟨v − x, u − x⟩ ≤ 0 for all u of the region, of which the worst is known; a point that is off
// by a thousandth does not. What is in the region stays, and no point is farther in a direction than the support says.
func TestRegions(t *testing.T) {
	src := noise.NewSeeded(11)
	for _, w := range []struct {
		of Region
		d  int
	}{{composite.Ball{Radius: 0.7}, 3}, {composite.NewBox(0.6), 3}, {composite.Simplex{Sum: 2}, 3},
		{Ellipsoid{[]float64{1, 0.1, 5}}, 3}, {polygon, 2}} {
		noticed := 0
		for range 200 {
			v, x, u, x2 := make([]float64, w.d), make([]float64, w.d), make([]float64, w.d), make([]float64, w.d)
			src.Gaussian(v, 2)
			w.of.Project(x, v)
			away := floats.SubTo(make([]float64, w.d), v, x)
			support(w.of, u, away)
			slack := func(x []float64) float64 { return floats.Dot(away, u) - floats.Dot(away, x) }
			if !w.of.Contains(x) || !w.of.Contains(u) || slack(x) > 1e-9*(1+floats.Norm(v, 2)) {
				t.Fatalf("%T: %v goes to %v, which is not the nearest, by %g", w.of, v, x, slack(x))
			}
			for range 10 {
				src.Gaussian(x2, 3)
				if w.of.Project(x2, x2); slack(x2) < -1e-9*(1+floats.Norm(v, 2)) {
					t.Fatalf("%T: %v is farther than %v along %v", w.of, x2, u, away)
				}
			}
			if w.of.Project(x2, x); floats.Distance(x, x2, 2) > 1e-9 {
				t.Fatalf("%T: %v does not stay", w.of, x)
			}
			if norm := floats.Norm(away, 2); norm > 1e-6 {
				floats.AddScaled(x, -1e-3/norm, away)
				if slack(x) > 1e-9*(1+floats.Norm(v, 2)) {
					noticed++
				}
			}
		}
		if noticed < 50 {
			t.Errorf("%T: a point that is off by a thousandth is noticed %d times", w.of, noticed)
		}
	}
}
