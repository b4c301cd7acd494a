package ours

import (
	"context"
	"testing"

	"github.com/dpnb/notebooks/dpnb/claim"
)

// The checks of what the machine returns hold, and see what is wrong by a tenth or
// as releases once were.
func TestFloatingPoint(t *testing.T) {
	for _, c := range floatingPoint() {
		got, err := c.Run(context.Background(), claim.Quick)
		if err != nil {
			t.Fatal(c.ID, err)
		}
		t.Logf("%s: %s", c.ID, got.Measured)
		if got.Verdict != claim.Holds {
			t.Errorf("%s: %+v", c.ID, got)
		}
	}
	for name, run := range map[string]func(context.Context, claim.Size) (claim.Outcome, error){
		"a scale wrong by 3 %": exactNormal(1.03, 91),
		"σ wrong by a tenth":   exactRelease(1.1, 92),
		"float64 sums":         lowBits(true, 93),
	} {
		if got, err := run(context.Background(), claim.Quick); err != nil || got.Verdict == claim.Holds {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
