package loss

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
)

// Probit is the negative log-likelihood of probit regression for labels y ∈ {−1, +1}. With v = −yt and the hazard h(v)
// = φ(v)/(1 − Φ(v)):
//
//	f(t; y) = −log Φ(yt),  f′ = −y·h(v),  f″ = h(v)(h(v) − v).
//
// The slope grows like |t| where the label is wrong: a private fit needs it Clipped. sup f″ = 1, approached as v → ∞.
type Probit struct{}

// The methods of Loss.

func (Probit) Name() string              { return "probit" }
func (Probit) Lipschitz() float64        { return math.Inf(1) }
func (Probit) Smoothness() float64       { return 1 }
func (Probit) ValidLabel(y float64) bool { return sign(y) }
func (Probit) Labels() string            { return signLabels }

// hazardSwitch is where the continued fraction takes over from erfc.
const hazardSwitch = 4

// hazard returns h(v) and h(v) − v, both with their digits, and −log(1 − Φ(v)).
//
// Above 4 it is Laplace's continued fraction h − v = 1/(v + 2/(v + 3/(v + …))): h and φ underflow nowhere and nothing
// cancels.
func hazard(v float64) (h, excess, value float64) {
	if v < hazardSwitch {
		q := 0.5 * math.Erfc(v/math.Sqrt2)
		h = math.Exp(-0.5*v*v) / (math.Sqrt2 * math.SqrtPi) / q
		if v < 0 {
			return h, h - v, -math.Log1p(-0.5 * math.Erfc(-v/math.Sqrt2))
		}
		return h, h - v, -math.Log(q)
	}
	tail := 0.0
	for k := fractionDepth; k >= 1; k-- {
		tail = float64(k) / (v + tail)
	}
	h = v + tail
	const logSqrt2Pi = 0.918938533204672741780329736405617639861
	return h, tail, 0.5*v*v + logSqrt2Pi + math.Log(h)
}

// fractionDepth is enough for 1e-16 at hazardSwitch; the test compares with the series at 200 bits.
const fractionDepth = 40

// ValueSlope implements Loss. The value overflows to +Inf for |t| > 1.8e154.
func (Probit) ValueSlope(slope, t, y []float64) float64 {
	var sum float64
	slope, y = slope[:len(t)], y[:len(t)]
	for i, ti := range t {
		h, _, value := hazard(-y[i] * ti)
		sum += value
		slope[i] = -y[i] * h
	}
	return sum
}

func (Probit) Curvature(curv, t, y []float64) {
	curv, y = curv[:len(t)], y[:len(t)]
	for i, ti := range t {
		h, excess, _ := hazard(-y[i] * ti)
		curv[i] = h * excess
	}
}

// slopeError: below the switch the exponential and erfc have the arguments v²/2 and v/√2 rounded, which costs at most
// 2v²+8 units of h, h ≤ 4.3.
func (Probit) slopeError() float64 { return 200 * 0x1p-53 }

// clip: h is increasing and f″ rises with it, so the largest curvature is at the clip point.
func (p Probit) clip(c float64) clipping {
	_, v := univariate.Bisect(func(v float64) bool { h, _, _ := hazard(v); return h >= c }, -40, c+1,
		univariate.Arithmetic, 0)
	h, excess, _ := hazard(v)
	k := marginClip(-v, math.Min(1, h*excess*(1+1e-12)))
	k.slopeError = p.slopeError() + 8*0x1p-53*math.Abs(v)
	return k
}

// Curve implements Curved: γ ∈ [0, C], S̄(γ) = R²·p(p + t), p = γ/R, C = R·level. With p = |f′| = φ(t)/Φ(t), f″ = p(p +
// t) rises with p from 0 to 1, and f″/p² = 1 + t/p falls with p, so that the supremum is at ‖x‖ = R; t falls in p.
func (Probit) Curve(radius, level float64) *Curve {
	if math.IsInf(level, 1) {
		return nil
	}
	clip := level * radius
	return &Curve{
		Name: fmt.Sprintf("probit, C=%g, R=%g", clip, radius),
		Hi:   clip,
		Peak: clip,
		Sup:  func(gamma float64) float64 { return radius * radius * probitCurvature(gamma/radius) },
		Antiderivative: func(gamma float64) float64 {
			if gamma <= 0 {
				return math.Inf(-1)
			}
			return probitArgument(gamma/radius) / radius
		},
	}
}

// probitArgument returns v = −t with 1/Mills(v) = p, increasing in p > 0.
func probitArgument(p float64) float64 {
	// 1/Mills(v) lies between max(v, 0) and v + √(2/π) for v ≥ 0, and is φ(v)/(1−tiny) for v far below 0. Newton on
	// ln(1/Mills), which is increasing and concave, converges from the left at once.
	lo, hi := -40.0, p+1
	if p >= math.Sqrt(2/math.Pi) {
		lo = 0
	} else {
		hi = 0
	}
	v := 0.5 * (lo + hi)
	if p < 0.1 {
		// p ≈ φ(v), v < 0
		v = -math.Sqrt(math.Max(0, -2*(math.Log(p)+normal.LogSqrt2Pi)))
	}
	for i := 0; i < 100; i++ {
		logHazard := normal.LogPDF(v) - normal.LogSurvival(v)
		res := logHazard - math.Log(p)
		if res > 0 {
			hi = math.Min(hi, v)
		} else {
			lo = math.Max(lo, v)
		}
		// d ln(hazard)/dv = hazard − v.
		next := v - res/(math.Exp(logHazard)-v)
		if !(next >= lo && next <= hi) {
			next = 0.5 * (lo + hi)
		}
		if math.Abs(next-v) <= 4e-16*math.Abs(v) {
			return next
		}
		v = next
	}
	return v
}

// probitCurvature returns f″ at |f′| = p.
func probitCurvature(p float64) float64 {
	if p <= 0 {
		return 0
	}
	v := probitArgument(p)
	if v > 50 {
		// p(p − v) with p = v + 1/v − 2/v³ + 10/v⁵ − …
		w := 1 / (v * v)
		return 1 - w*(1-w*(6-w*50))
	}
	return p * (p - v)
}

func (Probit) unattained() {}
