package sim

import (
	"cmp"
	"math"
	"slices"
)

// AUC returns the area under the receiver's curve: the probability that a record of the positive class has a larger
// score than one of the other, equal scores counting half. labels are positive for the positive class. It does not
// depend on a threshold. NaN if one of the classes has no record or a score is NaN.
//
// It panics if the lengths differ.
func AUC(scores, labels []float64) float64 {
	if len(scores) != len(labels) {
		panic("sim: AUC of scores and labels of different lengths")
	}
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
		if math.IsNaN(scores[i]) {
			return math.NaN()
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
	var positive, negative, pairs float64
	for lo := 0; lo < len(order); {
		hi, p, n := lo, 0.0, 0.0
		for ; hi < len(order) && scores[order[hi]] == scores[order[lo]]; hi++ {
			if labels[order[hi]] > 0 {
				p++
			} else {
				n++
			}
		}
		pairs += p * (negative + 0.5*n)
		positive, negative, lo = positive+p, negative+n, hi
	}
	return pairs / (positive * negative)
}
