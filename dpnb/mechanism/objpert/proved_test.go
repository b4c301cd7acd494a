package objpert

import (
	"math"
	"testing"
)

// A calibration takes no bound for proved that is no number.
func TestNoNumberProvesNothing(t *testing.T) {
	if over := proved(math.NaN()); !(over > 0) {
		t.Errorf("NaN exceeds what is wanted by %g", over)
	}
	if over := proved(-1); over != -1 {
		t.Errorf("-1 became %g", over)
	}
}
