package proportional

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Mechanism is a way to learn privately whose error is predicted here.
type Mechanism int

// Mechanisms. The zero value is none: only NonPrivate returns it.
const (
	// Objective perturbation: Theorems 3.7 and 4.2.
	Objective Mechanism = iota + 1
	// Output perturbation: Corollaries 6.1 and 6.3.
	Output
	// NoisyDescent is full-batch gradient descent with noise in every gradient.
	NoisyDescent
)

// String returns the name.
func (m Mechanism) String() string {
	switch m {
	case 0:
		return "the fit without privacy"
	case Objective:
		return "objective perturbation"
	case Output:
		return "output perturbation"
	case NoisyDescent:
		return "noisy gradient descent"
	}
	return fmt.Sprintf("mechanism %d", int(m))
}

// Goal is what is made small.
type Goal int

const (
	// SquaredError is ‖β̂ − β⋆‖²/d.
	SquaredError Goal = iota + 1
	// Misclassification is the probability that sign(xᵀβ̂) is not the label of a new record: a matter of the angle
	// between β̂ and β⋆ alone.
	Misclassification
)

// Target is the guarantee that is to be given.
type Target struct {
	Epsilon, Delta float64
	Adjacency      privacy.Adjacency
}

// mu returns the largest μ for which μ-GDP implies (ε, δ).
func (t Target) mu() (float64, error) {
	if err := t.Adjacency.Validate(); err != nil {
		return 0, err
	}
	return privacy.MuOf(t.Epsilon, t.Delta)
}

// moves is by how many gradients two neighbours differ.
func (t Target) moves() float64 {
	if t.Adjacency == privacy.ReplaceOne {
		return 2
	}
	return 1
}

// Task is what is to be learned, without the knobs of a mechanism.
type Task struct {
	Loss loss.Loss
	// AspectRatio is d/n.
	AspectRatio float64
	// Kappa is the standard deviation of the true score xᵀβ⋆.
	Kappa float64
	// Noise (a regression) or Link (a classification) says how labels arise.
	Noise Law
	Link  Link
	// Radius R bounds ‖x‖: every guarantee rests on it. The rows of the theory have a mean square norm of 1; nothing
	// here clips a longer one, whoever fits must refuse or clip it, and clipped rows are no longer those of the theory.
	Radius float64
	// Goal is what Best makes small.
	Goal Goal
}

// Validate returns a *privacy.ParamError for the first field out of range.
func (t Task) Validate() error {
	d := Descent{Loss: t.Loss, AspectRatio: t.AspectRatio, Step: 1, Steps: 1, Kappa: t.Kappa, Noise: t.Noise,
		Link: t.Link}
	if err := d.Validate(); err != nil {
		return err
	}
	return cmp.Or(privacy.Within(t.Radius >= 1 && finite(t.Radius), "Radius", t.Radius,
		"a bound ≥ 1 on the norm of rows whose mean square norm is 1"),
		privacy.Within(finite(t.Loss.Lipschitz()), "Loss", t.Loss.Name(),
			"a loss with a bounded slope: without one nothing is private (clip it)"),
		privacy.Within(t.Goal == SquaredError || t.Goal == Misclassification && t.Link != nil, "Goal", t.Goal,
			"SquaredError, or Misclassification for a classification"))
}

// sensitive says why no sensitivity is known: a radius or a slope without a bound would pass for a noise of 0 or NaN.
func (t Task) sensitive() error {
	switch {
	case !(t.Radius > 0) || !finite(t.Radius):
		return &privacy.ParamError{Name: "Radius", Value: t.Radius,
			Want: "a positive finite bound on the norm of every row"}
	case t.Loss == nil || !(t.Loss.Lipschitz() > 0) || !finite(t.Loss.Lipschitz()) || math.IsNaN(t.Loss.Smoothness()):
		return &privacy.ParamError{Name: "Loss", Value: t.Loss,
			Want: "a loss with a bounded slope whose parameters are in range: without one nothing is private (clip it)"}
	case t.Link != nil && (!t.Loss.ValidLabel(1) || !t.Loss.ValidLabel(-1)):
		return &privacy.ParamError{Name: "Loss", Value: t.Loss.Name(),
			Want: "a loss for labels ±1, because there is a Link"}
	}
	return nil
}

// solve returns the fixed point at (λ, ν).
func (t Task) solve(lambda, nu float64, s *Settings) (FixedPoint, error) {
	if t.Link != nil {
		return Classification{Loss: t.Loss, Link: t.Link, AspectRatio: t.AspectRatio, Lambda: lambda, Nu: nu,
			Kappa: t.Kappa}.Solve(s)
	}
	return Regression{Loss: t.Loss, AspectRatio: t.AspectRatio, Lambda: lambda, Nu: nu, Kappa: t.Kappa,
		Noise: t.Noise}.Solve(s)
}

// badness is what is minimised, a monotone function of the goal.
func (t Task) badness(p FixedPoint) float64 {
	if t.Goal == Misclassification {
		return -p.SignalCorrelation()
	}
	return p.MSE()
}

// curve returns what the accountant of objective perturbation needs to know of the loss.
func (t Task) curve() (*loss.Curve, error) {
	_, _, clipped := loss.Unclip(t.Loss)
	c, err := loss.CurveOf(t.Loss, t.Radius)
	if clipped || err != nil {
		return nil, fmt.Errorf("%w: objective perturbation with the loss %s; use output perturbation or gradient "+
			"descent", privacy.ErrUnsupported, t.Loss.Name())
	}
	return c, nil
}

// terms are what a target means for a task, whatever d/n and λ.
type terms struct {
	Target
	mu float64 // the largest μ for which μ-GDP will do
	// Objective perturbation: the curve of the loss, the noise of the Gaussian mechanism of sensitivity LR, and the
	// smallest ridge at which that is proved to be enough, +Inf where it never is.
	curve     objective.Curve
	nu, ridge float64
}

func (t Task) terms(m Mechanism, g Target) (terms, error) {
	if err := t.sensitive(); err != nil {
		return terms{}, err
	}
	mu, err := g.mu()
	if err != nil {
		return terms{}, err
	}
	out := terms{Target: g, mu: mu}
	if m != Objective {
		return out, nil
	}
	c, err := t.curve()
	if err != nil {
		return out, err
	}
	kappa := c.Kappa()
	l := objective.Slope(c)
	out.curve, out.nu, out.ridge = c, g.moves()*l/mu*(1+1e-9), math.Inf(1)
	if kappa == 0 {
		return out, nil
	}
	lo, hi := 1e-6*kappa*l*out.nu, 10*kappa*l*out.nu // Theorem B, for every ε
	_, hi = univariate.Bisect(func(ridge float64) bool { return objective.IsGaussian(c, ridge, out.nu) }, lo, hi,
		univariate.Geometric, 1e-9)
	if g.Adjacency == privacy.AddRemove { // Theorem A, for this ε
		hi = math.Min(hi, kappa*l*l/(g.Epsilon+0.5*l*l/(out.nu*out.nu))*(1+1e-9))
	}
	out.ridge = hi
	return out, nil
}

func (g terms) objectiveNoise(lambda float64, bound objective.Bound) (float64, error) {
	if err := privacy.Within(lambda > 0 && finite(lambda), "Lambda", lambda,
		"a finite ridge > 0: without one nothing is private"); err != nil {
		return 0, err
	}
	if lambda >= g.ridge {
		return g.nu, nil
	}
	cfg := objective.Config{Curve: g.curve, Lambda: lambda, Bound: bound}
	if g.Adjacency == privacy.AddRemove {
		return objective.Sigma(cfg, g.Epsilon, g.Delta)
	}
	return privacy.Calibrate(func(scale float64) (bool, error) {
		if scale > 1e9*objective.Slope(g.curve) {
			return false, &privacy.ParamError{Name: "Lambda", Value: lambda,
				Want: "a larger ridge: with this one no noise satisfies (ε, δ) by this bound"}
		}
		if scale < g.nu {
			return false, nil // nothing is better than the Gaussian mechanism
		}
		cfg.Sigma = scale
		p, err := objective.New(cfg)
		if err != nil {
			return false, err
		}
		r, err := privacy.ReplaceProfile(p)
		if err != nil {
			return false, err
		}
		return privacy.DeltaUpper(r, g.Epsilon) <= g.Delta, nil
	}, 1e-5)
}

// roughNoise returns a ν that the bound proves to be enough under add/remove-one, within about 1e-3 of the smallest;
// +Inf if DTZ24 knows of none. ln δ is nearly a polynomial in ln ν: the secant method inside a bracket needs five
// values.
func (g terms) roughNoise(lambda float64, bound objective.Bound) float64 {
	if lambda >= g.ridge {
		return g.nu
	}
	cfg := objective.Config{Curve: g.curve, Lambda: lambda, Bound: objective.DTZ24}
	high, err := objective.Sigma(cfg, g.Epsilon, g.Delta)
	if err != nil {
		return math.Inf(1)
	}
	cfg.Bound = bound
	excess := func(logNu float64) float64 {
		cfg.Sigma = math.Exp(logNu)
		p, err := objective.New(cfg)
		if err != nil {
			return math.Inf(1)
		}
		return math.Max(p.LogDeltaUpper(privacy.Add, g.Epsilon), p.LogDeltaUpper(privacy.Remove, g.Epsilon)) - math.Log(
			g.Delta)
	}
	lo, hi := math.Log(g.nu), math.Log(high)
	flo, fhi := excess(lo), excess(hi)
	if flo <= 0 {
		return g.nu
	}
	if !(fhi <= 0) {
		return high
	}
	for range 20 {
		if hi-lo < 1e-3 {
			break
		}
		mid := lo + (hi-lo)*flo/(flo-fhi)
		mid = math.Min(math.Max(mid+2e-4, lo+0.02*(hi-lo)), hi-0.02*(hi-lo))
		if v := excess(mid); v > 0 {
			lo, flo = mid, v
			fhi *= 0.5 // or the other end never moves
		} else {
			hi, fhi = mid, v
			flo *= 0.5
		}
	}
	return math.Exp(hi)
}

func (t Task) outputNoise(g terms, lambda float64) float64 {
	return g.moves() * t.Loss.Lipschitz() * t.Radius / (lambda * g.mu) * (1 + 1e-15)
}

// descentNoise returns the ν with which T steps of noisy gradient descent from β⁰ = 0 meet the target: Gaussian
// mechanisms of sensitivities ΔₜR compose to √(ΣΔₜ²)·R/ν-GDP. Δₜ is L (or 2L), but for the first step of a
// classification, whose gradient is taken at 0: there the slopes are f′(0; ±1), ±1/2 for the logistic loss. That is
// exact for the release of all iterates where every step meets its Δₜ, and an upper bound for the last iterate alone.
//
// Errors: *privacy.ParamError, also for a loss or a radius without a bound.
func (t Task) descentNoise(g Target, steps int) (float64, error) {
	if err := t.sensitive(); err != nil {
		return 0, err
	}
	mu, err := g.mu()
	if err = cmp.Or(err, privacy.Within(steps >= 1, "Steps", steps, "a positive number")); err != nil {
		return 0, err
	}
	return g.moves() * t.Radius * t.slopes(steps) / mu * (1 + 1e-15), nil
}

// slopes returns √(ΣLₜ²), Lₜ the largest slope that step t can meet.
func (t Task) slopes(steps int) float64 {
	l := t.Loss.Lipschitz()
	first := l
	if t.Link != nil {
		v := make([]float64, 2)
		t.Loss.ValueSlope(v, make([]float64, 2), []float64{1, -1})
		first = math.Max(math.Abs(v[0]), math.Abs(v[1]))
	}
	return math.Sqrt(first*first + float64(steps-1)*l*l)
}
