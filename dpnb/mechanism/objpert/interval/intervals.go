package interval

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Intervals are one interval for each coefficient. Each by itself covers its target with probability Level at least,
// over the draws that Covers names; all of them together do not.
type Intervals struct {
	// Level is 1 − α.
	Level float64
	// Estimate is the centre: the released coefficient, or that corrected for the shrinkage of the ridge.
	Estimate, Lower, Upper []float64
	// Covers says what is covered and over what the probability is taken.
	Covers string
	// Basis says what the coverage rests on, in words.
	Basis string
	// Proved says that the coverage holds at every number of records; else it is that of the limit of many records.
	Proved bool
}

// Width returns the mean width.
func (iv *Intervals) Width() float64 {
	var sum float64
	for j := range iv.Lower {
		sum += iv.Upper[j] - iv.Lower[j]
	}
	return sum / float64(len(iv.Lower))
}

// newIntervals returns centre ± half, cut to [−bound, bound] if bound > 0.
func newIntervals(level float64, centre, half []float64, bound float64) *Intervals {
	iv := &Intervals{Level: level, Estimate: append([]float64(nil), centre...), Lower: make([]float64, len(centre)),
		Upper: make([]float64, len(centre))}
	for j, c := range centre {
		if math.IsInf(half[j], 1) || math.IsNaN(c) || math.IsNaN(half[j]) {
			// Nothing is known.
			iv.Lower[j], iv.Upper[j] = math.Inf(-1), math.Inf(1)
		} else {
			iv.Lower[j], iv.Upper[j] = c-half[j], c+half[j]
		}
		if bound > 0 {
			// Cut, and never empty: where the two exclude each other the nearer end is all that is left.
			iv.Lower[j] = math.Max(-bound, math.Min(iv.Lower[j], bound))
			iv.Upper[j] = math.Min(bound, math.Max(iv.Upper[j], -bound))
			iv.Estimate[j] = math.Max(iv.Lower[j], math.Min(iv.Estimate[j], iv.Upper[j]))
		}
	}
	return iv
}

// CheckLevel returns a *privacy.ParamError unless an interval can have the level.
func CheckLevel(level float64) error {
	return privacy.Within(level > 0 && level < 1, "Level", level, "a probability in (0, 1), for example 0.95")
}

func checkTheta(theta []float64) error {
	if len(theta) == 0 {
		return &privacy.ParamError{Name: "theta", Value: theta, Want: "the released coefficients"}
	}
	for _, v := range theta {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &privacy.ParamError{Name: "theta", Value: v, Want: "finite coefficients"}
		}
	}
	return nil
}

// FromRelease returns intervals for the coefficients θ̂ that the same fit would have had without noise, the same ridges
// included, from the released θ and the parameters of the mechanism alone, which is objpert.Objective, a Curvature, or
// one of several classes, theta being that of the classes one after the other: a post-processing of the release, which
// costs nothing.
//
// The deviation θ̃ − θ̂ = −H̄⁻¹b has H̄ ⪰ λI, λ the least ridge, whatever the records and however H̄ depends on b,
// hence lies in the ball over the diameter from 0 to −b/λ:
//
//	|θ̃ⱼ − θ̂ⱼ| ≤ (|bⱼ| + ‖b‖)/(2λ) + output noise,
//
// about σ√d/(2λ); where ω shrinks all but the last coefficient further, in the ellipsoid that belongs to the ridges. No
// narrower interval holds for all records (docs/theory/intervals.md, section 2); with many records the truth is much
// closer, but how close is private.
//
// Of one-vs-rest this is so for each of the K fits. Of softmax all of the noise lies in Σ_c θ_c = 0, a space of (K −
// 1)d dimensions, in which a unit vector of one coefficient has the length √(1 − 1/K):
//
//	|θ̃ⱼ − θ̂ⱼ| ≤ √(1 − 1/K)·[σ/λ·½(|N₁| + ‖N‖) + τ/λ + σ_out|N′|],  N of (K − 1)d dimensions.
//
// Coverage: at least level, over the noise, for every dataset. Any convex loss.
// Errors: *privacy.ParamError; one that wraps privacy.ErrUnsupported for another mechanism.
func FromRelease(m mechanism.Mechanism, theta []float64, level float64) (*Intervals, error) {
	if err := cmp.Or(m.Validate(), CheckLevel(level), checkTheta(theta)); err != nil {
		return nil, err
	}
	of, ok := noiseOf(m)
	if !ok {
		return nil, fmt.Errorf("%w: intervals from the law of the noise are for objective perturbation, not for %s",
			privacy.ErrUnsupported, m.Describe().Name)
	}
	if len(theta)%of.classes != 0 {
		return nil, &privacy.ParamError{Name: "theta", Value: len(theta),
			Want: fmt.Sprintf("as many coefficients for each of %d classes", of.classes)}
	}
	d := len(theta) / of.classes
	half := ballHalfWidths(of.fit, d, 1-level)
	if of.classes > 1 {
		half = slices.Repeat([]float64{of.ball(d, 1-level)}, len(theta))
	}
	return alone(theta, half, level, of.fit.Lambda), nil
}

// released is the law of the noise in the coefficients of each class: that of fit, in times as many dimensions as there
// are features, and less of it.
type released struct {
	fit            objpert.Objective
	classes, times int
	less           float64
}

// noiseOf returns the law of the noise of a mechanism; ok is false of those of which it is not known.
func noiseOf(m mechanism.Mechanism) (of released, ok bool) {
	switch m := m.(type) {
	case Curvature:
		return released{m.Fit, 1, 1, 1}, true
	case objpert.Objective:
		return released{m, 1, 1, 1}, true
	case multiclass.OneVsRest:
		return released{m.Binary, m.Classes, 1, 1}, true
	case multiclass.Softmax:
		inner := objpert.Objective{Lambda: m.Lambda, Sigma: m.Sigma, Tolerance: m.Tolerance, OutputSigma: m.OutputSigma}
		return released{inner, m.Classes, m.Classes - 1, math.Sqrt(1 - 1/float64(m.Classes))}, true
	}
	return of, false
}

// ball returns the half-width for a linear form of norm 1 of the coefficients of a class, in d dimensions.
func (r released) ball(d int, alpha float64) float64 {
	return r.less * ballHalfWidth(r.fit, r.times*d, alpha)
}

// FormsFromRelease is FromRelease for the forms of s, of each class, each as wide as its length says.
//
// Errors: as FromRelease and Minimiser.
func FormsFromRelease(m mechanism.Mechanism, theta []float64, s Settings) (*Intervals, error) {
	of, ok := noiseOf(m)
	if !ok {
		return FromRelease(m, theta, s.Level)
	}
	if err := cmp.Or(m.Validate(), s.validate(), checkTheta(theta)); err != nil {
		return nil, err
	}
	width := len(theta) / of.classes
	d := width
	if s.Basis != nil {
		_, d = s.Basis.Dims()
	}
	ball := of.ball(d, 1-s.Level)
	var centre, half []float64
	for c := range of.classes {
		for _, a := range s.Forms {
			if len(a) != width || len(theta) != width*of.classes {
				return nil, &privacy.ParamError{Name: "Forms", Value: len(a),
					Want: fmt.Sprintf("%d numbers each", width)}
			}
			centre = append(centre, floats.Dot(a, theta[c*width:(c+1)*width]))
			half = append(half, ball*floats.Norm(a, 2))
		}
	}
	return alone(centre, half, s.Level, of.fit.Lambda), nil
}

// Knows reports whether FromRelease has intervals for m's releases.
func Knows(m mechanism.Mechanism) bool {
	_, ok := noiseOf(m)
	return ok
}

// alone returns theta ± half, from the release alone.
func alone(theta, half []float64, level, lambda float64) *Intervals {
	iv := newIntervals(level, theta, half, 0)
	iv.Covers = minimiserCovers
	iv.Basis = fmt.Sprintf("the law of the noise and λ = %.4g alone, for every dataset (docs/theory/intervals.md, "+
		"section 2)", lambda)
	iv.Proved = true
	return iv
}

const populationCovers = "the population's coefficients, over the draw of the records and of the noise"

const minimiserCovers = "what the same fit would have been on these records without noise, over the draw of the noise"

// ballHalfWidth returns a half-width that fails with probability alpha at most.
func ballHalfWidth(m objpert.Objective, d int, alpha float64) float64 {
	const share = 0.01 // of alpha for the output noise
	return m.Sigma/m.Lambda*ballQuantile(d, (1-share)*alpha) + m.Tolerance/m.Lambda + m.OutputSigma*twoSided(
		share*alpha)
}

// ballHalfWidths returns the half-widths of all d coefficients. Where the ridges differ, λ + ω = Λ and λ for the last,
// the lemma bounds the deviation by
//
//	½(|bⱼ|/Λ + ‖b₋‖/Λ + |b_d|/√(λΛ))  and, of the last,  |b_d|/λ + ½‖b₋‖/√(λΛ),
//
// b₋ being b without its last entry; the least ridge in place of all is a bound too.
func ballHalfWidths(m objpert.Objective, d int, alpha float64) []float64 {
	half := slices.Repeat([]float64{ballHalfWidth(m, d, alpha)}, d)
	if m.Shrinkage == 0 || d < 2 {
		return half
	}
	const share, last = 0.01, 0.1 // of alpha for the output noise and for b_d or ‖b₋‖
	out := m.Tolerance/m.Lambda + m.OutputSigma*twoSided(share*alpha)
	large, mixed := m.Lambda+m.Shrinkage, math.Sqrt(m.Lambda*(m.Lambda+m.Shrinkage))
	main := (1 - share - last) * alpha
	feature := out + m.Sigma*(ballQuantile(d-1, main)/large+0.5*twoSided(last*alpha)/mixed)
	for j := range d - 1 {
		half[j] = math.Min(half[j], feature)
	}
	half[d-1] = math.Min(half[d-1], out+m.Sigma*(twoSided(main)/m.Lambda+0.5*chiQuantile(d-1, last*alpha)/mixed))
	return half
}
