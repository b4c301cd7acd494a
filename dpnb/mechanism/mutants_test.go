package mechanism_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/dpnb/notebooks/dpnb/mechanism"
)

// mutant is a mechanism with one parameter changed: "Lambda = NaN".
type mutant struct {
	what string
	m    mechanism.Mechanism
}

// optional are parameters of which none is a choice.
var optional = map[string]bool{"Regulariser": true, "Constraint": true, "Centre": true, "Shrink": true, "Other": true,
	"Held": true}

// mutants returns m with each exported parameter in turn, at any depth, not a number, infinite, negative or missing.
func mutants(m mechanism.Mechanism) (all []mutant) {
	alter(reflect.ValueOf(m), "", func(what string, v reflect.Value) {
		all = append(all, mutant{what, v.Interface().(mechanism.Mechanism)})
	})
	return all
}

// alter calls with for v and one change of it at a time.
func alter(v reflect.Value, name string, with func(what string, v reflect.Value)) {
	odd := func(x any) { with(fmt.Sprintf("%s = %v", name, x), reflect.ValueOf(x).Convert(v.Type())) }
	switch v.Kind() {
	case reflect.Float64:
		for _, x := range []float64{math.NaN(), inf, -1} {
			odd(x)
		}
	case reflect.Int:
		odd(-1)
	case reflect.Slice:
		if !optional[name[strings.LastIndex(name, ".")+1:]] {
			with(name+" = nil", reflect.Zero(v.Type()))
		}
		for i := range v.Len() {
			alter(v.Index(i), fmt.Sprintf("%s[%d]", name, i), func(what string, part reflect.Value) {
				whole := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
				reflect.Copy(whole, v)
				whole.Index(i).Set(part)
				with(what, whole)
			})
		}
	case reflect.Interface:
		if !optional[name[strings.LastIndex(name, ".")+1:]] {
			with(name+" = nil", reflect.Zero(v.Type()))
		}
		if v.IsNil() {
			return
		}
		alter(v.Elem(), name, func(what string, inner reflect.Value) {
			if inner.Type().Implements(v.Type()) {
				with(what, inner)
			}
		})
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				continue
			}
			inner := strings.TrimPrefix(name+"."+f.Name, ".")
			if f.Anonymous {
				inner = name
			}
			alter(v.Field(i), inner, func(what string, part reflect.Value) {
				whole := reflect.New(v.Type()).Elem()
				whole.Set(v)
				whole.Field(i).Set(part)
				with(what, whole)
			})
		}
	}
}
