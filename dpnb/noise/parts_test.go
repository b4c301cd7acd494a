package noise

import "testing"

// strange is a source of a kind that the house does not know.
type strange struct{ Source }

// No source, typed or not, is the secure one; a source is itself. Of an unknown kind there are no forks.
func TestOrSecure(t *testing.T) {
	var none *Secure
	if s, ok := OrSecure(none).(*Secure); !ok || s == nil {
		t.Error("a nil *Secure stays nil")
	}
	if s, ok := OrSecure(nil).(*Secure); !ok || s == nil {
		t.Error("no source is not the secure one")
	}
	for _, s := range []Source{NewSecure(), NewSeeded(1), strange{NewSeeded(1)}} {
		if OrSecure(s) != s {
			t.Errorf("%T is replaced", s)
		}
	}
	if fork, ok := Forks(strange{NewSeeded(1)}); ok || fork != nil {
		t.Error("a source of another kind has forks")
	}
}
