package smoothing

import (
	"fmt"
	"math"
	"math/cmplx"

	"github.com/dpnb/notebooks/dpnb/internal/univariate"
)

// Bowl is max(0, ‖x‖₁ − z) on ℝᵐ convolved with the Gaussian kernel of width μ, E max(0, ‖x + μK‖₁ − z). Create it with
// NewBowl.
//
// With S = ‖x + μK‖₁, a sum of independent variates whose transforms L_j(s) = E e^{−s|x_j + μK_j|} are closed forms of
// the error function,
//
//	E max(0, S − z) = (1/2πi) ∫_{Re s = c} e^{sz} ΠL_j(s)/s² ds for c < 0,
//
// and for c > 0 it is E S − z more. The line is bent to a hyperbola through a point near the saddle of the integrand,
// on which that falls like e^{−|s|} and faster, and the trapezoidal rule converges exponentially in its number of
// nodes, for every m. The rule is repeated with half the step until two agree.
type Bowl struct {
	// Level z.
	z float64
	// width μ > 0.
	width float64
}

// NewBowl returns the smoothed function of level z.
//
// Errors: z not finite, μ not positive and finite.
func NewBowl(z, width float64) (Bowl, error) {
	if math.IsNaN(z - z) {
		return Bowl{}, fmt.Errorf("smoothing: the level of a bowl is %v, want a finite number", z)
	}
	if !(width > 0) || math.IsInf(width, 1) {
		return Bowl{}, fmt.Errorf("smoothing: the width of a kernel is %v, want a positive finite number", width)
	}
	return Bowl{z, width}, nil
}

// Smoothness returns √m·√(2/π)/μ, which bounds the curvature: max(0, ‖x‖₁ − z) is √m-Lipschitz.
func (b Bowl) Smoothness(m int) float64 { return math.Sqrt(2*float64(m)/math.Pi) / b.width }

// ValueGradient returns the value at x, writes the gradient to grad, unless that is nil, and returns an estimate of the
// error of either: the last change of the rule.
func (b Bowl) ValueGradient(grad, x []float64) (value, err float64) {
	checkLength(grad, x)
	// In units of μ: distances a, level zeta, mean of S.
	a, mean, zeta := make([]float64, len(x)), 0.0, b.z/b.width
	slopes := make([]float64, len(x))
	for j, v := range x {
		a[j] = math.Abs(v) / b.width
		mean += a[j] + Gaussian{}.Gap(a[j])
		slopes[j] = 1 - 2*Gaussian{}.Tail(a[j])
	}
	excess := mean - zeta
	// Beyond 12 standard deviations of ‖K‖₁ at most the other part of S is below 1e-30.
	linear := zeta <= 0 || excess > 0 && excess > 12*math.Sqrt(float64(len(x)))
	if linear || -excess > 12*math.Sqrt(float64(len(x))) {
		if !linear {
			excess = 0
			clear(slopes)
		}
		return b.finish(grad, x, excess, slopes), 1e-15 * (mean + math.Abs(zeta)) * b.width
	}
	part, derivative := make([]float64, len(x)), make([]complex128, len(x))
	c := b.saddle(derivative, a, zeta, math.Copysign(1, excess))
	last := math.Inf(1)
	var sum float64
	for step := 0.2; step > 0.005; step /= 2 {
		sum = 0
		clear(part)
		for k := 0; ; k++ {
			size := b.node(&sum, part, derivative, a, zeta, c, step, k)
			if size < 1e-19*(math.Abs(sum)+1e-30) || float64(k)*step > 12 {
				break
			}
		}
		if err = math.Abs(sum-last) + 1e-14; err < 1e-12 {
			break
		}
		last = sum
	}
	if c > 0 {
		sum += excess
	} else {
		clear(slopes)
	}
	for j := range slopes {
		slopes[j] += part[j]
	}
	return b.finish(grad, x, sum, slopes), err * math.Max(1, b.width)
}

// node adds what the k-th node of the rule with the given step contributes to the value and to the derivatives by the
// distances, and returns its size. Nodes ±k are conjugate.
func (b Bowl) node(sum *float64, part []float64, derivative []complex128, a []float64, zeta, c, step float64,
	k int) float64 {
	const bend = 0.6 // tan of the angle between the asymptote and the imaginary axis: < 1
	y, rho := step*float64(k), math.Abs(c)
	sinh, cosh := math.Sinh(y), math.Cosh(y)
	s := complex(c-bend*rho*(cosh-1), rho*sinh)
	ds := complex(-bend*rho*sinh, rho*cosh) / (2 * math.Pi * 1i)
	weight := 2 * step
	if k == 0 {
		weight = step
	}
	l := b.integrand(derivative, a, zeta, s)
	if l == 0 {
		return 0
	}
	f := ds * l
	*sum += weight * real(f)
	for j := range part {
		part[j] += weight * real(f*derivative[j])
	}
	return cmplx.Abs(f)
}

// integrand returns e^{sζ}ΠL_j/s² and writes the logarithmic derivatives by the distances to derivative.
func (b Bowl) integrand(derivative []complex128, a []float64, zeta float64, s complex128) complex128 {
	product, left := complex(1, 0), zeta
	for j, v := range a {
		l, d, shift := transform(s, v)
		product *= l
		derivative[j] = d / l
		left -= shift
	}
	return product * cmplx.Exp(s*complex(left, 0)) / (s * s)
}

// saddle returns about where the integrand is least on the real axis, on the side of the sign: its logarithm is convex
// there.
func (b Bowl) saddle(derivative []complex128, a []float64, zeta, sign float64) float64 {
	at, _ := univariate.Golden(func(u float64) float64 {
		v := real(b.integrand(derivative, a, zeta, complex(sign*math.Exp(u), 0)))
		if math.IsNaN(v) {
			return math.Inf(1)
		}
		return v
	}, math.Log(0.05), math.Log(60), 12)
	return sign * math.Exp(at)
}

// transform returns, for a ≥ 0, L = E e^{−s(|a + K| − shift)} and ∂L/∂a, the shift held:
//
//	L = e^{s·shift}(e^{s²/2 − sa}Φ(a − s) + e^{s²/2 + sa}Φ(−a − s)),
//
// whose derivative is s times the second term less the first. From a = 20 on the shift is a, which keeps L in range,
// and the second term is less than e^{−100} of the first wherever the contour goes; below it is 0.
func transform(s complex128, a float64) (l, d complex128, shift float64) {
	if a > 20 {
		l = cmplx.Exp(s * s / 2)
		return l, -s * l, a
	}
	far, at := complex(math.Exp(-a*a/2)/2, 0), complex(a, 0)
	// e^{whole}·½erfc(t/√2), where far·erfcx(t/√2) is that for every t.
	side := func(t, whole complex128) complex128 {
		if real(t) >= 0 {
			return far * erfcx(t/math.Sqrt2)
		}
		return cmplx.Exp(whole) - far*erfcx(-t/math.Sqrt2)
	}
	first, second := side(s-at, s*s/2-s*at), side(s+at, s*s/2+s*at)
	return first + second, s * (second - first), 0
}

// finish scales to the unit of x.
func (b Bowl) finish(grad, x []float64, value float64, slopes []float64) float64 {
	for j := range grad {
		grad[j] = math.Copysign(slopes[j], x[j])
	}
	return value * b.width
}

// Faddeeva's function by Weideman's rational series in (L − z)/(L + z).
const weidemanTerms = 48

var (
	weidemanScale = math.Sqrt(weidemanTerms / math.Sqrt2)
	weideman      = weidemanCoefficients()
)

// weidemanCoefficients are those of Fourier's series of e^{−t²}(L² + t²), t = L·tan(θ/2).
func weidemanCoefficients() [weidemanTerms]float64 {
	var c [weidemanTerms]float64
	const points = 4 * weidemanTerms
	for k := 1 - points/2; k < points/2; k++ {
		theta := 2 * math.Pi * float64(k) / points
		t := weidemanScale * math.Tan(theta/2)
		f := math.Exp(-t*t) * (weidemanScale*weidemanScale + t*t) / points
		for n := range c {
			c[n] += f * math.Cos(float64(n+1)*theta)
		}
	}
	return c
}

// erfcx returns e^{z²}erfc(z) for Re z ≥ 0, to about 1e-14 of it.
//
// Source: Weideman 1994, SIAM Journal on Numerical Analysis 31(5), for w(iz).
func erfcx(z complex128) complex128 {
	l := complex(weidemanScale, 0)
	ratio := (l - z) / (l + z)
	sum := complex(0, 0)
	for n := weidemanTerms - 1; n >= 0; n-- {
		sum = sum*ratio + complex(weideman[n], 0)
	}
	return 2*sum/((l+z)*(l+z)) + complex(1/math.Sqrt(math.Pi), 0)/(l+z)
}
