package additive

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
)

// Of every parameter the ends of its range are admitted, and what is next to them is not.
func TestLimits(t *testing.T) {
	limits.Check(t, small, Boosting.Validate,
		limits.In("Bins", 1, mostCells/2), limits.In("Leaves", 1, mostCells), limits.In("Rounds", 1, mostCells),
		limits.In("LearningRate", 5e-324, 1), limits.In("Clip", 0x1p-100, 0x1p100),
		limits.In("CountSigma", 0x1p-100, 0x1p100), limits.In("SumSigma", 0x1p-100, 0x1p100))
	limits.Check(t, Config{Columns: columns, Clip: 1, Epsilon: 1, Delta: 1e-6},
		func(c Config) error { _, err := c.Calibrate(); return err },
		limits.In("CountShare", 1e-9, limits.Below(1), limits.Below(1e-9)))
	columns := func(c Column) error {
		of := small
		of.Columns = []Column{c}
		return of.Validate()
	}
	for _, c := range []Column{{Len: 1}, {Len: mostCells}, {Len: 1, Number: true}} {
		if err := columns(c); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, c := range []Column{{First: -1, Len: 1}, {}, {Len: mostCells + 1}, {Len: 2, Number: true}} {
		if columns(c) == nil {
			t.Errorf("%+v is admitted", c)
		}
	}
}
