package matrix_test

import (
	"errors"
	"testing"

	"github.com/dpnb/notebooks/dpnb/matrix"
)

// Whatever looks at a record that is elsewhere fails, and Reading makes it an error: nothing is computed of zeros that
// stand for it.
func TestRecordsElsewhereAreNotLookedAt(t *testing.T) {
	rows := matrix.Elsewhere{N: 3, D: 2}
	two, three := make([]float64, 2), make([]float64, 3)
	for name, look := range map[string]func(){
		"margins": func() { rows.Margins(three, two, 0, 3) },
		"sums":    func() { rows.AddScaled(two, three, 0, 3) },
		"norms":   func() { rows.Norms(three, 0, 3) },
		"a row":   func() { rows.Row(two, 1) },
	} {
		var fault *matrix.ReadError
		if err := func() (err error) {
			defer matrix.Reading(&err)()
			look()
			return nil
		}(); !errors.As(err, &fault) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n, d := rows.Dims(); n != 3 || d != 2 {
		t.Errorf("%d × %d", n, d)
	}
}
