package claim

import (
	"context"
	"testing"
)

// The certificate holds, and one without the part for margins does not.
func TestCertificate(t *testing.T) {
	for _, c := range certificates() {
		o, err := c.Run(context.Background(), Quick)
		if err != nil || o.Verdict != Holds {
			t.Errorf("%s: %q, %v; measured %s", c.ID, o.Verdict, err, o.Measured)
		}
		t.Logf("%s: %s", c.ID, o.Measured)
	}
	wrong := certificateHolds(func(bound, margins float64) float64 { return bound - margins })
	if o, err := wrong(context.Background(), Quick); err != nil || o.Verdict != Fails {
		t.Errorf("without the part for margins: %q, %v; measured %s", o.Verdict, err, o.Measured)
	}
}
