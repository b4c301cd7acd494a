package learn

import (
	"errors"
	"math"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// AUC returns how well m, of two classes, orders the records: the probability that
// xᵀθ is larger for one of the positive class than for one of the other, ½ being
// chance. It looks at no threshold, so that it shows a fit that ranks well and
// predicts the rarer class too seldom, which Score cannot tell from a bad one. No
// guarantee covers it: score on records that may be known.
//
// Errors: as Score; a model of other than two classes; records of one class only.
func (m *Model) AUC(records Records) (float64, error) {
	if err := m.Err(); err != nil {
		return 0, err
	}
	if m.target.Task != frame.TwoClasses {
		return 0, errors.New("dpnb: AUC is for models of two classes; others have a Score")
	}
	d, t, err := m.scored(records)
	if err != nil {
		return 0, err
	}
	a := sim.AUC(t, d.Labels)
	if math.IsNaN(a) {
		return 0, errors.New("dpnb: AUC compares records of both classes: these have one only")
	}
	return a, nil
}
