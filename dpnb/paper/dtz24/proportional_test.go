package dtz24

import (
	"context"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

// The claims about the proportional regime, by themselves.
func TestProportionalVerdicts(t *testing.T) {
	want := map[string]claim.Verdict{"dtz24/thm4.2a": claim.HoldsWithCorrection, "dtz24/thm4.2b": claim.HoldsWithCorrection}
	results, err := claim.Run(context.Background(), proportionalClaims(), claim.Quick, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		w, ok := want[r.ID]
		if !ok {
			w = claim.Holds
		}
		if got := strings.Split(r.Verdict, ":")[0]; got != string(w) {
			t.Errorf("%s: verdict %q, want %q; measured %s", r.ID, r.Verdict, w, r.Measured)
		}
		t.Logf("%s %.2f s: %s", r.ID, r.Seconds, r.Measured)
	}
}

// Wrong versions must fail.
func TestProportionalChecksCanFail(t *testing.T) {
	ctx := context.Background()
	shifted := func(p proportional.FixedPoint) proportional.FixedPoint { p.OnXi = -p.OnXi; return p }
	for name, run := range map[string]func(context.Context, claim.Size) (claim.Outcome, error){
		"ν/λ one per mille too large":   reductionToNonPrivate(1.001),
		"half of δ":                     groupOfTwo(loss.Logistic{}, 1, 0.25, 0.5),
		"no curvature, half the slope":  groupOfTwo(loss.Huber{Threshold: 1}, 0.5, 0, 1),
		"ξ with the other sign":         huberSimulated(shifted),
		"ξ with the other sign, logit":  logisticSimulated(shifted),
		"half the sensitivity":          outputSimulated(loss.Logistic{}, 45, 1),
		"twice the sensitivity":         outputSimulated(loss.Huber{Threshold: 1}, 44, 4),
		"a step 20 % too long":          descentSimulated(46, 1.2, proportional.Descent{Loss: loss.Huber{Threshold: 0.5}, Noise: proportional.Normal(0, 0.4), AspectRatio: 0.5, Step: 0.4, Steps: 8, Nu: 0.2, Kappa: 1}),
		"a ridge ten times the optimum": optimalLambda(10),
	} {
		o, err := run(ctx, claim.Quick)
		if err != nil || o.Verdict != claim.Fails {
			t.Errorf("%s: %s (%s), %v", name, o.Verdict, o.Measured, err)
		}
	}
}
