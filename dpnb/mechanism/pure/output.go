package pure

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Output is one output perturbation: the minimiser of Problem, to within r = τ/Λ, plus isotropic Laplace noise of the
// scale Scale, rounded to the grid exact.Grid(Scale). One record more or less moves the minimiser by at most C/Λ, and
// what is made noisy by
//
//	Δ = min(C/Λ + 2r, 2R),  under replace-one min(2C/Λ + 2r, 2R),
//
// R with what adding the centre rounds, and ε = Δ/Scale. It never sees the curvature of the records, and so has much
// more noise than Objective where there is some.
//
// Source: Lowy 2026 (heavytail), algorithms 2 and 4, whose second stage is not needed.
// Proof: docs/theory/heavytail.md, dpnb-one-output.
type Output struct {
	Problem
	// Scale of the noise.
	Scale float64
	// Adjacency of the guarantee.
	Adjacency privacy.Adjacency
}

// bend returns the law of an extension as near to C‖·‖ as the solver likes: nothing is paid for curvature here.
func (m Output) bend() loss.Bend { return curve(m.Clip, 0, m.Lambda) }

// Validate implements mechanism.Mechanism.
func (m Output) Validate() error {
	if err := cmp.Or(m.Adjacency.Validate(), mechanism.Scales{{"Scale", m.Scale}}.Check()); err != nil {
		return err
	}
	return m.validate(m.bend)
}

// Sensitivity returns Δ, rounded up.
func (m Output) Sensitivity() float64 {
	move := m.Clip / m.Lambda
	if m.Adjacency == privacy.ReplaceOne {
		move *= 2
	}
	// What adding the centre rounds is part of the reach, but may leave the ball.
	widest := 2 * (m.Radius + 0x1p-52*(m.Radius+floats.Norm(m.Centre, 2)))
	return min(move+2*m.reach(), widest) * (1 + 0x1p-40)
}

// Event implements mechanism.Mechanism.
func (m Output) Event() (privacy.Event, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return privacy.Pure(math.Nextafter(m.Sensitivity()/m.Scale, math.Inf(1)), m.Adjacency), nil
}

// Describe implements mechanism.Mechanism.
func (m Output) Describe() mechanism.Description {
	return mechanism.Description{
		Name: "output perturbation, pure ε", Source: "Lowy 2026 (heavytail), algorithm 2 without the second stage",
		Adjacency:   m.Adjacency,
		Bound:       "isotropic Laplace noise at the sensitivity of the minimiser (docs/theory/heavytail.md)",
		Assumptions: m.assumptions(m.Adjacency), Lambda: m.Lambda,
	}
}

// String describes the mechanism with its parameters.
func (m Output) String() string {
	return fmt.Sprintf("output perturbation with pure ε (%v, isotropic Laplace noise of scale %.5g)", &m.Problem,
		m.Scale)
}

// least returns Problem.least, with nothing linear.
func (m Output) least(features int) func(records int) float64 {
	return func(records int) float64 { return m.Problem.least(m.bend(), features, records, 0) }
}

// Feasible implements mechanism.Mechanism.
func (m Output) Feasible(features, records int) error {
	return m.feasible(records, m.least(features))
}

// Check implements mechanism.Mechanism: it looks at parameters and shapes alone.
func (m Output) Check(rows matrix.Rows, labels []float64) error {
	return m.check(m, rows, labels)
}

// Run implements mechanism.Mechanism. It always releases.
func (m Output) Run(
	rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings,
) (*mechanism.Release, error) {
	return m.run(m, m.bend(), 0, m.Scale, rows, labels, src, settings)
}
