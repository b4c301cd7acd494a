// Package objpert is objective perturbation and, beside it, output perturbation: how much noise satisfies (ε, δ), which
// ridge suits what is publicly known of the records or a noisy count of them, whether a fit can be certified at all,
// and the releases. The fit path and the papers' rooms may enter.
package objpert

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/internal/numeral"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Objective is objective perturbation: it releases a minimiser of a randomly tilted objective (rkw23, Algorithm 1; with
// a loss of bounded slope that is not clipped, Algorithm 2):
//
//	J(θ) = Σᵢ f(xᵢᵀθ; yᵢ) + (λ/2)‖θ‖² + (ω/2)Σⱼ₍ⱼ<d₎θⱼ² + bᵀθ,  b ~ N(0, σ²I),
//	θ̃ with ‖∇J(θ̃)‖₂ ≤ τ,  released: θ̃ + N(0, σ_out²I),
//
// the sum of the real numbers, rounded to the grid exact.Grid(σ_out). The solver has a float64 vector next to b; its
// certificate pays for the difference.
//
// A sum over the records, not a mean; the ridge λ acts on every coordinate, the intercept included (without that no
// bound here holds). ω shrinks all but the last coordinate further, which the bounds admit and make no use of. Every
// parameter is chosen without looking at the records.
type Objective struct {
	// Loss f, of bounded slope; loss.ClippedAt makes it so.
	Loss loss.Loss
	// RowNorm is R: every record has ‖x‖₂ ≤ R, the bias included.
	RowNorm float64
	// Lambda is λ > 0, Sigma is σ > 0.
	Lambda, Sigma float64
	// Penalty is what shrinks coefficients besides λ: a convex quadratic form that knows nothing of the records, so
	// that the profile is that of λ alone (docs/theory/objective_perturbation.md, section 2).
	Penalty `json:",inline"`
	// Centre is c, for records with such an intercept: its ridge is (λ/2)(θ_d − c)², so that it is shrunk towards c and
	// not towards 0. c must be public, as from a base rate (CentreOf). It is no regulariser that a bound would look at,
	// either.
	Centre float64
	// Held are directions v, independent of each other, along which coefficients are held to vᵀθ ≥ 0: those of a curve
	// that must rise. They must be public, and change no profile: docs/theory/curves.md#dpnb-monotone-fit. What is
	// released is put back on these half spaces after all noise.
	Held []matrix.Direction `json:",omitempty"`
	// Tolerance is τ > 0, OutputSigma is σ_out > 0. Two neighbours' approximate minimisers are off by at most τ/λ each,
	// so the output noise has the privacy loss of a Gaussian mechanism with μ = 2τ/(λσ_out).
	Tolerance, OutputSigma float64
	// Bound is how to account. Zero is right: exact where the Gaussian case is proved, dtz24 elsewhere.
	Bound objective.Bound
}

// radius returns a bound on the true norm of every record that Check admits.
func (m Objective) radius() float64 { return mechanism.Radius(m.RowNorm) }

// Lipschitz returns L = R·sup|f′|, a bound on the gradient of one record's loss.
func (m Objective) Lipschitz() float64 { return m.radius() * m.Loss.Lipschitz() }

// Smoothness returns s = R²·sup f″, a bound on the curvature of one record's loss.
func (m Objective) Smoothness() float64 {
	return m.radius() * m.radius() * m.Loss.Smoothness()
}

// Validate returns a *privacy.ParamError if a parameter is out of range, or an error that wraps privacy.ErrUnsupported
// if the loss has no bounded slope.
func (m Objective) Validate() error {
	if m.Loss == nil {
		return &privacy.ParamError{Name: "Loss", Value: nil, Want: "a loss"}
	}
	scales := mechanism.Scales{{"RowNorm", m.RowNorm}, {"Lambda", m.Lambda}, {"Sigma", m.Sigma},
		{"Tolerance", m.Tolerance}, {"OutputSigma", m.OutputSigma}}
	if err := cmp.Or(scales.Check(), m.Penalty.Validate(m.Lambda),
		privacy.Within(!math.IsNaN(m.Centre) && !math.IsInf(m.Lambda*m.Centre, 0), "Centre", m.Centre,
			"a finite number")); err != nil {
		return err
	}
	l, s := m.Lipschitz(), m.Smoothness()
	if !(l > 0) || !(s > 0) {
		return &privacy.ParamError{Name: "Loss", Value: m.Loss.Name(),
			Want: "a loss whose parameters are in range (it wants the labels: " + m.Loss.Labels() + ")"}
	}
	if math.IsInf(l, 1) || math.IsInf(s, 1) {
		return fmt.Errorf("%w: objective perturbation needs a loss of bounded slope and curvature, and the %s loss "+
			"has sup|f′| = %v, sup f″ = %v; clip its gradients first (Clip, loss.ClippedAt or loss.Clipped)",
			privacy.ErrUnsupported, m.Loss.Name(), m.Loss.Lipschitz(), m.Loss.Smoothness())
	}
	if err := (mechanism.Scales{{"Lipschitz", l}, {"Smoothness", s}}).Check(); err != nil {
		return err
	}
	return m.validateBound()
}

// String describes the mechanism with its parameters.
func (m Objective) String() string {
	ridge := m.Penalty.Words(m.Lambda)
	if m.Centre != 0 {
		ridge += fmt.Sprintf(" around %.4g", m.Centre)
	}
	if n := len(m.Held); n > 0 {
		ridge += fmt.Sprintf(", coefficients held along %s", numeral.Count(n, "direction"))
	}
	return fmt.Sprintf("objective perturbation (%s loss, ‖x‖ ≤ %.5g, %s, σ = %.5g, τ = %.3g, σ_out = %.3g)",
		m.Loss.Name(), m.RowNorm, ridge, m.Sigma, m.Tolerance, m.OutputSigma)
}

// Shrunk returns m with the ridge λ for its coefficients, where that is larger than Lambda (Penalty.Ridge). σ and what
// the output noise costs stay as they are, so that the profile of m holds for what is returned, whatever λ is.
func (m Objective) Shrunk(lambda float64, intercept bool) Objective {
	least := m.Lambda
	m.Lambda, m.Penalty = m.Penalty.Ridge(least, lambda, intercept)
	if m.Lambda > least { // 2τ/(λσ_out) must not rise: the factor pays for the roundings
		m.OutputSigma *= least / m.Lambda * (1 + 0x1p-48)
	}
	return m
}

// Suited returns m, of the Gaussian case, with the ridges for what is planned: Planned.Ridge by Shrunk; where the last
// feature is an intercept and the share of the positive class is public (baseRate, else 0), the intercept is shrunk as
// all else towards CentreOf that share.
func (m Objective) Suited(p Planned, intercept bool, baseRate float64) Objective {
	known := intercept && baseRate > 0
	m = m.Shrunk(p.Ridge(m, m.Sigma), intercept && !known)
	if known {
		m = m.about(CentreOf(m.Loss, baseRate))
	}
	return m
}

// CentreOf returns the intercept that fits best where the share of the positive class is rate and nothing else is
// known: of the logistic loss log(rate/(1 − rate)). Of a weighted loss it is that of the loss.
//
// Panics: unless 0 < rate < 1.
func CentreOf(l loss.Loss, rate float64) float64 {
	if !(rate > 0 && rate < 1) {
		panic("objpert: CentreOf wants a rate in (0, 1)")
	}
	l, _ = loss.Weightless(l) // whose labels have no weight
	slope := func(t float64) float64 {
		s, at := make([]float64, 2), []float64{t, t}
		l.ValueSlope(s, at, []float64{1, -1})
		return rate*s[0] + (1-rate)*s[1]
	}
	lo, hi := -50.0, 50.0
	for range 60 {
		if mid := 0.5 * (lo + hi); slope(mid) < 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return 0.5 * (lo + hi)
}

// Ridges returns the diagonal of the penalty for d features: λ + ω, and λ at the last place.
func (m Objective) Ridges(d int) []float64 {
	r := make([]float64, d)
	for j := range r {
		r[j] = m.Lambda
		if j < d-1 {
			r[j] += m.Shrinkage
		}
	}
	return r
}

// Stiffest bounds the largest eigenvalue of the penalty.
func (m Objective) Stiffest() float64 { return m.Penalty.Stiffest(m.Lambda) }

// Check implements mechanism.Mechanism.
//
// Errors: *matrix.DataError for records that no fit can use or that are longer than RowNorm, or as
// Feasibility.Validate.
func (m Objective) Check(rows matrix.Rows, labels []float64) error {
	if err := m.checkRecords(rows, labels); err != nil {
		return err
	}
	_, d := rows.Dims()
	return m.Feasibility(d, 0).Validate()
}

// checkRecords is Check of what does not depend on the noise.
func (m Objective) checkRecords(rows matrix.Rows, labels []float64) error {
	p := erm.Problem{Rows: rows, Labels: labels, Loss: m.Loss, Lambda: m.Lambda}
	_, d := rows.Dims()
	if err := m.Penalty.Check(d); err != nil {
		return err
	}
	if _, err := m.cone(d); err != nil {
		return err
	}
	longest, err := p.ValidateNorm()
	if err != nil {
		return err
	}
	return mechanism.CheckNorm(longest, m.RowNorm)
}

// minimise returns θ within tolerance/λ of the minimiser for the linear term b, nil for none; from the certified
// ‖∇J(θ)‖ ≤ tolerance, as a rule. That it arrives (mechanism.Minimised) is not proved of what is held to a cone: there
// it ends after 500 passes, with an error instead of a release.
func (m Objective) minimise(rows matrix.Rows, labels, b []float64, tolerance float64, settings *mechanism.Settings) (
	[]float64, error) {
	s := settings.Value()
	_, d := rows.Dims()
	if m.Centre != 0 {
		// (λ/2)(θ_d − c)² is (λ/2)θ_d² − λcθ_d and a constant.
		pull := make([]float64, d)
		copy(pull, b)
		shift := m.Lambda * m.Centre
		pull[d-1] -= shift
		tolerance -= 0x1p-51 * (math.Abs(pull[d-1]) + math.Abs(shift)) // of these roundings
		b = pull
	}
	p := erm.Problem{Rows: rows, Labels: labels, Loss: m.Loss, Lambda: m.Lambda, Shrinkage: m.Shrink(d), Linear: b,
		Quadratic: m.Quadratic(d)}
	if !(tolerance > 0) {
		return nil, mechanism.Uncertified(m.Tolerance)
	}
	if cone, err := m.cone(d); err != nil || cone != nil {
		if err != nil {
			return nil, err
		}
		theta, err := composite.Within(&composite.Problem{Problem: p, Constraint: cone}, composite.Settings{
			Tolerance: tolerance, Modulus: m.Lambda, MaxPasses: s.MaxPasses, Workers: s.Workers})
		if err != nil {
			return nil, mechanism.Unsolved(err, m.Tolerance)
		}
		return theta, nil
	}
	return mechanism.Minimised(&p, tolerance, m.Tolerance, settings)
}

// cone returns what coefficients are held to, nil for nothing.
func (m Objective) cone(d int) (*composite.Cone, error) {
	if len(m.Held) == 0 {
		return nil, nil
	}
	return composite.NewCone(d, m.Held)
}

// Describe implements mechanism.Mechanism.
func (m Objective) Describe() mechanism.Description {
	return m.describe(mechanism.Chosen("λ, ω, σ, τ and σ_out"))
}

// describe is Describe with how the parameters were chosen.
func (m Objective) describe(chosen string) mechanism.Description {
	d := mechanism.Description{
		Name: "objective perturbation", Source: "Redberg, Koskela, Wang 2023 (rkw23), Algorithm 1; of a loss that is " +
			"not clipped Algorithm 2",
		Adjacency: privacy.AddRemove, Bound: m.boundName(), Lambda: m.Lambda + m.Shrinkage,
		Assumptions: []string{
			mechanism.RowsWithin(m.RowNorm),
			chosen,
			mechanism.ExactNoise,
			mechanism.Unseen,
		},
	}
	if _, plain := m.Loss.(loss.Logistic); !plain {
		d.Assumptions = append(d.Assumptions,
			mechanism.Chosen("the "+m.Loss.Name()+" loss and its parameters"),
			"every label that could be in the data is "+m.Loss.Labels())
	}
	return d
}

// Run implements mechanism.Mechanism.
func (m Objective) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	r, err := mechanism.Begin(m, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	_, d := rows.Dims()
	// Both noises are drawn before the records are read, the second as far as its first digits.
	draw := noise.Exact(src)
	b := make([]float64, d)
	eta := draw.FillNormal(b, m.Sigma)
	xi := draw.Normals(d)
	if r.Coefficients, err = m.minimise(rows, labels, b, mechanism.Tightened(m.Tolerance, eta), settings); err != nil {
		return nil, err
	}
	xi.AddRounded(r.Coefficients, m.OutputSigma, exact.Grid(m.OutputSigma))
	if cone, err := m.cone(d); err != nil {
		return nil, err
	} else if cone != nil {
		cone.Project(r.Coefficients, r.Coefficients) // of what is released, and free
	}
	r.Tolerance, r.NoiseScale = m.Tolerance, m.Sigma
	return r, nil
}
