package audit

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Of a linear loss objective perturbation is the Gaussian mechanism (rkw23, Example 3.4), whose δ is known in closed
// form.
func TestLinearLossIsTheGaussianMechanism(t *testing.T) {
	for _, c := range []struct{ sigma, lambda, eps float64 }{{1, 1, 0.5}, {2, 0.1, 0.1}, {5, 20, 1}, {0.5, 3, 2}} {
		s := &Scalar{Loss: loss.Linear{Slope: 1}, ExtraX: 1, ExtraY: 1, Lambda: c.lambda, Sigma: c.sigma}
		for _, dir := range privacy.Directions {
			got := s.DeltaLower(dir, c.eps)
			want := privacy.DeltaUpper(privacy.GaussianProfile(1/c.sigma, privacy.AddRemove), c.eps)
			if got > want*(1+1e-10) || got < want*(1-1e-4) {
				t.Errorf("%+v %v: δ = %v, the Gaussian mechanism has %v", c, dir, got, want)
			}
		}
	}
}

// Known value: Z = ∅ against one record, logistic loss, λ = 1, σ = 20, ε = 0.1 has δ = 6.7e-3 in the remove direction,
// the Gaussian mechanism 4.5e-4.
func TestKnownExactValue(t *testing.T) {
	s := &Scalar{Loss: loss.Logistic{}, ExtraX: 1, ExtraY: 1, Lambda: 1, Sigma: 20}
	if got := s.DeltaLower(privacy.Remove, 0.1); !(math.Abs(got-6.7e-3) <= 0.05e-3) {
		t.Errorf("δ = %v, want 6.7e-3", got)
	}
}

func TestCellsAreProbabilities(t *testing.T) {
	s := &Scalar{Loss: loss.Logistic{}, X: []float64{1, -0.5, 0.3}, Y: []float64{1, 1, -1}, ExtraX: -1, ExtraY: 1,
		Lambda: 0.3, Sigma: 1.5, Tilt: 0.7}
	p, q := s.Cells(5000)
	for name, v := range map[string][]float64{"without": p, "with": q} {
		var sum float64
		for _, x := range v {
			if x < 0 {
				t.Fatalf("%s: a probability is %v", name, x)
			}
			sum += x
		}
		if !(math.Abs(sum-1) <= 1e-12) {
			t.Errorf("%s: probabilities sum to %v", name, sum)
		}
	}
	if p, q := s.CellsAt(nil); len(p) != 1 || len(q) != 1 || p[0] != 1 || q[0] != 1 {
		t.Errorf("without cuts: %v and %v", p, q)
	}
	// δ at ε = −∞ is 1, at ε = +∞ it is 0.
	if d := HockeyStick(p, q, math.Inf(-1)); !(math.Abs(d-1) <= 1e-12) {
		t.Errorf("δ(−∞) = %v", d)
	}
	if d := HockeyStick(p, q, 700); d > 1e-300 {
		t.Errorf("δ(700) = %v", d)
	}
}

// A record of weight 3 is three of them.
func TestWeightsRepeatRecords(t *testing.T) {
	s := &Scalar{Loss: loss.Logistic{}, X: []float64{1, -0.5}, Y: []float64{1, -1}, ExtraX: -1, ExtraY: 1, Lambda: 0.3,
		Sigma: 1.5, Weights: []float64{3, 2}}
	each := *s
	each.X, each.Y, each.Weights = []float64{1, 1, 1, -0.5, -0.5}, []float64{1, 1, 1, -1, -1}, nil
	cuts := []float64{-2, -0.5, 0, 1, 3}
	p, q := s.CellsAt(cuts)
	p1, q1 := each.CellsAt(cuts)
	if !floats.EqualApprox(p, p1, 1e-12) || !floats.EqualApprox(q, q1, 1e-12) {
		t.Errorf("%v and %v, want %v and %v", p, q, p1, q1)
	}
	soft := &Softmax{X: []float64{1, -0.5}, Y: []int{0, 2}, ExtraX: 0.7, ExtraY: 1, Lambda: 0.3, Sigma: 1.5,
		Weights: []float64{3, 2}}
	all := *soft
	all.X, all.Y, all.Weights = each.X, []int{0, 0, 0, 2, 2}, nil
	p, q = soft.Cells(20)
	if p1, q1 = all.Cells(20); !floats.EqualApprox(p, p1, 1e-12) || !floats.EqualApprox(q, q1, 1e-12) {
		t.Error("of three classes it is not")
	}
}

// The mass of what a solver returned is all there after the output noise, on either side of 0 and far from it.
func TestReleasesAreProbabilities(t *testing.T) {
	a := Approximate{OutputSigma: 0.3}
	const step, count = 0.1, 400
	for _, first := range []int{-5000, -20, 0, 20, 5000} {
		from := float64(first)*step - 12*a.OutputSigma
		width := (float64(first+2)*step + 12*a.OutputSigma - from) / count
		sum := 0.0
		for _, p := range a.release([]float64{0.2, 0.5, 0.3}, first, 0, step, from, width, count) {
			sum += p
		}
		if !(math.Abs(sum-1) <= 1e-12) {
			t.Errorf("from %v on: probabilities sum to %v", from, sum)
		}
	}
}
