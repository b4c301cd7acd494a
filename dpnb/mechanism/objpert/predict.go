package objpert

import (
	"cmp"
	"math"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Planned is what may be assumed of the records without looking at them, to predict how far off a fit will be. Under
// add/remove-one the number of records is private, so Records is a plan: a number from a design, an earlier year, a
// census. A wrong one costs accuracy, never privacy.
type Planned struct {
	// Records is n, the order of magnitude is what matters.
	Records int
	// Features is d, the bias included; it is known from the schema.
	Features int
	// Margin is the standard deviation γ of xᵀθ⋆ over the population, θ⋆ being the best coefficients. Zero means
	// sup|f′|/(2·sup f″): 2 for the logistic loss (the best classifier is then right for four records of five), half
	// the threshold for Huber's.
	Margin float64
}

// Validate returns a *privacy.ParamError if a field is out of range.
func (p Planned) Validate() error {
	return cmp.Or(privacy.Within(p.Records > 0, "Planned.Records", p.Records,
		"the number of records that was planned for, a public number ≥ 1 (not the count of these records, "+
			"which is private)"),
		privacy.Within(p.Features > 0, "Planned.Features", p.Features, "the number of features, the bias included"),
		privacy.Within(p.Margin >= 0 && !math.IsInf(p.Margin, 1), "Planned.Margin", p.Margin,
			"a positive number, or 0 to have it chosen"))
}

// meanField is the model of the prediction: rows without a preferred direction, so that every coordinate of θ has the
// same curvature, score variance and prior.
type meanField struct {
	// curvature m = n·E f″·R²/d and score variance v = n·E f′²·R²/d of a coordinate; prior is E θ⋆ⱼ² = γ²/R².
	curvature, score, prior float64
}

func (p Planned) meanField(m Objective) meanField {
	r, slope, curv := m.radius(), m.Loss.Lipschitz(), m.Loss.Smoothness()
	margin := cmp.Or(p.Margin, slope/(2*curv))
	each := float64(p.Records) * r * r / float64(p.Features)
	// E f″ and E f′² of the logistic loss at γ = 2 are 0.13, of which these are the round figures, in the units of any
	// loss.
	return meanField{curvature: each * curv / 2, score: each * slope * slope / 8, prior: margin * margin / (r * r)}
}

// excess returns the predicted excess of Σf for one coordinate.
func (f meanField) excess(lambda, sigma float64) float64 {
	h := f.curvature + lambda
	return 0.5 * f.curvature * (f.score + sigma*sigma + lambda*lambda*f.prior) / (h * h)
}

// PredictedExcess returns the predicted excess risk of a fit, for each record,
//
//	E f(xᵀθ̃) − E f(xᵀθ⋆) ≈ (d/2n)·m·(v + σ² + λ²p)/(m + λ)²,
//
// over new records, in the mean-field model: rows of norm R without a preferred direction, m = n·(sup f″/2)·R²/d, v =
// n·(sup f′²/8)·R²/d, p = γ²/R²; noise, sampling and shrinkage are the three terms. Where the last dominates it is no
// more than the order of magnitude.
//
// Panics: unless m and p are valid.
// Source: docs/theory/lambda_rule.md.
func (p Planned) PredictedExcess(m Objective) float64 {
	if m.Validate() != nil || p.Validate() != nil {
		panic("objpert: PredictedExcess of parameters that are out of range")
	}
	return float64(p.Features) / float64(p.Records) * p.meanField(m).excess(m.Lambda, m.Sigma)
}

// BestLambda returns the λ of the least PredictedExcess at the noise σ,
//
//	λ = (v + σ²)/(m·p),  which is s·(1 + 8(d/n)(σ/L)²) at the default margin:
//
// the prior's precision 1/p, times the share by which the scores vary more than the curvature accounts for. It depends
// on public numbers alone.
func (p Planned) BestLambda(m Objective, sigma float64) float64 {
	f := p.meanField(m)
	return (f.score + sigma*sigma) / (f.curvature * f.prior)
}

// The ridge of least worst regret: Planned.Ridge.
const (
	ridgeFloor = 2   // in units of s, at the default margin
	ridgeNoise = 0.7 // of what BestLambda adds for the noise
)

// Ridge returns the λ for the coefficients of classes that Shrunk is given,
//
//	λ = (2v + 0.7σ²)/(m·p),  which is s·(2 + 5.6(d/n)(σ/L)²) at the default margin.
//
// It has the form of BestLambda. Its two constants and the intercept's ridge are those by which the accuracy over a
// public family of populations is never much below that of the best λ: docs/theory/lambda_rule.md, section 5. The floor
// 2s, which does not fall as ε rises, is what a fit without noise would want.
func (p Planned) Ridge(m Objective, sigma float64) float64 {
	f := p.meanField(m)
	return (ridgeFloor*f.score + ridgeNoise*sigma*sigma) / (f.curvature * f.prior)
}

// predicted returns the mechanism at the least λ that byRule allows or, where a larger λ saves noise (outside the
// Gaussian case), at that of seven, each twice the last, whose predicted error is least. A computed bound is too dear
// for that: there it is the first.
func (k *calibration) predicted(c Config) (Objective, error) {
	best, err := k.byRule(c)
	if err != nil || best.numerical() || best.exact() {
		return best, err
	}
	lambda := best.Lambda
	for range 6 {
		lambda *= 2
		m, err := k.withLambda(lambda)
		if err != nil {
			return best, err
		}
		if c.Planned.PredictedExcess(m) < c.Planned.PredictedExcess(best) {
			best = m
		}
	}
	return best, nil
}
