package additive

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
)

func TestLimits(t *testing.T) {
	limits.Check(t, small, Boosting.Validate, limits.In("Leaves", 1, mostCells), limits.In("Rounds", 1, mostCells),
		limits.In("LearningRate", 5e-324, 1), limits.Scale("Clip"), limits.Scale("CountSigma"),
		limits.Scale("SumSigma"), limits.In("Cells.Bins", 1, mostCells/2))
	one := func(c Column) error { return Cells{[]Column{c}, 4}.validate() }
	columns := func(n int) error {
		all := make([]Column, n)
		for k := range all {
			all[k] = Column{First: k, Len: 1}
		}
		return Cells{all, 4}.validate()
	}
	limits.Pairs(t, map[string][2]error{
		"first":  {one(Column{First: 0, Len: 1}), one(Column{First: -1, Len: 1})},
		"shape":  {one(Column{Len: 1, Number: true}), one(Column{Len: 2, Number: true})},
		"length": {one(Column{Len: mostCells}), one(Column{Len: mostCells + 1})}, "none": {nil, one(Column{})},
		"columns": {columns(mostCells), columns(mostCells + 1)}, "no columns": {columns(1), columns(0)},
	})
}
