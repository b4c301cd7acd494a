package loss

import "testing"

// A sum is called by its parts, one that stands several times in a row once.
func TestNameOfASum(t *testing.T) {
	s := &sum{of: []Loss{Logistic{}, Logistic{}, Huber{Threshold: 1}, Logistic{}}}
	of, between := Logistic{}.Name(), " + "
	if want := of + between + (Huber{Threshold: 1}).Name() + between + of; s.Name() != want {
		t.Errorf("%s, want %s", s.Name(), want)
	}
}
