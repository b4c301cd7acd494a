package smoothing

import (
	"fmt"
	"math"
	"slices"
)

// Distance is a function φ(v) = h(‖v‖) from which a Moreau envelope is made,
//
//	g_φ(x) = inf_u g(u) + μφ((x − u)/μ),
//
// with h even and convex, h′ rising from h′(0) = 0. Quadratic, HuberDistance and Hellinger are those of cop's Table 2.
type Distance interface {
	// Name is how the function is called in tables and figures.
	Name() string
	// Height, Slope and Curvature return h(r), h′(r) and h″(r) for r ≥ 0.
	Height(r float64) float64
	Slope(r float64) float64
	Curvature(r float64) float64
	// Reach returns sup h′: φ⋆ is finite on the ball of that radius, and there the envelope of a function with slopes
	// inside is smooth.
	Reach() float64
	// Inverse returns the r with h′(r) = s, the least one, for 0 ≤ s ≤ Reach(); +Inf if it is not reached.
	Inverse(s float64) float64
}

// Quadratic is φ = β‖v‖²/2, of the envelope of Moreau himself.
type Quadratic struct{ Beta float64 }

// The methods of Distance.

func (Quadratic) Name() string                { return "quadratic" }
func (q Quadratic) Height(r float64) float64  { return q.Beta * r * r / 2 }
func (q Quadratic) Slope(r float64) float64   { return q.Beta * r }
func (q Quadratic) Curvature(float64) float64 { return q.Beta }
func (q Quadratic) Reach() float64            { return math.Inf(1) }
func (q Quadratic) Inverse(s float64) float64 { return s / q.Beta }

// HuberDistance is φ = β‖v‖²/2 up to ‖v‖ = 1 and β(‖v‖ − ½) beyond. Where it makes a smooth envelope, the slopes of g
// being at most β, that is the envelope of Quadratic.
type HuberDistance struct{ Beta float64 }

// The methods of Distance.

func (HuberDistance) Name() string                { return "Huber" }
func (q HuberDistance) Slope(r float64) float64   { return q.Beta * math.Min(r, 1) }
func (q HuberDistance) Reach() float64            { return q.Beta }
func (q HuberDistance) Inverse(s float64) float64 { return s / q.Beta }

// Height returns h(r).
func (q HuberDistance) Height(r float64) float64 {
	if r <= 1 {
		return q.Beta * r * r / 2
	}
	return q.Beta * (r - 0.5)
}

// Curvature returns β up to r = 1, then 0.
func (q HuberDistance) Curvature(r float64) float64 {
	if r <= 1 {
		return q.Beta
	}
	return 0
}

// Hellinger is φ = β√(1 + ‖v‖²): its envelopes are above g.
type Hellinger struct{ Beta float64 }

// The methods of Distance.

func (Hellinger) Name() string                  { return "Hellinger" }
func (q Hellinger) Height(r float64) float64    { return q.Beta * math.Hypot(1, r) }
func (q Hellinger) Slope(r float64) float64     { return q.Beta * (r / math.Hypot(1, r)) }
func (q Hellinger) Curvature(r float64) float64 { return q.Beta * math.Pow(math.Hypot(1, r), -3) }
func (q Hellinger) Reach() float64              { return q.Beta }

// Inverse returns s/√(β² − s²).
func (q Hellinger) Inverse(s float64) float64 {
	return s / math.Sqrt(math.Max(0, (q.Beta-s)*(q.Beta+s)))
}

// conjugate returns φ⋆ at norm s ≤ Reach: sup over r of rs − h(r), +Inf beyond.
func conjugate(d Distance, s float64) float64 {
	switch q := d.(type) {
	case Hellinger:
		return -math.Sqrt(math.Max(0, (q.Beta-s)*(q.Beta+s)))
	}
	r := d.Inverse(s)
	return r*s - d.Height(r)
}

// checkDistance returns an error unless the slopes of g, up to slope, are in the domain of φ⋆.
func checkDistance(d Distance, width, slope float64) error {
	beta := d.Curvature(0)
	switch {
	case !(beta > 0) || math.IsInf(beta, 1):
		return fmt.Errorf("smoothing: β of the %s distance is %v, want a positive finite number", d.Name(), beta)
	case !(width > 0) || math.IsInf(width, 1):
		return fmt.Errorf("smoothing: the width of an envelope is %v, want a positive finite number", width)
	case !(slope <= d.Reach()):
		return fmt.Errorf("smoothing: slopes up to %v, and the %s distance has none beyond %v: raise β to the largest "+
			"slope",
			slope, d.Name(), d.Reach())
	}
	return nil
}

// Envelope is a convex, piecewise linear function g on the line made smooth by a Moreau envelope. Its slope s and its
// argument x are tied by x = z + μ·(h′)⁻¹(s), z a point at which s is a subgradient of g: at each kink of g there is a
// piece of φ, and between two of them a line.
type Envelope struct {
	Function Piecewise
	Distance Distance
	// Width is μ > 0.
	Width float64
}

// Envelope returns inf_u p(u) + μφ((x − u)/μ).
//
// Errors: β or μ not positive and finite, a slope of p beyond the reach of φ.
func (p Piecewise) Envelope(d Distance, width float64) (Envelope, error) {
	least, largest := p.Slopes()
	if err := checkDistance(d, width, math.Max(-least, largest)); err != nil {
		return Envelope{}, err
	}
	return Envelope{p, d, width}, nil
}

// at returns where u is for x, and whether that is a kink of p.
func (e Envelope) at(x float64) (u float64, kink bool) {
	slope, _ := e.Function.Slopes()
	shift := func(s float64) float64 { return e.Width * math.Copysign(e.Distance.Inverse(math.Abs(s)), s) }
	for j, z := range e.Function.Kinks {
		if x-shift(slope) < z {
			return x - shift(slope), false
		}
		slope += 2 * e.Function.Weights[j]
		if x-shift(slope) <= z {
			return z, true
		}
	}
	return x - shift(slope), false
}

// Value returns the envelope at x.
func (e Envelope) Value(x float64) float64 {
	u, _ := e.at(x)
	return e.Function.Value(u) + e.Width*e.Distance.Height(math.Abs(x-u)/e.Width)
}

// Slope returns its derivative, φ′((x − u)/μ).
func (e Envelope) Slope(x float64) float64 {
	u, _ := e.at(x)
	return math.Copysign(e.Distance.Slope(math.Abs(x-u)/e.Width), x-u)
}

// Curvature returns its second derivative, either side's where it jumps.
func (e Envelope) Curvature(x float64) float64 {
	u, kink := e.at(x)
	if !kink {
		return 0
	}
	return e.Distance.Curvature(math.Abs(x-u)/e.Width) / e.Width
}

// Smoothness returns β/μ, which bounds the curvature.
func (e Envelope) Smoothness() float64 { return e.Distance.Curvature(0) / e.Width }

// Range returns bounds on the envelope minus the function, −μ·sup φ⋆ over its slopes and μφ(0).
func (e Envelope) Range() (least, most float64) {
	lo, hi := e.Function.Slopes()
	return -e.Width * conjugate(e.Distance, math.Max(-lo, hi)), e.Width * e.Distance.Height(0)
}

// NormEnvelope is the Moreau envelope of ‖·‖₁ on ℝᵐ. Create it with NewNormEnvelope.
type NormEnvelope struct {
	distance Distance
	width    float64
	m        int
}

// NewNormEnvelope returns the envelope of ‖·‖₁ on ℝᵐ, whose slopes have norms up to √m.
//
// Errors: m < 1, another φ than the three of this package, β or μ not positive and finite, β < √m where φ reaches no
// farther.
func NewNormEnvelope(m int, d Distance, width float64) (NormEnvelope, error) {
	if m < 1 {
		return NormEnvelope{}, fmt.Errorf("smoothing: the dimension is %d, want a positive one", m)
	}
	switch d.(type) {
	case Quadratic, HuberDistance, Hellinger:
	default:
		return NormEnvelope{}, fmt.Errorf(
			"smoothing: no closed form of the envelope of ‖·‖₁ by %s; use Quadratic, HuberDistance or Hellinger",
			d.Name())
	}
	return NormEnvelope{d, width, m}, checkDistance(d, width, math.Sqrt(float64(m))*(1-1e-15))
}

// ValueGradient returns the envelope at x and writes its gradient to grad, unless that is nil. It panics unless x has
// length m.
//
// The gradient is x cut to [−1, 1] after multiplication by some c: c solves h′(‖s‖/(cμ)) = ‖s‖ with s = cut(cx), which
// is a quadratic equation between the places where another coordinate is cut.
func (e NormEnvelope) ValueGradient(grad, x []float64) float64 {
	if len(x) != e.m {
		panic(fmt.Sprintf("smoothing: a point with %d coordinates, want %d", len(x), e.m))
	}
	checkLength(grad, x)
	c := e.scale(x)
	value, moved := 0.0, 0.0
	for j, v := range x {
		s := math.Max(-1, math.Min(1, c*v))
		if grad != nil {
			grad[j] = s
		}
		value += math.Max(0, math.Abs(v)-1/c) // |u|
		moved += s * s / (c * c)
	}
	return value + e.width*e.distance.Height(math.Sqrt(moved)/e.width)
}

// Smoothness returns β/μ.
func (e NormEnvelope) Smoothness() float64 { return e.distance.Curvature(0) / e.width }

// Range returns bounds on the envelope minus ‖·‖₁, −μ·sup φ⋆ and μφ(0).
func (e NormEnvelope) Range() (least, most float64) {
	return -e.width * conjugate(e.distance, math.Sqrt(float64(e.m))), e.width * e.distance.Height(0)
}

// scale returns c. For Hellinger (cμ)² + ‖s(c)‖² = β².
func (e NormEnvelope) scale(x []float64) float64 {
	h, ok := e.distance.(Hellinger)
	if !ok {
		return e.distance.Curvature(0) / e.width // Huber's φ is the quadratic where it is used
	}
	sizes := make([]float64, len(x))
	square := 0.0
	for j, v := range x {
		sizes[j] = math.Abs(v)
		square += v * v
	}
	slices.Sort(sizes)
	// With the k largest coordinates cut c² = (β² − k)/(μ² + the others' squares): right where that cuts no other.
	for k := 0; ; k++ {
		rest := math.Max(0, square)
		c := math.Sqrt((h.Beta*h.Beta - float64(k)) / (e.width*e.width + rest))
		if k == len(sizes) || c*sizes[len(sizes)-1-k] <= 1 {
			return c
		}
		square = 0
		for _, v := range sizes[:len(sizes)-1-k] {
			square += v * v
		}
	}
}
