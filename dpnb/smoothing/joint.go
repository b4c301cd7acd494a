package smoothing

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/quadrature"
)

// Joint is a kernel on ℝᵐ in its standard width, whose density does not change with the sign of any coordinate. Product
// and Radial are those of cop's Table 1.
type Joint interface {
	// Name is how the kernel is called in tables and figures.
	Name() string
	// Dim returns m.
	Dim() int
	// Coordinate returns the law of one coordinate, the same for all: smoothing a sum over coordinates, as ‖·‖₁ is,
	// needs no more.
	Coordinate() Kernel
	// Moment returns κ_p = E‖K‖_p for p = 1 or p in [1.1, 2]; it panics for others.
	Moment(p float64) float64
	// Steepness returns β₁ and β₂ with ∫|⟨∇k, δ⟩| ≤ β_p‖δ‖_p for every δ. Every function that is L-Lipschitz in ‖·‖_p
	// becomes Lβ_p/μ-smooth in it.
	Steepness() (beta1, beta2 float64)
	// Draw writes a variate to dst, by as many numbers of uniform, in (0, 1), as it takes.
	Draw(dst []float64, uniform func() float64)
}

// TableOne returns the kernels of cop's Table 1 on ℝᵐ: Gaussian, exponential, Laplacian.
func TableOne(m int) []Joint {
	return []Joint{Product{Gaussian{}, m}, Radial{m}, Product{Laplacian{}, m}}
}

// Product has m independent coordinates of one law.
type Product struct {
	Kernel Kernel
	M      int
}

// The methods of Joint.

func (p Product) Name() string       { return p.Kernel.Name() }
func (p Product) Dim() int           { return p.M }
func (p Product) Coordinate() Kernel { return p.Kernel }

// Moment returns E‖K‖_p: m·E|K₁| for p = 1, else to 1e-11 with a = 1/p, φ(t) = E e^{−t|K₁|^p} and
//
//	E S^a = (a/Γ(1 − a))·∫₀^∞ (1 − φ(t)^m) t^{−1−a} dt,  S = ‖K‖_p^p,
//
// by the trapezoidal rule in ln t, the mean by panels in ln|K₁|.
func (k Product) Moment(p float64) float64 {
	m := float64(k.M)
	switch {
	case p == 1:
		return m * k.Kernel.Gap(0)
	case !(p >= 1.1 && p <= 2):
		panic(fmt.Sprintf("smoothing: the moment of order %v, want 1 or a number in [1.1, 2]", p))
	}
	breaks := []float64{}
	for u := -40.0; u < 4.5; u += 0.5 {
		breaks = append(breaks, u)
		if u == 0 {
			breaks = append(breaks, math.Log(math.Pi/2)) // with 0 the ends of our kernels
		}
	}
	u, w := quadrature.Nodes(breaks)
	powers := make([]float64, len(u))
	for i := range u {
		powers[i], w[i] = math.Exp(p*u[i]), 2*w[i]*math.Exp(u[i])*k.Kernel.Density(math.Exp(u[i]))
	}
	// The integrand in ln t falls as t^{1−a} to the left and as t^{−a} to the right.
	const step = 0.25 // errs by e^{−π²/step}
	a, sum := 1/p, 0.0
	for s := -40 / (1 - a); s <= 40/a; s += step {
		t, lost := math.Exp(s), 0.0 // 1 − φ(t)
		for i, power := range powers {
			lost -= w[i] * math.Expm1(-t*power)
		}
		sum -= math.Expm1(m*math.Log1p(-math.Min(lost, 1))) * math.Exp(-a*s)
	}
	return sum * step * a / math.Gamma(1-a)
}

// Steepness returns 2k(0) for p = 1, which is attained; for p = 2 the same for the Gaussian and the Laplacian law, and
// √m times as much, a bound, for others.
func (p Product) Steepness() (beta1, beta2 float64) {
	beta1 = 2 * Peak(p.Kernel)
	switch p.Kernel.(type) {
	case Gaussian, Laplacian:
		return beta1, beta1
	}
	return beta1, beta1 * math.Sqrt(float64(p.M))
}

// Draw implements Joint.
func (p Product) Draw(dst []float64, uniform func() float64) {
	for j := range dst[:p.M] {
		dst[j] = p.Kernel.Draw(uniform())
	}
}

// Radial is the exponential kernel e^{−‖v‖₂}/𝔫 on ℝᵐ, 𝔫 = 2π^{m/2}Γ(m)/Γ(m/2): a direction and, independent of it, a
// radius of the Gamma law of shape m.
type Radial struct{ M int }

// The methods of Joint.

func (r Radial) Name() string       { return "exponential" }
func (r Radial) Dim() int           { return r.M }
func (r Radial) Coordinate() Kernel { return NewExponential(r.M) }

// Moment returns E‖K‖_p = m·E‖U‖_p, U uniform on the sphere, as which the direction of a Gaussian variate is too.
func (r Radial) Moment(p float64) float64 {
	if p == 2 {
		return float64(r.M)
	}
	g := Product{Gaussian{}, r.M}
	return float64(r.M) * g.Moment(p) / g.Moment(2)
}

// Steepness returns E|U₁| = Γ(m/2)/(√π·Γ((m+1)/2)), U uniform on the sphere, for both: ∇k = −k·v/‖v‖. It is 2k₁(0), k₁
// the density of a coordinate.
func (r Radial) Steepness() (beta1, beta2 float64) {
	m := float64(r.M)
	above, _ := math.Lgamma(m / 2)
	below, _ := math.Lgamma((m + 1) / 2)
	beta := math.Exp(above-below) / math.Sqrt(math.Pi)
	return beta, beta
}

// Draw implements Joint.
func (r Radial) Draw(dst []float64, uniform func() float64) {
	radius := 0.0
	for j := range dst[:r.M] {
		dst[j] = Gaussian{}.Draw(uniform())
		radius -= math.Log(uniform())
	}
	floats.Scale(radius/floats.Norm(dst[:r.M], 2), dst[:r.M])
}

// checkWidth panics unless a kernel and its width can be used.
func checkWidth(k Kernel, width float64) {
	if f, ok := k.(Free); k == nil || ok && !(f.Epsilon > 0 && f.Epsilon < 700) {
		panic(fmt.Sprintf("smoothing: the kernel is %v, want one of Kernels, or Free with ε in (0, 700)", k))
	}
	if !(width > 0) || math.IsInf(width, 1) {
		panic(fmt.Sprintf("smoothing: the width of a kernel is %v, want a positive finite number", width))
	}
}

// checkLength panics unless what is written for x has its length, or is nil.
func checkLength(dst, x []float64) {
	if dst != nil && len(dst) != len(x) {
		panic(fmt.Sprintf("smoothing: %d numbers to write for a point with %d coordinates, want as many", len(dst),
			len(x)))
	}
}
