package loss

import (
	"testing"

	"gonum.org/v1/gonum/floats"
)

// A sum is called by its parts, one that stands several times in a row once.
func TestNameOfASum(t *testing.T) {
	s := &sum{of: []Loss{Logistic{}, Logistic{}, Huber{Threshold: 1}, Logistic{}}}
	of, between := Logistic{}.Name(), " + "
	if want := of + between + (Huber{Threshold: 1}).Name() + between + of; s.Name() != want {
		t.Errorf("%s, want %s", s.Name(), want)
	}
}

// Where every part of a sum has its largest slope at once its gradient is as long as all of them together, and so is
// the bound of it.
func TestSumIsAsSteepAsItsParts(t *testing.T) {
	s := Sum(Logistic{}, Logistic{}, Logistic{})
	slope := make([]float64, 3)
	s.Derivatives(slope, nil, []float64{-50, -50, -50}, []float64{1})
	if steep, most := floats.Norm(slope, 2), s.Lipschitz(); !(steep <= most*(1+1e-15) && steep > 0.999*most) {
		t.Errorf("a slope of %v, and the bound is %v", steep, most)
	}
}
