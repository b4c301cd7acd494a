package univariate

import (
	"fmt"
	"math"
	"testing"

	held "github.com/dpnb/notebooks/dpnb/internal/testing/golden"
)

// What searches find, and how often they ask, is what it was.
func TestFiguresStay(t *testing.T) {
	held.Figures(t, "testdata/figures.txt", 1e-12, func(say func(name string, values ...float64)) {
		for _, at := range []float64{-1, 0.3, 2.2, 7} {
			asked := 0.0
			f := func(x float64) float64 {
				asked++
				return 2 + (x-at)*(x-at) + 0.1*math.Abs(x-at)
			}
			flat := func(x float64) float64 { return math.Max(1, math.Abs(x-at)) }
			for _, steps := range []int{0, 1, 9, 12} {
				x, v := Golden(f, -2, 5, steps)
				y, w := GoldenLeft(flat, -2, 5, steps)
				z, _ := Golden(flat, -2, 5, steps)
				say(fmt.Sprintf("golden %g, %d steps", at, steps), x, v, y, w, z, asked)
			}
			say(fmt.Sprint("minimum ", at), Minimum(f, -3, 4, 10, 8), Minimum(f, -3, 4, 2, 0), asked)
		}
		for i, cut := range []Mean{Arithmetic, Geometric, GeometricWide} {
			for _, at := range []float64{0.011, 0.4, 3, 70, 1e9} {
				asked, few := 0.0, 0.0
				passes := func(x float64) bool { asked++; return x >= at }
				lo, hi := Bisect(passes, 0.01, 1e3, cut, 1e-3)
				_, last := Bisect(passes, 1, 2*math.Max(1, at), cut, 0)
				s := Smallest{Start: 1, Factor: 3, Least: 0.02, Most: 1e7, Cut: cut, Tolerance: 1e-2}
				found, err := s.Find(func(x float64) (bool, error) { asked++; return passes(x), nil })
				s.MaxFactor, s.Tolerance = 20, 0.3
				wide, _ := s.Find(func(x float64) (bool, error) { few++; return passes(x), nil })
				say(fmt.Sprintf("mean %d, %g", i, at), lo, hi, last, found, wide, asked, few, cut(2, 7),
					map[bool]float64{true: 1}[err == nil])
			}
		}
	})
}
