// Package multiclass has private learning algorithms for more than two classes: one joint softmax fit (Softmax) and one
// binary fit for each class (OneVsRest), both by objective perturbation. Softmax needs less noise for the same
// guarantee from three classes on. The coefficients that they release are those of the classes one after another, θ_c
// at [c·d : (c+1)·d].
package multiclass

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/matrix"
)

// Predict returns the class of the largest xᵀθ_c, the first of them if there are several, from the coefficients of all.
// It panics if x has not d entries.
func Predict(theta, x []float64) int {
	best, top := 0, floats.Dot(theta[:len(x)], x)
	for c := 1; c < len(theta)/len(x); c++ {
		if t := floats.Dot(theta[c*len(x):(c+1)*len(x)], x); t > top {
			best, top = c, t
		}
	}
	return best
}

// checkClasses looks whether every label is the place of a class.
//
// Errors: *matrix.DataError for a label that is none of 0 … K − 1.
func checkClasses(labels []float64, classes int) error {
	for i, y := range labels {
		if !(y >= 0 && y < float64(classes)) || y != math.Trunc(y) {
			return &matrix.DataError{Text: fmt.Sprintf("the label of record %d is no class from 0 to %d", i, classes-1)}
		}
	}
	return nil
}
