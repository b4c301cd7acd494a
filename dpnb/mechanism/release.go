package mechanism

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dpnb/notebooks/dpnb/internal/permit"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Guarantee is what a release is proved to satisfy.
type Guarantee struct {
	// Epsilon and Delta: the release is (ε, δ)-differentially private.
	Epsilon, Delta float64
	Adjacency      privacy.Adjacency
	// Rows of a person that count, with all of whom neighbours differ; 0 says that they differ by a record.
	Rows int
	// Profile bounds δ at every ε.
	Profile privacy.Profile
	// Bound names the theorem by which Profile was computed.
	Bound string
	// Assumptions that the guarantee rests on, in words.
	Assumptions []string
}

// Unit is by what neighbours differ, a record or a person.
func (g Guarantee) Unit() string {
	if g.Rows > 0 {
		return "person"
	}
	return "record"
}

// Words states the guarantee for a reader who has never met it.
func (g Guarantee) Words() string {
	if !(g.Epsilon > 0) {
		return "no (ε, δ) was stated; ask the profile for one."
	}
	what, neighbours := g.Unit(), "adding or removing any one "
	if g.Adjacency == privacy.ReplaceOne {
		neighbours = "replacing any one "
	}
	switch {
	case g.Rows > 1:
		what += fmt.Sprintf(" with all of up to %d rows", g.Rows)
	case g.Rows == 1:
		what += ", of whose rows one counts,"
	}
	neighbours += what
	exception := ", up to a probability of δ."
	if g.Delta == 0 {
		exception = ", without exception."
	}
	return fmt.Sprintf("(ε = %s, δ = %s), %s: %s changes the probability of any result by a factor of at most e^ε "+
		"≤ %s%s", privacy.FormatUp(g.Epsilon, 6), privacy.FormatUp(g.Delta, 3), g.Adjacency.Words(), neighbours,
		factor(g.Epsilon), exception)
}

// largeDelta is the δ from which a guarantee warns: usual is far less than one over the number of records.
const largeDelta = 1e-3

// largeEpsilon is the ε from which a guarantee warns.
const largeEpsilon = 10

// Warning returns what must be printed wherever what is released is, or "": that δ is large, or ε.
func (g Guarantee) Warning() string {
	var large []string
	if g.Epsilon >= largeEpsilon {
		const guess = 0.001
		sure := 100 / (1 + (1-guess)/guess*math.Exp(-g.Epsilon))
		large = append(large, fmt.Sprintf("ε = %s is so large that the guarantee says next to nothing: who thinks it "+
			"1 in 1000 that a record was used may come to be as much as %s %% sure of it.",
			privacy.FormatUp(g.Epsilon, 6), strconv.FormatFloat(math.Min(math.Ceil(100*sure)/100, 100), 'g', -1, 64)))
	}
	if g.Delta >= largeDelta {
		large = append(large, fmt.Sprintf("δ = %s is large: with that probability a result may give a whole record "+
			"away. Usual is far less than one over the number of records, for example 1e-6.",
			privacy.FormatUp(g.Delta, 3)))
	}
	return strings.Join(large, " ")
}

// Release is the output of a mechanism. What in it depends on the records is paid for: Coefficients, Also, and what
// Fitted and Mechanism say of a choice that the guarantee covers. No count, no gradient norm, no running time.
type Release struct {
	// Coefficients θ, in the order of the features.
	Coefficients []float64
	Guarantee    Guarantee
	// Mechanism describes the algorithm with its parameters, in a line.
	Mechanism string
	// Tolerance τ that the solver certified: ‖∇J(θ)‖₂ ≤ τ before the output noise. The norm itself depends on the
	// records and is not released.
	Tolerance float64
	// NoiseScale is the standard deviation of each coordinate of the noise: in the objective, in the sum of gradients
	// of each step, or on the output.
	NoiseScale float64
	// Fitted is the mechanism with the parameters that it ran with: those too that an earlier part of it, which the
	// guarantee covers, has chosen. Nil for a release that was put together by hand.
	Fitted Mechanism
	// Also is what was released beside the coefficients, which the mechanism's documentation says: an
	// *interval.Moments, an *sgd.Selected. Nil for nothing.
	Also any
	// origin of the noise, which Begin and Stamp alone set.
	origin noise.Origin
}

// Simulated reports whether the noise could be known to somebody, as that of a seed is, or was drawn by no mechanism:
// the release then protects nobody.
func (r *Release) Simulated() bool { return r.origin.Simulated() }

// Seed returns the seed of a simulation; ok is false if there is none.
func (r *Release) Seed() (seed uint64, ok bool) { return r.origin.Seed() }

// Warning returns what must be printed wherever the release is, or "".
func (r *Release) Warning() string { return r.origin.Warning() }

// Stamp records that the noise of r was drawn from src, where no Begin has begun it. It takes a permit, without which r
// remains of the origin that it has, unknown where it was put together by hand.
func (r *Release) Stamp(p permit.Permit, src noise.Source) {
	if permit.Given(p) {
		r.origin = noise.OriginOf(src)
	}
}

// Clone returns a copy of r that shares no numbers of it, but for those of Fitted and of an Also without CloneAlso.
func (r *Release) Clone() *Release {
	out := *r
	out.Coefficients, out.Guarantee.Assumptions = slices.Clone(r.Coefficients), slices.Clone(r.Guarantee.Assumptions)
	out.Also = CloneAlso(r.Also)
	return &out
}

// CloneAlso returns a copy of what was released beside coefficients, where that has a method of this name.
func CloneAlso(also any) any {
	if a, ok := also.(interface{ CloneAlso() any }); ok {
		return a.CloneAlso()
	}
	return also
}

// factor prints e^ε for readers, rounded up.
func factor(eps float64) string {
	if eps > 20 {
		return "exp(" + privacy.FormatUp(eps, 6) + ")"
	}
	return privacy.FormatUp(math.Nextafter(math.Exp(eps), math.Inf(1)), 3)
}
