package qop

import (
	"context"
	"testing"

	"github.com/dpnb/notebooks/dpnb/claim"
)

func TestCompositeClaims(t *testing.T) {
	for _, c := range composites() {
		o, err := c.Run(context.Background(), claim.Quick)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]claim.Verdict{"qop/eq7": claim.Holds, "qop/algG.2": claim.HoldsWithCorrection}[c.ID]
		if o.Verdict != want {
			t.Errorf("%s: %s, measured %s", c.ID, o.Verdict, o.Measured)
		}
	}
}

// Twice the modulus breaks equation (7); without the joint map nothing is mended.
func TestCompositeClaimsCanFail(t *testing.T) {
	for name, run := range map[string]func(context.Context, claim.Size) (claim.Outcome, error){
		"twice the modulus":      eq7(2, 71),
		"half the modulus":       eq7(0.5, 71),
		"the algorithm unmended": algorithmG2(false, 72),
	} {
		if o, err := run(context.Background(), claim.Quick); err != nil || o.Verdict != claim.Fails {
			t.Errorf("%s: %s (%s), %v", name, o.Verdict, o.Measured, err)
		}
	}
}
