package matrix

import "testing"

// other is a Rows of no kind that Select knows.
type other struct{ Rows }

// Spans may begin with the first feature and touch, and neither overlap nor be empty.
func TestRising(t *testing.T) {
	for _, c := range []struct {
		spans []Span
		want  bool
	}{
		{nil, true}, {[]Span{{First: 0, Len: 1}}, true}, {[]Span{{First: 0, Len: 2}, {First: 2, Len: 3}}, true},
		{[]Span{{First: 0, Len: 2}, {First: 1, Len: 3}}, false}, {[]Span{{First: 3, Len: 0}}, false},
		{[]Span{{First: -1, Len: 2}}, false},
	} {
		if got := Rising(c.spans); got != c.want {
			t.Errorf("%v: %v", c.spans, got)
		}
	}
}

// Rows of any kind are selected in the order that is given.
func TestSelectOfAnyRows(t *testing.T) {
	s := Select(other{NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})}, []int{2, 0}).(*Dense)
	for i, want := range []float64{5, 6, 1, 2} {
		if s.Data[i] != want {
			t.Errorf("%v", s.Data)
		}
	}
}
