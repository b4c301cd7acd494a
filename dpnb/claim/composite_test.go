package claim

import (
	"context"
	"testing"
)

func TestCompositeClaims(t *testing.T) {
	for _, c := range composites() {
		o, err := c.Run(context.Background(), Quick)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]Verdict{"qop/eq7": Holds, "qop/algG.2": HoldsWithCorrection}[c.ID]
		if o.Verdict != want {
			t.Errorf("%s: %s, measured %s", c.ID, o.Verdict, o.Measured)
		}
	}
}

// Twice the modulus breaks equation (7); without the joint map nothing is mended.
func TestCompositeClaimsCanFail(t *testing.T) {
	for name, run := range map[string]func(context.Context, Size) (Outcome, error){
		"twice the modulus":      eq7(2, 71),
		"half the modulus":       eq7(0.5, 71),
		"the algorithm unmended": algorithmG2(false, 72),
	} {
		if o, err := run(context.Background(), Quick); err != nil || o.Verdict != Fails {
			t.Errorf("%s: %s (%s), %v", name, o.Verdict, o.Measured, err)
		}
	}
}
