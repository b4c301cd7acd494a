package loss

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
)

// Linear is f = c·t for any finite label, which it does not look at: what is left of a function with one kink when half
// its absolute value is taken away, as x/2 of max(0, x).
type Linear struct {
	// Slope is c, not 0.
	Slope float64
}

// The methods of Loss.

func (l Linear) Name() string              { return fmt.Sprintf("linear(c=%g)", l.Slope) }
func (l Linear) Lipschitz() float64        { return l.scale() }
func (l Linear) Smoothness() float64       { return 0 * l.scale() }
func (l Linear) ValidLabel(y float64) bool { return positive(l.scale()) && finite(y) }
func (l Linear) Labels() string            { return labelsOr(finiteLabels, "Slope", l.scale()) }

func (l Linear) ValueSlope(slope, t, _ []float64) float64 {
	sum := 0.0
	for i, ti := range t {
		sum += l.Slope * ti
		slope[i] = l.Slope
	}
	return sum
}

func (l Linear) Curvature(curv, t, _ []float64) { clear(curv[:len(t)]) }

// scale is |c| where it is in range, else NaN.
func (l Linear) scale() float64 { return inRange(math.Abs(l.Slope), math.Abs(l.Slope)) }

func (l Linear) unattained() {}

// precise: exact.
func (l Linear) precise() Precise {
	return Precise{Slope: func(t dd.Number, _ float64) dd.Number { return t.MulFloat(0).AddFloat(l.Slope) }}
}
