package multiclass

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Bound is how a Softmax is accounted for.
type Bound int

const (
	// Vertex is the bound by the classes that a record's probabilities can be drawn to (docs/theory/multiclass.md,
	// sections 3 to 5), for K = 2 the exact Gaussian case where that is proved. It is the default.
	Vertex Bound = iota
	// RankK is that of objective.RankK with k = K − 1, which knows of the loss its constants and its rank alone. It
	// costs about a fifth to two fifths more noise.
	RankK
)

// String returns the bound's name.
func (b Bound) String() string {
	switch b {
	case Vertex:
		return "vertex"
	case RankK:
		return "rank-k"
	}
	return fmt.Sprintf("Bound(%d)", int(b))
}

// Softmax is multinomial logistic regression by objective perturbation: with θ = (θ_1, …, θ_K), P the projection on Σ_c
// θ_c = 0,
//
//	J(θ) = Σᵢ [log Σ_c e^{xᵢᵀθ_c} − xᵢᵀθ_{yᵢ}] + (λ/2)‖θ‖² + ⟨B, θ⟩,  B = P·N(0, σ²I),
//	θ̃ with ‖∇J(θ̃)‖₂ ≤ τ,  released: P(θ̃ + N(0, σ_out²I)).
//
// A sum over the records, not a mean; the ridge acts on every coordinate, the intercepts included; a Penalty of each
// class is added to it. Noise outside Σ_c θ_c = 0 would not touch a single probability, and the guarantee is the same
// with it and without.
type Softmax struct {
	// Classes is K ≥ 2.
	Classes int
	// RowNorm is R: every record has ‖x‖₂ ≤ R, the bias included.
	RowNorm float64
	// Lambda is λ > 0, Sigma is σ > 0.
	Lambda, Sigma float64
	// Penalty is what shrinks the coefficients of each class besides λ.
	objpert.Penalty `json:",inline"`
	// Tolerance is τ > 0, OutputSigma is σ_out > 0; the output noise has the privacy loss of a Gaussian mechanism with
	// μ = 2τ/(λσ_out).
	Tolerance, OutputSigma float64
	// Bound is how to account; zero is Vertex.
	Bound Bound
}

// radius returns a bound on the true norm of every record that Check admits.
func (m Softmax) radius() float64 { return mechanism.Radius(m.RowNorm) }

// Lipschitz returns L = √2·R, the supremum of ‖(p − e_y) ⊗ x‖: approached where all the probability is on one wrong
// class.
func (m Softmax) Lipschitz() float64 { return math.Sqrt2 * (1 + 0x1p-52) * m.radius() }

// Smoothness returns s = R²/2: the largest eigenvalue of diag(p) − ppᵀ is at most 1/2, reached by two classes of
// probability 1/2.
func (m Softmax) Smoothness() float64 { return 0.5 * m.radius() * m.radius() }

// Validate returns a *privacy.ParamError if a parameter is out of range.
func (m Softmax) Validate() error {
	if m.Classes < 2 || m.Classes > 1<<20 {
		return &privacy.ParamError{Name: "Classes", Value: m.Classes, Want: "at least 2 and at most 2²⁰"}
	}
	scales := mechanism.Scales{{"RowNorm", m.RowNorm}, {"Lambda", m.Lambda}, {"Sigma", m.Sigma},
		{"Tolerance", m.Tolerance}, {"OutputSigma", m.OutputSigma}}
	return cmp.Or(scales.Check(), m.Penalty.Validate(m.Lambda),
		privacy.Within(m.Bound == Vertex || m.Bound == RankK, "Bound", int(m.Bound), "Vertex or RankK"),
		privacy.Within(m.Lipschitz()/m.Sigma < 1e150 && m.mu() < 1e150, "Sigma", m.Sigma,
			"noise that is not negligible beside what it hides"))
}

// mu returns 2τ/(λσ_out), rounded up.
func (m Softmax) mu() float64 {
	_, mu := privacy.ApproximateMinimum{Tolerance: m.Tolerance, Lambda: m.Lambda, SigmaOut: m.OutputSigma}.MuBounds()
	return mu
}

// Gaussian reports whether the noise in the objective is proved to cost exactly what the Gaussian mechanism of
// sensitivity L costs, at every ε: only for two classes, where the fit is logistic regression on records of norm √2·R.
func (m Softmax) Gaussian() bool {
	if m.Classes != 2 {
		return false
	}
	c, err := loss.CurveOf(loss.Logistic{}, m.Lipschitz())
	return err == nil && objective.IsGaussian(c, m.Lambda, m.Sigma)
}

// Profile returns the privacy profile of one release under add/remove-one.
//
// Bound: upper, for every ε. Errors: as Validate.
// Proof: docs/theory/multiclass.md.
func (m Softmax) Profile() (privacy.Profile, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	switch {
	case m.Bound == RankK:
		return m.rankProfile()
	case m.Gaussian():
		a := math.Nextafter(m.Lipschitz()/m.Sigma, math.Inf(1))
		return privacy.GaussianProfile(math.Hypot(a, m.mu())*(1+0x1p-50), privacy.AddRemove), nil
	}
	return newVertexProfile(m.Classes, m.radius(), m.Lambda, m.Sigma, m.mu()), nil
}

// rankProfile composes the rank-(K−1) bound with the output noise.
func (m Softmax) rankProfile() (privacy.Profile, error) {
	k := float64(m.Classes)
	objective, err := objective.RankK{
		Rank: m.Classes - 1, Smoothness: m.Smoothness(), Slope: m.Lipschitz(),
		Trace: m.radius() * m.radius() * (1 - 1/k) * (1 + 0x1p-50), Lambda: m.Lambda, Sigma: m.Sigma,
	}.Profile(privacy.AddRemove)
	if err != nil {
		return nil, err
	}
	return shifted{objective, m.mu()}, nil
}

// boundName names the theorem behind Profile.
func (m Softmax) boundName() string {
	switch {
	case m.Bound == RankK:
		return fmt.Sprintf("rank %d (docs/theory/objective_perturbation.md, section 9)", m.Classes-1)
	case m.Gaussian():
		return "exact: the Gaussian mechanism's (docs/theory/multiclass.md, section 2)"
	}
	return "vertex (docs/theory/multiclass.md, sections 3 to 5)"
}

// String describes the mechanism with its parameters.
func (m Softmax) String() string {
	return fmt.Sprintf("softmax objective perturbation (%d classes, ‖x‖ ≤ %.5g, %s, σ = %.5g, τ = %.3g, σ_out = "+
		"%.3g)",
		m.Classes, m.RowNorm, m.Penalty.Words(m.Lambda), m.Sigma, m.Tolerance, m.OutputSigma)
}

// Event implements mechanism.Mechanism.
func (m Softmax) Event() (privacy.Event, error) {
	p, err := m.Profile()
	return mechanism.Known(m, p, err)
}

// Describe implements mechanism.Mechanism.
func (m Softmax) Describe() mechanism.Description {
	return mechanism.Description{
		Name: "objective perturbation", Source: "ours, after rkw23, Algorithm 2 (docs/theory/multiclass.md)",
		Adjacency: privacy.AddRemove, Bound: m.boundName(), Lambda: m.Lambda + m.Shrinkage,
		Assumptions: []string{
			mechanism.RowsWithin(m.RowNorm),
			mechanism.Chosen("the classes, λ, σ, τ and σ_out"),
			mechanism.ExactNoise,
			mechanism.Unseen,
		},
	}
}

// Check implements mechanism.Mechanism. labels are classes, 0 … K − 1.
func (m Softmax) Check(rows matrix.Rows, labels []float64) error {
	longest, err := m.problem(rows, labels).ValidateNorm()
	if err != nil {
		return err
	}
	if err := mechanism.CheckNorm(longest, m.RowNorm); err != nil {
		return err
	}
	_, d := rows.Dims()
	return cmp.Or(m.Penalty.Check(d), m.feasibility(d).Validate())
}

// problem is the objective without its noise.
func (m Softmax) problem(rows matrix.Rows, labels []float64) *erm.Problem {
	p := &erm.Problem{Rows: rows, Labels: labels, Joint: loss.Softmax{Classes: m.Classes}, Lambda: m.Lambda}
	_, d := rows.Dims()
	if w := m.Shrink(d); w != nil {
		p.Shrinkage = slices.Repeat(w, m.Classes)
	}
	if q := m.Quadratic(d); q != nil {
		p.Quadratic = mat.NewSymDense(m.Classes*d, nil)
		for c := range m.Classes {
			for i := range d {
				for j := i; j < d; j++ {
					p.Quadratic.SetSym(c*d+i, c*d+j, q.At(i, j))
				}
			}
		}
	}
	return p
}

// feasibility is what is known of fits with so many features.
func (m Softmax) feasibility(features int) objpert.Feasibility {
	return objpert.Feasibility{Lipschitz: m.Lipschitz(), Smoothness: m.Smoothness(), Lambda: m.Stiffest(m.Lambda),
		Sigma: m.Sigma, Tolerance: m.Tolerance,
		Features: features, Coefficients: (m.Classes - 1) * features, Centred: m.Classes}
}

// Feasible implements mechanism.Mechanism. What is known of planned records is of fits of two classes.
func (m Softmax) Feasible(features, _ int) error { return m.feasibility(features).Sure() }

// Run implements mechanism.Mechanism. The coefficients are those of the classes one after another.
func (m Softmax) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	r, err := mechanism.Begin(m, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	_, d := rows.Dims()
	// Both noises are drawn before the records are read, the second as far as its first digits. The exact noise is the
	// exactly centred one.
	draw := noise.Exact(src)
	b := make([]float64, m.Classes*d)
	eta := draw.FillNormal(b, m.Sigma)
	eta += centringError(b, m.Classes)
	xi := draw.Normals(len(b))
	Center(b, m.Classes)
	p := m.problem(rows, labels)
	p.Linear = b
	r.Coefficients, err = mechanism.Minimised(p, mechanism.Tightened(m.Tolerance, eta), m.Tolerance, settings)
	if err != nil {
		return nil, err
	}
	xi.AddRounded(r.Coefficients, m.OutputSigma, exact.Grid(m.OutputSigma))
	Center(r.Coefficients, m.Classes) // of what is released
	r.Tolerance, r.NoiseScale = m.Tolerance, m.Sigma*math.Sqrt(1-1/float64(m.Classes))
	return r, nil
}

// centringError bounds by how much, in norm, Center errs in float64: (K + 2)u‖b‖, b as it was drawn.
func centringError(b []float64, classes int) float64 {
	return float64(classes+2) * 0x1p-53 * floats.Norm(b, 2) * (1 + 0x1p-20)
}

// Center subtracts from theta, K vectors of length d one after another, their mean over the classes: the projection on
// Σ_c θ_c = 0, which no probability depends on.
func Center(theta []float64, classes int) {
	d := len(theta) / classes
	for j := range d {
		var mean float64
		for c := range classes {
			mean += theta[c*d+j]
		}
		mean /= float64(classes)
		for c := range classes {
			theta[c*d+j] -= mean
		}
	}
}
