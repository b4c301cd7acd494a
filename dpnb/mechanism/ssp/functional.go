package ssp

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Noise is the law of the noise in the coefficients of the objective.
type Noise int

const (
	// Laplace noise, for pure ε-differential privacy.
	Laplace Noise = iota + 1
	// Gaussian noise, for (ε, δ).
	Gaussian
)

// Functional is the functional mechanism for the squared loss. In units in which records have norm at most 1 and labels
// are at most 1, the objective is the polynomial
//
//	½Σ(yᵢ − xᵢᵀw)² = const − Σ_j q_j w_j + Σ_j ½A_jj w_j² + Σ_{j<l} A_jl w_j w_l,  q = Xᵀy, A = XᵀX,
//
// to each coefficient of which noise is added; the constant moves no minimiser and is not released. Laplace noise has
// the scale b in every coefficient, one record moving them by Δ₁ = √d + d/2 at most. Gaussian noise is N(0, σ²) in q
// and in the orthonormal coordinates of A (diagonal σ, off it σ/√2), Δ₂ = √2. What is minimised is the perturbed
// polynomial with a ridge of four standard deviations of the noise off the diagonal; directions in which its curvature
// is then below one of them are left out, so that a minimum exists and is bounded.
//
// Source: Zhang, Zhang, Xiao, Yang, Winslett 2012, PVLDB 5(11), Algorithm 1 and sections 4 and 6 (regularisation,
// spectral trimming); add/remove-one, the sensitivities for ‖x‖₂ ≤ R and the Gaussian version are ours. Proof:
// docs/theory/linear_baselines.md.
type Functional struct {
	// RowNorm is R: every record has ‖x‖₂ ≤ R, the bias included. LabelBound is
	// Y: every label has |y| ≤ Y.
	RowNorm, LabelBound float64
	// Features is d: Laplace noise depends on it.
	Features int
	// Noise is Laplace or Gaussian, Scale its b or σ.
	Noise Noise
	Scale float64
}

// FunctionalConfig asks for a Functional that satisfies (ε, δ).
type FunctionalConfig struct {
	RowNorm, LabelBound float64
	Features            int
	// Epsilon > 0. Delta = 0 asks for pure ε and Laplace noise, Delta in (0, 1) for Gaussian noise.
	Epsilon, Delta float64
	Adjacency      privacy.Adjacency
}

// CalibrateFunctional returns the mechanism with the least noise that is proved to satisfy (ε, δ).
//
// Errors: *privacy.ParamError; an error that wraps privacy.ErrUnsupported for an adjacency other than add/remove-one.
func CalibrateFunctional(c FunctionalConfig) (Functional, error) {
	m := Functional{RowNorm: c.RowNorm, LabelBound: c.LabelBound, Features: c.Features, Noise: Gaussian, Scale: 1}
	if c.Delta == 0 {
		m.Noise = Laplace
	}
	if err := m.Validate(); err != nil {
		return m, err
	}
	if m.Noise == Gaussian {
		sigma, err := unitSigma(c.Epsilon, c.Delta, c.Adjacency)
		if err != nil {
			return m, err
		}
		m.Scale = sigma * m.Sensitivity() * (1 + 1e-12)
		return m, nil
	}
	if err := cmp.Or(privacy.CheckEpsilon(c.Epsilon),
		mechanism.OnlyAddRemove(c.Adjacency, perturbedMoments)); err != nil {
		return m, err
	}
	m.Scale = m.Sensitivity() / math.Nextafter(c.Epsilon, 0) * (1 + 1e-12)
	return m, nil
}

// Sensitivity returns, in the units of Scale, by how much one record moves the coefficients: Δ₁ = √d + d/2 for Laplace
// noise, Δ₂ = √2 for Gaussian, and what rounding is granted.
func (m Functional) Sensitivity() float64 {
	if m.Noise == Laplace {
		d := float64(m.Features)
		return (math.Sqrt(d) + 0.5*d) * inflation
	}
	return math.Sqrt2 * inflation
}

// Validate returns a *privacy.ParamError if a parameter is out of range.
func (m Functional) Validate() error {
	return cmp.Or(
		privacy.Within(m.Features >= 1 && m.Features <= 1<<20, "Features", m.Features, "at least 1 and at most 2²⁰"),
		privacy.Within(m.Noise == Laplace || m.Noise == Gaussian, "Noise", int(m.Noise), "Laplace or Gaussian"),
		mechanism.Scales{{"RowNorm", m.RowNorm}, {"LabelBound", m.LabelBound}, {"Scale", m.Scale}}.Check())
}

// Event implements mechanism.Mechanism: the Laplace mechanism of Δ₁/b or the Gaussian one of Δ₂/σ.
//
// Proof: docs/theory/linear_baselines.md, section 3.
func (m Functional) Event() (privacy.Event, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if m.Noise == Laplace {
		return privacy.Laplace{Scale: m.Scale, Sensitivity: m.Sensitivity()}, nil
	}
	return privacy.Gaussian{Sigma: m.Scale, Sensitivity: m.Sensitivity()}, nil
}

// Describe implements mechanism.Mechanism.
func (m Functional) Describe() mechanism.Description {
	law := "Gaussian"
	if m.Noise == Laplace {
		law = "Laplace"
	}
	return mechanism.Description{
		Name: "functional mechanism", Source: "Zhang, Zhang, Xiao, Yang, Winslett 2012, Algorithm 1",
		Adjacency: privacy.AddRemove, Bound: law + " mechanism (docs/theory/linear_baselines.md)",
		Assumptions: assumptions(m.RowNorm, m.LabelBound),
	}
}

// Feasible implements mechanism.Mechanism.
func (m Functional) Feasible(features, _ int) error {
	return privacy.Within(features == m.Features, "Features", m.Features,
		fmt.Sprintf("%d, as many as the records have", features))
}

// String describes the mechanism with its parameters.
func (m Functional) String() string {
	law := fmt.Sprintf("Laplace noise, b = %.5g", m.Scale)
	if m.Noise == Gaussian {
		law = fmt.Sprintf("Gaussian noise, σ = %.5g", m.Scale)
	}
	return fmt.Sprintf("functional mechanism (‖x‖ ≤ %.5g, |y| ≤ %.5g, d = %d, %s)", m.RowNorm, m.LabelBound, m.Features,
		law)
}

// Check implements mechanism.Mechanism.
func (m Functional) Check(rows matrix.Rows, labels []float64) error {
	if err := checkRecords(rows, labels, m.RowNorm, m.LabelBound); err != nil {
		return err
	}
	if _, d := rows.Dims(); d != m.Features {
		return &matrix.DataError{Text: fmt.Sprintf("the records have %d features, the noise was calibrated for %d", d,
			m.Features)}
	}
	return nil
}

// Run implements mechanism.Mechanism. It fails after its noise was drawn only if a matrix of noise had no eigenvalues
// that could be computed, which never happened.
func (m Functional) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	r, err := mechanism.Begin(m, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	draw := noise.Exact(src)
	matrix, vector := draw.SymmetricNormals, draw.Normals
	if m.Noise == Laplace {
		matrix, vector = draw.SymmetricLaplaces, draw.Laplaces
	}
	ofGram, ofCross := matrix(m.Features), vector(m.Features)
	mo := newMoments(rows, labels, m.RowNorm, m.LabelBound, settings.Value().Workers)
	q := mo.cross
	deviation := m.Scale / math.Sqrt2 // of the noise off the diagonal of A
	r.NoiseScale = m.Scale * m.RowNorm * m.LabelBound
	if m.Noise == Laplace {
		deviation = math.Sqrt2 * m.Scale
		r.NoiseScale = deviation * m.RowNorm * m.LabelBound
		// Of the polynomial's coefficients: ½A_jj of w_j² and A_jl of w_j·w_l, j < l.
		ofGram.AddRounded(mo.gram, 2*m.Scale, m.Scale, exact.Grid(m.Scale))
	} else {
		addSymmetric(mo.gram, ofGram, m.Scale)
	}
	ofCross.AddRounded(q, m.Scale, exact.Grid(m.Scale))
	// From here on nothing looks at the records.
	r.Coefficients, err = solveEigen(mo.gram, q, func(e float64) float64 {
		if e += 4 * deviation; e >= deviation {
			return 1 / e
		}
		return 0
	})
	if err != nil {
		return nil, err
	}
	floats.Scale(m.LabelBound/m.RowNorm, r.Coefficients)
	return r, nil
}
