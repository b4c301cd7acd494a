package smoothing

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Kernel is an even probability density k on the line, in its standard width. Convolved with |·| it gives
//
//	g(x) = E|x + K| = |x| + Gap(|x|),  g′(x) = sgn(x)(1 − 2·Tail(|x|)),  g″(x) = 2k(x).
type Kernel interface {
	// Name is how the kernel is called in tables and figures.
	Name() string
	// Density returns k(v).
	Density(v float64) float64
	// Tail returns P(K > v) for v ≥ 0.
	Tail(v float64) float64
	// Gap returns E|v + K| − |v| = 2∫_v^∞ P(K > t) dt for v ≥ 0.
	Gap(v float64) float64
	// Variance returns E K², +Inf if there is none.
	Variance() float64
	// Draw returns one variate by inversion of the uniform number u in (0, 1).
	Draw(u float64) float64
}

// Peak returns sup k = k(0): all kernels here have their mode at 0.
func Peak(k Kernel) float64 { return k.Density(0) }

// Kernels returns the kernels without parameters, from the one that is nearest to |x| at a given curvature to the one
// that is farthest.
func Kernels() []Kernel {
	return []Kernel{Uniform{}, Cosine{}, Gaussian{}, Logistic{}, Laplacian{}}
}

// draw turns a quantile of the upper half into one of the whole law.
func draw(u float64, upper func(tail float64) float64) float64 {
	if u > 0.5 {
		return upper(1 - u)
	}
	return -upper(u)
}

// Uniform is ½ on [−1, 1]. With it |x| becomes Huber's function plus ½, which is |x| itself from |x| = 1 on.
type Uniform struct{}

// The methods of Kernel.

func (Uniform) Name() string           { return "uniform" }
func (Uniform) Tail(v float64) float64 { return 0.5 * math.Max(0, 1-v) }
func (Uniform) Gap(v float64) float64  { r := math.Max(0, 1-v); return 0.5 * r * r }
func (Uniform) Variance() float64      { return 1.0 / 3 }
func (Uniform) Draw(u float64) float64 { return 2*u - 1 }

// Density returns ½ for |v| ≤ 1, else 0.
func (Uniform) Density(v float64) float64 {
	if math.Abs(v) > 1 {
		return 0
	}
	return 0.5
}

// Cosine is ½cos v on [−π/2, π/2]: the slope of |x| becomes sin x.
type Cosine struct{}

// The methods of Kernel.

func (Cosine) Name() string           { return "cosine" }
func (Cosine) Variance() float64      { return math.Pi*math.Pi/4 - 2 }
func (Cosine) Draw(u float64) float64 { return math.Asin(2*u - 1) }

// Density returns ½cos v for |v| ≤ π/2, else 0.
func (Cosine) Density(v float64) float64 {
	if math.Abs(v) >= math.Pi/2 {
		return 0
	}
	return 0.5 * math.Cos(v)
}

// Tail returns (1 − sin v)/2 = sin²(π/4 − v/2) for v ≤ π/2.
func (Cosine) Tail(v float64) float64 {
	if v >= math.Pi/2 {
		return 0
	}
	s := math.Sin(math.Pi/4 - v/2)
	return s * s
}

// Gap returns r − sin r, r = π/2 − v, for v ≤ π/2. Where r is small the two terms cancel, and the series r³/6 − r⁵/120
// + … is summed.
func (Cosine) Gap(v float64) float64 {
	r := math.Pi/2 - v
	switch {
	case r <= 0:
		return 0
	case r > 0.5:
		return r - math.Sin(r)
	}
	sum, term := 0.0, r*r*r/6
	for k := 4.0; math.Abs(term) > 1e-18*sum; k += 2 {
		sum += term
		term *= -r * r / (k * (k + 1))
	}
	return sum
}

// Gaussian is the standard normal density: the slope of |x| becomes erf(x/√2).
type Gaussian struct{}

// The methods of Kernel.

func (Gaussian) Name() string              { return "Gaussian" }
func (Gaussian) Density(v float64) float64 { return math.Exp(-v*v/2) / math.Sqrt(2*math.Pi) } // φ(v)
func (Gaussian) Tail(v float64) float64    { return 0.5 * math.Erfc(v/math.Sqrt2) }           // Φ(−v)
func (Gaussian) Variance() float64         { return 1 }
func (Gaussian) Draw(u float64) float64    { return mathext.NormalQuantile(u) } // Φ⁻¹(u)

// Gap returns 2(φ(v) − vΦ(−v)). From v = 5 on the two terms cancel; the gap is then 2φ(v) times the continued fraction
// of 1 − v·Φ(−v)/φ(v).
func (g Gaussian) Gap(v float64) float64 {
	if v < 5 {
		return 2 * (g.Density(v) - v*g.Tail(v))
	}
	// Φ(−v)/φ(v) = 1/(v + 1/(v + 2/(v + 3/(v + …)))) =: 1/(v + c), so that 1 − v/(v + c) = c/(v + c), c = 1/(v + 2/(v +
	// …)).
	// Terms as in normal.Mills: what is left out falls like e^{−2v√k}.
	c := 0.0
	for k := 10 + math.Ceil(300/(v*v)); k >= 1; k-- {
		c = k / (v + c)
	}
	return 2 * g.Density(v) * c / (v + c)
}

// Logistic is ½sech² v: |x| becomes ln(2 cosh x).
type Logistic struct{}

// The methods of Kernel.

func (Logistic) Name() string           { return "logistic" }
func (Logistic) Tail(v float64) float64 { e := math.Exp(-2 * v); return e / (1 + e) }
func (Logistic) Gap(v float64) float64  { return math.Log1p(math.Exp(-2 * v)) }
func (Logistic) Variance() float64      { return math.Pi * math.Pi / 12 }
func (Logistic) Draw(u float64) float64 { return 0.5 * (math.Log(u) - math.Log1p(-u)) }

// Density returns ½sech² v.
func (Logistic) Density(v float64) float64 {
	e := math.Exp(-2 * math.Abs(v))
	return 2 * e / ((1 + e) * (1 + e))
}

// Laplacian is ½e^{−|v|}: the slope of |x| becomes sgn(x)(1 − e^{−|x|}).
type Laplacian struct{}

// The methods of Kernel.

func (Laplacian) Name() string              { return "Laplacian" }
func (Laplacian) Density(v float64) float64 { return 0.5 * math.Exp(-math.Abs(v)) }
func (Laplacian) Tail(v float64) float64    { return 0.5 * math.Exp(-v) }
func (Laplacian) Gap(v float64) float64     { return math.Exp(-v) }
func (Laplacian) Variance() float64         { return 2 }

// Draw returns ∓ln of twice the tail.
func (Laplacian) Draw(u float64) float64 {
	return draw(u, func(tail float64) float64 { return -math.Log(2 * tail) })
}

// Free is the kernel whose curvature costs a private fit nothing at one ε: of the kernels that meet the condition of
// Theorem 4 of docs/theory/smoothing.md in its simple form it is the nearest to |x|,
//
//	g′(x) = sgn(x)(1 + ln(1 − c·e^{−|x|})/ε),  c = 1 − e^{−ε}.
//
// As ε → 0 it becomes Laplacian.
type Free struct{ Epsilon float64 }

// The methods of Kernel.

func (k Free) Name() string      { return fmt.Sprintf("free (ε = %g)", k.Epsilon) }
func (k Free) Variance() float64 { return 2 * trilogarithm(k.scale()) / k.Epsilon }

func (k Free) scale() float64 { return -math.Expm1(-k.Epsilon) }

// Density returns c·e^{−|v|}/(2ε(1 − c·e^{−|v|})).
func (k Free) Density(v float64) float64 {
	e := k.scale() * math.Exp(-math.Abs(v))
	return e / (2 * k.Epsilon * (1 - e))
}

// Tail returns −ln(1 − c·e^{−v})/(2ε).
func (k Free) Tail(v float64) float64 {
	return -math.Log1p(-k.scale()*math.Exp(-v)) / (2 * k.Epsilon)
}

// Gap returns Li₂(c·e^{−v})/ε, Li₂ the dilogarithm.
func (k Free) Gap(v float64) float64 {
	return real(mathext.Li2(complex(k.scale()*math.Exp(-v), 0))) / k.Epsilon
}

// Draw inverts the tail.
func (k Free) Draw(u float64) float64 {
	return draw(u, func(tail float64) float64 {
		return math.Log(k.scale()) - math.Log(-math.Expm1(-2*k.Epsilon*tail))
	})
}

// trilogarithm returns Li₃(z) = Σ zʲ/j³ for z in [0, 1]: the sum, and its tail by the integral, which errs by less than
// z^n/n⁴.
func trilogarithm(z float64) float64 {
	const n = 4000
	sum := 0.0
	for j := n; j >= 1; j-- {
		sum += math.Pow(z, float64(j)) / math.Pow(float64(j), 3)
	}
	return sum + math.Pow(z, n+0.5)/(2*(n+0.5)*(n+0.5))
}
