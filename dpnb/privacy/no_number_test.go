package privacy_test

import (
	"errors"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// What is no number bounds no probability.
func TestNoNumberIsNoBound(t *testing.T) {
	if got := privacy.ExpUp(math.NaN()); got != 1 {
		t.Errorf("e^NaN is bounded by %g, want 1", got)
	}
	for _, d := range privacy.Directions {
		if l := privacy.Interpolated(constant(math.NaN()), 8).LogDeltaUpper(d, 1.3); l != 0 {
			t.Errorf("between NaN and NaN ln δ is %g, want 0", l)
		}
	}
	// Nor has a δ that does not fall a Gaussian above it, of one record or of several.
	several, err := privacy.GroupProfile(constant(math.Log(0.1)), 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []privacy.Profile{constant(math.NaN()), constant(math.Log(0.1)), several} {
		if mu, delta, err := privacy.AsGaussian(p, 1e-6); !errors.Is(err, privacy.ErrUnsupported) || mu != 0 ||
			delta != 0 {
			t.Errorf("%T is that of μ = %g but for %g (%v)", p, mu, delta, err)
		}
	}
}

// constant is a profile whose ln δ is the same at every ε.
type constant float64

func (constant) Adjacency() privacy.Adjacency { return privacy.AddRemove }

func (c constant) LogDeltaUpper(privacy.Direction, float64) float64 { return float64(c) }
