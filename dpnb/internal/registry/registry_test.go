package registry

import (
	"errors"
	"testing"
)

// What was made under a name is what everybody gets, if it agrees; what failed is made again, and so is what was
// forgotten.
func TestOpen(t *testing.T) {
	made, refused := 0, errors.New("refused")
	open := func(name string, again, failed error) (int, error) {
		return Open(name, func(int) error { return again }, func() (int, error) { made++; return made, failed })
	}
	for i, c := range []struct {
		name          string
		again, failed error
		want          int
		err           error
	}{
		{"a", nil, refused, 0, refused},
		{"a", nil, nil, 2, nil},
		{"a", nil, nil, 2, nil},
		{"b", refused, nil, 3, nil},
		{"a", refused, nil, 0, refused},
		{"a", nil, refused, 2, nil},
	} {
		if got, err := open(c.name, c.again, c.failed); got != c.want || err != c.err {
			t.Errorf("call %d: %d, %v; want %d, %v", i, got, err, c.want, c.err)
		}
	}
	Forget("a")
	a, _ := open("a", refused, nil)
	if b, _ := open("b", nil, refused); a != 4 || b != 3 {
		t.Errorf("a is %d after it was forgotten, b %d", a, b)
	}
	Forget("a")
	Forget("b")
}
