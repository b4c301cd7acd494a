package loss

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/bigref"
)

// exactHazard computes φ(v)/(1 − Φ(v)) and −log(1 − Φ(v)) to hundreds of digits.
func exactHazard(v float64) (h, value float64) {
	x := bigref.New(v)
	return bigref.Float(bigHazard(x)), -bigref.Float(bigref.Log(bigref.Survival(x)))
}

func bigHazard(x bigref.F) bigref.F { return bigref.Quo(bigref.Int(1), bigref.Mills(x)) }

// The hazard to within what SlopeError grants, across the switch to the continued fraction, whose depth this checks
// too.
func TestProbitAgainstExactSeries(t *testing.T) {
	for v := -12.0; v <= 15; v += 0.13 {
		h, excess, val := hazard(v)
		exact, exactVal := exactHazard(v)
		if d := math.Abs(h - exact); d > 8*0x1p-53*exact+SlopeError(Probit{}) {
			t.Errorf("h(%v) = %v, exactly %v", v, h, exact)
		}
		if v >= hazardSwitch && !(math.Abs(h/exact-1) <= 1e-15) {
			t.Errorf("the continued fraction is off by %v at %v", h/exact-1, v)
		}
		if !(math.Abs(excess-(exact-v)) <= 1e-13*(1+math.Abs(v))) {
			t.Errorf("h − v = %v at %v, exactly %v", excess, v, exact-v)
		}
		if v > -5 && !(math.Abs(val/exactVal-1) <= 1e-12) {
			t.Errorf("value %v at %v, exactly %v", val, v, exactVal)
		}
	}
}

func TestProbitTails(t *testing.T) {
	p := Probit{}
	// Right label, far out: Φ̄(40)'s tail, where 1 − Φ would be 0.
	if s := slope(p, 30, 1); !(math.Abs(s/(-math.Exp(-450)/math.Sqrt(2*math.Pi))-1) <= 1e-12) {
		t.Errorf("slope %v at margin 30", s)
	}
	// Wrong label, far out: −log Φ(−1e4) = 5e7 + log(1e4·√(2π)) + …
	if v, want := value(p, 1e4, -1), 5e7+math.Log(1e4*math.Sqrt(2*math.Pi)); !(math.Abs(v/want-1) <= 1e-15) {
		t.Errorf("value %v, want %v", v, want)
	}
	if c := curvature(p, 1e6, -1); !(c <= 1 && c > 1-1e-11) {
		t.Errorf("curvature %v at margin −1e6", c)
	}
}

// Where p(p − v), p = v + 1/v − 2/v³ + 10/v⁵ − 74/v⁷ …, is a series, it goes on as it was but for 518/v⁸.
func TestProbitCurvatureGoesOn(t *testing.T) {
	const v = 50
	p := v + (1-(2-(10-74.0/(v*v))/(v*v))/(v*v))/v
	below, above := probitCurvature(p*(1-1e-10)), probitCurvature(p*(1+1e-10))
	if probitArgument(p*(1-1e-10)) > v || probitArgument(p*(1+1e-10)) <= v || !(math.Abs(above-below) <= 3e-11) {
		t.Errorf("%.15g below, %.15g above", below, above)
	}
}
