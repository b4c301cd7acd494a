package loss

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
)

// Bend is a law Γ that rises concavely from 0 to C, the slope of a smooth norm
//
//	H(v) = h(‖v‖),  h′ = Γ,
//
// which is C-Lipschitz, has the curvature Γ′(0) at most, and is below C‖v‖ by H*(C) = ∫₀^∞ (C − Γ) at most. Extension
// replaces C‖·‖ by it.
// Proof: docs/theory/heavytail.md.
type Bend struct {
	c, top float64 // C, and Γ′(0)
	// Γ = scale·log(1 + most·(1 − e^{−rate·v})) of the free curve, with most = e^{C/scale} − 1, and C·tanh(rate·v) of
	// ln cosh, where most is 0.
	scale, rate, most float64
	dilog             float64 // Li₂(1 − e^{−C/scale})
	precise           struct{ rate, most dd.Number }
}

// FreeBend returns the law of the largest curvature that costs objective perturbation nothing (heavytail.md,
// dpnb-free-jacobian):
//
//	Γ(v) = β·log(e^{C/β} − (e^{C/β} − 1)e^{−Λv/β}),  Γ′ = Λ(e^{(C−Γ)/β} − 1),
//
// with noise of scale β and the ridge Λ: of smoothing.Free what C(1 − 2·Tail(Λv/β)) is, here to full relative accuracy
// at small v. C, β and Λ are positive and finite, C/β ≤ 8.
func FreeBend(c, beta, lambda float64) Bend {
	b := Bend{c: c, scale: beta, rate: lambda / beta, most: math.Expm1(c / beta)}
	b.top = lambda * b.most
	b.dilog = dilog(-math.Expm1(-c / beta))
	b.precise.rate = dd.From(lambda).Div(dd.From(beta))
	b.precise.most = preciseExpm1(dd.From(c).Div(dd.From(beta)))
	return b
}

// CoshBend returns Γ(v) = C·tanh(sv/C), Γ′ = s(1 − Γ²/C²); C and s are positive.
func CoshBend(c, s float64) Bend {
	b := Bend{c: c, top: s, rate: s / c}
	b.precise.rate = dd.From(s).Div(dd.From(c))
	return b
}

// Lipschitz returns C.
func (b Bend) Lipschitz() float64 { return b.c }

// Smoothness returns Γ′(0).
func (b Bend) Smoothness() float64 { return b.top }

// Curvature returns S̄(γ) = Γ′(Γ⁻¹(γ)), 0 ≤ γ ≤ C.
func (b Bend) Curvature(gamma float64) float64 {
	if b.most == 0 {
		return b.top * (1 - gamma/b.c) * (1 + gamma/b.c)
	}
	return b.rate * b.scale * math.Expm1((b.c-gamma)/b.scale)
}

// At returns Γ(v) and Γ′(v) for v ≥ 0, Γ to 8·2⁻⁵³ relatively.
func (b Bend) At(v float64) (gamma, curvature float64) {
	x := b.rate * v
	if b.most == 0 {
		t := math.Tanh(x)
		return b.c * t, b.top * (1 - t) * (1 + t)
	}
	e := -math.Expm1(-x)
	g := b.most * e
	return b.scale * math.Log1p(g), b.top * (1 - e) / (1 + g)
}

// Integral returns h(v) = ∫₀^v Γ for v ≥ 0.
func (b Bend) Integral(v float64) float64 {
	x := b.rate * v
	if b.most == 0 {
		return b.c / b.rate * (x + math.Log1p(math.Exp(-2*x)) - math.Ln2)
	}
	q := b.most / (1 + b.most)
	return b.c*v - b.scale/b.rate*(b.dilog-dilog(q*math.Exp(-x)))
}

// Inverse returns the v ≥ 0 with Γ(v) = γ, 0 ≤ γ; +Inf for γ ≥ C.
func (b Bend) Inverse(gamma float64) float64 {
	if !(gamma < b.c) {
		return math.Inf(1)
	}
	if b.most == 0 {
		return math.Atanh(gamma/b.c) / b.rate
	}
	return -math.Log1p(-math.Expm1(gamma/b.scale)/b.most) / b.rate
}

// Bias returns H*(γ) = ∫₀^γ Γ⁻¹ = sup_v γv − h(v), 0 ≤ γ ≤ C: what the smooth norm is below γ‖·‖ at most.
func (b Bend) Bias(gamma float64) float64 {
	if gamma >= b.c {
		if b.most == 0 {
			return b.c / b.rate * math.Ln2
		}
		return b.scale / b.rate * b.dilog
	}
	v := b.Inverse(gamma)
	return gamma*v - b.Integral(v)
}

// String names the law with its parameters.
func (b Bend) String() string {
	if b.most == 0 {
		return fmt.Sprintf("ln cosh, C = %.5g, s = %.5g", b.c, b.top)
	}
	return fmt.Sprintf("free curve, C = %.5g, β = %.5g, Λ = %.5g", b.c, b.scale, b.rate*b.scale)
}

// preciseAt returns Γ(v) and an approximation of Γ′(v), v ≥ 0. Γ errs by 2⁻⁸⁵C, most being e⁸ at most: 1 − e^{−x} errs
// by 2⁻⁹⁸ + 10u² x and is multiplied by at most scale·most/(1 + …) in effect.
func (b Bend) preciseAt(v dd.Number) (gamma dd.Number, curvature float64) {
	_, curvature = b.At(v.Hi)
	x := v.Mul(b.precise.rate)
	if b.most == 0 {
		e := preciseExpm1(x.Scale(-2)).Neg()
		return e.Div(e.Neg().AddFloat(2)).MulFloat(b.c), curvature
	}
	g := preciseExpm1(x.Neg()).Neg().Mul(b.precise.most)
	return preciseLog1p(g).MulFloat(b.scale), curvature
}

// preciseExpm1 returns eˣ − 1, to 2⁻⁹⁷ of max(1, eˣ), and relatively to 2⁻⁹⁵ below ¼.
func preciseExpm1(x dd.Number) dd.Number {
	if math.Abs(x.Hi) > 0.25 {
		return dd.Exp(x).AddFloat(-1)
	}
	// Taylor's series: the 24th term is below 2⁻¹²⁰.
	sum := dd.From(1)
	for k := 24; k >= 2; k-- {
		sum = sum.Mul(x).Div(dd.From(float64(k))).AddFloat(1)
	}
	return sum.Mul(x)
}

// preciseLog1p returns log(1 + z), z ≥ 0: with y the float64 next to it and δ = (1 + z)e^{−y} − 1 it is y + log(1 + δ),
// |δ| < 2⁻⁴⁵, of which δ − δ²/2 is all that counts.
func preciseLog1p(z dd.Number) dd.Number {
	if z.Hi < 0x1p-40 {
		return z.Add(z.Mul(z).Scale(-0.5)).Add(z.Mul(z).Mul(z).Div(dd.From(3)))
	}
	y := math.Log1p(z.Hi)
	e := dd.Exp(dd.From(-y))
	delta := e.Mul(z).Add(e.AddFloat(-1))
	return delta.Add(delta.Mul(delta).Scale(-0.5)).AddFloat(y)
}

// dilog returns Li₂(z) = Σ zᵏ/k², 0 ≤ z ≤ 1, to 4e-16: with w = −log(1 − z) ≤ log 2 it is Σ B_k w^{k+1}/(k+1)!, B_k
// Bernoulli's numbers; beyond ½ by Li₂(z) = π²/6 − log z·log(1−z) − Li₂(1−z).
func dilog(z float64) float64 {
	if z > 0.5 {
		if z == 1 {
			return math.Pi * math.Pi / 6
		}
		return math.Pi*math.Pi/6 - math.Log(z)*math.Log1p(-z) - dilog(1-z)
	}
	w := -math.Log1p(-z)
	s := w * w
	p := 1.0 / 36
	p += s * (-1.0/3600 + s*(1.0/211680+s*(-1.0/10886400+s*(1.0/526901760+s*(-691.0/16999766784000+s/1120863744000)))))
	return w * (1 - w/4 + s*p)
}
