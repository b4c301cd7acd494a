package claim

import (
	"context"
	"testing"
)

// The checks of what the machine returns hold, and see what is wrong by a tenth or
// as releases once were.
func TestFloatingPoint(t *testing.T) {
	for _, c := range floatingPoint() {
		got, err := c.Run(context.Background(), Quick)
		if err != nil {
			t.Fatal(c.ID, err)
		}
		t.Logf("%s: %s", c.ID, got.Measured)
		if got.Verdict != Holds {
			t.Errorf("%s: %+v", c.ID, got)
		}
	}
	for name, run := range map[string]func(context.Context, Size) (Outcome, error){
		"a scale wrong by 3 %": exactNormal(1.03, 91),
		"σ wrong by a tenth":   exactRelease(1.1, 92),
		"float64 sums":         lowBits(true, 93),
	} {
		if got, err := run(context.Background(), Quick); err != nil || got.Verdict == Holds {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
