package cop

import (
	"context"
	"testing"

	"github.com/dpnb/notebooks/dpnb/claim"
)

// The checks hold, and see a constant that is wrong by a tenth.
func TestConvolutionsClaims(t *testing.T) {
	for _, c := range convolutions() {
		want := claim.Holds
		if c.ID == "cop/lem4.1" {
			want = claim.HoldsWithCorrection
		}
		if o, err := c.Run(context.Background(), claim.Quick); err != nil || o.Verdict != want {
			t.Errorf("%s: %+v, %v", c.ID, o, err)
		}
	}
	for name, run := range map[string]func(context.Context, claim.Size) (claim.Outcome, error){
		"κ of Table 1 × 0.9":           convolutionBounds(0.9),
		"Lemma 4.3 × 0.9":              gaussianGap(0.9),
		"Lemma 4.3 × 1.1":              gaussianGap(1.1),
		"a range of 0.55 is the least": closestSmoothing(0.55, 74),
	} {
		if o, err := run(context.Background(), claim.Quick); err != nil || o.Verdict != claim.Fails {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
	}
}
