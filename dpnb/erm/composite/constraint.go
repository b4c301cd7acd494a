package composite

// Constraint is a closed convex set C. A solver wants a Projector.
type Constraint interface {
	// Name is how the constraint is called in tables and reports.
	Name() string
	// Validate returns a *matrix.DataError if it is not for d coordinates.
	Validate(d int) error
	// Contains reports whether θ ∈ C, as far as float64 can tell.
	Contains(theta []float64) bool
}

// Projector is a Constraint that can be projected on. Its Subdifferential is that of the indicator of C: Nearest
// projects on the normal cone N_C(θ), and Gap bounds sup_{x∈C} ⟨v, x⟩ − ⟨v, θ⟩ for θ ∈ C. Implementations are safe for
// concurrent use.
type Projector interface {
	Constraint
	Subdifferential
	// Project writes the point of C that is nearest to v to dst, which may be v.
	Project(dst, v []float64)
}

// Everywhere is C = ℝᵈ.
type Everywhere struct{}

// The methods of Projector.

func (Everywhere) Name() string                                 { return "none" }
func (Everywhere) Validate(int) error                           { return nil }
func (Everywhere) Contains([]float64) bool                      { return true }
func (Everywhere) Project(dst, v []float64)                     { copy(dst, v) }
func (Everywhere) Nearest(dst, _, _ []float64)                  { clear(dst) }
func (Everywhere) Gap(v, _ []float64) (slack, rounding float64) { clear(v); return 0, 0 }
