package sgd

import (
	"reflect"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/apart"
)

// A copy of moments is in no memory of theirs; they fit as many levels and features as each of their parts has.
func TestPartsOfMoments(t *testing.T) {
	const levels, d = 2, 3
	fresh := func() *Moments {
		v := func(n int) []float64 { return slices.Repeat([]float64{1}, n) }
		return &Moments{Theta: v(levels * d), Gradient: v(levels * d), Scatter: v(levels), Records: 7, Width: v(levels),
			Density: v(levels), Tied: make([]bool, levels), Gram: v(d * d), Near: v(levels * d * d)}
	}
	m := fresh()
	if c := m.CloneAlso(); !reflect.DeepEqual(c, m) || apart.Shared(c, m) != nil {
		t.Errorf("%+v, shared %q", c, apart.Shared(c, m))
	}
	if !m.Fits(levels, d) || m.Fits(levels+1, d) || m.Fits(levels, d+1) || m.Fits(0, d) || (&Moments{}).Fits(0, 0) {
		t.Error("moments fit what they are not of, or not what they are of")
	}
	for i := range reflect.TypeFor[Moments]().NumField() {
		m := fresh()
		f := reflect.ValueOf(m).Elem().Field(i)
		if f.Kind() != reflect.Slice {
			continue
		}
		if f.Set(f.Slice(0, f.Len()-1)); m.Fits(levels, d) {
			t.Errorf("%s may be one short", reflect.TypeFor[Moments]().Field(i).Name)
		}
	}
	if out := (Reference{First: 4, Count: 3, Left: 2}).Out(); out != 6 {
		t.Errorf("feature %d is left out", out)
	}
}
