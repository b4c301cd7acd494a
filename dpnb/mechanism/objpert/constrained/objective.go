// Package constrained is objective perturbation with a regulariser that need not be smooth and a constraint: linear
// objective perturbation (LOP) as Cortild and Cartis 2026 (qop) have it beside their own.
package constrained

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Objective is linear objective perturbation (LOP; qop, Mechanism 5.1) with a regulariser and a constraint:
//
//	J(θ) = Σᵢ f(xᵢᵀθ; yᵢ) + r(θ) + (Δ/2)‖θ‖² + aᵀθ,  a ~ N(0, σ²I),  θ ∈ C.
//
// It needs gradients bounded by ζ. A loss without such a bound gets one from its domain (BoundedOn) or by clipping
// (loss.ClippedAt: LOP-Clip). The guarantee does not depend on r or C, which are limits of smooth regularisers.
type Objective struct {
	objpert.Objective
	Regulariser composite.Regulariser
	Constraint  composite.Constraint
	// Dimension d, for which the regulariser and the constraint are checked.
	Dimension int
	// Adjacency of the guarantee.
	Adjacency privacy.Adjacency
	// Epsilon and Delta that it was calibrated for.
	Epsilon, Delta float64
}

// Rule is how σ and Δ are chosen.
type Rule int

const (
	// LeastNoise is the tight accountant's choice of objpert.Config.
	LeastNoise Rule = iota
	// Theorem51 takes σ² = ζ²(8 ln(2/δ) + 4ε)/ε² and Δ = 2L/ε, the constants of qop, Theorem 5.1, which are those of
	// add/remove-one. For replace-one it takes them at (ε/2, δ/(1 + e^{ε/2})), a group of two. That they satisfy (ε, δ)
	// is then checked with a bound that is proved.
	Theorem51
)

// Theorem51Noise returns σ and Δ of qop, Theorem 5.1, for gradients of norm at most slope and Hessians of norm at most
// smoothness: add/remove-one.
func Theorem51Noise(eps, delta, slope, smoothness float64) (sigma, ridge float64) {
	return slope * math.Sqrt(8*math.Log(2/delta)+4*eps) / eps, 2 * smoothness / eps
}

// Theorem51Risk bounds E J(θ) − J(θ_exact) for LOP with an exact solver: dσ²/(2Δ) + (Δ/2)‖θ_exact‖². Theorem 5.1 prints
// 2dσ²/Δ, four times the first term.
func Theorem51Risk(d int, sigma, ridge, norm float64) float64 {
	return float64(d)*sigma*sigma/(2*ridge) + 0.5*ridge*norm*norm
}

// BoundedOn returns a loss with bounded slope that is the squared loss wherever a minimiser over the constraint can be:
// |xᵀθ − y| ≤ R·max_C‖θ‖ + Y for every admissible record. LOP with it is LOP with the squared loss on C.
//
// Errors: privacy.ErrUnsupported for a loss other than the squared one or a constraint that is not bounded.
func BoundedOn(l loss.Loss, rowNorm, labelBound float64, c composite.Constraint, d int) (loss.Loss, error) {
	if _, ok := l.(loss.Squared); !ok {
		return nil, fmt.Errorf("%w: a bound on the slope is known for the squared loss on a bounded domain, not for "+
			"the %s loss; clip its gradients instead", privacy.ErrUnsupported, l.Name())
	}
	if !(labelBound >= 0) || math.IsInf(labelBound, 1) {
		return nil, &privacy.ParamError{Name: "LabelBound", Value: labelBound, Want: "a finite bound Y on every label"}
	}
	radius, ok := maxNorm(c, d)
	if !ok || math.IsInf(radius, 1) {
		return nil, fmt.Errorf("%w: without a bounded constraint (a Box or a Ball) the squared loss has unbounded "+
			"gradients, and linear perturbation no guarantee; clip its gradients instead", privacy.ErrUnsupported)
	}
	return loss.Clipped(l, (rowNorm*radius+labelBound)*(1+1e-12)), nil
}

// maxNorm returns max_C ‖θ‖ of the constraints for which it is known.
func maxNorm(c composite.Constraint, d int) (float64, bool) {
	switch c := c.(type) {
	case composite.Box:
		if c.Validate(d) != nil {
			return 0, false
		}
		corner := make([]float64, d)
		for j := range corner {
			corner[j] = math.Max(math.Abs(pick(c.Lower, j)), math.Abs(pick(c.Upper, j)))
		}
		return floats.Norm(corner, 2), true
	case composite.Ball:
		return c.Radius, c.Validate(d) == nil
	}
	return 0, false
}

// pick returns a bound of a Box: one for all coordinates or one for each.
func pick(b []float64, j int) float64 {
	switch len(b) {
	case 0:
		return math.Inf(1)
	case 1:
		return b[0]
	}
	return b[j]
}

// Config asks for an Objective that satisfies (ε, δ). None of it may depend on the records.
type Config struct {
	// Loss of bounded slope: see BoundedOn and loss.ClippedAt.
	Loss           loss.Loss
	RowNorm        float64
	Dimension      int
	Epsilon, Delta float64
	Adjacency      privacy.Adjacency
	Rule           Rule
	Regulariser    composite.Regulariser
	Constraint     composite.Constraint
	// Tolerance is τ; zero means 1e-6·ζ.
	Tolerance float64
}

// Calibrate returns LOP with the noise of the rule.
//
// Errors: *privacy.ParamError, *matrix.DataError; privacy.ErrUnsupported for a loss of unbounded slope, or if what the
// rule says cannot be proved.
func Calibrate(c Config) (Objective, error) {
	m := Objective{Regulariser: c.Regulariser, Constraint: c.Constraint, Dimension: c.Dimension, Adjacency: c.Adjacency,
		Epsilon: c.Epsilon, Delta: c.Delta}
	if err := m.usable(); err != nil {
		return m, err
	}
	if err := cmp.Or(c.Adjacency.Validate(),
		privacy.Within(c.Rule == LeastNoise || c.Rule == Theorem51, "Rule", int(c.Rule),
			"LeastNoise or Theorem51")); err != nil {
		return m, err
	}
	// Any mechanism for (ε, δ) checks all there is to check.
	cfg := objpert.Config{Loss: c.Loss, RowNorm: c.RowNorm, Epsilon: c.Epsilon, Delta: c.Delta,
		Adjacency: privacy.AddRemove, Tolerance: c.Tolerance}
	op, err := objpert.Calibrate(cfg)
	if err != nil {
		return m, err
	}
	m.Objective = op
	eps, delta := c.Epsilon, c.Delta
	if c.Adjacency == privacy.ReplaceOne {
		eps, delta = c.Epsilon/2, c.Delta/(1+math.Exp(c.Epsilon/2))
	}
	if c.Rule == Theorem51 {
		m.Sigma, m.Lambda = Theorem51Noise(eps, delta, op.Lipschitz(), op.Smoothness())
		m.OutputSigma = 2 * m.Tolerance / (m.Lambda * 0.01 * op.Lipschitz() / m.Sigma)
		m.Bound = objective.DTZ24
		return m, m.Validate()
	}
	if c.Adjacency == privacy.AddRemove {
		return m, m.Validate()
	}
	// (ε/2, …) as a group of two is enough; how much less is, is searched for.
	for _, share := range []float64{0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5} {
		cfg.Epsilon, cfg.Delta = share*c.Epsilon, delta
		if m.Objective, err = objpert.Calibrate(cfg); err != nil {
			return m, err
		}
		if m.Validate() == nil {
			return m, nil
		}
	}
	return m, m.Validate()
}

// Profile returns the privacy profile under the adjacency.
func (m Objective) Profile() (privacy.Profile, error) {
	p, err := m.Objective.Profile()
	if err != nil {
		return nil, err
	}
	return privacy.ConvertAdjacency(p, m.Adjacency)
}

// usable refuses a regulariser and a constraint that are not for so many dimensions.
func (m Objective) usable() error {
	if err := cmp.Or(privacy.Within(m.Dimension >= 1, "Dimension", m.Dimension, "at least 1"),
		privacy.Within(len(m.Held) == 0, "Held", len(m.Held), "nothing: the Constraint says it")); err != nil {
		return err
	}
	return composite.Usable(m.Dimension, m.Regulariser, m.Constraint)
}

// Validate returns an error if a parameter is out of range, or one that wraps privacy.ErrUnsupported if the noise is
// not proved to satisfy (ε, δ).
func (m Objective) Validate() error {
	if err := cmp.Or(m.usable(),
		privacy.Approx{Epsilon: m.Epsilon, Delta: m.Delta, Adj: m.Adjacency}.Validate()); err != nil {
		return err
	}
	p, err := m.Profile()
	if err != nil {
		return err
	}
	if got := privacy.DeltaUpper(p, m.Epsilon); !(got <= m.Delta) {
		return fmt.Errorf("%w: at ε = %g linear perturbation with σ = %.5g and Δ = %.5g is proved to have δ ≤ %.3g "+
			"under %v, more than %g; take more noise or a larger Δ",
			privacy.ErrUnsupported, m.Epsilon, m.Sigma, m.Lambda, got, m.Adjacency, m.Delta)
	}
	return nil
}

// String describes the mechanism with its parameters.
func (m Objective) String() string {
	s := fmt.Sprintf("linear objective perturbation: %v", m.Objective)
	if m.Regulariser != nil {
		s += ", regulariser " + m.Regulariser.Name()
	}
	if m.Constraint != nil {
		s += ", constraint " + m.Constraint.Name()
	}
	return s
}

// Event implements mechanism.Mechanism.
func (m Objective) Event() (privacy.Event, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	p, err := m.Profile()
	return mechanism.Known(m, p, err)
}

// Describe implements mechanism.Mechanism.
func (m Objective) Describe() mechanism.Description {
	d := m.Objective.Describe()
	d.Name, d.Source, d.Adjacency = "linear objective perturbation", "Cortild and Cartis 2026 (qop), Mechanism 5.1",
		m.Adjacency
	d.Assumptions = []string{
		fmt.Sprintf("%s, and its label is %s", mechanism.RowsWithin(m.RowNorm), m.Loss.Labels()),
		mechanism.Chosen("the loss, its clip level or the domain that bounds it, Δ, σ, τ, σ_out, the regulariser and " +
			"the constraint"),
		mechanism.ExactNoise,
		mechanism.Unseen,
	}
	return d
}

// Feasible implements mechanism.Mechanism.
func (m Objective) Feasible(features, records int) error {
	if features != m.Dimension {
		return &privacy.ParamError{Name: "Dimension", Value: m.Dimension,
			Want: fmt.Sprintf("%d, as many as the records have features", features)}
	}
	return m.Objective.Feasible(features, records)
}

// Check implements mechanism.Mechanism.
func (m Objective) Check(rows matrix.Rows, labels []float64) error {
	if err := m.Objective.Check(rows, labels); err != nil {
		return err
	}
	if _, d := rows.Dims(); d != m.Dimension {
		return &matrix.DataError{Text: fmt.Sprintf("the records have %d features, and the mechanism was made for "+
			"Dimension = %d", d, m.Dimension)}
	}
	return nil
}

// Run implements mechanism.Mechanism.
func (m Objective) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	r, err := mechanism.Begin(m, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	// Both noises are drawn before the records are read, the second as far as its first digits.
	draw, a := noise.Exact(src), make([]float64, m.Dimension)
	eta := draw.FillNormal(a, m.Sigma)
	xi := draw.Normals(m.Dimension)
	if r.Coefficients, err = m.minimise(rows, labels, a, mechanism.Tightened(m.Tolerance, eta), settings); err != nil {
		return nil, err
	}
	xi.AddRounded(r.Coefficients, m.OutputSigma, exact.Grid(m.OutputSigma))
	r.Guarantee.Epsilon, r.Guarantee.Delta = m.Epsilon, m.Delta
	r.Tolerance, r.NoiseScale = m.Tolerance, m.Sigma
	return r, nil
}

// minimise returns the minimiser for the noise a, certified to the tolerance.
func (m Objective) minimise(rows matrix.Rows, labels, a []float64, tolerance float64, settings *mechanism.Settings) (
	[]float64, error) {
	s := settings.Value()
	p := &composite.Problem{Problem: erm.Problem{Rows: rows, Labels: labels, Loss: m.Loss, Linear: a, Lambda: m.Lambda},
		Regulariser: m.Regulariser, Constraint: m.Constraint}
	theta, err := composite.Within(p, composite.Settings{Tolerance: tolerance, Modulus: m.Lambda,
		MaxPasses: s.MaxPasses, Workers: s.Workers})
	if err != nil {
		return nil, mechanism.Unsolved(err, m.Tolerance)
	}
	return theta, nil
}

// Simulate returns the minimiser for one seeded draw of a without the output noise, as the paper's experiments do. It
// has no privacy guarantee.
//
// Errors: as mechanism.Check; erm.ErrTolerance (wrapped).
func (m Objective) Simulate(rows matrix.Rows, labels []float64, src *noise.Seeded, settings *mechanism.Settings) (
	[]float64, error) {
	if err := mechanism.Check(m, rows, labels); err != nil {
		return nil, err
	}
	a := make([]float64, m.Dimension)
	noise.Exact(src).FillNormal(a, m.Sigma)
	return m.minimise(rows, labels, a, 0, settings)
}
