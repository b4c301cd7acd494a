package objpert

import (
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
)

// The rule by which ridges and margins follow from facts: docs/theory/geometry.md, section 4.
const (
	// ridgeOfNoise is by how much of the noise the ridge of classes exceeds the curvature of one record.
	ridgeOfNoise = 17
	// roughClasses and roughNumbers are the weights of second differences, in ridges.
	roughClasses, roughNumbers = 0.5, 2
	// fewRecords is the n̂μ up to which coefficients of numbers are not stretched.
	fewRecords = 50
)

// For implements mechanism.Informed. With a = D/(nμ²), D the directions, the ridge of two classes is
// s·(1 + 17a(1 + τ/2)), τ = min(1, a) being added to the margin of a smoothed hinge of width 1 and 0 else; that of
// numbers is s·a, and that of counts (RC)²a/ȳ, C where slopes are clipped. None is less than Lambda; that of the
// intercept is the geometric mean (Shrunk), or theirs about what fits the base rate where that is known. Larger ridges,
// penalties on second differences and another margin change no profile: docs/theory/geometry.md, section 3.
func (m Objective) For(f mechanism.Facts) (mechanism.Mechanism, float64) {
	a, s := f.Directions/(f.Records*f.Mu*f.Mu), m.Smoothness()
	lambda, rough := s*a, float64(roughNumbers)
	if clip, ok := clipOfCounts(m.Loss); ok && f.Typical > 0 {
		lambda = m.radius() * m.radius() * clip * clip / f.Typical * a
		if f.Bias > 0 {
			m.Centre = math.Log(f.Typical) / f.Bias
		}
	}
	if isMargin(m.Loss) {
		tau := 0.0
		if hinge, ok := m.Loss.(loss.Softplus); ok && hinge == (loss.Softplus{Width: 1}) {
			tau = math.Min(1, a)
			hinge.Margin = 1 + tau
			m.Loss = hinge
		}
		lambda, rough = RidgeOfClasses(s, a*(1+tau/2))
	}
	known := isMargin(m.Loss) && f.BaseRate > 0 && f.Bias > 0
	if m = m.Shrunk(lambda, !known); known {
		m.Centre = CentreOf(m.Loss, f.BaseRate) / f.Bias
	}
	m.Penalty = m.Penalty.Smoothing(f.Curves, rough*(m.Lambda+m.Shrinkage))
	return m, m.stretch(f)
}

// RidgeOfClasses returns what For does of a loss of classes whose curvature is at most s: the ridge, and the weight of
// second differences in it.
func RidgeOfClasses(s, a float64) (lambda, rough float64) {
	return s * (1 + ridgeOfNoise*a), roughClasses
}

// Smoothing returns p with a penalty on the second differences of each of the runs.
func (p Penalty) Smoothing(runs []matrix.Span, weight float64) Penalty {
	for _, span := range runs {
		p.Rough = append(slices.Clip(p.Rough), Roughness{span, weight})
	}
	return p
}

// stretch returns by how much coefficients are multiplied after the fit, against what the ridge takes of them: with
// u = λD/n, 1 + min(2, u) of classes, whose scale matters less than their order; 1 + u/(1 + u)³ of numbers, unless
// there are few records.
func (m Objective) stretch(f mechanism.Facts) float64 {
	u := (m.Lambda + m.Shrinkage) * f.Directions / f.Records
	if f.Typical > 0 {
		u /= f.Typical
	}
	switch {
	case isMargin(m.Loss):
		return StretchOfClasses(u)
	case f.Records*f.Mu <= fewRecords:
		return 1
	}
	return 1 + u/((1+u)*(1+u)*(1+u))
}

// StretchOfClasses is the stretch of classes: see For.
func StretchOfClasses(u float64) float64 { return 1 + math.Min(2, u) }

// clipOfCounts returns the slope at which the loss of counts is clipped; ok is false of other losses.
func clipOfCounts(l loss.Loss) (clip float64, ok bool) {
	of, _, _ := loss.Unclip(l)
	_, ok = of.(loss.Poisson)
	return l.Lipschitz(), ok
}

// isMargin reports whether a loss is of two classes.
func isMargin(l loss.Loss) bool {
	of, _, _ := loss.Unclip(l)
	return of.ValidLabel(1) && of.ValidLabel(-1) && !of.ValidLabel(0.5)
}
