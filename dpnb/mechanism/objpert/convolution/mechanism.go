package convolution

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// COP is convolution-then-objective-perturbation: it releases a minimiser of
//
//	J(θ) = Σᵢ Σⱼ f(aᵢⱼᵀθ; yᵢⱼ) + (λ/2)‖θ − c‖² + bᵀθ,  b ~ N(0, σ²I),
//	θ̃ with ‖∇J(θ̃)‖₂ ≤ τ,  released: θ̃ + N(0, σ_out²I),
//
// a sum over the records, not a mean: cop's λ is λ/(2n) here, and its c is 0. Every parameter is chosen without looking
// at the records, c too, or from what was released before (Recentred). With Pieces the inner sum is g(Aᵢθ − yᵢ).
type COP struct {
	Loss
	// Lambda is λ > 0, Sigma is σ > 0.
	Lambda, Sigma float64
	// Stack is c > 0, how much of D goes to the rows of A in ByRows, where there is an Other; zero is what bounds the
	// norm of the whole gradient least.
	Stack float64
	// Centre is the centre c, of length d; nil is 0.
	Centre []float64
	// Tolerance is τ > 0, OutputSigma is σ_out > 0: as objpert.Objective has them.
	Tolerance, OutputSigma float64
	// Account is how to account; zero is ByRows.
	Account Account
	// From is the ε from which FreeCurvature is claimed; the other accounts want none.
	From float64
	// Unproved says, in a result, that σ and λ come from a theorem that is not proved; the guarantee is that of Account
	// all the same. Empty for none.
	Unproved string
}

// Validate implements mechanism.Mechanism.
func (m COP) Validate() error {
	if err := m.Loss.validate(); err != nil {
		return err
	}
	scales := mechanism.Scales{{"Lambda", m.Lambda}, {"Sigma", m.Sigma}, {"Tolerance", m.Tolerance},
		{"OutputSigma", m.OutputSigma}}
	if err := cmp.Or(scales.Check(),
		privacy.Within(m.Stack >= 0 && !math.IsInf(m.Stack, 1), "Stack", m.Stack,
			"a positive finite number, or 0")); err != nil {
		return err
	}
	for _, c := range m.Centre {
		if math.IsNaN(c) || math.IsInf(m.Lambda*c, 0) {
			return &privacy.ParamError{Name: "Centre", Value: c, Want: "finite numbers"}
		}
	}
	_, err := m.event()
	return err
}

// String describes the mechanism with its parameters.
func (m COP) String() string {
	around := ""
	if m.Centre != nil {
		around = " around a centre"
	}
	norm := "‖A‖₂"
	if m.ByRow {
		norm = "each row"
	}
	other := ""
	if m.Other != nil {
		other = fmt.Sprintf(" and %s loss, ‖z‖ ≤ %.5g", m.Other.Name(), m.OtherNorm)
	}
	return fmt.Sprintf("convolved objective perturbation (%d × %s, %s ≤ %.5g%s, λ = %.5g%s, σ = %.5g, τ = %.3g, "+
		"σ_out = %.3g)",
		m.Forms, m.name(), norm, m.Norm, other, m.Lambda, around, m.Sigma, m.Tolerance, m.OutputSigma)
}

// Describe implements mechanism.Mechanism.
func (m COP) Describe() mechanism.Description {
	scaled := fmt.Sprintf("every record is scaled to ‖A‖₂ ≤ %s, its labels with it", privacy.FormatUp(m.Norm, 6))
	if m.ByRow {
		scaled = fmt.Sprintf("every row of a record is scaled to a norm of at most %s, its label with it",
			privacy.FormatUp(m.Norm, 6))
	}
	d := mechanism.Description{
		Name: "convolved objective perturbation", Source: "Anonymous, Exploiting Hidden Symmetry (cop), Algorithm 1, " +
			"with proved accounting",
		Adjacency: privacy.AddRemove, Bound: m.Account.theorem(), Lambda: m.Lambda,
		Assumptions: []string{
			fmt.Sprintf("a record is %d rows for Aθ − y; %s, and one with an entry that is not finite counts as zero",
				m.Forms, scaled),
			mechanism.Chosen("the bound on ‖A‖₂, the " + m.name() + ", λ, its centre, σ, τ and σ_out"),
			"every label that could be in the data is " + m.labels(),
			mechanism.ExactNoise,
			mechanism.Unseen,
		},
	}
	if m.Other != nil {
		d.Assumptions = append(d.Assumptions, fmt.Sprintf(
			"each record has one more row, scaled to ‖z‖ ≤ %s, with the %s loss, whose labels are %s",
			privacy.FormatUp(m.OtherNorm, 6), m.Other.Name(), m.Other.Labels()))
	}
	if m.Unproved != "" {
		d.Assumptions = append(d.Assumptions, m.Unproved)
	}
	return d
}

// Event implements mechanism.Mechanism.
func (m COP) Event() (privacy.Event, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return m.event()
}

// feasibility is what is known before there are records.
func (m COP) feasibility(features, records int) objpert.Feasibility {
	return objpert.Feasibility{Lipschitz: m.Lipschitz(), Smoothness: m.Smoothness(), Lambda: m.Lambda, Sigma: m.Sigma,
		Tolerance: m.Tolerance,
		Features:  features, Coefficients: features, Records: records}
}

// Feasible implements mechanism.Mechanism. records are records, not rows.
func (m COP) Feasible(features, records int) error {
	return m.feasibility(features, records).Sure()
}

// Check implements mechanism.Mechanism.
func (m COP) Check(rows matrix.Rows, labels []float64) error {
	if err := m.Loss.check(rows, labels); err != nil {
		return err
	}
	_, d := rows.Dims()
	if m.Centre != nil && len(m.Centre) != d {
		return &matrix.DataError{Text: fmt.Sprintf("the records have %d features, and Centre has %d", d, len(m.Centre))}
	}
	return m.feasibility(d, 0).Validate()
}

// Run implements mechanism.Mechanism.
func (m COP) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	r, err := mechanism.Begin(m, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	if r.Coefficients, err = m.release(rows, labels, noise.Exact(src), settings); err != nil {
		return nil, err
	}
	r.Tolerance, r.NoiseScale = m.Tolerance, m.Sigma
	return r, nil
}

// release draws both noises, minimises and adds the second.
func (m COP) release(rows matrix.Rows, labels []float64, draw *exact.Sampler, settings *mechanism.Settings) ([]float64,
	error) {
	_, d := rows.Dims()
	b := make([]float64, d)
	eta := draw.FillNormal(b, m.Sigma)
	xi := draw.Normals(d)
	theta, err := m.minimise(rows, labels, b, mechanism.Tightened(m.Tolerance, eta), settings)
	if err != nil {
		return nil, err
	}
	xi.AddRounded(theta, m.OutputSigma, exact.Grid(m.OutputSigma))
	return theta, nil
}

// minimise returns θ within tolerance/λ of the minimiser for the linear term b.
func (m COP) minimise(rows matrix.Rows, labels, b []float64, tolerance float64, settings *mechanism.Settings) (
	[]float64, error) {
	pull := append([]float64(nil), b...)
	for j, c := range m.Centre {
		// (λ/2)‖θ − c‖² is (λ/2)‖θ‖² − λcᵀθ and a constant. The two roundings are within 2⁻⁵³ of their results each.
		shift := m.Lambda * c
		pull[j] -= shift
		tolerance -= 0x1p-52 * (math.Abs(pull[j]) + math.Abs(shift))
	}
	p := m.Loss.problem(rows, labels)
	p.Lambda, p.Linear = m.Lambda, pull
	return mechanism.Minimised(&p, tolerance, m.Tolerance, settings)
}

// project returns θ moved to the ball of the given radius about 0.
func project(theta []float64, radius float64) []float64 {
	out := append([]float64(nil), theta...)
	if n := floats.Norm(out, 2); n > radius {
		floats.Scale(radius/n, out)
	}
	return out
}
