package composite

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Constraint is a closed convex set C. A solver wants a Projector.
type Constraint interface {
	// Name is how the constraint is called in tables and reports.
	Name() string
	// Validate returns a *erm.DataError if it is not for d coordinates.
	Validate(d int) error
	// Contains reports whether θ ∈ C, as far as float64 can tell.
	Contains(theta []float64) bool
}

// Projector is a Constraint that can be projected on. Its Subdifferential is
// that of the indicator of C: Nearest projects on the normal cone N_C(θ), and
// Gap bounds sup_{x∈C} ⟨v, x⟩ − ⟨v, θ⟩ for θ ∈ C. Implementations are safe for
// concurrent use.
type Projector interface {
	Constraint
	Subdifferential
	// Project writes the point of C that is nearest to v to dst, which may be v.
	Project(dst, v []float64)
}

// Everywhere is C = ℝᵈ.
type Everywhere struct{}

// Name returns "none".
func (Everywhere) Name() string { return "none" }

// Validate accepts every d.
func (Everywhere) Validate(int) error { return nil }

// Contains returns true.
func (Everywhere) Contains([]float64) bool { return true }

// Project copies v.
func (Everywhere) Project(dst, v []float64) { copy(dst, v) }

// Nearest writes 0.
func (Everywhere) Nearest(dst, _, _ []float64) { clear(dst) }

// Gap moves v to 0.
func (Everywhere) Gap(v, _ []float64) float64 { clear(v); return 0 }

// Box is C = {θ : loⱼ ≤ θⱼ ≤ hiⱼ}.
type Box struct {
	// Lower and Upper are the bounds, each of length d, or of length 1 for the
	// same bound everywhere; nil is no bound. Single bounds may be ∓Inf.
	Lower, Upper []float64
}

// NewBox returns [−κ, κ]ᵈ.
func NewBox(kappa float64) Box { return Box{Lower: []float64{-kappa}, Upper: []float64{kappa}} }

// Name returns "box".
func (Box) Name() string { return "box" }

// Validate checks that the bounds are for d coordinates and leave room.
func (c Box) Validate(d int) error {
	for _, b := range [][]float64{c.Lower, c.Upper} {
		if len(b) > 1 && len(b) != d {
			return dataError("the box has %d bounds, want 1 or d = %d", len(b), d)
		}
	}
	for j := range d {
		lo, hi := c.bounds(j)
		if !(lo <= hi) || math.IsInf(lo, 1) || math.IsInf(hi, -1) {
			return dataError("the box is empty: coordinate %d is to lie in [%v, %v]", j, lo, hi)
		}
	}
	return nil
}

func (c Box) bounds(j int) (lo, hi float64) {
	return boundAt(c.Lower, j, math.Inf(-1)), boundAt(c.Upper, j, math.Inf(1))
}

func boundAt(b []float64, j int, none float64) float64 {
	switch len(b) {
	case 0:
		return none
	case 1:
		return b[0]
	default:
		return b[j]
	}
}

// Contains implements Constraint.
func (c Box) Contains(theta []float64) bool {
	for j, x := range theta {
		if lo, hi := c.bounds(j); !(lo <= x && x <= hi) {
			return false
		}
	}
	return true
}

// Project cuts each coordinate.
func (c Box) Project(dst, v []float64) {
	for j, x := range v {
		lo, hi := c.bounds(j)
		dst[j] = cut(x, lo, hi)
	}
}

// Nearest keeps vⱼ where it points out of the box at a bound, and is 0 elsewhere.
func (c Box) Nearest(dst, v, theta []float64) {
	for j, x := range theta {
		lo, hi := c.bounds(j)
		switch {
		case x <= lo && v[j] < 0, x >= hi && v[j] > 0:
			dst[j] = v[j]
		default:
			dst[j] = 0
		}
	}
}

// Gap is Σ max(vⱼ(loⱼ−θⱼ), vⱼ(hiⱼ−θⱼ)); where there is no bound vⱼ is moved to 0.
func (c Box) Gap(v, theta []float64) float64 {
	var gap float64
	for j, x := range theta {
		lo, hi := c.bounds(j)
		if v[j] < 0 && math.IsInf(lo, -1) || v[j] > 0 && math.IsInf(hi, 1) {
			v[j] = 0
		}
		switch {
		case v[j] < 0:
			gap += v[j] * (lo - x)
		case v[j] > 0:
			gap += v[j] * (hi - x)
		}
	}
	return up(gap, len(v))
}

// Ball is C = {θ : ‖θ‖₂ ≤ ρ}.
type Ball struct {
	// Radius is ρ > 0.
	Radius float64
}

// Name returns "ball".
func (Ball) Name() string { return "ball" }

// Validate checks ρ.
func (c Ball) Validate(int) error {
	if !(c.Radius > 0) || math.IsInf(c.Radius, 1) {
		return dataError("the radius of the ball is %v, want a positive number", c.Radius)
	}
	return nil
}

// edge is by how much, relatively, a computed norm of d numbers may differ from
// the norm, and from the radius after scaling to it.
func edge(d int) float64 { return float64(d+16) * unit }

// Contains grants the rounding of the norm.
func (c Ball) Contains(theta []float64) bool {
	return floats.Norm(theta, 2) <= c.Radius*(1+edge(len(theta)))
}

// Project is v·min(1, ρ/‖v‖).
func (c Ball) Project(dst, v []float64) {
	if norm := floats.Norm(v, 2); norm > c.Radius {
		floats.ScaleTo(dst, c.Radius/norm, v)
		return
	}
	copy(dst, v)
}

// Nearest is the projection on the ray from 0 through θ, where θ is on the
// sphere to within the rounding of its norm, and 0 elsewhere.
func (c Ball) Nearest(dst, v, theta []float64) {
	norm := floats.Norm(theta, 2)
	if norm < c.Radius*(1-edge(len(theta))) {
		clear(dst)
		return
	}
	floats.ScaleTo(dst, math.Max(0, floats.Dot(v, theta)/norm/norm), theta)
}

// Gap is ρ‖v‖ − ⟨v, θ⟩.
func (c Ball) Gap(v, theta []float64) float64 {
	size := c.Radius * floats.Norm(v, 2)
	return math.Max(0, size-floats.Dot(v, theta)) + 3*edge(len(v))*size
}

// Simplex is C = {θ : θⱼ ≥ 0, Σθⱼ = s}.
type Simplex struct {
	// Sum is s > 0.
	Sum float64
}

// Name returns "simplex".
func (Simplex) Name() string { return "simplex" }

// Validate checks s.
func (c Simplex) Validate(int) error {
	if !(c.Sum > 0) || math.IsInf(c.Sum, 1) {
		return dataError("the sum of the simplex is %v, want a positive number", c.Sum)
	}
	return nil
}

// Contains grants the rounding of the sum.
func (c Simplex) Contains(theta []float64) bool {
	return len(theta) > 0 && floats.Min(theta) >= 0 && math.Abs(floats.Sum(theta)-c.Sum) <= c.Sum*edge(len(theta))
}

// Project is max(vⱼ − t, 0) with the t that makes the sum s, which is found by
// leaving out the coordinates below the mean until none is (Michelot 1986), and
// scaled to the sum once more, against rounding.
func (c Simplex) Project(dst, v []float64) {
	t, count := math.Inf(-1), len(v)+1
	for {
		var sum float64
		k := 0
		for _, x := range v {
			if x > t {
				sum += x
				k++
			}
		}
		if k >= count || k == 0 { // it falls until it is right; ties may rise in rounding
			break
		}
		count, t = k, (sum-c.Sum)/float64(k)
	}
	var sum float64
	for j, x := range v {
		dst[j] = math.Max(x-t, 0)
		sum += dst[j]
	}
	floats.Scale(c.Sum/sum, dst)
}

// Nearest projects on {v : vⱼ = m where θⱼ > 0, vⱼ ≤ m elsewhere, for some m}.
// The best m is the mean over the support and over those others with vⱼ > m.
func (c Simplex) Nearest(dst, v, theta []float64) {
	m, count := math.Inf(-1), len(v)+1
	for {
		var sum float64
		k := 0
		for j, x := range v {
			if theta[j] > 0 || x > m {
				sum += x
				k++
			}
		}
		if k >= count || k == 0 {
			break
		}
		count, m = k, sum/float64(k)
	}
	for j, x := range v {
		if theta[j] > 0 {
			dst[j] = m
		} else {
			dst[j] = math.Min(x, m)
		}
	}
}

// Gap is s·max vⱼ − ⟨v, θ⟩ = Σθⱼ(max v − vⱼ), and the error of the sum of θ.
func (c Simplex) Gap(v, theta []float64) float64 {
	top := floats.Max(v)
	var gap float64
	for j, x := range theta {
		gap += x * (top - v[j])
	}
	return up(gap, len(v)) + 2*edge(len(v))*c.Sum*math.Max(math.Abs(top), math.Abs(floats.Min(v)))
}
