package ours

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// countsCost runs mechanisms that are calibrated for (1, δ), with a person and without in every cell, and compares how
// often that is shown which is likelier with the person with what their δ(1) allows: all of them, or only one, with
// nine tenths of its noise and threshold.
func countsCost(run measure.Run, only string) claim.Outcome {
	part := 1.0
	if only != "" {
		part = 0.9
	}
	const eps, delta, own = 1.0, 0.01, 0.02
	const sure = 1 - 1e-5
	rounds := measure.Sized(run.Size, 1, 10)
	runs := rounds * statistic.MostCells
	cells := statistic.Cells{{Levels: statistic.MostCells}}
	normal := measure.Must(statistic.CalibrateHistogram(cells, eps, delta, true))
	geometric := measure.Must(statistic.CalibrateHistogram(cells, eps, 0, false))
	var keys [2]statistic.Selection
	for i, gauss := range []bool{true, false} {
		keys[i] = measure.Must((statistic.SelectionConfig{Keys: 1, Epsilon: eps, Delta: own,
			Normal: gauss}).Calibrate())
		if keys[i].Scale == 0 {
			keys[i].Sigma *= part
			grid := exact.Grid(keys[i].Sigma)
			keys[i].Threshold = math.Ceil(keys[i].Threshold*part/grid) * grid
		} else {
			keys[i].Threshold = math.Floor(keys[i].Threshold * part) // lower by one
		}
	}
	normal.Sigma, geometric.Scale = normal.Sigma*part, geometric.Scale*part
	src := noise.NewSeeded(96)
	everywhere := make([]float64, statistic.MostCells)
	for i := range everywhere {
		everywhere[i] = float64(i)
	}
	// seen returns how many noisy counts of so many people in each cell, or of each key, are above cut.
	histogram := func(m statistic.Histogram) func(people int, cut float64) int {
		return func(people int, cut float64) (seen int) {
			tally := m.Tally()
			for range people {
				tally.Add([][]float64{everywhere})
			}
			for _, v := range tally.Release(src) {
				if v > cut {
					seen++
				}
			}
			return seen
		}
	}
	selection := func(m statistic.Selection) func(people int, cut float64) int {
		return func(people int, _ float64) int {
			r := measure.Must(m.Release(slices.Repeat([]int64{int64(people)}, statistic.MostCells), src))
			return len(r.Also.(*statistic.Selected).Places)
		}
	}
	worst, worstName := math.Inf(-1), ""
	for _, c := range []struct {
		name  string
		delta float64
		few   int // of whom the neighbour has one more
		// cut is where the count with the person is above and tells most: e^ε is the ratio there.
		cut  float64
		seen func(people int, cut float64) int
	}{
		{"normal", delta, 5, 5.5 + eps*normal.Sigma*normal.Sigma, histogram(normal)},
		{"geometric", 0, 5, 5.5, histogram(geometric)},
		{"keys, normal", own, 0, 0, selection(keys[0])},
		{"keys, geometric", own, 0, 0, selection(keys[1])},
	} {
		if only != "" && only != c.name {
			continue
		}
		var above [2]int
		for range rounds {
			for more := range measure.To(run, 2) {
				above[more] += c.seen(c.few+more, c.cut)
			}
		}
		// P(with) − e^ε·P(without), and the same of the complement the other way round.
		least := func(p, q int) float64 {
			return audit.ClopperPearson(p, runs, sure).Lower -
				math.Exp(eps)*audit.ClopperPearson(q, runs, sure).Upper
		}
		excess := math.Max(least(above[1], above[0]), least(runs-above[0], runs-above[1])) - c.delta
		if excess > worst {
			worst, worstName = excess, c.name
		}
	}
	return claim.Decide(fmt.Sprintf("δ(%g) that is seen less what is claimed: at most %+.4f (%s)", eps, worst,
		worstName), "at most 0", worst <= 0)
}

func rangeOfQuantiles(run measure.Run, factor float64) claim.Outcome {
	const eta = 3.0
	runs := run.Runs(12_000)
	src := noise.NewSeeded(96)
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
	return claim.Decide(fmt.Sprintf("log-ratios differ by %.3f ± %.3f", worst, se), "at most η = 3, within 3 standard "+
		"errors, and at least 0.97 of it", ok)
}
