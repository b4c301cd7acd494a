package pure

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Objective is objective perturbation with pure ε: b has a density ∝ e^{−‖b‖/β}, and what is released is the minimiser
// of Problem with ⟨b,w⟩, to within τ/Λ, plus isotropic Laplace noise of the scale OutputScale, rounded to the grid
// exact.Grid(OutputScale). With the free curve the Jacobian costs nothing,
//
//	ε = C/β + 2τ/(Λ·OutputScale) under add/remove-one,  2C/β + … under replace-one.
//
// Source: Chaudhuri, Monteleoni, Sarwate 2011; Lowy 2026 (heavytail) for the extension.
// Proof: docs/theory/heavytail.md, dpnb-pure-objective, dpnb-free-jacobian, dpnb-total-release.
type Objective struct {
	Problem
	// Scale is β, OutputScale that of the second noise.
	Scale, OutputScale float64
	// Cosh is s of ln cosh, if that is the law of the curvature; zero is the free curve.
	Cosh float64
	// Stretch is what the distance of the release from w₀ is multiplied by, after all noise and so for nothing; zero is
	// 1.
	Stretch float64
	// Adjacency of the guarantee.
	Adjacency privacy.Adjacency
}

// bend returns the law of the extension's curvature, which the accounting is for.
func (m Objective) bend() loss.Bend {
	if m.Cosh > 0 {
		return loss.CoshBend(m.Clip, m.Cosh)
	}
	return curve(m.Clip, m.Scale, m.Lambda)
}

// Validate implements mechanism.Mechanism.
func (m Objective) Validate() error {
	if err := cmp.Or(m.Adjacency.Validate(),
		mechanism.Scales{{"Scale", m.Scale}, {"OutputScale", m.OutputScale}}.Check(),
		privacy.Within(m.Cosh >= 0 && !math.IsInf(m.Cosh, 1), "Cosh", m.Cosh,
			"a positive number, or 0 for the free curve"),
		privacy.Within(m.Stretch >= 0 && m.Stretch <= 0x1p100, "Stretch", m.Stretch,
			"a positive number, or 0 for none")); err != nil {
		return err
	}
	return m.validate(m.bend)
}

// Epsilon returns ε, rounded up.
func (m Objective) Epsilon() float64 {
	eps := objective.PureFree(m.Clip, m.Scale)
	if m.Cosh > 0 {
		eps = objective.PureParabola(m.Clip, m.Scale, m.Cosh, m.Lambda)
	}
	if m.Adjacency == privacy.ReplaceOne {
		eps += objective.PureFree(m.Clip, m.Scale)
	}
	return (eps + 2*m.reach()/m.OutputScale) * (1 + 0x1p-50)
}

// Event implements mechanism.Mechanism.
func (m Objective) Event() (privacy.Event, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return privacy.Pure(m.Epsilon(), m.Adjacency), nil
}

// Describe implements mechanism.Mechanism.
func (m Objective) Describe() mechanism.Description {
	return mechanism.Description{
		Name:      "objective perturbation, pure ε",
		Source:    "Chaudhuri, Monteleoni, Sarwate 2011, with the Lipschitz extension of Lowy 2026 (heavytail)",
		Adjacency: m.Adjacency, Bound: "pure ε: slope and curvature of a record together (docs/theory/heavytail.md)",
		Assumptions: m.assumptions(m.Adjacency), Lambda: m.Lambda,
	}
}

// String describes the mechanism with its parameters.
func (m Objective) String() string {
	law := "free curve"
	if m.Cosh > 0 {
		law = fmt.Sprintf("ln cosh, s = %.5g", m.Cosh)
	}
	if m.Stretch > 0 {
		law += fmt.Sprintf(", then times %.5g from its centre", m.Stretch)
	}
	return fmt.Sprintf("objective perturbation with pure ε (%v, β = %.5g, output noise %.3g, %s)", &m.Problem,
		m.Scale, m.OutputScale, law)
}

// least returns Problem.least.
func (m Objective) least(features int) func(records int) float64 {
	return func(records int) float64 {
		return m.Problem.least(m.bend(), features, records, m.blur(features, records))
	}
}

// blur bounds Λη/(Λ + μ/2) for noise of any size: the float64 next to b are off by η ≤ 4u‖b‖ + β√d·2⁻⁶⁰, and beyond S =
// nC + ΛR the multiplier μ is at least (‖b‖ − S)/R, so that the first term lies between 4uS and 8uΛR there.
func (m Objective) blur(features, records int) float64 {
	return 4.05*u*(float64(records)*m.Clip+2*m.Lambda*m.Radius) + 1.1*0x1p-60*m.Scale*math.Sqrt(float64(features))
}

// Feasible implements mechanism.Mechanism.
func (m Objective) Feasible(features, records int) error {
	return m.feasible(records, m.least(features))
}

// Check implements mechanism.Mechanism: it looks at parameters and shapes alone.
func (m Objective) Check(rows matrix.Rows, labels []float64) error {
	return m.check(m, rows, labels)
}

// Run implements mechanism.Mechanism. It always releases; MaxPasses of the settings is not heeded.
func (m Objective) Run(
	rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings,
) (*mechanism.Release, error) {
	r, err := m.run(m, m.bend(), m.Scale, m.OutputScale, rows, labels, src, settings)
	if err == nil && m.Stretch > 0 {
		for j, w := range r.Coefficients {
			centre := 0.0
			if m.Centre != nil {
				centre = m.Centre[j]
			}
			r.Coefficients[j] = centre + m.Stretch*(w-centre)
		}
	}
	return r, err
}
