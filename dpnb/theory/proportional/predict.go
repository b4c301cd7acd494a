package proportional

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Prediction is the error that a mechanism with certain knobs will have.
type Prediction struct {
	Mechanism Mechanism
	Task      Task
	Target    Target
	// Lambda is the ridge, Nu the scale of the noise. Steps and Step are those of gradient descent, 0 otherwise.
	Lambda, Nu float64
	Steps      int
	Step       float64
	// Point describes the estimate.
	Point FixedPoint
	// Accuracy estimates the error of Point.RMSE²; it is 0 but for descent, where it is that of the quadrature.
	Accuracy float64
	// Gaussian says that the noise is that of the Gaussian mechanism: for Objective and Output the least that any
	// accounting can allow, for NoisyDescent if all iterates are released.
	Gaussian bool

	// AtEdge says that the best knob is at an end of what was searched, so that one beyond it may be better.
	AtEdge bool

	fit FixedPoint // the minimiser, before any output noise
}

// InUnits returns the prediction for the same regression with every number, the labels and β⋆, in units that are 1/u of
// these: y and β times u, Huber's threshold and the noise with them. The ridge and the steps are without a unit.
func (p Prediction) InUnits(u float64) Prediction {
	p.Nu *= u
	p.Accuracy *= u * u
	p.Task.Kappa *= u
	p.Task.Noise = p.Task.Noise.scaled(u)
	if h, ok := p.Task.Loss.(loss.Huber); ok {
		p.Task.Loss = loss.Huber{Threshold: h.Threshold * u}
	}
	p.Point, p.fit = p.Point.inUnits(u), p.fit.inUnits(u)
	return p
}

func (p FixedPoint) inUnits(u float64) FixedPoint {
	p.Sigma *= u
	p.RMSE *= u
	p.Kappa *= u
	p.Direct *= u
	p.OnXi *= u
	return p
}

// At predicts the error of a mechanism with a ridge λ > 0 (Objective, Output).
//
// Errors: *privacy.ParamError, privacy.ErrUnsupported, ErrAccuracy.
func (t Task) At(m Mechanism, g Target, lambda float64, bound objective.Bound) (Prediction, error) {
	if err := cmp.Or(t.Validate(), privacy.Within(lambda > 0, "Lambda", lambda,
		"a ridge > 0: without one nothing is private")); err != nil {
		return Prediction{}, err
	}
	terms, err := t.terms(m, g)
	if err != nil {
		return Prediction{}, err
	}
	return t.at(m, terms, lambda, bound, nil)
}

func (t Task) at(m Mechanism, g terms, lambda float64, bound objective.Bound, s *Settings) (Prediction, error) {
	p := Prediction{Mechanism: m, Task: t, Target: g.Target, Lambda: lambda}
	var err error
	switch m {
	case Objective:
		p.Gaussian = lambda >= g.ridge
		if p.Nu, err = g.objectiveNoise(lambda, bound); err != nil {
			return p, err
		}
		p.fit, err = t.solve(lambda, p.Nu, s)
		p.Point = p.fit
		return p, err
	case Output:
		p.Nu, p.Gaussian = t.outputNoise(g, lambda), true
		p.fit, err = t.solve(lambda, 0, s)
		p.Point = p.fit.WithOutputNoise(p.Nu)
		return p, err
	}
	return p, &privacy.ParamError{Name: "Mechanism", Value: m, Want: "Objective or Output; NoisyDescent has AtSteps"}
}

// AtSteps predicts the error of noisy gradient descent with T steps of size η.
func (t Task) AtSteps(g Target, steps int, step float64, s *DescentSettings) (Prediction, error) {
	if err := t.Validate(); err != nil {
		return Prediction{}, err
	}
	p := Prediction{Mechanism: NoisyDescent, Task: t, Target: g, Steps: steps, Step: step, Gaussian: true}
	nu, err := t.descentNoise(g, steps)
	if err != nil {
		return p, err
	}
	p.Nu = nu
	path, err := Descent{Loss: t.Loss, AspectRatio: t.AspectRatio, Step: step, Steps: steps, Nu: nu, Kappa: t.Kappa,
		Noise: t.Noise, Link: t.Link}.Trajectory(s)
	if err != nil {
		return p, err
	}
	last := path[steps]
	p.Point, p.Accuracy = last.FixedPoint, last.Error
	return p, nil
}

// ridges returns the natural logarithms of the ridges that Best and NonPrivate search: from 1e-5 to 1e5, and at few
// features for the records to 10 times the curvature n/d of all records in each coordinate.
func (t Task) ridges() (lowest, highest float64) {
	return -11.5, math.Min(13.8, math.Max(11.5, 2.3-math.Log(t.AspectRatio)))
}

// atEdge reports whether a ridge is at an end of those.
func (t Task) atEdge(ridge float64) bool {
	lo, hi := t.ridges()
	at := math.Log(ridge)
	return at < lo+0.05 || at > hi-0.05
}

// Best predicts the error of a mechanism with the knobs that make it smallest: the ridge of Objective and Output, the
// number and size of the steps of NoisyDescent (without a ridge, up to 24 steps, sizes from 2e-5 to 20 times 1/(s(1 +
// 1/δ)), to about 5 %).
//
// The search for objective perturbation accounts by the Gaussian case where it is proved and by DTZ24, which is fast,
// elsewhere. If what it finds is not well inside the Gaussian case, and another bound is given, a second search under
// add/remove-one uses that; with Tight it takes about a second.
//
// Choosing knobs by prediction looks at d and n only. Under replace-one n is public and that costs nothing; under
// add/remove-one it is not, so take d/n from a public figure, such as a rounded count that was decided on beforehand.
func (t Task) Best(m Mechanism, g Target, bound objective.Bound) (Prediction, error) {
	if err := t.Validate(); err != nil {
		return Prediction{}, err
	}
	if m == NoisyDescent {
		return t.bestDescent(g)
	}
	terms, err := t.terms(m, g)
	if err != nil {
		return Prediction{}, err
	}
	return t.bestRidge(m, terms, bound, math.NaN())
}

// optimum keeps the best prediction of a search, and why others failed.
type optimum struct {
	Prediction
	badness float64
	failed  error
}

// newOptimum is that of a search which has seen nothing yet.
func newOptimum(t Task) *optimum {
	return &optimum{Prediction: Prediction{Task: t}, badness: math.Inf(1)}
}

// offer returns how bad p is, +Inf where there was an error.
func (o *optimum) offer(p Prediction, err error) float64 {
	if err != nil {
		o.failed = err
		return math.Inf(1)
	}
	v := p.Task.badness(p.Point)
	if math.IsNaN(v) {
		return math.Inf(1)
	}
	if v < o.badness {
		o.Prediction, o.badness = p, v
	}
	return v
}

// err says why nothing was found, or is nil.
func (o *optimum) err(g Target) error {
	switch {
	case !math.IsInf(o.badness, 1):
		return nil
	case o.failed != nil:
		return o.failed
	}
	return &privacy.ParamError{Name: "Epsilon", Value: g.Epsilon,
		Want: "a guarantee that some ridge of those searched can give"}
}

// leastOf returns the k of 0, …, last at which f is least.
func leastOf(last int, f func(k int) float64) (at int) {
	least := math.Inf(1)
	for k := range last + 1 {
		if v := f(k); v < least {
			at, least = k, v
		}
	}
	return at
}

// bestRidge searches everywhere, or near a logarithm of the ridge.
func (t Task) bestRidge(m Mechanism, g terms, bound objective.Bound, near float64) (Prediction, error) {
	best := newOptimum(t)
	var start *FixedPoint
	value := func(logRidge float64) float64 {
		p, err := t.at(m, g, math.Exp(logRidge), objective.DTZ24, &Settings{Start: start})
		var param *privacy.ParamError
		if errors.As(err, &param) {
			return math.Inf(1) // no noise will do at so small a ridge
		}
		if err == nil {
			start = &p.fit
		}
		return best.offer(p, err)
	}
	lo, hi := t.ridges()
	if finite(near) {
		a, b, c := value(near-0.5), value(near), value(near+0.5)
		if b <= a && b <= c {
			lo, hi = near-0.5, near+0.5
		} else {
			near = math.NaN()
		}
	}
	if !finite(near) {
		cells := int(math.Ceil(hi - lo))
		at := leastOf(cells, func(k int) float64 { return value(lo + (hi-lo)*float64(k)/float64(cells)) })
		width := (hi - lo) / float64(cells)
		lo, hi = lo+width*float64(max(at-1, 0)), lo+width*float64(min(at+1, cells))
	}
	if m == Objective && finite(g.ridge) {
		value(math.Log(g.ridge) + 1e-12) // the noise jumps there
	}
	univariate.GoldenLeft(value, lo, hi, int(math.Ceil(math.Log((hi-lo)/1e-2)/0.4812)))
	if err := best.err(g.Target); err != nil {
		return best.Prediction, err
	}
	best.AtEdge = t.atEdge(best.Lambda)
	if m == Objective && bound != objective.DTZ24 && best.Lambda <= 1.01*g.ridge {
		return t.refine(g, bound, best.Prediction)
	}
	return best.Prediction, nil
}

// refine searches below the edge of the Gaussian case, where DTZ24 asks for far more noise than a better bound, with
// that bound. Above the edge there is nothing to gain.
func (t Task) refine(g terms, bound objective.Bound, first Prediction) (Prediction, error) {
	if g.Adjacency != privacy.AddRemove {
		return t.at(Objective, g, first.Lambda, bound, &Settings{Start: &first.fit})
	}
	best, found := first.Lambda, t.badness(first.Point)
	start := first.fit
	value := func(logRidge float64) float64 {
		lambda := math.Exp(logRidge)
		nu := g.roughNoise(lambda, bound)
		p, err := t.solve(lambda, nu, &Settings{Start: &start})
		if math.IsInf(nu, 1) || err != nil {
			return math.Inf(1)
		}
		start = p
		v := t.badness(p)
		if v < found {
			best, found = lambda, v
		}
		return v
	}
	hi := math.Log(math.Min(g.ridge, 2*first.Lambda))
	lo := math.Log(first.Lambda / 5)
	univariate.GoldenLeft(value, lo, hi, 6)
	p, err := t.at(Objective, g, best, bound, &Settings{Start: &start})
	if err == nil && t.badness(p.Point) <= t.badness(first.Point) {
		return p, nil
	}
	return first, nil
}

// stepScale is 1/(s(1 + 1/δ)): XᵀX has eigenvalues up to (1 + 1/√δ)², which is at most twice 1 + 1/δ, so that a step of
// this size never diverges.
func (t Task) stepScale() float64 {
	return 1 / (t.Loss.Smoothness() * (1 + 1/t.AspectRatio))
}

func (t Task) bestDescent(g Target) (Prediction, error) {
	rough := &DescentSettings{Points: 509, Replicates: 2}
	best, worse := newOptimum(t), 0
	for _, steps := range []int{1, 2, 3, 4, 6, 8, 12, 16, 24} {
		before := best.badness
		value := func(logStep float64) float64 {
			return best.offer(t.AtSteps(g, steps, t.stepScale()*math.Exp(logStep), rough))
		}
		at := float64(leastOf(12, func(k int) float64 { return value(float64(k - 10)) }) - 10)
		univariate.GoldenLeft(value, at-1, at+1, 8)
		if best.badness < before {
			worse = 0
		} else if worse++; worse == 2 && !math.IsInf(best.badness, 1) {
			break // more steps pay for themselves no more
		}
	}
	if err := best.err(g); err != nil {
		return best.Prediction, err
	}
	p, err := t.AtSteps(g, best.Steps, best.Step, nil)
	p.AtEdge = t.stepsAtEdge(best.Steps, best.Step)
	return p, err
}

// stepsAtEdge reports whether the number or the size of steps is at an end of those that are searched.
func (t Task) stepsAtEdge(steps int, size float64) bool {
	at := math.Log(size / t.stepScale())
	return steps == 24 || at < -10.9 || at > 2.9
}

// NonPrivate predicts the error of the fit with the best ridge and no privacy.
func (t Task) NonPrivate() (Prediction, error) {
	if err := t.Validate(); err != nil {
		return Prediction{}, err
	}
	best := newOptimum(t)
	var start *FixedPoint
	lo, hi := t.ridges()
	univariate.GoldenLeft(func(logRidge float64) float64 {
		lambda := math.Exp(logRidge)
		p, err := t.solve(lambda, 0, &Settings{Start: start})
		if err == nil {
			start = &p
		}
		return best.offer(Prediction{Task: t, Lambda: lambda, Point: p}, err)
	}, lo, hi, 20)
	if err := best.err(Target{}); err != nil {
		return best.Prediction, err
	}
	best.AtEdge = t.atEdge(best.Lambda)
	return best.Prediction, nil
}

// Assumptions are what the prediction rests on, one to a line.
func (p Prediction) Assumptions() []string {
	a := []string{
		fmt.Sprintf("n is large: the prediction is the limit n → ∞ at this d/n = %.2g, and finite samples scatter "+
			"around it by about 1/√n", p.Task.AspectRatio),
		"the features are centred, independent and of equal variance (isotropic), with subgaussian tails, and every " +
			"row obeys ‖x‖ ≤ " + fmt.Sprintf("%g", p.Task.Radius) + " with mean square 1",
		"no single coordinate of β⋆ dominates",
	}
	if p.Task.Link != nil {
		a = append(a, fmt.Sprintf("labels follow a %s model whose true score has the standard deviation κ = %g",
			p.Task.Link, p.Task.Kappa))
	} else {
		a = append(a, fmt.Sprintf("y = xᵀβ⋆ + ε⋆ with noise of standard deviation about %.3g, independent of x, and "+
			"sd(xᵀβ⋆) = %g", math.Sqrt(p.Task.Noise.SecondMoment()), p.Task.Kappa))
	}
	if p.private() && p.Target.Adjacency == privacy.AddRemove {
		a = append(a, "the number of records for which parameters were chosen is public: under add/remove-one "+
			"the exact count is private")
	}
	switch p.Mechanism {
	case NoisyDescent:
		a = append(a, "for labels as drawn the recursion of gradient descent is derived, not proved")
	case Objective, Output:
		a = append(a, "the minimiser is exact, the ridge acts on every coordinate and the sum of the losses is not "+
			"divided by n")
	}
	if !p.private() {
		return append(a, "the fit is not private at any ε")
	}
	needs := fmt.Sprintf("of all this the guarantee itself needs only rows no longer than %g (nothing here clips one)",
		p.Task.Radius)
	if p.Task.Link != nil {
		needs += ", labels ±1"
	}
	if p.Mechanism == NoisyDescent {
		needs += ", a start at 0, noise in the sum of the gradients at every step"
	} else {
		needs += ", an exact minimiser, λ and noise that go with the sum of the losses"
	}
	return append(a, needs+"; and parameters chosen from public numbers. It holds for every dataset of this kind")
}

// private reports that there is a mechanism: NonPrivate has none, and its Target, zero, must not be read as ε = 0.
func (p Prediction) private() bool { return p.Mechanism != 0 }

// Quality of the predicted classifier; zero for a regression.
func (p Prediction) Quality() Quality {
	if p.Task.Link == nil {
		return Quality{}
	}
	return Classification{Loss: p.Task.Loss, Link: p.Task.Link, Kappa: p.Task.Kappa}.Quality(p.Point)
}

// Predict finds the best knobs of each mechanism for n records and d features: the front door of this package.
// t.AspectRatio is set to d/n. Under add/remove-one n has to be a public figure (see Best).
//
// Errors: those of Best; a mechanism for which the loss has no accountant is left out.
func Predict(t Task, n, d int, g Target, mechanisms ...Mechanism) ([]Prediction, error) {
	if n < 1 || d < 1 {
		return nil, &privacy.ParamError{Name: "n, d", Value: [2]int{n, d},
			Want: "positive numbers of records and features"}
	}
	t.AspectRatio = float64(d) / float64(n)
	if len(mechanisms) == 0 {
		mechanisms = []Mechanism{Objective, Output, NoisyDescent}
	}
	var out []Prediction
	for _, m := range mechanisms {
		p, err := t.Best(m, g, objective.Tight)
		if errors.Is(err, privacy.ErrUnsupported) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}
