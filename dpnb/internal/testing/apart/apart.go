// Package apart finds memory that two values share, which a copy for somebody who may change it must not. Tests alone
// may enter.
package apart

import (
	"fmt"
	"reflect"
)

// Shared returns the paths to slices, maps and pointers below a and b, of one type, that are the same memory.
func Shared(a, b any) (paths []string) {
	walk(reflect.ValueOf(a), reflect.ValueOf(b), "", &paths)
	return paths
}

func walk(a, b reflect.Value, path string, found *[]string) {
	if !a.IsValid() || !b.IsValid() || a.Type() != b.Type() {
		return
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		switch {
		case a.IsNil() || b.IsNil():
		case a.Kind() == reflect.Pointer && a.Pointer() == b.Pointer():
			*found = append(*found, path)
		default:
			walk(a.Elem(), b.Elem(), path, found)
		}
	case reflect.Struct:
		for i := range a.NumField() {
			walk(a.Field(i), b.Field(i), path+"."+a.Type().Field(i).Name, found)
		}
	case reflect.Map:
		if !a.IsNil() && a.Pointer() == b.Pointer() {
			*found = append(*found, path)
		}
	case reflect.Slice:
		if a.Len() > 0 && a.Pointer() == b.Pointer() {
			*found = append(*found, path)
			return
		}
		for i := range min(a.Len(), b.Len()) {
			walk(a.Index(i), b.Index(i), fmt.Sprintf("%s[%d]", path, i), found)
		}
	}
}
