package ours

import (
	"context"
	"testing"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// The coverage of the intervals of quantile regression, and of some that are wrong.
func TestQuantileCoverage(t *testing.T) {
	if !testscale.Full() {
		t.Skip("a minute")
	}
	for _, c := range []struct {
		around
		want claim.Verdict
	}{{around{1, 1}, claim.Holds}, {around{0.9, 1}, claim.Fails}, {around{1, 1.1}, claim.Fails}} {
		o, err := quantileCoverage(c.around, 133)(context.Background(), claim.Quick)
		if err != nil || o.Verdict != c.want {
			t.Errorf("%+v: %s (%v)", c.around, o.Measured, err)
		}
		t.Log(o.Measured)
	}
}
