package univariate

import (
	"errors"
	"math"
	"testing"
)

// Every search returns a value that it saw to pass, whose distance from the smallest is within its tolerance; a search
// that returned the lower end, or stopped at twice the tolerance, would be caught.
func TestSmallest(t *testing.T) {
	for _, s := range []Smallest{
		{Start: 1, Factor: 4, Most: 1e300, Least: 1e-300, Cut: Arithmetic},
		{Start: 1, Factor: 4, Most: 1e300, Least: 1e-300, Cut: Arithmetic, Tolerance: 1e-3},
		{Start: 1e-9, Factor: 2, MaxFactor: 64, Most: 1e12, Least: 1e-9, Cut: GeometricWide, Tolerance: 1e-6},
		{Start: 1e-9, Factor: 2, MaxFactor: 1e3, Most: 1e12, Least: 1e-9, Cut: Geometric, Tolerance: 1e-5},
		{Start: 1, Factor: 1.3, Most: 1e4, Least: 0.99, Cut: Arithmetic, Tolerance: 1e-3},
	} {
		for _, root := range []float64{1e-7, 0.98, 0.993, 0.999, 1, 1.01, 1.7, 5.3, 999, 7777} {
			least := math.Max(root, s.Least)
			var seen float64
			n := 0
			got, err := s.Find(func(x float64) (bool, error) {
				n++
				if x < s.Least || x > s.Most {
					t.Errorf("%+v asks for %v", s, x)
				}
				if x >= root {
					seen = x
				}
				return x >= root, nil
			})
			if err != nil || got != seen {
				t.Errorf("%+v, root %v: %v, %v; the last value seen to pass is %v", s, root, got, err, seen)
			}
			tolerance := s.Tolerance
			if tolerance == 0 {
				tolerance = 0x1p-52
			}
			if got < least || got > least*(1+1.001*tolerance) {
				t.Errorf("%+v, root %v: %v", s, root, got)
			}
			if n > 120 {
				t.Errorf("%+v, root %v: %d questions", s, root, n)
			}
		}
	}
}

func TestSmallestOfNothing(t *testing.T) {
	s := Smallest{Start: 1, Factor: 2, Most: 1e6, Least: 0.5, Cut: Geometric, Tolerance: 1e-3}
	if x, err := s.Find(func(float64) (bool, error) { return false, nil }); !math.IsInf(x, 1) || err != nil {
		t.Errorf("nothing passes: %v, %v", x, err)
	}
	broken := errors.New("broken")
	for _, at := range []float64{1, 7, 2.5} {
		n := 0
		_, err := s.Find(func(x float64) (bool, error) {
			n++
			if x >= at {
				return false, broken
			}
			return false, nil
		})
		if !errors.Is(err, broken) || n > 5 {
			t.Errorf("an error at %v: %v after %d questions", at, err, n)
		}
	}
}

// A test that is not monotone passes where the search ends all the same.
func TestSmallestOfHoles(t *testing.T) {
	passes := func(x float64) bool { return math.Mod(x, 0.37) > 0.2 && x > 3 }
	s := Smallest{Start: 1, Factor: 1.5, Most: 1e9, Least: 1, Cut: Arithmetic}
	x, err := s.Find(func(x float64) (bool, error) { return passes(x), nil })
	if err != nil || !passes(x) || passes(math.Nextafter(x, 0)) {
		t.Errorf("%v, %v: passes %v, before it %v", x, err, passes(x), passes(math.Nextafter(x, 0)))
	}
}

func TestBisect(t *testing.T) {
	lo, hi := Bisect(func(x float64) bool { return x*x >= 2 }, 1, 2, Arithmetic, 0)
	if hi != math.Nextafter(lo, 2) || lo*lo >= 2 || hi*hi < 2 {
		t.Errorf("√2 is in (%v, %v]", lo, hi)
	}
	lo, hi = Bisect(func(x float64) bool { return x >= -0.3 }, -8, 3, Arithmetic, 0)
	if hi != -0.3 || lo != math.Nextafter(-0.3, -1) {
		t.Errorf("−0.3 is in (%v, %v]", lo, hi)
	}
}
