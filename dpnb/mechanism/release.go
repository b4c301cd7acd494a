// Package mechanism has the private learning algorithms: each takes records,
// parameters and a source of noise, and returns a release that carries its
// guarantee.
package mechanism

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Guarantee is what a release is proved to satisfy.
type Guarantee struct {
	// Epsilon and Delta: the release is (ε, δ)-differentially private.
	Epsilon, Delta float64
	Adjacency      privacy.Adjacency
	// Profile bounds δ at every ε.
	Profile privacy.Profile
	// Bound names the theorem by which Profile was computed.
	Bound string
	// Assumptions that the guarantee rests on, in words.
	Assumptions []string
}

// ExactNoise is what a guarantee still assumes of arithmetic and chance where its
// proof is about what is computed: docs/theory/release.md.
const ExactNoise = "random bits are fair and independent, as a cryptographic generator's are taken to be, and float64 arithmetic is IEEE 754's; its rounding is part of the proof"

// Words states the guarantee for a reader who has never met it.
func (g Guarantee) Words() string {
	if !(g.Epsilon > 0) {
		return "no (ε, δ) was stated; ask the profile for one."
	}
	neighbours := "adding or removing any one record"
	if g.Adjacency == privacy.ReplaceOne {
		neighbours = "replacing any one record"
	}
	return fmt.Sprintf("(ε = %s, δ = %s), %s-one: %s changes the probability of any result by a factor of at most e^ε ≤ %s, up to a probability of δ.",
		roundedUp(g.Epsilon, 6), roundedUp(g.Delta, 3), g.Adjacency, neighbours, factor(g.Epsilon))
}

// Release is the output of a mechanism. Nothing in it but Coefficients depends
// on the records: no count, no gradient norm, no running time.
type Release struct {
	// Coefficients θ, in the order of the features.
	Coefficients []float64
	Guarantee    Guarantee
	// Mechanism describes the algorithm with its parameters, in a line.
	Mechanism string
	// Tolerance τ that the solver certified: ‖∇J(θ)‖₂ ≤ τ before the output
	// noise. The norm itself depends on the records and is not released.
	Tolerance float64
	// NoiseScale is the standard deviation of each coordinate of the noise: in the
	// objective, in the sum of gradients of each step, or on the output.
	NoiseScale float64
	// origin of the noise. Nobody can set it but by DrawnFrom.
	origin noise.Origin
}

// Simulated reports whether the noise could be known to somebody, as that of a seed
// is, or was drawn by no mechanism: the release then protects nobody.
func (r *Release) Simulated() bool { return r.origin.Simulated() }

// Seed returns the seed of a simulation; ok is false if there is none.
func (r *Release) Seed() (seed uint64, ok bool) { return r.origin.Seed() }

// Warning returns what must be printed wherever the release is, or "".
func (r *Release) Warning() string { return r.origin.Warning() }

// DrawnFrom records that noise of the release was drawn from src. A release that was
// once a simulation remains one.
func (r *Release) DrawnFrom(src noise.Source) { r.origin = r.origin.And(src) }

// factor prints e^ε for readers, rounded up.
func factor(eps float64) string {
	if eps > 20 {
		return "exp(" + roundedUp(eps, 6) + ")"
	}
	return roundedUp(math.Nextafter(math.Exp(eps), math.Inf(1)), 3)
}

// roundedUp prints x ≥ 0 with at most the given number of digits, never less
// than x: a privacy figure that is printed is one that holds.
func roundedUp(x float64, digits int) string { return privacy.FormatUp(x, digits) }

// Settings of a run; nil is right. None of them has a part in the guarantee.
type Settings struct {
	// Workers is the number of goroutines; zero means one for each processor.
	Workers int
	// MaxPasses of the solver; zero means as many as it takes: a fit that is cut short
	// releases nothing, which is for no adversary to see.
	MaxPasses int
}

// ErrNoSource is the error of a run without a source of noise.
var ErrNoSource = errors.New("mechanism: a source of noise is required: noise.NewSecure() for a release, noise.NewSeeded(seed) for a simulation")
