package objective

import (
	"math"
	"math/rand/v2"
	"testing"
)

// How far the rate exceeds its chord is bounded by its second derivative at places all over tiles, by differences.
func TestBendBoundsTheDerivative(t *testing.T) {
	src := rand.New(rand.NewPCG(3, 2))
	near := 0
	for range 2000 {
		small := math.Exp(3*src.Float64() - 2)
		c := cell{small: small, big: small * (1 + 0.1*src.Float64()), kLow: math.Exp(4*src.Float64() - 3)}
		c.kHigh = c.kLow * (1 + 0.1*src.Float64())
		v := view{cell: &c, mHigh: c.big * c.kHigh, cSmall: math.Inf(1), cBig: math.Inf(1)}
		eps, h, most := 3*src.Float64(), 0.1, 0.0
		ua := 5*src.Float64() - 2.5
		ub := ua + 0.3*src.Float64()
		bound := v.bend(eps, 0, ua, ub, h)
		for range 200 {
			gamma, k := c.small+(c.big-c.small)*src.Float64(), c.kLow+(c.kHigh-c.kLow)*src.Float64()
			u := ua + (ub-ua)*src.Float64()
			if e := exponent(eps, gamma, u); e < 1e-3*gamma || e > math.Log1p(1/k)-1e-3*gamma {
				continue
			}
			rate := func(u float64) float64 { return scaledPDF(u, 0) * (1 - k*math.Expm1(exponent(eps, gamma, u))) }
			most = math.Max(most, (2*rate(u)-rate(u-1e-3)-rate(u+1e-3))*1e6*h*h/8)
		}
		if most > bound*(1+1e-5)+1e-12 {
			t.Errorf("γ from %.3f to %.3f, k from %.3f to %.3f, ε = %.3f, u from %.3f to %.3f: %g, and the bound is %g",
				c.small, c.big, c.kLow, c.kHigh, eps, ua, ub, most, bound)
		}
		if most > bound/2 {
			near++
		}
	}
	if near < 20 {
		t.Errorf("%d tiles are near their bound: nothing is tested", near)
	}
}

// What a path gains by changing to another where the difference of their rates changes its sign is no more than turn
// says: ∂M/∂u is taken at places all over tiles of all kinds, by its formula.
func TestTurnBoundsTheDerivative(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 2))
	turned, near := 0, 0
	for range 4000 {
		small := math.Exp(3*src.Float64() - 2)
		c := cell{small: small, big: small * (1 + 0.1*src.Float64()), kLow: math.Exp(4*src.Float64() - 3)}
		c.kHigh = c.kLow * (1 + 0.1*src.Float64())
		v := view{cell: &c, mHigh: c.big * c.kHigh, cSmall: math.Inf(1)}
		eps, h := 3*src.Float64(), 0.1
		ua := 5*src.Float64() - 2.5
		ub := ua + 0.3*src.Float64()
		var up, down float64
		for range 200 {
			gamma, k := c.small+(c.big-c.small)*src.Float64(), c.kLow+(c.kHigh-c.kLow)*src.Float64()
			u := ua + (ub-ua)*src.Float64()
			e := exponent(eps, gamma, u)
			if e < 0 || e > math.Log1p(1/k) {
				continue
			}
			slope := scaledPDF(u, 0) * (gamma*k*math.Exp(e) - u*(1-k*math.Expm1(e)))
			up, down = math.Max(up, slope), math.Max(down, -slope)
		}
		most := h * math.Min(up, down)
		bound := v.turn(eps, 0, ua, ub, h)
		if bound < most {
			t.Errorf("γ from %.3f to %.3f, k from %.3f to %.3f, ε = %.3f, u from %.3f to %.3f: %g, and the bound is %g",
				c.small, c.big, c.kLow, c.kHigh, eps, ua, ub, most, bound)
		}
		if most > 0 {
			turned++
		}
		if bound < 3*most {
			near++
		}
	}
	if turned < 50 || near < 20 {
		t.Errorf("%d tiles have a turn, and at %d of them it is near its bound: nothing is tested", turned, near)
	}
}

// W is the largest of ln(1 + S̄(γ)/λ) + γ²/2 + γn, from above and to 1e-9, where S̄ is a parabola: places all over its
// range are below, and the highest of them is near.
func TestEnvelopeIsTheLargest(t *testing.T) {
	logistic, _ := Logistic(1)
	for _, lambda := range []float64{1e-4, 0.01, 0.3, 20} {
		for _, sigma := range []float64{0.3, 2, 50} {
			e := (&problem{curve: logistic, lambda: lambda, sigma: sigma}).envelope()
			if !(e.kappa > 0) {
				t.Fatal("no parabola")
			}
			for _, n := range []float64{-6, -0.7, 0, 0.1, 3} {
				most := math.Inf(-1)
				for i := range 20001 {
					gamma := e.slope * float64(i) / 20000
					g := gamma / sigma
					most = math.Max(most, math.Log1p(e.kappa*gamma*(e.slope-gamma)/lambda)+g*(0.5*g+n))
				}
				if w := e.at(n); w < most-1e-12*math.Abs(most) || w > most+1e-6 {
					t.Errorf("λ = %g, σ = %g, n = %g: W is %.12g, and %.12g is attained", lambda, sigma, n, w, most)
				}
			}
		}
	}
}
