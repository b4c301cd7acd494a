package learn

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// HeavyLoss is what HeavyTails minimises.
type HeavyLoss int

const (
	// AbsoluteLoss is median regression.
	AbsoluteLoss HeavyLoss = iota
	// PinballLoss is quantile regression at the level Tau.
	PinballLoss
	// HuberLoss is squared up to Threshold and absolute beyond.
	HuberLoss
	// SquaredLoss is least squares.
	SquaredLoss
	// LogisticLoss and HingeLoss are for two classes.
	LogisticLoss
	HingeLoss
)

// HeavyMethod is how HeavyTails is made private. The methods but the first take a planned number of records, and need
// more of them for the same accuracy; they are what the theory is about.
type HeavyMethod int

const (
	// ByObjective is objective perturbation.
	ByObjective HeavyMethod = iota
	// ByOutput is output perturbation: one noisy minimiser.
	ByOutput
	// ByDoubleOutput is output perturbation twice with ε/2, the second time within the ball that the first has found:
	// Lowy 2026, Algorithm 4.
	ByDoubleOutput
	// ByLocalisation is double output perturbation in Phases, each on half of the records that are left and about the
	// point where the one before ended: Lowy 2026, Algorithm 1.
	ByLocalisation
)

// HeavyTails fits a linear model with pure ε: it spends no δ, and works on a budget with δ = 0 too. Features and target
// need no bounds, only a public scale: dpnb.Numeric("income", 0, 50_000).Unbounded() says where most values are.
// Outliers in features and target cannot move the fit by more than other records can, and no record is refused. It is
// objective perturbation of a smooth Lipschitz extension, or what Method says. The zero value is median regression.
//
//	budget := dpnb.NewBudget(1, 0)
//	model, err := dpnb.HeavyTails{}.Fit(data, budget.Spend(0.5))
//	dpnb.Show(model.CoefficientsInUnits())
type HeavyTails struct {
	// Loss; zero is AbsoluteLoss. LogisticLoss and HingeLoss are for Binary.
	Loss HeavyLoss
	// Tau is the level of PinballLoss in (0, 1).
	Tau float64
	// Threshold of HuberLoss, in units of half the width of the target's scale; zero is 1/4. Elsewhere it is set to
	// 1.35 times the scale of the residuals, which would have to be estimated from the records: here it is public.
	Threshold float64
	// Radius R bounds the coefficients, ‖θ‖₂ ≤ R, for features and target on their scales; zero is
	// 4. Too large an R costs some accuracy, and nothing mends one that is too small.
	Radius float64
	// Centre is a prior guess of the coefficients, one for each of Dataset.Features: the ball and the ridge are about
	// it. It must not come from the records; nil is zero.
	Centre []float64
	// Moment k > 1 and MomentBound G: E‖gradient‖^k ≤ G^k, for features and target on their scales. If zero, gradients
	// are clipped at the length 1 of the intercept's, times the largest slope of the loss, which loses little.
	// SquaredLoss has no largest slope, and G over all coefficients is far too large for it: zero is √d/4 there,
	// feature norm times the residual of Threshold. EstimateMoment spends ε on a number for your records. A wrong G
	// costs accuracy and no privacy.
	Moment, MomentBound float64
	// WorstCase clips gradients at the norm of the theorem on utility instead of the one that did best in experiments:
	// it guards against a bias that few data have, and costs accuracy.
	WorstCase bool
	// Records is the planned number of records, if that is public. If zero, they are counted with a fiftieth of ε.
	Records int
	// Method; zero is ByObjective, and the others are nearly always worse. Records must be stated for them.
	Method HeavyMethod
	// Phases of ByLocalisation; zero is 3.
	Phases int
	// Noise is the source of the noise; nil is noise.NewSecure().
	Noise noise.Source
	// Workers is the number of goroutines; zero means one for each processor.
	Workers int
}

// Fit releases a private model: see Learner. If fewer than 3d^{3/2}/ε records are planned, with d features, Show says
// that next to nothing can be learnt.
func (l HeavyTails) Fit(data *Dataset, allowance Allowance) (*Model, error) {
	m, err := fit(data, allowance, l.spec())
	if err != nil || l.Records == 0 {
		return m, err
	}
	d := float64(len(m.features))
	if least := 3 * d * math.Sqrt(d) / m.release.Guarantee.Epsilon; float64(l.Records) < least {
		m.dataWarning = join(m.dataWarning, fmt.Sprintf(
			"Next to nothing can be learnt about %d features from %d records at this ε: about %.0f are needed.",
			len(m.features), l.Records, math.Ceil(least)))
	}
	return m, nil
}

// FitWithoutPrivacy returns the fit of the same loss to three digits, for comparison on public data.
func (l HeavyTails) FitWithoutPrivacy(data *Dataset) (*Model, error) {
	return fitWithoutPrivacy(data, l.spec())
}

// countPart is the part of ε that counting the records has: a standard deviation of 70/ε.
const countPart = 0.02

// residual is what is taken for the scale of residuals where nothing is said of it: 1/4, an eighth of the width of the
// target's scale.
const residual = 0.25

func (l HeavyTails) loss() loss.Convex {
	switch l.Loss {
	case AbsoluteLoss:
		return loss.LeastAbsolute{}
	case PinballLoss:
		return loss.Pinball{Tau: l.Tau}
	case HuberLoss:
		return loss.Huber{Threshold: orElse(l.Threshold, residual)}
	case SquaredLoss:
		return loss.Squared{}
	case LogisticLoss:
		return loss.Logistic{}
	case HingeLoss:
		return loss.Hinge{}
	}
	return nil
}

// valid refuses a loss or a level that is none, and parameters of another loss, which would say nothing here.
func (l HeavyTails) valid() error {
	return cmp.Or(privacy.Within(l.loss() != nil, "Loss", int(l.Loss),
		"AbsoluteLoss, PinballLoss, HuberLoss, SquaredLoss, LogisticLoss or HingeLoss"),
		privacy.Within(l.Loss == PinballLoss || l.Tau == 0, "Tau", l.Tau,
			"0: it is the level of PinballLoss, and Loss is another"),
		privacy.Within(l.Loss != PinballLoss || l.Tau > 0 && l.Tau < 1, "Tau", l.Tau,
			"a level between 0 and 1, both excluded"),
		privacy.Within(l.Loss == HuberLoss || l.Threshold == 0, "Threshold", l.Threshold,
			"0: it is that of HuberLoss, and Loss is another"),
		privacy.Within(l.Moment == 0 || l.MomentBound != 0, "MomentBound", l.MomentBound,
			"a bound G: a Moment says nothing without it"),
		privacy.Within(l.Method == ByLocalisation || l.Phases == 0, "Phases", l.Phases,
			"0: they are those of ByLocalisation, and Method is another"))
}

func (l HeavyTails) calibrate(c pure.Config) (mechanism.Mechanism, error) {
	phases := pure.PhasesConfig{Config: c, Count: 1, Double: true}
	switch l.Method {
	case ByObjective:
		if l.Records == 0 {
			m := pure.Counted{Config: c, Share: countPart}
			return m, m.Validate()
		}
		return c.Calibrate()
	case ByOutput:
		return c.CalibrateOutput()
	case ByLocalisation:
		phases.Count = l.Phases // of which PhasesConfig has a default
		return phases.Calibrate()
	case ByDoubleOutput:
		return phases.Calibrate()
	}
	return nil, &privacy.ParamError{Name: "Method", Value: int(l.Method),
		Want: "ByObjective, ByOutput, ByDoubleOutput or ByLocalisation"}
}

func (l HeavyTails) spec() spec {
	task := frame.Number
	if l.Loss == LogisticLoss || l.Loss == HingeLoss {
		task = frame.TwoClasses
	}
	var levels []float64 // of what is a quantile, and is scored as one
	switch l.Loss {
	case AbsoluteLoss:
		levels = []float64{0.5}
	case PinballLoss:
		levels = []float64{l.Tau}
	}
	radius := orElse(l.Radius, 4)
	return spec{
		learner: "HeavyTails", title: "regression with heavy tails", entry: "heavy tails", task: task,
		probabilities: l.Loss == LogisticLoss, levels: levels, records: l.Records, noise: l.Noise,
		workers: l.Workers,
		own:     parameter{"Threshold", l.Threshold}, check: l.valid, pure: true, open: true,
		choose: func(_ spec, d *frame.Design, epsilon, _ float64) (mechanism.Mechanism, error) {
			c := pure.Config{Loss: l.loss(), Epsilon: epsilon, Adjacency: privacy.AddRemove, Features: d.Width(),
				Records: l.Records,
				Radius:  radius, Centre: l.Centre, Moment: l.Moment, MomentBound: l.MomentBound,
				WorstCase: l.WorstCase, LeastNorm: 1}
			if l.Loss == SquaredLoss && l.MomentBound == 0 {
				c.MomentBound = residual * math.Sqrt(float64(d.Width()))
			}
			c.Directions = l.Loss == PinballLoss && l.MomentBound == 0
			return l.calibrate(c)
		},
		plain: func(p spec, d *frame.Design, _ float64) ([]float64, error) {
			return plainly(d, l.loss(), p.workers)
		},
	}
}

// plainly minimises Σφ, extended for records of ten times the median norm and smoothed at a thousandth of the scale,
// with a ridge that shows in the fourth digit at most.
func plainly(d *frame.Design, l loss.Convex, workers int) ([]float64, error) {
	unit, norms := matrix.Directions(d.Rows, workers)
	numbers := make([]float64, len(norms))
	for i := range norms {
		numbers[i] = float64(i)
	}
	c := 1.0
	if len(norms) > 0 {
		c = 10 * max(1, slices.Sorted(slices.Values(norms))[len(norms)/2])
	}
	p := &erm.Problem{Rows: unit, Labels: numbers, Lambda: 1e-5 * c * float64(len(norms)+1),
		Loss: loss.Extend(l, loss.FreeBend(c, c/8, c), norms, d.Labels, nil)}
	s, err := erm.Minimize(p, &erm.Settings{Workers: workers, Tolerance: 1e-4 * p.Lambda})
	if s == nil {
		return nil, err
	}
	return s.Theta, nil // to fewer digits where they are not to be had
}
