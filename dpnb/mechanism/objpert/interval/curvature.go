package interval

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/permit"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Curvature releases, for the coefficients θ that Fit has released, the curvature of the losses there and, if it is
// wanted, what the scores vary by:
//
//	M̃ = Σᵢ f″(xᵢᵀθ; yᵢ)·xᵢxᵢᵀ + E,   Ṽ = Σᵢ f′(xᵢᵀθ; yᵢ)²·xᵢxᵢᵀ + E′,
//
// E symmetric with independent N(0, Sigma²) on the diagonal and N(0, Sigma²/2) beside it, E′ the same with ScoreSigma.
// One record changes M by at most s = R²·sup f″ and V by at most L² = R²·sup f′² in the Frobenius norm, in which E is a
// standard Gaussian, so that these are Gaussian mechanisms with μ = s/Sigma and L²/ScoreSigma: given θ, they compose
// with Fit.
//
// The ridge is not in M.
type Curvature struct {
	// Fit is the mechanism that released θ.
	Fit objpert.Objective
	// Sigma > 0 is the scale of the noise in M.
	Sigma float64
	// ScoreSigma ≥ 0 is that of the noise in V; zero: V is not released.
	ScoreSigma float64
}

// Validate returns a *privacy.ParamError if a field is out of range.
func (c Curvature) Validate() error {
	if err := cmp.Or(c.Fit.Validate(), mechanism.Scales{{"Sigma", c.Sigma}}.Check()); err != nil {
		return err
	}
	// Beyond these the steps of the sums would leave the range of float64.
	for _, v := range []float64{c.Fit.Smoothness(), c.Fit.Lipschitz() * c.Fit.Lipschitz()} {
		if v != 0 && !(v >= 0x1p-400 && v <= 0x1p400) {
			return &privacy.ParamError{Name: "Fit", Value: v,
				Want: "records and a loss whose curvature s and slope L² are between 2^-400 and 2^400"}
		}
	}
	if c.ScoreSigma == 0 {
		return nil // the scores' covariance is not released
	}
	return mechanism.Scales{{"ScoreSigma", c.ScoreSigma}}.Check()
}

// roundUp is for a privacy figure of a few correctly rounded operations.
const roundUp = 1 + 0x1p-48

// sensitivities of M and V: one record's part is computed to within 1e-12, and then rounded by exact.Outer.
func (c Curvature) sensitivities() (curvature, scores float64) {
	l := c.Fit.Lipschitz()
	const more = (1 + 1e-12) * (1 + exact.OuterRounding)
	return c.Fit.Smoothness() * more, l * l * more
}

// Mu returns μ of the release of the matrices alone, rounded up: √((s/Sigma)² + (L²/ScoreSigma)²).
func (c Curvature) Mu() float64 {
	s, l2 := c.sensitivities()
	mu := s / c.Sigma
	if c.ScoreSigma > 0 {
		mu = math.Hypot(mu, l2/c.ScoreSigma)
	}
	return mu * roundUp
}

// WithGaussian implements mechanism.WithGaussians. The profile of the fit and of the matrices under add/remove-one is
// that of a fit whose output noise has μ² more, Gaussian mechanisms being what both are.
//
// Bound: upper, for every ε.
// Errors: as Validate.
// Proof: docs/theory/intervals.md, section 4.
func (c Curvature) WithGaussian(mu float64) (privacy.Profile, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return c.Fit.WithGaussian(math.Hypot(mu, c.Mu()) * roundUp)
}

// For implements mechanism.Informed.
func (c Curvature) For(f mechanism.Facts) (mechanism.Mechanism, float64) {
	m, stretch := c.Fit.For(f)
	c.Fit = m.(objpert.Objective)
	return c, stretch
}

// Moments is what is known about the curvature at the released coefficients.
type Moments struct {
	// Hessian is M̃, a d×d matrix, the ridge not included; HessianSigma is the scale of its noise, zero for a matrix
	// from public records.
	Hessian      *mat.SymDense
	HessianSigma float64
	// Scores is Ṽ, nil if it is not known.
	Scores     *mat.SymDense
	ScoreSigma float64
	// Guarantee is that of the matrices, given the coefficients.
	Guarantee mechanism.Guarantee
	// origin of the noise, if there is any.
	origin noise.Origin
}

// CloneAlso returns a copy, for who is shown a release.
func (m *Moments) CloneAlso() any {
	out := *m
	out.Hessian, out.Scores = cloned(m.Hessian), cloned(m.Scores)
	out.Guarantee.Assumptions = slices.Clone(m.Guarantee.Assumptions)
	return &out
}

func cloned(a *mat.SymDense) *mat.SymDense {
	if a == nil {
		return nil
	}
	out := mat.NewSymDense(a.SymmetricDim(), nil)
	out.CopySym(a)
	return out
}

// Simulated reports whether the matrices have noise that could be known to somebody, or none that a mechanism has drawn
// (those of public records have none).
func (m *Moments) Simulated() bool { return m.origin.Simulated() }

// Seed returns the seed of a simulation; ok is false if there is none.
func (m *Moments) Seed() (seed uint64, ok bool) { return m.origin.Seed() }

// At draws the noise and releases the matrices at theta, which must be what Fit has released for the same records: else
// the guarantee does not compose as Event says. The caller has charged the budget.
//
// Errors: as objpert.Objective.Run before it draws, or a theta of another length.
func (c Curvature) At(rows matrix.Rows, labels, theta []float64, src noise.Source) (*Moments, error) {
	return c.at(rows, labels, theta, src, 0)
}

// at is At on so many goroutines, 0 for one each processor.
func (c Curvature) at(rows matrix.Rows, labels, theta []float64, src noise.Source, workers int) (*Moments, error) {
	if src == nil {
		return nil, mechanism.ErrNoSource
	}
	if err := mechanism.Check(c, rows, labels); err != nil {
		return nil, err
	}
	if err := sameLength(rows, theta); err != nil {
		return nil, err
	}
	draw := noise.Exact(src)
	ofHessian, ofScores := draw.SymmetricNormals(len(theta)), (*exact.Symmetric)(nil)
	if c.ScoreSigma > 0 {
		ofScores = draw.SymmetricNormals(len(theta))
	}
	hessian, scores := moments(c.Fit, rows, labels, theta, c.ScoreSigma > 0, workers)
	ofHessian.AddFrobenius(hessian, c.Sigma)
	if c.ScoreSigma > 0 {
		ofScores.AddFrobenius(scores, c.ScoreSigma)
	} else {
		scores = nil
	}
	return c.Released(permit.New(), hessian, scores, src), nil
}

// Released is what At has released, with noise from such a source: to read it back from where it was kept. It takes a
// permit, for At alone has the noise drawn; without one the noise is of unknown origin.
func (c Curvature) Released(p permit.Permit, hessian, scores *mat.SymDense, src noise.Source) *Moments {
	var origin noise.Origin
	if permit.Given(p) {
		origin = noise.OriginOf(src)
	}
	return &Moments{Hessian: hessian, HessianSigma: c.Sigma, Scores: scores, ScoreSigma: c.ScoreSigma, origin: origin,
		Guarantee: mechanism.Guarantee{
			Adjacency: privacy.AddRemove, Profile: privacy.GaussianProfile(c.Mu(), privacy.AddRemove),
			Bound: "the Gaussian mechanism's, given the coefficients (docs/theory/intervals.md)",
			Assumptions: []string{
				"the coefficients at which the curvature was taken are what the fit released for the same records",
				mechanism.ExactNoise,
			},
		}}
}

// String describes the mechanism with its parameters.
func (c Curvature) String() string {
	return fmt.Sprintf("%v, and its curvature with noise of %.5g", c.Fit, c.Sigma)
}

// Describe implements mechanism.Mechanism.
func (c Curvature) Describe() mechanism.Description {
	d := c.Fit.Describe()
	d.Also = "with its curvature"
	d.Bound = fmt.Sprintf("that of the coefficients and of their curvature (μ = %s) together; of the coefficients "+
		"alone: %s", privacy.FormatUp(c.Mu(), 3), d.Bound)
	return d
}

// Event implements mechanism.Mechanism.
func (c Curvature) Event() (privacy.Event, error) {
	p, err := c.WithGaussian(0)
	return mechanism.Known(c, p, err)
}

// Feasible implements mechanism.Mechanism.
func (c Curvature) Feasible(features, records int) error { return c.Fit.Feasible(features, records) }

// Check implements mechanism.Mechanism.
func (c Curvature) Check(rows matrix.Rows, labels []float64) error {
	return c.Fit.Check(rows, labels)
}

// Run implements mechanism.Mechanism: it runs Fit and then, at the coefficients that it releases, the matrices,
// *Moments in Also. The guarantee of the release is that of the two together, whatever is done with either.
func (c Curvature) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	both, err := mechanism.Begin(c, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	r, err := c.Fit.Run(rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	if r.Also, err = c.at(rows, labels, r.Coefficients, src, settings.Value().Workers); err != nil {
		return nil, err
	}
	r.Guarantee, r.Mechanism, r.Fitted = both.Guarantee, both.Mechanism, c
	return r, nil
}

// Release is Run with what is released apart.
func (c Curvature) Release(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, *Moments, error) {
	r, err := c.Run(rows, labels, src, settings)
	if err != nil {
		return nil, nil, err
	}
	return r, r.Also.(*Moments), nil
}

// PublicCurvature returns the curvature at theta from records that are public and come from the same population as the
// private ones, scaled to `records` of them, a public number. It costs no privacy. Labels may be nil where the loss's
// curvature does not depend on them (logistic); the scores' covariance is then not known.
//
// Errors: *matrix.DataError, or a *privacy.ParamError.
func PublicCurvature(fit objpert.Objective, rows matrix.Rows, labels, theta []float64, records float64) (*Moments,
	error) {
	if err := cmp.Or(fit.Validate(),
		privacy.Within(records >= 1 && !math.IsInf(records, 1), "records", records,
			"the planned number of private records, a public number ≥ 1")); err != nil {
		return nil, err
	}
	if err := sameLength(rows, theta); err != nil {
		return nil, err
	}
	n, _ := rows.Dims()
	if n == 0 {
		return nil, &matrix.DataError{Text: "there are no public records to take the curvature from"}
	}
	known := labels != nil
	if !known {
		if _, ok := fit.Loss.(loss.Logistic); !ok {
			return nil, &matrix.DataError{Text: fmt.Sprintf(
				"the curvature of the %s loss depends on the labels: give the labels of the public records",
				fit.Loss.Name())}
		}
		labels = make([]float64, n)
		for i := range labels {
			labels[i] = 1
		}
	}
	if err := fit.Check(rows, labels); err != nil {
		return nil, err
	}
	hessian, scores := moments(fit, rows, labels, theta, known, 0)
	hessian.ScaleSym(records/float64(n), hessian)
	out := &Moments{Hessian: hessian}
	if known {
		scores.ScaleSym(records/float64(n), scores)
		out.Scores = scores
	}
	return out, nil
}

func sameLength(rows matrix.Rows, theta []float64) error {
	if _, d := rows.Dims(); d != len(theta) {
		return &matrix.DataError{Text: fmt.Sprintf("%d coefficients for %d features", len(theta), d)}
	}
	return nil
}
