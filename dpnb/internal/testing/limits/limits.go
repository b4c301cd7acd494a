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

// Positive is the range of a finite number above 0, NotNegative that of one that may be 0, Scale that of mechanism's
// Scales.
func Positive(field string, but ...float64) Range { return In(field, 5e-324, math.MaxFloat64, but...) }
func NotNegative(field string) Range              { return In(field, 0, math.MaxFloat64) }
func Scale(field string) Range                    { return In(field, 0x1p-100, 0x1p100) }

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
		each(f, v.CanFloat(), func(x float64, fine bool) {
			t.Helper()
			v.Set(reflect.ValueOf(x).Convert(v.Type()))
			if err := validate(changed); fine != (err == nil) || !fine && !strings.Contains(err.Error(), name) {
				t.Errorf("%s = %v: %v", f.field, x, err)
			}
		})
	}
}

// Argument does the same with an argument of a function.
func Argument(t testing.TB, name string, from, to float64, f func(x float64) error) {
	t.Helper()
	each(In(name, from, to), true, func(x float64, fine bool) {
		t.Helper()
		if err := f(x); fine != (err == nil) {
			t.Errorf("%s = %v: %v", name, x, err)
		}
	})
}

func each(r Range, float bool, try func(x float64, fine bool)) {
	next := func(x, step float64) float64 { return x + step }
	if float {
		next = func(x, step float64) float64 { return math.Nextafter(x, math.Inf(int(step))) }
		try(math.NaN(), false)
	}
	for _, x := range append(slices.Clone(r.also), r.from, r.to) {
		if !math.IsNaN(x) {
			try(x, true)
		}
	}
	for _, x := range []float64{next(r.from, -1), next(r.to, 1)} {
		if !math.IsNaN(x) && !slices.Contains(r.also, x) {
			try(x, false)
		}
	}
}

// Pairs tests errors of what is just admitted, and of what is just not.
func Pairs(t testing.TB, pairs map[string][2]error) {
	t.Helper()
	for name, p := range pairs {
		if p[0] != nil || p[1] == nil {
			t.Errorf("%s: %v is refused, %v is not", name, p[0], p[1])
		}
	}
}
