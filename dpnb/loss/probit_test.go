package loss

import (
	"math"
	"math/big"
	"testing"
)

const prec = 600

func num(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }

// bigExp returns e^x by squaring e^{x/2^40} forty times.
func bigExp(x *big.Float) *big.Float {
	arg := new(big.Float).SetPrec(prec).Quo(x, num(math.Ldexp(1, 40)))
	e, p := num(1), num(1)
	for k := 1; k < 40; k++ {
		p.Mul(p, arg)
		p.Quo(p, num(float64(k)))
		e.Add(e, p)
	}
	for range 40 {
		e.Mul(e, e)
	}
	return e
}

// exactHazard computes φ(v)/(1 − Φ(v)) and −log(1 − Φ(v)) from Φ(v) − ½ = φ(v)·Σ v^{2k+1}/(2k+1)!!, in 600 bits.
func exactHazard(v float64) (h, value float64) {
	hazard, tail := hazardAndTail(num(v))
	h, _ = hazard.Float64()
	if v < 0 {
		below, _ := new(big.Float).Sub(num(1), tail).Float64()
		return h, -math.Log1p(-below)
	}
	q, _ := tail.Float64()
	return h, -math.Log(q)
}

func bigHazard(x *big.Float) *big.Float {
	h, _ := hazardAndTail(x)
	return h
}

// hazardAndTail returns φ(x)/(1 − Φ(x)) and 1 − Φ(x).
func hazardAndTail(x *big.Float) (hazard, tail *big.Float) {
	x2 := new(big.Float).Mul(x, x)
	term, sum := new(big.Float).Set(x), new(big.Float).Set(x)
	for k := 1; k < 2000; k++ {
		term.Mul(term, x2)
		term.Quo(term, num(float64(2*k+1)))
		sum.Add(sum, term)
	}
	e := bigExp(new(big.Float).Quo(x2, num(2)))
	// √(2π) from π to 60 digits.
	pi, _, err := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620"+
		"899862803482534211706798214808651328230664709384460955058223"+
		"172535940812848111745", 10, prec, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	root := new(big.Float).SetPrec(prec).Sqrt(pi.Mul(pi, num(2)))
	e.Mul(e, root) // 1/φ
	tail = new(big.Float).Quo(sum, e)
	tail.Sub(num(0.5), tail)
	return new(big.Float).Quo(num(1), new(big.Float).Mul(e, tail)), tail
}

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
