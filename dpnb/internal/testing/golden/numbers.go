package golden

import (
	"math"
	"reflect"
)

// Numbers returns every number of the values, in their order and that of fields and elements, for Figures: 1 of what is
// true and of an error, 0 of what is not; of texts, maps and functions nothing.
func Numbers(values ...any) (all []float64) {
	for _, v := range values {
		if _, failed := v.(error); failed {
			all = append(all, 1)
		} else if v == nil {
			all = append(all, 0)
		} else {
			all = numbers(all, reflect.ValueOf(v))
		}
	}
	return all
}

func numbers(all []float64, v reflect.Value) []float64 {
	switch {
	case v.CanFloat():
		return append(all, v.Float())
	case v.CanInt():
		return append(all, float64(v.Int()))
	case v.CanUint():
		return append(all, float64(v.Uint()))
	}
	switch v.Kind() {
	case reflect.Bool:
		return append(all, map[bool]float64{true: 1}[v.Bool()])
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return append(all, math.NaN())
		}
		return numbers(all, v.Elem())
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			all = numbers(all, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			all = numbers(all, v.Field(i))
		}
	}
	return all
}

// Rounded says to which side of what it is nominally a value was rounded on purpose, by four units of the last place or
// more, which no tolerance sees: 1 is up, −1 down, and 0 neither.
func Rounded(value, nominal float64) float64 {
	switch by := value/nominal - 1; {
	case by > 0x1p-51:
		return 1
	case by < -0x1p-51:
		return -1
	}
	return 0
}
