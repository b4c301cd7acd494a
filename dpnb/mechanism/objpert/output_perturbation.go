package objpert

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Output releases the minimiser of a strongly convex objective with noise:
//
//	J(θ) = Σᵢ f(xᵢᵀθ; yᵢ) + (λ/2)‖θ‖²,
//	θ̃ with ‖∇J(θ̃)‖₂ ≤ τ,  released: θ̃ + z,
//
// z ~ N(0, σ²I) for (ε, δ), or of density ∝ exp(−‖z‖₂/b) for pure ε; the sum of the real numbers is rounded to the grid
// exact.Grid(σ) or exact.Grid(b). A sum over the records, not a mean; the ridge acts on every coordinate. One record
// more or less moves θ̃ by at most Δ = (L + 2τ)/λ. Every parameter, λ included, is chosen without looking at the
// records.
//
// Source: Chaudhuri, Monteleoni, Sarwate 2011, section 3.2, with the analytic Gaussian mechanism; Dwork, Tankala, Zhang
// 2024 (dtz24), section 6.
// Proof: docs/theory/sgd.md, section 5.
type Output struct {
	// Loss f, of bounded slope; loss.ClippedAt makes it so.
	Loss loss.Loss
	// RowNorm is R: every record has ‖x‖₂ ≤ R, the bias included.
	RowNorm float64
	// Lambda is λ > 0, Tolerance is τ > 0.
	Lambda, Tolerance float64
	// Sigma is σ of the Gaussian noise, Scale is b of the isotropic Laplace noise. One of them is positive, the other
	// zero.
	Sigma, Scale float64
}

// objective is the objective perturbation of the same loss and records: its constants and its checks are the ones
// needed here.
func (m Output) objective() Objective {
	return Objective{Loss: m.Loss, RowNorm: m.RowNorm, Lambda: m.Lambda, Sigma: 1, Tolerance: m.Tolerance,
		OutputSigma: 1}
}

// Sensitivity returns Δ = (L + 2τ)/λ, rounded up, L = R·sup|f′|.
func (m Output) Sensitivity() float64 {
	return (m.objective().Lipschitz() + 2*m.Tolerance) / m.Lambda * (1 + 0x1p-50)
}

// Validate returns a *privacy.ParamError if a parameter is out of range, or an error that wraps privacy.ErrUnsupported
// if the loss has no bounded slope.
func (m Output) Validate() error {
	if err := m.objective().Validate(); err != nil {
		return err
	}
	name, value, other := "Sigma", m.Sigma, m.Scale
	if m.Sigma == 0 {
		name, value, other = "Scale", m.Scale, m.Sigma
	}
	if !(value > 0) || math.IsInf(value, 1) || other != 0 {
		return &privacy.ParamError{Name: name, Value: value,
			Want: "a positive finite number, and one of Sigma and Scale zero"}
	}
	return mechanism.Scales{{name, value}}.Check()
}

// Event implements mechanism.Mechanism. Its profile is exact for a record that moves the minimiser by Δ, an upper bound
// for all.
func (m Output) Event() (privacy.Event, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if m.Sigma > 0 {
		return privacy.Gaussian{Sigma: m.Sigma, Sensitivity: m.Sensitivity()}, nil
	}
	return privacy.IsotropicLaplace{Scale: m.Scale, Sensitivity: m.Sensitivity()}, nil
}

// Describe implements mechanism.Mechanism.
func (m Output) Describe() mechanism.Description {
	return mechanism.Description{
		Name: "output perturbation", Source: "Chaudhuri, Monteleoni, Sarwate 2011, section 3.2; Dwork, Tankala, " +
			"Zhang " +
			"2024 (dtz24), section 6",
		Adjacency: privacy.AddRemove, Bound: m.boundName(), Lambda: m.Lambda,
		Assumptions: []string{
			mechanism.RowsWithin(m.RowNorm),
			mechanism.Chosen("λ, τ, the noise, the " + m.Loss.Name() + " loss and its parameters"),
			"every label that could be in the data is " + m.Loss.Labels(),
			mechanism.ExactNoise,
			mechanism.Unseen,
		},
	}
}

// boundName names the theorem behind the event's profile.
func (m Output) boundName() string {
	if m.Sigma > 0 {
		return "the analytic Gaussian mechanism's (Balle and Wang 2018) at sensitivity (L + 2τ)/λ"
	}
	return "isotropic Laplace noise at sensitivity (L + 2τ)/λ: pure ε"
}

// String describes the mechanism with its parameters.
func (m Output) String() string {
	law := fmt.Sprintf("σ = %.5g", m.Sigma)
	if m.Sigma == 0 {
		law = fmt.Sprintf("isotropic Laplace noise, b = %.5g", m.Scale)
	}
	return fmt.Sprintf("output perturbation (%s loss, ‖x‖ ≤ %.5g, λ = %.5g, τ = %.3g, %s)", m.Loss.Name(), m.RowNorm,
		m.Lambda, m.Tolerance, law)
}

// Check implements mechanism.Mechanism.
//
// Errors: *matrix.DataError for records that no fit can use or that are longer than RowNorm.
func (m Output) Check(rows matrix.Rows, labels []float64) error {
	return m.objective().checkRecords(rows, labels)
}

// Feasible implements mechanism.Mechanism: the solver needs no noise, and arrives.
func (m Output) Feasible(features, records int) error { return nil }

// Run implements mechanism.Mechanism.
func (m Output) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	r, err := mechanism.Begin(m, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	_, d := rows.Dims()
	// The first digits of the noise are drawn before the records are read.
	draw := noise.Exact(src)
	var xi mechanism.Noise
	scale, deviation := m.Sigma, m.Sigma
	if m.Sigma > 0 {
		xi = draw.Normals(d)
	} else {
		xi = draw.IsotropicLaplace(d)
		scale, deviation = m.Scale, m.Scale*math.Sqrt(float64(d)+1)
	}
	if r.Coefficients, err = m.objective().minimise(rows, labels, nil, m.Tolerance, settings); err != nil {
		return nil, err
	}
	xi.AddRounded(r.Coefficients, scale, exact.Grid(scale))
	r.Tolerance, r.NoiseScale = m.Tolerance, deviation
	return r, nil
}

// OutputConfig asks for an Output that satisfies (ε, δ) under add/remove-one. None of it may depend on the records.
type OutputConfig struct {
	Loss    loss.Loss
	RowNorm float64
	// Lambda is λ > 0. There is no default: larger ones want less noise and leave less of the records.
	Lambda float64
	// Epsilon > 0; 0 ≤ Delta < 1, zero asking for pure ε.
	Epsilon, Delta float64
	// Tolerance is τ; zero means 1e-6·L.
	Tolerance float64
	// Clip C > 0 clips every gradient at norm C (loss.ClippedAt); zero does not clip.
	Clip float64
}

// CalibrateOutput returns the mechanism with the least noise that is proved to satisfy (ε, δ).
//
// Errors: *privacy.ParamError; an error that wraps privacy.ErrUnsupported for a loss of unbounded slope.
func CalibrateOutput(c OutputConfig) (Output, error) {
	m := Output{Loss: c.Loss, RowNorm: c.RowNorm, Lambda: c.Lambda, Tolerance: 1, Sigma: 1}
	if c.Clip != 0 && c.Loss != nil {
		m.Loss = loss.ClippedAt(c.Loss, c.Clip, c.RowNorm)
	}
	if err := m.Validate(); err != nil {
		return m, err
	}
	m.Tolerance = cmp.Or(c.Tolerance, 1e-6*m.objective().Lipschitz())
	if err := cmp.Or(m.Validate(), privacy.Positive("Epsilon", c.Epsilon),
		privacy.Within(c.Delta >= 0 && c.Delta < 1, "Delta", c.Delta, "a number in [0, 1)")); err != nil {
		return m, err
	}
	eps, delta := privacy.Typed(c.Epsilon, c.Delta)
	if c.Delta == 0 {
		m.Sigma, m.Scale = 0, m.Sensitivity()/eps*(1+1e-15)
		return m, m.Validate()
	}
	unit, err := privacy.GaussianSigma(eps, delta)
	if err != nil {
		return m, err
	}
	m.Sigma = unit * m.Sensitivity() * (1 + 1e-15)
	return m, m.Validate()
}
