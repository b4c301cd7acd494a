// Package limits tests which values of a parameter are admitted.
package limits

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Range is what In returns.
type Range struct {
	field    string
	from, to float64
	also     []float64
}

// In says of a field, by its path ("Split.Delta1"), that both ends of a range are admitted, and that what is next to
// them outside is not, but for values that are named: 0 to have one chosen. None is an end that something else sets.
func In(field string, from, to float64, but ...float64) Range { return Range{field, from, to, but} }

// Positive is the range of a finite number above 0.
func Positive(field string, but ...float64) Range { return In(field, 5e-324, math.MaxFloat64, but...) }

// NotNegative is that of one that may be 0.
func NotNegative(field string) Range { return In(field, 0, math.MaxFloat64) }

// Above and Below are the float64 next to an end that is not in the range.
func Above(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }
func Below(x float64) float64 { return math.Nextafter(x, math.Inf(-1)) }

// None is no end.
var None = math.NaN()

// Check sets one field of a good value at a time, an integer or a float64, which is never to be NaN. What is refused is
// to be refused by its name.
func Check[T any](t testing.TB, good T, validate func(T) error, fields ...Range) {
	t.Helper()
	if err := validate(good); err != nil {
		t.Fatal(err)
	}
	for _, f := range fields {
		name := f.field[strings.LastIndexByte(f.field, '.')+1:]
		changed := good
		v := reflect.ValueOf(&changed).Elem()
		for _, part := range strings.Split(f.field, ".") {
			v = v.FieldByName(part)
		}
		next := func(x, step float64) float64 {
			if v.CanFloat() {
				return math.Nextafter(x, math.Inf(int(step)))
			}
			return x + step
		}
		try := func(x float64, fine bool) {
			t.Helper()
			if math.IsNaN(x) && (fine || !v.CanFloat()) {
				return
			}
			v.Set(reflect.ValueOf(x).Convert(v.Type()))
			switch err := validate(changed); {
			case fine && err != nil:
				t.Errorf("%s = %v is refused: %v", f.field, x, err)
			case !fine && (err == nil || !strings.Contains(err.Error(), name)):
				t.Errorf("%s = %v: %v", f.field, x, err)
			}
		}
		for _, x := range append(slices.Clone(f.also), f.from, f.to) {
			try(x, true)
		}
		for _, x := range []float64{next(f.from, -1), next(f.to, 1), math.NaN()} {
			if !slices.Contains(f.also, x) {
				try(x, false)
			}
		}
	}
}
