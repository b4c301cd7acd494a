package objpert

import (
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
)

// RoughClasses is the weight of second differences of classes, in ridges, and roughNumbers that of numbers:
// docs/theory/geometry.md, section 4.
const RoughClasses, roughNumbers = 0.5, 2.0

// mostOfCentre is the most of λ·Centre, in τ: its roundings take a quarter of τ then (minimise).
const mostOfCentre = 0x1p48

// about returns m with its Centre at c, or as near as λ admits: beyond that float64 has too few digits of λ·Centre for
// the solver to certify τ, and nothing would be released.
func (m Objective) about(c float64) Objective {
	most := mostOfCentre * m.Tolerance / m.Lambda
	m.Centre = math.Max(-most, math.Min(most, c))
	return m
}

// For implements mechanism.Informed, by the rule of Facts; the margin of a smoothed hinge of width 1 grows with it, and
// the ridge of counts is (RC)²a/ȳ, C where slopes are clipped. None is less than Lambda; that of the intercept is the
// geometric mean (Shrunk), or theirs about what fits the base rate where that is known. Larger ridges, penalties on
// second differences and another margin change no profile: docs/theory/geometry.md, section 3.
func (m Objective) For(f mechanism.Facts) (mechanism.Mechanism, float64) {
	classes, more, rough, s := isMargin(m.Loss), 0.0, float64(roughNumbers), m.Smoothness()
	centre := m.Centre
	if classes {
		rough = RoughClasses
		of, weighted := loss.Weightless(m.Loss)
		if hinge, ok := of.(loss.Softplus); ok && hinge == (loss.Softplus{Width: 1}) {
			more = f.Margin()
			hinge.Margin = 1 + more
			if m.Loss = hinge; weighted {
				m.Loss = loss.Weighted{Of: hinge}
			}
		}
	}
	if clip, ok := clipOfCounts(m.Loss); ok && f.Typical > 0 {
		s = m.radius() * m.radius() * clip * clip / f.Typical
		if f.Bias > 0 {
			centre = math.Log(f.Typical) / f.Bias
		}
	}
	known := classes && f.BaseRate > 0 && f.Bias > 0
	if m = m.Shrunk(f.Ridge(s, classes, more), !known); known {
		centre = CentreOf(m.Loss, f.BaseRate) / f.Bias
	}
	m = m.about(centre)
	ridge := m.Lambda + m.Shrinkage
	m.Penalty, m.Held = m.Penalty.Smoothing(f.Curves, rough*ridge), f.Held
	return m, f.Stretch(ridge, classes)
}

// Holds implements mechanism.Holding.
func (Objective) Holds() {}

// Smoothing returns p with a penalty on the second differences of each of the runs.
func (p Penalty) Smoothing(runs []matrix.Span, weight float64) Penalty {
	for _, span := range runs {
		p.Rough = append(slices.Clip(p.Rough), Roughness{span, weight})
	}
	return p
}

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
