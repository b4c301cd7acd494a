package pure

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

func TestLimits(t *testing.T) {
	valid := func(c Config) error { return c.validate() }
	full := config()
	full.MomentBound = 1
	limits.Check(t, full, valid, limits.In("Epsilon", 1e-9, 1e6), limits.In("Features", 1, limits.None),
		limits.In("Records", 1, MostRecords), limits.Positive("Radius"), limits.In("Moment", limits.Above(1), 1e3, 0),
		limits.Positive("MomentBound", 0), limits.Positive("Clip", 0), limits.Positive("Lambda", 0),
		limits.Positive("Tolerance", 0))
	typical, worst, fewer := full, full, full
	typical.TypicalNorm, typical.TypicalResidual = 1, 1
	limits.Check(t, typical, valid, limits.Positive("TypicalNorm"), limits.Positive("TypicalResidual"))
	worst.WorstCase, worst.Moment, fewer.WorstCase, fewer.Moment = true, 2, true, limits.Below(2)
	limits.Pairs(t, map[string][2]error{"moments of WorstCase": {valid(worst), valid(fewer)}})
	m := phases(t, nil)
	m.Records = 1 << 20
	// A record for each block of the last phase is the least.
	least := math.Exp2(float64(m.Count-1)) * float64(m.Blocks)
	limits.Check(t, m, Phases.Validate, limits.In("Epsilon", 1e-9, 1e6), limits.In("Records", least, MostRecords),
		limits.In("Count", 1, limits.None), limits.In("Blocks", 1, limits.None), limits.In("Ratio", 1, limits.None),
		limits.In("ClipRatio", 0.5, 2, 0), limits.In("Constants", 0, 1), limits.In("Most", 0, MostRecords))
	limits.Check(t, must.Get(config().Calibrate()), Objective.Validate, limits.In("Cosh", 0, limits.None),
		limits.In("Stretch", 0, 0x1p100), limits.In("Records", 0, MostRecords))
	half := Counted{Config: config(), Share: 0.5}
	half.Records = 0
	limits.Check(t, half, Counted.Validate, limits.In("Share", limits.None, limits.None), limits.In("Records", 0, 0))
}
