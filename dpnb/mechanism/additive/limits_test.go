package additive

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
)

func TestLimits(t *testing.T) {
	limits.Check(t, small, Boosting.Validate, limits.In("Bins", 1, mostCells/2), limits.In("Leaves", 1, mostCells),
		limits.In("Rounds", 1, mostCells), limits.In("LearningRate", 5e-324, 1), limits.Scale("Clip"),
		limits.Scale("CountSigma"), limits.Scale("SumSigma"))
	limits.Check(t, Config{Columns: columns, Clip: 1, Epsilon: 1, Delta: 1e-6},
		func(c Config) error { _, err := c.Calibrate(); return err },
		limits.In("CountShare", limits.None, limits.Below(1)))
	column := func(c Column) error { m := small; m.Columns = []Column{c}; return m.Validate() }
	limits.Pairs(t, map[string][2]error{"first": {column(Column{Len: 1}), column(Column{First: -1, Len: 1})},
		"length": {column(Column{Len: mostCells}), column(Column{Len: mostCells + 1})}, "none": {nil, column(Column{})},
		"number": {column(Column{Len: 1, Number: true}), column(Column{Len: 2, Number: true})}})
}
