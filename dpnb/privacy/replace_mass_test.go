package privacy

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// A triple with mass at infinity that attains more than the sum of the two deltas: A has probability 0 under R, 0.1
// under Q and 0.1e + 0.1 under P.
func TestReplaceOfMassAtInfinity(t *testing.T) {
	p := must.Get(Approx{Epsilon: 1, Delta: 0.1, Adj: AddRemove}.Profile(AddRemove))
	r := must.Get(ReplaceProfile(p))
	attained := 0.1*math.E + 0.1
	for _, eps := range []float64{3, 10, 31, 100, 1e3, 1e6, math.Inf(1)} {
		d := DeltaUpper(r, eps)
		if d < attained {
			t.Errorf("ε = %v: δ ≤ %v, but %v is attained", eps, d, attained)
		}
		if d > 1.01*attained && eps >= 10 {
			t.Errorf("ε = %v: δ ≤ %v, far above %v", eps, d, attained)
		}
	}
	if f, err := TradeOff(r, Remove, 0); err != nil || f > 1-attained+1e-9 {
		t.Errorf("trade-off at 0 is %v, %v; at most %v is true", f, err, 1-attained)
	}
}

// marked is the exact profile of a mechanism that says nothing, but with probability m that the record is there: its
// mass at infinity is in one direction alone.
type marked struct{ m float64 }

func (marked) Adjacency() Adjacency { return AddRemove }

func (p marked) LogDeltaUpper(d Direction, eps float64) float64 {
	if d == Remove {
		return math.Log(math.Max(p.m, -math.Expm1(eps)))
	}
	return math.Log(math.Max(0, 1-(1-p.m)*math.Exp(eps)))
}

// Who replaces a record may show the mark of the one or of the other, whichever of the two steps comes first.
func TestReplaceOfMassInOneDirection(t *testing.T) {
	p := marked{0.01}
	r := must.Get(ReplaceProfile(p))
	for _, eps := range []float64{0, 0.5, 3, 31, 1e3, math.Inf(1)} {
		if got := DeltaUpper(r, eps); !(got >= p.m && got <= 1.001*p.m) {
			t.Errorf("ε = %v: δ ≤ %v, and the mark is there with probability %v", eps, got, p.m)
		}
	}
}

func TestRareSubsampleOfLittleNoise(t *testing.T) {
	p := must.Get(SubsampledGaussian{Sigma: 0.01, Sensitivity: 1, Rate: 1e-300}.Profile(AddRemove))
	for _, eps := range []float64{1, 20, 25, 29, 31} {
		if l := p.LogDeltaUpper(Remove, eps); !(math.Abs(l+690.8) <= 0.2) {
			t.Errorf("ε = %v: ln δ = %v, want about −690.8", eps, l)
		}
	}
}
