package audit

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/loss"
)

func TestRenyiOfGaussians(t *testing.T) {
	// D_α(N(1, σ²)‖N(0, σ²)) = α/(2σ²).
	s := &Scalar{Loss: loss.Linear{Slope: 1}, ExtraX: 1, ExtraY: 1, Lambda: 1, Sigma: 2}
	p, q := s.Cells(8000)
	for _, alpha := range []float64{1.1, 2, 5, 20} {
		if got, want := Renyi(q, p, alpha), alpha/8; !(math.Abs(got-want) <= 2e-3*want) || got > want*(1+1e-9) {
			t.Errorf("α = %v: %v, want %v", alpha, got, want)
		}
	}
}

func TestRadialCells(t *testing.T) {
	for _, d := range []int{1, 2, 20, 200} {
		r := Radial{Dimension: d, Slope: 1, Smoothness: 1, Lambda: 2, Sigma: 1}
		p, q := r.Cells(4000)
		for name, v := range map[string][]float64{"without": p, "with": q} {
			var sum float64
			for _, x := range v {
				sum += x
			}
			if !(math.Abs(sum-1) <= 1e-10) {
				t.Errorf("d = %d, %s: probabilities sum to %v", d, name, sum)
			}
		}
	}
	// In one dimension it is the two-sided generalised linear model f(t) = √(1 + t²).
	s := &Scalar{Loss: absolute{}, ExtraX: 1, ExtraY: 1, Lambda: 2, Sigma: 1}
	a, b := s.Cells(8000)
	p, q := Radial{Dimension: 1, Slope: 1, Smoothness: 1, Lambda: 2, Sigma: 1}.Cells(8000)
	for _, eps := range []float64{0, 0.3, 1} {
		if x, y := HockeyStick(b, a, eps), HockeyStick(q, p, eps); !(math.Abs(x-y) <= 1e-4*x) {
			t.Errorf("ε = %v: line %v, radial %v", eps, x, y)
		}
	}
}

// absolute is f(t) = √(1 + t²).
type absolute struct{ loss.Logistic }

func (absolute) ValueSlope(slope, t, _ []float64) (sum float64) {
	for i, v := range t {
		slope[i] = v / math.Hypot(1, v)
		sum += math.Hypot(1, v)
	}
	return sum
}
