// Package weight keeps the weight of a record within its label, so that everything that carries labels carries weights:
// files of records, passes elsewhere, and groups.
package weight

import "math"

// steps are those of a weight, w = k/1024, and digits the last binary digits of a label, which have k.
const (
	steps  = 1 << 10
	digits = 1<<11 - 1
)

// With returns a label that says y and the weight w in [0, 1]: y with k in its last eleven binary digits, w being
// rounded to k/1024 and y, towards 0, to the 42 digits before them; whole numbers below 2⁴² keep their value. A weight
// beyond [0, 1] counts as the nearer end, and one that is no number as 0.
func With(y, w float64) float64 {
	k := uint64(0)
	if w > 0 {
		k = uint64(math.RoundToEven(math.Min(w, 1) * steps))
	}
	return math.Float64frombits(math.Float64bits(y)&^digits | k)
}

// Of returns what a label of With says; w is more than 1 of no such label.
func Of(label float64) (y, w float64) {
	bits := math.Float64bits(label)
	return math.Float64frombits(bits &^ digits), float64(bits&digits) / steps
}
