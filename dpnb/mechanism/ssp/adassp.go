package ssp

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// AdaSSP is adaptive sufficient-statistics perturbation. In units in which records have norm at most 1 and labels are
// at most 1,
//
//	ν = λ_min(XᵀX) + N(0, σ₁²),  A = XᵀX + E,  q = Xᵀy + N(0, σ₃²I),
//	ridge = max(0, B − max(0, ν − σ₁√(2 ln(1/ρ)))),  B = σ₂(√(2d) + √(2 ln(2/ρ))),
//	released: θ = (A + ridge·I)⁺q,
//
// where E is symmetric, N(0, σ₂²) on the diagonal and N(0, σ₂²/2) off it, ‖E‖ ≤ B but for a probability of ρ, and
// eigenvalues below σ₂ count as σ₂, so that the inverse is bounded whatever the noise. The three releases have μ² =
// 1/σ₁² + 1/σ₂² + 1/σ₃² together; what follows is post-processing.
//
// Source: Wang 2018, arXiv:1803.02596, Algorithm 2; the scaling of E, the joint accounting, B and the floor are ours.
// Proof: docs/theory/linear_baselines.md.
type AdaSSP struct {
	// RowNorm is R: every record has ‖x‖₂ ≤ R, the bias included. LabelBound is
	// Y: every label has |y| ≤ Y.
	RowNorm, LabelBound float64
	// SigmaEigen, SigmaGram and SigmaCross are σ₁, σ₂ and σ₃, in units of R², R² and R·Y.
	SigmaEigen, SigmaGram, SigmaCross float64
	// Failure is ρ in (0, 1).
	Failure float64
}

// AdaSSPConfig asks for an AdaSSP that satisfies (ε, δ).
type AdaSSPConfig struct {
	RowNorm, LabelBound float64
	// Epsilon > 0, 0 < Delta < 1.
	Epsilon, Delta float64
	Adjacency      privacy.Adjacency
	// EigenShare is what the smallest eigenvalue takes of μ²; XᵀX and Xᵀy take half each of what is left. Zero means
	// 0.1.
	EigenShare float64
	// Failure is ρ; zero means 0.05.
	Failure float64
}

// CalibrateAdaSSP returns the mechanism with the least noise that is proved to satisfy (ε, δ).
//
// Errors: *privacy.ParamError; an error that wraps privacy.ErrUnsupported for an adjacency other than add/remove-one.
func CalibrateAdaSSP(c AdaSSPConfig) (AdaSSP, error) {
	share := cmp.Or(c.EigenShare, 0.1)
	m := AdaSSP{RowNorm: c.RowNorm, LabelBound: c.LabelBound, SigmaEigen: 1, SigmaGram: 1, SigmaCross: 1,
		Failure: cmp.Or(c.Failure, 0.05)}
	if err := cmp.Or(m.Validate(),
		privacy.Within(share > 0 && share < 1, "EigenShare", c.EigenShare,
			"a number in (0, 1), or 0 for 0.1")); err != nil {
		return m, err
	}
	sigma, err := unitSigma(c.Epsilon, c.Delta, c.Adjacency)
	if err != nil {
		return m, err
	}
	sigma *= inflation * (1 + 1e-12)
	m.SigmaEigen = sigma / math.Sqrt(share)
	m.SigmaGram = sigma / math.Sqrt(0.5*(1-share))
	m.SigmaCross = m.SigmaGram
	return m, nil
}

// unitSigma returns the σ of a Gaussian mechanism of sensitivity 1 for (ε, δ).
func unitSigma(eps, delta float64, adj privacy.Adjacency) (float64, error) {
	if err := cmp.Or(privacy.CheckEpsilon(eps), privacy.CheckGaussianDelta(delta),
		mechanism.OnlyAddRemove(adj, perturbedMoments)); err != nil {
		return 0, err
	}
	return privacy.GaussianSigma(privacy.Typed(eps, delta))
}

// perturbedMoments is what an adjacency is refused for.
const perturbedMoments = "perturbed moments are"

// Validate returns a *privacy.ParamError if a parameter is out of range.
func (m AdaSSP) Validate() error {
	scales := mechanism.Scales{{"RowNorm", m.RowNorm}, {"LabelBound", m.LabelBound},
		{"SigmaEigen", m.SigmaEigen}, {"SigmaGram", m.SigmaGram}, {"SigmaCross", m.SigmaCross}}
	return cmp.Or(scales.Check(), privacy.Fraction("Failure", m.Failure))
}

// mu returns √(1/σ₁² + 1/σ₂² + 1/σ₃²), rounded up, what rounding costs included.
func (m AdaSSP) mu() float64 {
	return math.Hypot(math.Hypot(1/m.SigmaEigen, 1/m.SigmaGram), 1/m.SigmaCross) * inflation * (1 + 0x1p-48)
}

// Event implements mechanism.Mechanism: the Gaussian mechanism of μ. Its profile is exact but for what rounding is
// granted.
//
// Proof: docs/theory/linear_baselines.md, section 2.
func (m AdaSSP) Event() (privacy.Event, error) { return m.event(m) }

// event is that of a mechanism that costs what m does.
func (m AdaSSP) event(of mechanism.Mechanism) (privacy.Event, error) {
	mu := m.mu()
	if err := cmp.Or(of.Validate(), privacy.Within(!math.IsInf(mu, 1), "SigmaGram", m.SigmaGram,
		"noise that is not negligible beside what it hides")); err != nil {
		return nil, err
	}
	return mechanism.Known(of, privacy.GaussianProfile(mu, privacy.AddRemove), nil)
}

// Describe implements mechanism.Mechanism.
func (m AdaSSP) Describe() mechanism.Description {
	return mechanism.Description{
		Name: "AdaSSP", Source: "Wang 2018, arXiv:1803.02596, Algorithm 2",
		Adjacency: privacy.AddRemove, Bound: "Gaussian mechanisms composed: μ² adds (docs/theory/linear_baselines.md)",
		Assumptions: append(assumptions(m.RowNorm, m.LabelBound),
			"the smallest eigenvalue of XᵀX is computed to within 10·d·2⁻⁵³ of the largest, as is usual and not "+
				"proved"),
	}
}

// Feasible implements mechanism.Mechanism.
func (m AdaSSP) Feasible(int, int) error { return nil }

// String describes the mechanism with its parameters.
func (m AdaSSP) String() string {
	return fmt.Sprintf("AdaSSP (‖x‖ ≤ %.5g, |y| ≤ %.5g, σ of λ_min, XᵀX, Xᵀy = %.5g, %.5g, %.5g, ρ = %.3g)",
		m.RowNorm, m.LabelBound, m.SigmaEigen, m.SigmaGram, m.SigmaCross, m.Failure)
}

// NoiseNorm returns B: the noise in XᵀX of d features, in units of R², has a spectral norm above it with probability at
// most ρ.
func (m AdaSSP) NoiseNorm(d int) float64 {
	return m.SigmaGram * (math.Sqrt(2*float64(d)) + math.Sqrt(2*math.Log(2/m.Failure)))
}

// Check implements mechanism.Mechanism.
func (m AdaSSP) Check(rows matrix.Rows, labels []float64) error {
	return checkRecords(rows, labels, m.RowNorm, m.LabelBound)
}

// Run implements mechanism.Mechanism: that of one round, in which no label is clipped. It fails after its noise was
// drawn only if a matrix of noise had no eigenvalues that could be computed, which never happened.
func (m AdaSSP) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	return Boosted{m, m.LabelBound, 1}.run(m, rows, labels, src, settings)
}

// solver releases the smallest eigenvalue and the matrix, of which it makes the perturbed one, and returns the function
// that is q ↦ (A + ridge·I)⁺q of those releases alone.
func (m AdaSSP) solver(gram *mat.SymDense, ofEigen *exact.Noise, ofGram *exact.Symmetric) (
	func(q []float64) []float64, error) {
	least, err := smallestEigenvalue(gram)
	if err != nil {
		return nil, err
	}
	smallest := []float64{least}
	ofEigen.AddRounded(smallest, m.SigmaEigen, exact.Grid(m.SigmaEigen))
	addSymmetric(gram, ofGram, m.SigmaGram)
	// From here on nothing looks at the records.
	smallest[0] -= m.SigmaEigen * math.Sqrt(2*math.Log(1/m.Failure))
	ridge := math.Max(0, m.NoiseNorm(gram.SymmetricDim())-math.Max(0, smallest[0]))
	s, err := newSpectrum(gram)
	return func(q []float64) []float64 {
		return s.solve(q, func(e float64) float64 { return 1 / math.Max(e+ridge, m.SigmaGram) })
	}, err
}
