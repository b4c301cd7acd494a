package qop

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/privacy/wishart"
)

// Perturbation is quadratic objective perturbation (qop, Mechanism 3):
//
//	J(θ) = Σᵢ f(xᵢᵀθ; yᵢ) + r(θ) + (λ/2)‖θ‖² + (σ²/2)(θ − θ̃⋆)ᵀ(W + cI)(θ − θ̃⋆),
//	W ~ Wishart(d, m),  θ_app ∈ C within τ of the minimum,  released: θ_app + N(0, σ̃²I).
//
// A sum over the records, not a mean. The gradients need no bound; the curvature
// does, and interpolation must be assumed. Every parameter is chosen without
// looking at the records. What is released need not lie in C.
type Perturbation struct {
	// Loss f; its curvature must be bounded.
	Loss loss.Loss
	// RowNorm is R: every record has ‖x‖₂ ≤ R, the bias included.
	RowNorm float64
	// Interpolation, as AssumeInterpolation states it.
	Interpolation Interpolation
	// Regulariser r and Constraint C; nil are none. They do not depend on the
	// records.
	Regulariser composite.Regulariser
	Constraint  composite.Constraint
	// Ridge λ ≥ 0.
	Ridge float64
	// HiddenDimension is m > d, Shift is c ≥ 0.
	HiddenDimension int
	Shift           float64
	// Sigma2 is σ², OutputSigma is σ̃.
	Sigma2, OutputSigma float64
	// Accuracy is τ > 0, in the unit of J. The solver certifies criterion (7),
	// dist(0, ∂J + N_C) ≤ √(2τασ²), which implies it where λ_min(W) + c ≥ α; α is
	// that of account.Noise, which serves the neighbour as well.
	Accuracy float64
	// Split of (ε, δ).
	Split wishart.Split
	// Accounting; the zero value is the sharpest that is proved for the loss.
	Accounting wishart.Accounting
	// Adjacency of the guarantee; zero means privacy.ReplaceOne, which holds for
	// add/remove-one too.
	Adjacency privacy.Adjacency
}

// Smoothness returns L = R²·sup f″, a bound on the curvature of one record's loss.
func (m Perturbation) Smoothness() float64 {
	r := mechanism.Radius(m.RowNorm)
	return r * r * m.Loss.Smoothness()
}

// structure is what the accounting may use of a loss.
func structure(l loss.Loss) wishart.Structure {
	if _, ok := l.(loss.Squared); ok {
		return wishart.LeastSquares
	}
	return wishart.LinearModel
}

// Event returns the event of one release, for an accountant.
func (m Perturbation) Event() wishart.Event {
	return wishart.Event{
		Setting: wishart.Setting{
			Wishart: wishart.Wishart{D: len(m.Interpolation.anchor), M: m.HiddenDimension}, Shift: m.Shift,
			Smoothness: m.Smoothness(), Rank: 1, Structure: structure(m.Loss), Accounting: m.Accounting,
			AnchorError: m.Interpolation.eta, Accuracy: m.Accuracy, Adjacency: m.Adjacency,
		},
		Split: m.Split, Sigma2: m.Sigma2, SigmaOut: m.OutputSigma,
	}
}

// Validate returns a *privacy.ParamError or *matrix.DataError if a parameter is out
// of range or the noise is less than the split needs, or an error that wraps
// privacy.ErrUnsupported where there is no guarantee.
func (m Perturbation) Validate() error {
	if err := validateProblem(m.Loss, m.RowNorm, m.Interpolation, m.Regulariser, m.Constraint, m.Ridge); err != nil {
		return err
	}
	if !(m.Accuracy > 0) {
		return &privacy.ParamError{Name: "Accuracy", Value: m.Accuracy,
			Want: "a positive number: no solver is exact in float64 arithmetic, and what is left is hidden by the output noise"}
	}
	if err := m.Event().Validate(); err != nil {
		return err
	}
	scales := mechanism.Scales{{"RowNorm", m.RowNorm}, {"Smoothness", m.Smoothness()}, {"OutputSigma", m.OutputSigma}}
	if err := scales.Check(); err != nil {
		return err
	}
	// The sum of θ and noise is rounded to a multiple of 2⁻⁵² of its size, which is that
	// of the anchor.
	if least := 0x1p-40 * floats.Norm(m.Interpolation.anchor, math.Inf(1)); !(m.OutputSigma >= least) {
		return &privacy.ParamError{Name: "OutputSigma", Value: m.OutputSigma,
			Want: fmt.Sprintf("at least %g, without which it is lost in the rounding of θ: allow a larger Accuracy", least)}
	}
	return nil
}

func validateProblem(l loss.Loss, rowNorm float64, a Interpolation, r composite.Regulariser, c composite.Constraint, ridge float64) error {
	if l == nil {
		return &privacy.ParamError{Name: "Loss", Value: nil, Want: "a loss"}
	}
	if !(rowNorm > 0) || math.IsInf(rowNorm, 1) {
		return &privacy.ParamError{Name: "RowNorm", Value: rowNorm, Want: "a positive finite number"}
	}
	if !(ridge >= 0) || math.IsInf(ridge, 1) {
		return &privacy.ParamError{Name: "Ridge", Value: ridge, Want: "a finite number ≥ 0"}
	}
	if s := l.Smoothness(); math.IsInf(s, 1) {
		return fmt.Errorf("%w: quadratic perturbation needs a loss of bounded curvature L, and the %s loss has sup f″ = +∞; clip its gradients first (loss.Clipped)", privacy.ErrUnsupported, l.Name())
	} else if !(s > 0) {
		return &privacy.ParamError{Name: "Loss", Value: l.Name(), Want: "a loss whose parameters are in range (it wants the labels: " + l.Labels() + ")"}
	}
	if err := attains(l); err != nil {
		return err
	}
	if err := a.validate(); err != nil {
		return err
	}
	return validateShape(len(a.anchor), r, c)
}

// validateShape refuses a regulariser or a constraint that no solver can use.
func validateShape(d int, r composite.Regulariser, c composite.Constraint) error {
	if r != nil {
		if err := r.Validate(d); err != nil {
			return err
		}
	}
	if c != nil {
		if _, ok := c.(composite.Projector); !ok {
			return &matrix.DataError{Text: fmt.Sprintf("the constraint %s has no projection, without which no point is known to lie in it: use a Box, Ball, Simplex or Polytope, or implement Projector", c.Name())}
		}
		return c.Validate(d)
	}
	return nil
}

// String describes the mechanism with its parameters.
func (m Perturbation) String() string {
	return fmt.Sprintf("quadratic objective perturbation (%s loss, ‖x‖ ≤ %.5g, m = %d, σ² = %.5g, τ = %.3g, σ_out = %.3g)",
		m.Loss.Name(), m.RowNorm, m.HiddenDimension, m.Sigma2, m.Accuracy, m.OutputSigma)
}

// Check validates records against the parameters, before any noise is drawn. It
// does not and must not ask whether the records interpolate.
//
// Errors: *matrix.DataError for records that no fit can use or that are longer than
// RowNorm, or as Validate.
func (m Perturbation) Check(rows matrix.Rows, labels []float64) error {
	if err := m.Validate(); err != nil {
		return err
	}
	return checkRecords(rows, labels, m.Loss, m.RowNorm, len(m.Interpolation.anchor))
}

// checkRecords refuses records that the noise was not calibrated for.
func checkRecords(rows matrix.Rows, labels []float64, l loss.Loss, rowNorm float64, anchor int) error {
	p := erm.Problem{Rows: rows, Labels: labels, Loss: l, Lambda: 1}
	longest, err := p.ValidateNorm()
	if err != nil {
		return err
	}
	if _, d := rows.Dims(); anchor >= 0 && d != anchor {
		return anchorLength(anchor, d)
	}
	return mechanism.CheckNorm(longest, rowNorm)
}

// problem is the perturbed objective for σ²(W + c).
func (m Perturbation) problem(rows matrix.Rows, labels []float64, quadratic *mat.SymDense) *composite.Problem {
	return &composite.Problem{Rows: rows, Labels: labels, Loss: m.Loss, Quadratic: quadratic, Centre: m.Interpolation.anchor,
		Lambda: m.Ridge, Regulariser: m.Regulariser, Constraint: m.Constraint}
}

// quadratic returns σ²(W + c).
func (m Perturbation) quadratic(w *mat.SymDense) *mat.SymDense {
	q := new(mat.SymDense)
	q.ScaleSym(m.Sigma2, w)
	for j := range q.SymmetricDim() {
		q.SetSym(j, j, q.At(j, j)+m.Sigma2*m.Shift)
	}
	return q
}

// draw returns a matrix next to σ²(W* + c), W* = GGᵀ exactly a Wishart matrix, G a
// d×m matrix of exact N(0, 1) variates, and a bound on ‖Q − σ²(W* + c)‖ in the
// Frobenius norm. With Ĝ the float64 next to G, ‖Ĝ − G‖_F ≤ η, and Ŵ the computed
// ĜĜᵀ, in any order of summation,
//
//	‖Ŵ − W*‖_F ≤ 2‖Ĝ‖_F·η + η² + (m + 1)u‖Ĝ‖_F²,
//
// and to scale and to shift rounds by at most 2u(σ²‖Ŵ‖_F + 2σ²c√d), ‖Ŵ‖_F being
// not much larger than ‖Ĝ‖_F². What is granted is larger.
//
// Proof: docs/theory/release.md.
func (m Perturbation) draw(draw *exact.Sampler) (quadratic *mat.SymDense, eta float64) {
	const u = 0x1p-53
	d := len(m.Interpolation.anchor)
	g := make([]float64, d*m.HiddenDimension)
	near := draw.Near(g, 1)
	var w mat.SymDense
	w.SymOuterK(1, mat.NewDense(d, m.HiddenDimension, g))
	norm := floats.Norm(g, 2)
	ofW := 2*norm*near + near*near + float64(m.HiddenDimension+1)*u*norm*norm
	eta = m.Sigma2 * (ofW + 3*u*(norm*norm+2*math.Abs(m.Shift)*math.Sqrt(float64(d))))
	return m.quadratic(&w), eta * (1 + 0x1p-20)
}

// unseen bounds the error of the gradient of n records that no certificate knows
// of, that of labels: xᵢᵀθ⋆ is seldom a float64, so that records interpolate but for
// a rounding of the label by at most ρ = (d+2)2⁻⁵²R‖θ⋆‖, which moves a slope by at
// most ρ·sup f″. The solution for rounded
// labels is one for exact labels by a solver that is worse by that much.
func (m Perturbation) unseen(n int) float64 {
	a := m.Interpolation
	rho := float64(len(a.anchor)+2) * 0x1p-52 * m.RowNorm * (floats.Norm(a.anchor, 2) + a.eta)
	return 1.01 * float64(n) * m.RowNorm * m.Loss.Smoothness() * rho
}

// wishartShare is how much of the solver's tolerance the distance between the matrix
// that it has and an exact Wishart matrix may use.
const wishartShare = 1.0 / 64

// Run draws the noise and releases, or returns an error and releases nothing.
// The caller has charged the budget.
//
// Errors: as Check, before any noise is drawn; erm.ErrTolerance (wrapped) if the
// solver misses τ: then the noise has been drawn and nothing is released.
func (m Perturbation) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (*mechanism.Release, error) {
	if src == nil {
		return nil, errNoSource
	}
	if err := m.Check(rows, labels); err != nil {
		return nil, err
	}
	event := m.Event()
	adjacency := m.Adjacency
	if adjacency == 0 {
		adjacency = privacy.ReplaceOne
	}
	profile, err := event.Profile(adjacency)
	if err != nil {
		return nil, err
	}
	needed, err := event.Setting.Noise(m.Split)
	if err != nil {
		return nil, err
	}
	n, _ := rows.Dims()
	modulus := needed.Alpha * m.Sigma2
	bound := math.Sqrt(2*m.Accuracy*modulus) * (1 - 1e-12)
	tolerance := bound - m.unseen(n)
	if !(tolerance > 0) {
		return nil, errMissed
	}
	// All noise is drawn before the records are read, the output's as far as its
	// first digits.
	draw := noise.Exact(src)
	q, eta := m.draw(draw)
	xi := draw.Normals(len(m.Interpolation.anchor))
	out, err := solve(m.problem(rows, labels, q), tolerance*(1-wishartShare), modulus, settings)
	if err != nil {
		return nil, err
	}
	// The gradient for the exact W differs from the certified one by at most η‖θ′−θ₀‖
	// at the certified point θ′, which is not far from θ.
	if !(eta*(floats.Distance(out, m.Interpolation.anchor, 2)+tolerance/modulus)*(1+1e-9) <= 0.99*wishartShare*tolerance) {
		return nil, errMissed
	}
	xi.AddRounded(out, m.OutputSigma, exact.Grid(m.OutputSigma))
	eps, delta := m.Split.Total()
	r := &mechanism.Release{
		Coefficients: out,
		Guarantee: mechanism.Guarantee{
			Epsilon: eps, Delta: delta, Adjacency: adjacency, Profile: profile,
			Bound: fmt.Sprintf("%v accounting of quadratic perturbation (docs/theory/quadratic.md)", event.Setting.AccountingUsed()),
			Assumptions: append([]string{
				m.Interpolation.String(),
				fmt.Sprintf("every record that could be in the data has ‖x‖₂ ≤ %s (checked for those that are), and its label is %s", privacy.FormatUp(m.RowNorm, 6), m.Loss.Labels()),
				"m, σ², τ, σ_out, the regulariser and the constraint were chosen without looking at the records",
			}, common...),
		},
		Mechanism: m.String(),
		// Not what the solver was asked for, which depends on the number of records.
		Tolerance: bound,
		// The standard deviation of an entry of σ²W off the diagonal.
		NoiseScale: m.Sigma2 * math.Sqrt(float64(m.HiddenDimension)),
	}
	r.DrawnFrom(src)
	return r, nil
}

// Simulate returns the minimiser for one seeded draw of W without the output
// noise, as the paper's experiments do. It has no privacy guarantee at all (qop-31).
//
// Errors: as Check; erm.ErrTolerance (wrapped).
func (m Perturbation) Simulate(rows matrix.Rows, labels []float64, src *noise.Seeded, settings *mechanism.Settings) ([]float64, error) {
	if err := validateProblem(m.Loss, m.RowNorm, m.Interpolation, m.Regulariser, m.Constraint, m.Ridge); err != nil {
		return nil, err
	}
	if err := (wishart.Wishart{D: len(m.Interpolation.anchor), M: m.HiddenDimension}).Validate(); err != nil {
		return nil, err
	}
	if err := checkRecords(rows, labels, m.Loss, m.RowNorm, len(m.Interpolation.anchor)); err != nil {
		return nil, err
	}
	p := m.problem(rows, labels, m.quadratic(noise.Wishart(src, len(m.Interpolation.anchor), m.HiddenDimension)))
	modulus, ok := composite.LeastEigenvalue(p.Quadratic)
	if !ok {
		return nil, errors.New("qop: W is too near to singular for a certificate")
	}
	return solve(p, 0, modulus, settings)
}

var errNoSource = errors.New("qop: a source of noise is required: noise.NewSecure() for a release, noise.NewSeeded(seed) for a simulation")

// common are the assumptions that every release here rests on.
var common = []string{
	mechanism.ExactNoise,
	"time taken and failures are not observed by the adversary",
}

// errMissed is all that is said where a certificate was missed, whatever the reason:
// the figures depend on the records and on their number.
var errMissed = fmt.Errorf("qop: nothing is released, because the accuracy that was asked for could not be certified (%w); allow a larger one (Accuracy or Tolerance) or more passes", erm.ErrTolerance)

// solve returns the certified minimiser; tolerance zero is the solver's default.
// What the solver says of a failure depends on the records and is not passed on.
//
// Where C is met up to rounding only, the certificate is about a point θ′ that may
// be Shift from the one that is released. The gradient's Lipschitz constant times
// Shift is a part of the bound w that is certified, so that ‖θ − θ⋆‖ ≤ w/μ + Shift ≤
// 2w/μ, and half of the tolerance is asked for.
func solve(p *composite.Problem, tolerance, modulus float64, settings *mechanism.Settings) ([]float64, error) {
	var s mechanism.Settings
	if settings != nil {
		s = *settings
	}
	if tolerance < 0 {
		return nil, errMissed
	}
	target := tolerance
	switch p.Constraint.(type) {
	case nil, composite.Box:
	default:
		target /= 2
	}
	sol, err := composite.Solve(p, &composite.Settings{Tolerance: target, Modulus: modulus, MaxPasses: s.MaxPasses, Workers: s.Workers, Start: p.Centre})
	if err != nil {
		return nil, errMissed
	}
	return sol.Theta, nil
}
