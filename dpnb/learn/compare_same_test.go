package learn

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// flat is a profile with the same ln δ at every ε.
type flat float64

func (flat) Adjacency() privacy.Adjacency                       { return privacy.AddRemove }
func (f flat) LogDeltaUpper(privacy.Direction, float64) float64 { return float64(f) }

// A guarantee with the δ of the others is the same, to the last bit, and one with more is not.
func TestTheSameDeltaIsTheSame(t *testing.T) {
	p := flat(-13)
	m := &Model{release: &mechanism.Release{Guarantee: mechanism.Guarantee{Profile: p, Adjacency: privacy.AddRemove}}}
	d := privacy.DeltaUpper(p, 1)
	if err := (&Comparison{Epsilon: 1, Delta: d}).same(m, true); err != nil {
		t.Error(err)
	}
	if err := (&Comparison{Epsilon: 1, Delta: math.Nextafter(d, 0)}).same(m, true); err == nil {
		t.Error("more than the δ of the others passes")
	}
}
