package ours

import (
	"context"
	"testing"

	"github.com/dpnb/notebooks/dpnb/claim"
)

// TestSumsAndSamples: the claims hold, and versions that are deliberately wrong fail.
func TestSumsAndSamples(t *testing.T) {
	for _, c := range sumsAndSamples() {
		if o, err := c.Run(context.Background(), claim.Quick); err != nil || o.Verdict != claim.Holds {
			t.Errorf("%s: %+v, %v", c.ID, o, err)
		} else {
			t.Logf("%s: %s", c.ID, o.Measured)
		}
	}
	for name, run := range map[string]func(context.Context, claim.Size) (claim.Outcome, error){
		"sums in float64":            exactSums(true, 94),
		"rates wrong by a fiftieth":  exactSample(1.02, 95),
		"rates too small by as much": exactSample(0.98, 95),
	} {
		o, err := run(context.Background(), claim.Quick)
		if err != nil || o.Verdict != claim.Fails {
			t.Errorf("%s: %+v, %v", name, o, err)
		} else {
			t.Logf("%s: %s", name, o.Measured)
		}
	}
}
