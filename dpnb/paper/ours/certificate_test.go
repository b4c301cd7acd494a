package ours

import (
	"context"
	"testing"

	"github.com/dpnb/notebooks/dpnb/claim"
)

// The certificate holds, and one without the part for margins does not.
func TestCertificate(t *testing.T) {
	for _, c := range certificates() {
		o, err := c.Run(context.Background(), claim.Quick)
		if err != nil || o.Verdict != claim.Holds {
			t.Errorf("%s: %q, %v; measured %s", c.ID, o.Verdict, err, o.Measured)
		}
		t.Logf("%s: %s", c.ID, o.Measured)
	}
	wrong := certificateHolds(func(bound, margins float64) float64 { return bound - margins })
	if o, err := wrong(context.Background(), claim.Quick); err != nil || o.Verdict != claim.Fails {
		t.Errorf("without the part for margins: %q, %v; measured %s", o.Verdict, err, o.Measured)
	}
}
