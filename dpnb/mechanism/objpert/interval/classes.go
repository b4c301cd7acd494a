package interval

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// FromSoftmax is FromRelease for a softmax fit, theta being that of the classes
// one after the other. All of the noise lies in Σ_c θ_c = 0, a space of (K − 1)d
// dimensions, in which a unit vector of one coefficient has the length √(1 − 1/K):
//
//	|θ̃ⱼ − θ̂ⱼ| ≤ √(1 − 1/K)·[σ/λ·½(|N₁| + ‖N‖) + τ/λ + σ_out|N′|],  N of (K − 1)d dimensions.
//
// Coverage: at least level, over the noise, for every dataset.
// Errors: *privacy.ParamError.
// Proof: docs/theory/intervals.md, section 2, in that space.
func FromSoftmax(m multiclass.Softmax, theta []float64, level float64) (*Intervals, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if err := checkClasses(m.Classes, theta, level); err != nil {
		return nil, err
	}
	k := float64(m.Classes)
	inner := objpert.Objective{Lambda: m.Lambda, Sigma: m.Sigma, Tolerance: m.Tolerance, OutputSigma: m.OutputSigma}
	h := math.Sqrt(1-1/k) * ballHalfWidth(inner, len(theta)/m.Classes*(m.Classes-1), 1-level)
	return alone(theta, same(h, len(theta)), level, m.Lambda), nil
}

// FromOneVsRest is FromRelease for each of the K fits, theta being theirs one
// after the other.
//
// Coverage: at least level, over the noise, for every dataset.
// Errors: *privacy.ParamError.
func FromOneVsRest(m multiclass.OneVsRest, theta []float64, level float64) (*Intervals, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if err := checkClasses(m.Classes, theta, level); err != nil {
		return nil, err
	}
	return alone(theta, same(ballHalfWidth(m.Binary, len(theta)/m.Classes, 1-level), len(theta)), level, m.Binary.Lambda), nil
}

func checkClasses(classes int, theta []float64, level float64) error {
	if err := checkLevel(level); err != nil {
		return err
	}
	if err := checkTheta(theta); err != nil {
		return err
	}
	if len(theta)%classes != 0 {
		return &privacy.ParamError{Name: "theta", Value: len(theta), Want: fmt.Sprintf("as many coefficients for each of %d classes", classes)}
	}
	return nil
}

// same returns d times h.
func same(h float64, d int) []float64 {
	half := make([]float64, d)
	for j := range half {
		half[j] = h
	}
	return half
}

// alone returns theta ± half, from the release alone.
func alone(theta, half []float64, level, lambda float64) *Intervals {
	iv := newIntervals(level, theta, half, 0)
	iv.Covers = minimiserCovers
	iv.Basis = fmt.Sprintf("the law of the noise and λ = %.4g alone, for every dataset (docs/theory/intervals.md, section 2)", lambda)
	iv.Proved = true
	return iv
}
