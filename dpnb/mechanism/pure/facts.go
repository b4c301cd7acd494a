package pure

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
)

// The rule by which Λ follows from facts, beside mechanism.Facts.Ridge: docs/theory/geometry.md, section 4.
const (
	// leastRidge is the least Λ, in units of C²/(L·μ).
	leastRidge = 0.45
	// bends is the curvature that a record of a loss with a kink is taken to have, in the mean over residuals.
	bends = 0.4
)

// For implements mechanism.Informed. What Λ, τ and the margin of a smoothed hinge are has no part in ε, but for Λ with
// ln cosh, where it is no less than that of m, and the output noise is as much larger as τ/Λ is: the cost is no more
// than that of m. Stretch of m is not heeded.
func (m Objective) For(f mechanism.Facts) (mechanism.Mechanism, float64) {
	classes, more := m.Loss.ValidLabel(-1) && !m.Loss.ValidLabel(0.5), 0.0
	if hinge, ok := m.Loss.(loss.Softplus); ok && hinge == (loss.Softplus{Width: 1}) {
		more = f.Margin()
		hinge.Margin = 1 + more
		m.Loss = hinge
	}
	longest := m.Clip / m.Loss.Lipschitz()
	s := bends * longest * longest
	if l, ok := m.Loss.(loss.Loss); ok && !math.IsInf(l.Smoothness(), 1) {
		s = l.Smoothness() * longest * longest
	}
	spent := 2 * m.reach() / m.OutputScale
	ridge := math.Max(leastRidge*longest*m.Clip/f.Mu, f.Ridge(s, classes, more))
	if m.Cosh > 0 { // of which the curvature is paid for by Λ
		ridge = math.Max(ridge, m.Lambda)
	}
	m.Lambda = ridge
	m.Records, m.Tolerance, m.Stretch = 0, 0, 0
	m.settle(m.least(f.Features))
	m.OutputScale = 2 * m.reach() / spent * (1 + 0x1p-45)
	return m, f.Stretch(m.Lambda, classes)
}
