package ours

import (
	"context"
	"testing"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// The checks of this file's claims hold, and fail on wrong versions of them.
func TestSeveralClasses(t *testing.T) {
	for _, c := range severalClasses() {
		o, err := c.Run(context.Background(), claim.Quick)
		if err != nil || o.Verdict != claim.Holds {
			t.Errorf("%s: %q, %v; measured %s", c.ID, o.Verdict, err, o.Measured)
		}
		t.Logf("%s: %s", c.ID, o.Measured)
	}
	for name, run := range map[string]func(context.Context, claim.Size) (claim.Outcome, error){
		"a softmax as cheap as one logistic fit": vertexHolds(func(_, sigma float64) (privacy.Profile, error) {
			return privacy.GaussianProfile(1/sigma, privacy.AddRemove), nil
		}),
		"no price for the curvature": vertexHolds(func(lambda, sigma float64) (privacy.Profile, error) {
			return multiclass.Softmax{Classes: 3, RowNorm: 1, Lambda: 1e6, Sigma: sigma, Tolerance: 1e-12, OutputSigma: 1}.Profile()
		}),
		"a bound that says nothing": vertexHolds(func(_, _ float64) (privacy.Profile, error) {
			return privacy.NonPrivate{}.Profile(privacy.AddRemove)
		}),
		"twice the noise": softmaxNoise(func(c multiclass.Config, b multiclass.Bound) (multiclass.Softmax, error) {
			m, err := multiclass.CalibrateSoftmax(c, b)
			m.Sigma *= 2
			return m, err
		}),
		"the same noise off the diagonal as on it": momentNoise(1, 51),
		"too little noise off the diagonal":        momentNoise(0.6, 51),
	} {
		if o, err := run(context.Background(), claim.Quick); err != nil || o.Verdict != claim.Fails {
			t.Errorf("%s: %q, %v; measured %s", name, o.Verdict, err, o.Measured)
		}
	}
}
