package ours

import (
	"context"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// columns lists our claims about statistics of columns (docs/theory/statistics.md).
func columns() claim.Checks {
	return claim.Checks{
		"dpnb/quantiles": claim.Against(rangeOfQuantiles(1, 96), rangeOfQuantiles(1.1, 96)),
	}
}

// rangeOfQuantiles measures by how much logarithms of the probabilities of two results differ on neighbours, of a
// mechanism that has factor times the η that it says.
func rangeOfQuantiles(factor float64, seed uint64) claim.Check {
	const eta = 3.0
	return func(_ context.Context, size claim.Size) (claim.Outcome, error) {
		runs := size.Runs(12_000)
		src := noise.NewSeeded(seed)
		m := statistic.Quantiles{Of: statistic.Number{Lower: 0, Upper: 1}, Levels: []float64{0.5}, Eta: factor * eta}
		// counts returns how many medians are between 0.3 and 0.7, and how many beyond: but for the places of the
		// records.
		counts := func(records ...float64) (inside, outside float64) {
			for range runs {
				tally := m.Tally()
				tally.Add([][]float64{records})
				switch x := tally.Release(src)[2]; {
				case x > 0.301 && x < 0.699:
					inside++
				case x < 0.299 || x > 0.701:
					outside++
				}
			}
			return inside, outside
		}
		a, b := counts(0.3, 0.7)
		c, d := counts(0.3)
		worst, se := math.Log(a/b)-math.Log(c/d), math.Sqrt(1/a+1/b+1/c+1/d)
		ok := worst-3*se <= eta && worst+3*se >= 0.97*eta
		return claim.Decide(fmt.Sprintf("log-ratios differ by %.3f ± %.3f", worst, se), "at most η = 3, within 3 "+
			"standard errors, and at least 0.97 of it", ok, "the range is another one"), nil
	}
}
