package objective

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
)

// ClippedProbit returns the curve of f(t; y) = −ln Φ(yt) with each record's
// gradient clipped at norm C; without clipping its slope is unbounded. With
// p = |f′| = φ(t)/Φ(t) = 1/Mills(−t), f″ = p(p + t):
//
//	γ ∈ [0, C],  S̄(γ) = R²·p(p + t),  p = γ/R.
//
// f″ rises with p from 0 to 1, and f″/p² = 1 + t/p falls with p, so the
// supremum is at ‖x‖ = R. The clock is −t/R, t falling in p.
//
// Errors: *ParamError unless both are positive and finite.
func ClippedProbit(clip, radius float64) (Curve, error) {
	if err := positive("Clip", clip); err != nil {
		return nil, err
	}
	if err := positive("Radius", radius); err != nil {
		return nil, err
	}
	return &arch{
		name: fmt.Sprintf("probit, C=%g, R=%g", clip, radius),
		hi:   clip,
		peak: clip,
		sbar: func(g float64) float64 { return radius * radius * probitCurvature(g/radius) },
		clock: func(g float64) float64 {
			if g <= 0 {
				return math.Inf(-1)
			}
			return probitArgument(g/radius) / radius
		},
	}, nil
}

// probitArgument returns v = −t with 1/Mills(v) = p, increasing in p > 0.
func probitArgument(p float64) float64 {
	// 1/Mills(v) lies between max(v, 0) and v + √(2/π) for v ≥ 0, and is
	// φ(v)/(1−tiny) for v far below 0. Newton on ln(1/Mills), which is
	// increasing and concave, converges from the left at once.
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
