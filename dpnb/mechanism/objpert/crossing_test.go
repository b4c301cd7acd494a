package objpert

import (
	"errors"
	"math"
	"testing"
)

func TestCrossing(t *testing.T) {
	for _, root := range []float64{1e-4, 0.7, 1, 5, 3e6} {
		for _, guess := range []float64{0.01, 1, 4, 1e5} {
			for name, f := range map[string]func(x float64) float64{
				"power":   func(x float64) float64 { return -7 * math.Log(x/root) },
				"steep":   func(x float64) float64 { return 30 * (1 - math.Pow(x/root, 3)) },
				"flat":    func(x float64) float64 { return 0.1 * (math.Sqrt(root/x) - 1) },
				"plateau": func(x float64) float64 { return math.Min(2, -20*math.Log(x/root)) },
			} {
				calls, dear := 0, 0
				got, err := crossing(1e-3, guess, func(x float64, roughly bool) (float64, error) {
					if calls++; roughly {
						return f(x) + 0.03 + 0.02*math.Sin(1000*x), nil
					}
					dear++
					return f(x), nil
				})
				switch {
				case err != nil || calls > 60 || dear > 30 || name == "power" && dear > 4:
					t.Errorf("%s at %v from %v: %d calls, %d of them dear, %v", name, root, guess, calls, dear, err)
				case root < 1e-3:
					if got != 1e-3 {
						t.Errorf("%s: %v, want the least", name, got)
					}
				case f(got) > 0 || f(got) < -2*nearEnough && got > root*(1+1e-4):
					t.Errorf("%s at %v from %v: %v, where the excess is %v", name, root, guess, got, f(got))
				}
			}
		}
	}
	if x, err := crossing(1, 2, func(float64, bool) (float64, error) { return 1, nil }); err != nil ||
		!math.IsInf(x, 1) {
		t.Errorf("no crossing: %v, %v", x, err)
	}
	wrong := errors.New("wrong")
	if _, err := crossing(1, 2, func(float64, bool) (float64, error) { return 0, wrong }); !errors.Is(err, wrong) {
		t.Errorf("the error is lost: %v", err)
	}
}
