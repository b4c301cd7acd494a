package pure

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// Of every parameter the ends of its range are admitted, and what is next to them is not.
func TestLimits(t *testing.T) {
	valid := func(c Config) error { return c.validate() }
	full := config()
	full.MomentBound = 1
	limits.Check(t, full, valid,
		limits.In("Epsilon", 1e-9, 1e6), limits.In("Features", 1, limits.None), limits.In("Records", 1, MostRecords),
		limits.Positive("Radius"), limits.In("Moment", limits.Above(1), 1e3, 0),
		limits.Positive("MomentBound", 0), limits.Positive("Clip", 0),
		limits.Positive("Lambda", 0), limits.Positive("Tolerance", 0))
	typical := full
	typical.TypicalNorm, typical.TypicalResidual = 1, 1
	limits.Check(t, typical, valid, limits.Positive("TypicalNorm"),
		limits.Positive("TypicalResidual"))
	full.WorstCase = true
	if full.Moment = 2; valid(full) != nil {
		t.Error("two moments are too few for WorstCase")
	}
	if full.Moment = 1.99; valid(full) == nil {
		t.Error("less than two moments are enough for WorstCase")
	}

	m := phases(t, nil)
	m.Records = 1 << 20
	// A record for each block of the last phase is the least.
	least := math.Exp2(float64(m.Count-1)) * float64(m.Blocks)
	limits.Check(t, m, Phases.Validate,
		limits.In("Epsilon", 1e-9, 1e6), limits.In("Records", least, MostRecords), limits.In("Count", 1, limits.None),
		limits.In("Blocks", 1, limits.None), limits.In("Ratio", 1, limits.None), limits.In("ClipRatio", 0.5, 2, 0),
		limits.In("Constants", 0, 1), limits.In("Most", 0, MostRecords))
	o := must.Get(config().Calibrate())
	limits.Check(t, o, Objective.Validate, limits.In("Cosh", 0, limits.None), limits.In("Stretch", 0, 0x1p100),
		limits.In("Records", 0, MostRecords))
	half := Counted{Config: config(), Share: 0.5}
	half.Records = 0
	limits.Check(t, half, Counted.Validate, limits.In("Share", limits.None, limits.None), limits.In("Records", 0, 0))
}
