package loss

import (
	"fmt"
	"math"
)

// sign reports whether y is −1 or +1, the labels of the losses of the margin yt.
func sign(y float64) bool { return y == 1 || y == -1 }

const signLabels = "−1 or +1"

// finite reports whether y is a number, the label of the losses of the residual t − y.
func finite(y float64) bool { return !math.IsNaN(y) && !math.IsInf(y, 0) }

const finiteLabels = "a finite number"

// positive reports whether a parameter of a loss is in range.
func positive(v float64) bool { return v > 0 && !math.IsInf(v, 1) }

// inRange returns v if the parameter p is in range, NaN otherwise.
func inRange(p, v float64) float64 {
	if !positive(p) {
		return math.NaN()
	}
	return v
}

// labelsOr returns the labels in words, or why there are none.
func labelsOr(labels, name string, p float64) string {
	if !positive(p) {
		return fmt.Sprintf("a positive finite %s first, not %v", name, p)
	}
	return labels
}
