package ours

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// The default of median regression beside C-OP and the least excess that is known.
func TestMedianOfSkewedResiduals(t *testing.T) {
	testscale.Slow(t)
	size := claim.Quick
	if testscale.Full() {
		size = claim.Full
	}
	o, err := measure.Of(measure.With(medianDefault, 1), 1)(t.Context(), size)
	if err != nil || o.Verdict != claim.Holds {
		t.Errorf("%s (%v)", o.Measured, err)
	}
	t.Log(o.Measured)
}
