package privacy_test

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// What is no number bounds no probability.
func TestNoNumberIsNoBound(t *testing.T) {
	if got := privacy.ExpUp(math.NaN()); got != 1 {
		t.Errorf("e^NaN is bounded by %g, want 1", got)
	}
}
