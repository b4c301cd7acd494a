package learn

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// scoreUnit is what the score of a record is a multiple of, so that sums are exact.
const scoreUnit = 0x1p-20

// score returns the sum of the scores of the records, each in [0, 1], a multiple of scoreUnit and a function of its
// record and of what was released alone: one record more or less changes it by at most one, to the last bit.
func (c tuneChoice) score(theta []float64, also any) float64 {
	var sum int64
	eachScore(c.design, theta, also, func(_ int, score float64) { sum += int64(score / scoreUnit) })
	return float64(sum) * scoreUnit
}

// eachScore gives the score in [0, 1] of every record by θ and what was released beside it, in their order.
func eachScore(d *frame.Design, theta []float64, also any, give func(record int, score float64)) {
	eachMargins(d, theta, also, func(i int, t []float64, stride, parts int) {
		give(i, recordScore(d.Target.Task, d.Target, d.Labels[i], t, stride, parts))
	})
}

// eachMargins gives the margins t[0], t[stride], … of every record, in their order, each a function of its record
// alone.
func eachMargins(d *frame.Design, theta []float64, also any, give func(record int, t []float64, stride, parts int)) {
	rows, theta := placed(d.Rows, theta, also)
	n, width := rows.Dims()
	parts := len(theta) / width
	const block = 256
	margins := make([]float64, parts*block)
	for lo := 0; lo < n; lo += block {
		hi := min(lo+block, n)
		for k := range parts {
			matrix.MarginsAlone(rows, margins[k*block:(k+1)*block], theta[k*width:(k+1)*width], lo, hi)
		}
		for i := range hi - lo {
			give(lo+i, margins[i:], block, parts)
		}
	}
}

// recordScore returns the score in [0, 1] of a record with the margins t[0], t[stride], ….
func recordScore(task frame.Task, target frame.Target, y float64, t []float64, stride, parts int) float64 {
	off := 1.0
	switch task {
	case frame.TwoClasses:
		if (t[0] > 0) == (y > 0) {
			return 1
		}
		return 0
	case frame.ManyClasses:
		if float64(largest(t, stride, parts)) == y {
			return 1
		}
		return 0
	case frame.Number: // labels are in units of half the width
		at := t[0]
		if !target.Open {
			at = math.Max(-1, math.Min(1, at))
		}
		off = math.Abs(at - y)
	case frame.Count:
		mean := math.Max(target.Lower, math.Min(target.Upper, math.Exp(t[0])))
		off = 2 * math.Abs(mean-y) / (target.Upper - target.Lower)
	}
	if !(off < 1) { // NaN too
		return 0
	}
	return 1 - off
}
