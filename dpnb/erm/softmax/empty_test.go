package softmax

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/matrix"
)

// Without records the minimiser is −B/λ, and with some classes absent there is one too:
// which classes there are is private, and no refusal tells.
func TestWithoutRecordsAndClasses(t *testing.T) {
	linear := []float64{1, -2, 3, 0, 5, -6}
	s, err := Minimize(&Problem{Rows: matrix.NewDense(0, 2, nil), Classes: 3, Lambda: 4, Linear: linear}, &Settings{Tolerance: 1e-12})
	if err != nil {
		t.Fatal(err)
	}
	for j, b := range linear {
		if math.Abs(s.Theta[j]+b/4) > 1e-13 {
			t.Errorf("θ = %v, want −B/4", s.Theta)
		}
	}
	one := &Problem{Rows: matrix.NewDense(4, 2, []float64{1, 0, 0, 1, 1, 0, 0, 1}), Labels: []int{1, 1, 1, 1}, Classes: 3, Lambda: 0.1}
	if s, err = Minimize(one, &Settings{Tolerance: 1e-9}); err != nil {
		t.Fatal(err)
	}
	// The absent classes are the same, and less likely than the one that is there.
	if math.Abs(s.Theta[0]-s.Theta[4]) > 1e-8 || !(s.Theta[2] > s.Theta[0]+1) {
		t.Errorf("θ = %v", s.Theta)
	}
}
