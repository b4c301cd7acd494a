package learn

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Quantile is linear quantile regression for a number (Regression): it predicts the value below which a share Tau of
// the targets of such records lie. Its loss has a kink at the target and no curvature elsewhere, so it is fitted by
// gradient descent: every step reads all records and adds noise to the sum of their slopes. The steps adapt to what has
// been released, so nothing need be tuned. Where records are so few that their slopes hardly stand out from the noise,
// steps have a fixed size, set by the number of records as planned or as counted with noise. Targets are scaled to [−1,
// 1] by their public bounds, as for Linear. Unless records are Uncentred their number and their mean are bought first,
// and the steps, a ridge and the smoothness of curves follow from the number, or from Records; but not where Radius or
// L1 is set. The zero value is the median.
//
//	model, err := dpnb.Quantile{Tau: 0.9}.Fit(data, budget.Spend(0.5))
type Quantile struct {
	// Tau is the level τ in (0, 1); zero means ½, the median.
	Tau float64
	// Radius r bounds the coefficients, ‖θ‖₂ ≤ r, and the steps are in proportion to it. Zero means the steps of 4/R, R
	// the bound on rows, within 8/R, or 4/R where records are few; of centred rows what the noisy number of records
	// allows. It must not be chosen by looking at the records.
	Radius float64
	// Steps is how often the records are read; zero means 192. Fewer steps are faster, and each has less noise.
	Steps int
	// Records is the planned number of records, if that is public. If zero, they are counted with noise, at the price
	// of half a percent more noise in the fit; of records that are Uncentred not with a CurvatureShare, whose intervals
	// are for adaptive steps.
	Records int
	// L1 is ω ≥ 0 of ω‖θ‖₁, which is added to the sum of the losses for the coefficients but the intercept, and costs
	// no privacy. See Regulariser.
	L1 float64
	// CurvatureShare in (0, 1) is the part of the budget, in μ², that is spent on the curvature at the coefficients,
	// which intervals need: 0.2 costs the fit a ninth more noise. Zero spends nothing on it. Not with L1; Curves are
	// straight lines then.
	CurvatureShare float64
	// Smooth h > 0 minimises the loss smoothed by a logistic density of width h, once, with noise in the objective, in
	// as few passes over the records as Huber takes and not one for each step: for millions of records, of which
	// smoothing takes nothing that is seen (docs/theory/quantiles.md, section 10, where 0.1 is tried). The unit is
	// half of the spread of the targets, or of the width of their bounds where records are Uncentred. It is not for few
	// records, nor with Radius, Steps, L1 or CurvatureShare, nor Pure, and there are no intervals. Zero takes steps.
	Smooth float64
	// Pure spends no δ, as on a budget without one: pure ε-DP, with more noise where there are many features. The fit
	// is then one problem and not a descent; Steps, L1 and CurvatureShare are refused.
	Pure bool
	// ReplaceOne states the guarantee for one record replaced by another, the number of records being public, as some
	// other libraries do: twice the noise for the same (ε, δ). The budget pays the whole (ε, δ), which also holds under
	// add/remove-one. Not for people with several rows, nor without a δ.
	ReplaceOne bool
	// Noise is the source of the noise; nil is noise.NewSecure().
	Noise noise.Source
	// Workers is the number of goroutines; zero means one for each processor.
	Workers int
}

// Median is median regression: Quantile at ½.
type Median = Quantile

// Fit releases a private model: see Learner.
func (l Quantile) Fit(data *Dataset, allowance Allowance) (*Model, error) {
	return fit(data, allowance, l.spec())
}

// FitWithoutPrivacy returns the ordinary fit, to within a thousandth of the bounds, for comparison on public data.
func (l Quantile) FitWithoutPrivacy(data *Dataset) (*Model, error) {
	return fitWithoutPrivacy(data, l.spec())
}

func (l Quantile) spec() spec {
	p := quantiles([]float64{orElse(l.Tau, 0.5)}, l.Radius, l.Steps, l.L1, l.CurvatureShare)
	if l.Smooth != 0 {
		p = p.smoothed(l.Smooth, setting{"Steps", l.Steps != 0}, setting{"Radius", l.Radius != 0},
			setting{"L1", l.L1 != 0}, setting{"CurvatureShare", l.CurvatureShare != 0})
	}
	p.learner, p.noise, p.workers, p.own = "Quantile", l.Noise, l.Workers, parameter{"Tau", l.Tau}
	p.records, p.replaceOne = l.Records, l.ReplaceOne
	pinball := loss.Pinball{Tau: p.levels[0]}
	p.pure, p.convex = l.Pure, convex{loss: pinball, framed: pinball, radius: l.Radius,
		needDelta: []setting{{"Steps", l.Steps != 0}, {"L1", l.L1 != 0}}}
	return p
}

// Quantiles is linear quantile regression at several levels at once, which cost little more than one: three as far
// apart as 0.1, 0.5, 0.9 have about the noise of 0.9 alone, the nine deciles a fifth more (docs/theory/quantiles.md).
// Predicted quantiles of a record never cross. The zero value has the levels 0.1, 0.5 and 0.9.
//
//	model, err := dpnb.Quantiles{Levels: []float64{0.05, 0.5, 0.95}}.Fit(data, budget.Spend(0.5))
//	dpnb.Show(model, err)
//	dpnb.Show(model.Bands("age", nil))
type Quantiles struct {
	// Levels τ rise from above 0 to below 1, at most 99 of them; nil means 0.1, 0.5, 0.9.
	Levels []float64
	// Radius, Steps, Records, L1, CurvatureShare and ReplaceOne as in Quantile, for each level.
	Radius         float64
	Steps          int
	Records        int
	L1             float64
	CurvatureShare float64
	ReplaceOne     bool
	// Noise is the source of the noise; nil is noise.NewSecure().
	Noise noise.Source
	// Workers is the number of goroutines; zero means one for each processor.
	Workers int
}

// Fit releases a private model: see Learner.
func (l Quantiles) Fit(data *Dataset, allowance Allowance) (*Model, error) {
	return fit(data, allowance, l.spec())
}

// FitWithoutPrivacy returns the ordinary fits of each level, to within a thousandth of the bounds, for comparison on
// public data.
func (l Quantiles) FitWithoutPrivacy(data *Dataset) (*Model, error) {
	return fitWithoutPrivacy(data, l.spec())
}

func (l Quantiles) spec() spec {
	levels := slices.Clone(l.Levels)
	if levels == nil {
		levels = []float64{0.1, 0.5, 0.9}
	}
	p := quantiles(levels, l.Radius, l.Steps, l.L1, l.CurvatureShare)
	p.learner, p.noise, p.workers, p.records = "Quantiles", l.Noise, l.Workers, l.Records
	p.replaceOne = l.ReplaceOne
	return p
}

// Of the descent for quantiles: docs/theory/quantiles.md says how they were chosen.
const (
	quantileSteps  = 192
	quantileRadius = 4.0
	quantileBall   = 8.0
)

// quantiles is the specification of levels.
func quantiles(levels []float64, radius float64, steps int, l1, curvatureShare float64) spec {
	if steps == 0 {
		steps = quantileSteps
	}
	var known informed
	if radius == 0 {
		known = centredDescent
	}
	return spec{
		title: "quantile regression", entry: "quantile", task: frame.Number, levels: levels,
		regulariser: Regulariser{L1: l1}, curvatureShare: curvatureShare,
		steps: steps, informed: known,
		choose: func(p spec, d *frame.Design, epsilon, delta float64) (mechanism.Mechanism, error) {
			if !(epsilon > 0 && epsilon <= 1e3) {
				return nil, errEpsilon(epsilon)
			}
			weight, shrunk, err := p.regulariser.sizes(d)
			if err != nil {
				return nil, err
			}
			var shrink []float64
			if weight > 0 {
				shrink = make([]float64, d.Width())
				for j := range shrunk {
					shrink[j] = weight
				}
			}
			sigma, err := noiseFor(sgd.Cost{Rate: 1, Steps: steps}, epsilon, delta)
			if err != nil {
				return nil, err
			}
			rule := sgd.Adaptive{Radius: radius, Steps: steps, Shrink: shrink}
			if radius == 0 {
				rule.Radius, rule.Ball = quantileRadius/d.RowNorm, quantileBall/d.RowNorm
			}
			q := sgd.Quantiles{Levels: levels, RowNorm: d.RowNorm, Steps: steps,
				NoiseMultiplier: sigma, Update: rule}
			if curvatureShare != 0 {
				if weight > 0 {
					return nil, errShareAndRegulariser
				}
				return q.WithCurvature(curvatureShare, references(d)...), nil
			}
			if p.records == 0 {
				return q.WithCount(countShare), nil
			}
			q.Records = float64(p.records)
			return q, nil
		},
		plain: plainQuantiles,
	}
}

// smoothed is the specification by objective perturbation of the loss at width h: docs/theory/quantiles.md, section 10.
// Of p it keeps what predictions are, and fits without privacy.
func (p spec) smoothed(h float64, others ...setting) spec {
	l := loss.SmoothPinball{Tau: p.levels[0], Width: h}
	p.check = func() error {
		if !(h > 0 && h <= 1e3) {
			return &privacy.ParamError{Name: "Smooth", Value: h, Want: "a width in (0, 1000]"}
		}
		for _, s := range others {
			if s.stated {
				return fmt.Errorf("dpnb: a Quantile with %s is fitted once, by noise in the objective, and has no %s: "+
					"leave one of them out", wording.Of("Smooth"), wording.Of(s.name))
			}
		}
		return nil
	}
	p.steps, p.ridge, p.choose, p.informed = 0, predictionNoise, nil, framed(l, leastOfHuber)
	p.smooth, p.loss = h, func(frame.Target) loss.Loss { return l }
	return p
}

func errEpsilon(epsilon float64) error {
	return &privacy.ParamError{Name: "Epsilon", Value: epsilon, Want: "a number in (0, 1000]"}
}

// centredDescent calibrates noisy steps for quantiles on centred rows.
func centredDescent(p spec, _ *frame.Design, radius, mu float64, c objpert.Config) (mechanism.Informed,
	func(float64) float64, error) {
	if !(c.Epsilon > 0 && c.Epsilon <= 1e3) {
		return nil, nil, errEpsilon(c.Epsilon)
	}
	q := sgd.Quantiles{Levels: p.levels, RowNorm: radius, Steps: p.steps,
		NoiseMultiplier: math.Sqrt(float64(p.steps)) / mu * (1 + 0x1p-40),
		Update:          sgd.Adaptive{Radius: quantileRadius / radius, Steps: p.steps}}
	part := func(share float64) float64 { return math.Sqrt(share/(1-c.Reserved)) * mu * (1 - 0x1p-40) }
	if p.curvatureShare == 0 {
		return q, part, nil
	}
	if p.curvatureShare >= 1-c.Reserved {
		return nil, nil, &privacy.ParamError{Name: "CurvatureShare", Value: p.curvatureShare,
			Want: fmt.Sprintf("less than %g, as the rest is for the mean of the records", 1-c.Reserved)}
	}
	return q.WithCurvature(p.curvatureShare / (1 - c.Reserved)), part, nil
}

// references are the columns of categories whose indicators add up to the bias, so that only their differences are
// known. Where there is no bias, or rows are scaled, none is left out.
func references(d *frame.Design) (all []sgd.Reference) {
	if !intercept(d) || d.Encoding == nil || !d.Encoding.Unscaled() {
		return nil
	}
	at, groups := 0, d.Encoding.Groups()
	for k, column := range d.Encoding.Columns() {
		size := groups[k]
		if f, _ := d.Encoding.Field(column); f.Kind == frame.Categorical && size > 1 && size >= len(f.Levels) {
			all = append(all, sgd.Reference{First: at, Count: size, Sum: d.Width() - 1,
				Left: max(0, slices.Index(f.Levels, f.Reference))})
		}
		at += size
	}
	return all
}

// isDescent reports whether quantiles were released by noisy steps.
func isDescent(r *mechanism.Release) bool {
	switch r.Fitted.(type) {
	case sgd.Quantiles, sgd.Curvature: // Counted has fitted Quantiles
		return true
	}
	return false
}

// levelNames writes levels as columns are called.
func levelNames(levels []float64) []string {
	names := make([]string, len(levels))
	for k, tau := range levels {
		names[k] = strconv.FormatFloat(tau, 'g', -1, 64)
	}
	return names
}
