package apart

import (
	"slices"
	"testing"
)

type inner struct{ x []float64 }

type outer struct {
	A    []float64
	B    *inner
	C    map[string]int
	D    any
	E    []inner
	none []int
}

// What is shared is found at every depth, behind pointers and interfaces, and what is equal is not shared.
func TestShared(t *testing.T) {
	fresh := func() *outer {
		return &outer{A: []float64{1}, B: &inner{[]float64{1}}, C: map[string]int{"a": 1}, D: &inner{[]float64{2}},
			E: []inner{{[]float64{3}}}, none: []int{}}
	}
	a := fresh()
	for want, share := range map[string]func(b *outer){
		"": func(*outer) {}, ".A": func(b *outer) { b.A = a.A }, ".B": func(b *outer) { b.B = a.B },
		".B.x": func(b *outer) { b.B.x = a.B.x }, ".C": func(b *outer) { b.C = a.C },
		".D.x": func(b *outer) { b.D = &inner{a.D.(*inner).x} }, ".E[0].x": func(b *outer) { b.E[0].x = a.E[0].x },
	} {
		b := fresh()
		share(b)
		if got := Shared(a, b); !slices.Equal(got, []string{want}) && !(want == "" && got == nil) {
			t.Errorf("shares %q, want %q", got, want)
		}
	}
}
