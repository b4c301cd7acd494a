package mechanism

import "math"

// The rule by which ridges and margins follow from facts: docs/theory/geometry.md, section 4.
const (
	// ridgeOfNoise is by how much of the noise the ridge of classes exceeds the curvature of one record.
	ridgeOfNoise = 17
	// fewRecords is the n̂μ up to which coefficients of numbers are not stretched.
	fewRecords = 50
)

// noise is a = D/(nμ²), D the directions.
func (f Facts) noise() float64 { return f.Directions / (f.Records * f.Mu * f.Mu) }

// Margin returns τ = min(1, a), by which the margin of a smoothed hinge of width 1 is larger.
func (f Facts) Margin() float64 { return math.Min(1, f.noise()) }

// Ridge returns that of two classes, s·(1 + 17a(1 + τ/2)), where more is the margin τ or 0, or of numbers, s·a; s
// bounds the curvature of one record.
func (f Facts) Ridge(s float64, classes bool, more float64) float64 {
	a := f.noise()
	if !classes {
		return s * a
	}
	return s * (1 + ridgeOfNoise*a*(1+more/2))
}

// Stretch returns by how much coefficients are multiplied after the fit, against what a ridge λ takes of them: with u =
// λD/n, 1 + min(2, u) of classes, whose scale matters less than their order; 1 + u/(1 + u)³ of numbers, unless there
// are few records.
func (f Facts) Stretch(lambda float64, classes bool) float64 {
	u := lambda * f.Directions / f.Records
	if f.Typical > 0 { // of counts the curvature is about their mean
		u /= f.Typical
	}
	switch {
	case classes:
		return 1 + math.Min(2, u)
	case f.Records*f.Mu <= fewRecords:
		return 1
	}
	return 1 + u/((1+u)*(1+u)*(1+u))
}
