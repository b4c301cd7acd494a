package loss

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
)

// Each row has its own loss and label, in order and out of it.
func TestStacked(t *testing.T) {
	huber, logistic := Huber{Threshold: 1}, Logistic{}
	s := Stacked{First: huber, Second: logistic, Table: []float64{0.5, -2, 3, 1, -1, 1}, Split: 3}
	for _, places := range [][]float64{{0, 1, 2, 3, 4, 5}, {5, 0, 4, 4, 2}, {1}, {3, 5}} {
		n := len(places)
		at, slope, curv := make([]float64, n), make([]float64, n), make([]float64, n)
		want := 0.0
		for i, p := range places {
			at[i] = 0.3*p - 0.7
		}
		got := s.ValueSlope(slope, at, places)
		s.Curvature(curv, at, places)
		for i, p := range places {
			of := Loss(huber)
			if p >= 3 {
				of = logistic
			}
			g, c, y := []float64{0}, []float64{0}, []float64{s.Table[int(p)]}
			want += of.ValueSlope(g, at[i:i+1], y)
			of.Curvature(c, at[i:i+1], y)
			if g[0] != slope[i] || c[0] != curv[i] {
				t.Errorf("%v: slope %v and curvature %v at place %v, want %v and %v", places, slope[i], curv[i], p,
					g[0], c[0])
			}
			precise, ok := PreciseSlope(s)
			own, _ := PreciseSlope(of)
			if !ok || precise.Slope(dd.From(at[i]), p) != own.Slope(dd.From(at[i]), y[0]) {
				t.Errorf("the precise slope at place %v", p)
			}
		}
		if d := got - want; d > 1e-14 || d < -1e-14 {
			t.Errorf("value %v, want %v", got, want)
		}
	}
	for p, want := range map[float64]bool{0: true, 5: true, 6: false, -1: false, 0.5: false} {
		if s.ValidLabel(p) != want {
			t.Errorf("place %v", p)
		}
	}
	if bad := (Stacked{First: huber, Second: logistic, Table: []float64{1, 2}, Split: 1}); bad.ValidLabel(1) {
		t.Error("2 is a label of the logistic loss")
	}
}
