package audit_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Where one class is out of the question three classes are two: logistic regression on √2·x, of which the exact
// divergence is known.
func TestSoftmaxWithoutOneClassIsLogistic(t *testing.T) {
	s := audit.Softmax{X: []float64{1, 0.6}, Y: []int{1, 0}, ExtraX: 1, ExtraY: 0, Lambda: 0.5, Sigma: 1,
		Tilt: [2]float64{0, -20}}
	without, with := s.Cells(500)
	if a, b := floats.Sum(without), floats.Sum(with); !(math.Abs(a-1) <= 1e-9) || !(math.Abs(b-1) <= 1e-9) {
		t.Fatalf("masses %v, %v", a, b)
	}
	want := audit.Scalar{Loss: loss.Logistic{}, X: []float64{math.Sqrt2, 0.6 * math.Sqrt2}, Y: []float64{-1, 1},
		ExtraX: math.Sqrt2, ExtraY: 1, Lambda: 0.5, Sigma: 1}
	for _, eps := range []float64{0, 0.5, 2} {
		remove, add := audit.HockeyStick(with, without, eps), audit.HockeyStick(without, with, eps)
		for _, c := range [][2]float64{{remove, want.DeltaLower(privacy.Remove, eps)},
			{add, want.DeltaLower(privacy.Add, eps)}} {
			if !(math.Abs(c[0]-c[1]) <= 5e-3*c[1]) {
				t.Errorf("ε = %g: δ = %.6g, of logistic regression %.6g", eps, c[0], c[1])
			}
		}
	}
}

// With an overwhelming ridge all probabilities are 1/3: a Gaussian mechanism of sensitivity ‖(−2/3, 1/3, 1/3)‖·|x|.
// Weights count records.
func TestSoftmaxUnderAHeavyRidge(t *testing.T) {
	s := audit.Softmax{X: []float64{0.5}, Y: []int{2}, Weights: []float64{3}, ExtraX: 2, ExtraY: 1, Lambda: 1e5,
		Sigma: 3}
	without, with := s.Cells(400)
	p := privacy.GaussianProfile(2*math.Sqrt(2.0/3)/3, privacy.AddRemove)
	for _, eps := range []float64{0, 0.3, 1} {
		want := privacy.DeltaUpper(p, eps)
		for _, got := range []float64{audit.HockeyStick(with, without, eps), audit.HockeyStick(without, with, eps)} {
			if !(math.Abs(got/want-1) <= 2e-3) {
				t.Errorf("ε = %g: δ = %.6g, Gaussian %.6g", eps, got, want)
			}
		}
	}
	s.Weights = nil
	once, _ := s.Cells(400)
	s.X, s.Y = []float64{0.5, 0.5, 0.5}, []int{2, 2, 2}
	thrice, _ := s.Cells(400)
	s.X, s.Y, s.Weights = []float64{0.5}, []int{2}, []float64{3}
	weighted, _ := s.Cells(400)
	if audit.HockeyStick(weighted, thrice, 0) > 1e-2 || audit.HockeyStick(once, thrice, 0) < 0.05 {
		t.Errorf("weights: distance %g from three records, %g of one", audit.HockeyStick(weighted, thrice, 0),
			audit.HockeyStick(once, thrice, 0))
	}
}

// The masses are one only if gradient, Hessian and the change of variables belong together.
func TestSoftmaxCellsHoldAllTheMass(t *testing.T) {
	for _, s := range []audit.Softmax{
		{X: []float64{1, -0.7, 0.4}, Y: []int{1, 0, 0}, Weights: []float64{3, 5, 9}, ExtraX: 1, ExtraY: 2, Lambda: 0.7,
			Sigma: 1.5, Tilt: [2]float64{1, -2}},
		{X: []float64{0.9}, Y: []int{2}, ExtraX: -1, ExtraY: 0, Lambda: 1, Sigma: 2},
	} {
		without, with := s.Cells(400)
		if a, b := floats.Sum(without), floats.Sum(with); !(math.Abs(a-1) <= 1e-7) || !(math.Abs(b-1) <= 1e-7) {
			t.Errorf("%+v: masses 1 %+.2g, 1 %+.2g", s, a-1, b-1)
		}
	}
}
