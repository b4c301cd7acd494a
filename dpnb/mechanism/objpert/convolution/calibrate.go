package convolution

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Config asks for a COP that satisfies (ε, δ). None of it may depend on the records.
type Config struct {
	// Loss of one record. Where its Form is a loss.Convolved, or its Pieces are, with a Width of zero, the width is
	// chosen, as Rule says.
	Loss
	// Epsilon > 0, 0 < Delta < 1.
	Epsilon, Delta float64
	Adjacency      privacy.Adjacency
	// Lambda fixes λ, the ridge of the sum; then the width must be fixed too, and σ is the least that is proved. Zero
	// chooses λ by Rule.
	Lambda float64
	// Rule chooses λ, and the width, where Lambda is zero.
	Rule Rule
	// Planned is what is publicly known of the records, for Rule.
	Planned Planned
	// Exactly also tries the account Tight where there is one form: less noise, for seconds.
	Exactly bool
	// Tolerance is τ; zero means 1e-7·L.
	Tolerance float64
}

// Rule is how λ and the kernel's width are chosen without looking at the records.
type Rule int

const (
	// Predicted takes the σ, λ and width at which the excess risk that is predicted from Planned is least
	// (Planned.Excess).
	Predicted Rule = iota
	// Paper is cop's λ of Lemma 3.3 and its step 1, with the true curvature in θ, and σ by the rank of the Hessian:
	// what Theorem 3.2 means to say.
	Paper
	// Printed is λ, width and σ as cop prints them: NOT proved to satisfy (ε, δ). What is returned says so, and its
	// guarantee is the proved one at these parameters.
	Printed
)

// outputShare is μ_out/μ_objective; with τ = 1e-7·L the output noise is 2·10⁻⁵σ/λ, beside at least 10⁻³σ/λ in the
// solution where the records have up to a thousand times λ's curvature, and it costs 0.005 % of σ.
const outputShare = 0.01

// outputRoom is by what σ grows for that, √(1 + outputShare²) and hardly more.
const outputRoom = 1 + outputShare*outputShare/2

// finish sets τ and σ_out for m's λ and σ.
func (m COP) finish(tolerance float64) COP {
	m.Tolerance = cmp.Or(tolerance, 1e-7*m.Lipschitz())
	m.OutputSigma = 2 * m.Tolerance / (m.Lambda * outputShare * m.Lipschitz() / m.Sigma)
	return m
}

// Calibrate returns the mechanism with the least noise, by the stated rule, that is proved to satisfy (ε, δ).
//
// Errors: *privacy.ParamError, an error that wraps privacy.ErrUnsupported for an adjacency other than add/remove-one;
// of Paper and Printed *NoWidthError where step 1 has no answer.
func Calibrate(c Config) (COP, error) {
	if err := c.validate(); err != nil {
		return COP{}, err
	}
	c.Epsilon, c.Delta = privacy.Typed(c.Epsilon, c.Delta)
	if c.Lambda > 0 {
		if err := c.Loss.validate(); err != nil {
			return COP{}, err
		}
		return c.leastNoise(COP{Loss: c.Loss, Lambda: c.Lambda})
	}
	if err := c.Planned.validate(); err != nil {
		return COP{}, err
	}
	switch c.Rule {
	case Predicted:
		return c.predicted()
	case Paper, Printed:
		return c.paper(c.Rule == Printed)
	}
	return COP{}, &privacy.ParamError{Name: "Rule", Value: int(c.Rule), Want: "Predicted, Paper or Printed"}
}

// validate returns an error for what is wrong whatever the rule.
func (c Config) validate() error {
	const chosen = "a positive finite number, or 0 to have it chosen"
	if err := cmp.Or(mechanism.OnlyAddRemove(c.Adjacency, "convolved objective perturbation is"),
		privacy.Positive("Epsilon", c.Epsilon), privacy.CheckGaussianDelta(c.Delta),
		privacy.Within(c.Lambda >= 0 && !math.IsInf(c.Lambda, 1), "Lambda", c.Lambda, chosen),
		privacy.Within(c.Tolerance >= 0 && !math.IsInf(c.Tolerance, 1), "Tolerance", c.Tolerance, chosen)); err != nil {
		return err
	}
	width, ok := c.width()
	if ok && !(width >= 0) {
		return &privacy.ParamError{Name: "Width", Value: width, Want: "a positive number, or 0 to have it chosen"}
	}
	if ok && width == 0 {
		if c.Lambda > 0 {
			return &privacy.ParamError{Name: "Width", Value: 0.0, Want: "a positive number where Lambda is fixed"}
		}
		return c.wide(1).validate()
	}
	return c.Loss.validate()
}

// leastNoise returns m, with its loss and λ, with the least σ of all accounts that are proved.
func (c Config) leastNoise(m COP) (COP, error) {
	best := COP{Sigma: math.Inf(1)}
	var failed error
	for _, a := range []Account{FreeCurvature, ByRows, ByRank, Entropic, Tight} {
		if m.Pieces != nil && a != Entropic {
			continue
		}
		if a == Tight && !c.Exactly || a == ByRank && m.Other == nil && !math.IsInf(best.Sigma, 1) {
			continue // without an h, the rank bound is above that of the rows wherever both are finite
		}
		m.Account = a
		with, err := c.sigma(m, best.Sigma)
		if err != nil {
			if a == ByRows {
				failed = err
			}
			continue
		}
		if with.Sigma < best.Sigma {
			best = with
		}
	}
	if math.IsInf(best.Sigma, 1) {
		return COP{}, cmp.Or(failed, c.noSigma(m))
	}
	return best, best.Validate()
}

func (c Config) noSigma(m COP) error {
	return &privacy.ParamError{Name: "Lambda", Value: m.Lambda,
		Want: fmt.Sprintf("more: with the curvature s = %.4g of a record's loss no noise is proved to satisfy (ε = "+
			"%g, δ = %g); λ = %.4g would do, or a wider kernel", m.Smoothness(), c.Epsilon, c.Delta,
			8*float64(m.Loss.rows())*m.Smoothness()/math.Min(1, c.Epsilon))}
}

// sigma returns m with the least σ below most at which its account proves (ε, δ).
func (c Config) sigma(m COP, most float64) (COP, error) {
	unit, err := privacy.GaussianSigma(c.Epsilon, c.Delta)
	if err != nil {
		return m, err
	}
	start := unit * m.Lipschitz()
	switch m.Account {
	case FreeCurvature:
		return c.free(m)
	case Entropic:
		if m.Pieces != nil {
			break
		}
		if t, _, _, ok := softMaximum(m.Form); !ok || !(m.Lambda >= objective.EntropicLambda(t, start)) {
			return m, fmt.Errorf("%w: entropic smoothing wants λw ≥ 2σ²", privacy.ErrUnsupported)
		}
	}
	at := func(sigma float64) (float64, error) {
		with := m
		with.Sigma = sigma
		with = with.finish(c.Tolerance)
		e, err := with.event()
		if err != nil {
			return 0, err
		}
		p, err := e.Profile(privacy.AddRemove)
		if err != nil {
			return 0, err
		}
		return privacy.LogDeltaUpper(p, c.Epsilon), nil
	}
	top := math.Min(most, 100*start)
	if m.Account == ByRows {
		return c.searched(m, start, top)
	}
	sigma, err := crossing(at, start, top, logDown(c.Delta), 1e-4)
	if err != nil {
		return m, err
	}
	if !(sigma < top) {
		return m, c.noSigma(m)
	}
	m.Sigma = sigma
	return m.finish(c.Tolerance), nil
}

// searched is crossing of what is dear: a rough search says where to ask for a proof. It returns m with the σ and,
// beside an h, the c that do best.
func (c Config) searched(m COP, start, top float64) (COP, error) {
	m.Sigma = math.Inf(1)
	stacks := []float64{0}
	if m.Other != nil {
		stacks = nil
		for _, factor := range []float64{0.25, 0.5, 0.7, 1, 1.4, 2, 4} {
			stacks = append(stacks, factor*m.balance())
		}
	}
	for _, stack := range stacks {
		forms, err := m.Loss.forms(stack)
		if err != nil {
			return m, err
		}
		sigma, err := crossing(func(sigma float64) (float64, error) {
			return objective.Rows{Forms: forms, Lambda: m.Lambda, Sigma: sigma,
				Mu: m.Loss.fixed(stack) / sigma}.Roughly(c.Epsilon, 1000)
		}, start, math.Min(top, m.Sigma*1.0001), logDown(c.Delta), 1e-4)
		if err != nil {
			return m, err
		}
		if sigma < m.Sigma {
			m.Sigma, m.Stack = sigma, stack
		}
	}
	// The output noise takes its part, the chords of the profile a few ten-thousandths.
	m.Sigma *= outputRoom
	for step := 2e-4; m.Sigma < top; step *= 2 {
		if m = m.finish(c.Tolerance); c.satisfied(m) {
			return m, nil
		}
		m.Sigma *= 1 + step
	}
	return m, c.noSigma(m)
}

// logDown returns ln δ, rounded down.
func logDown(delta float64) float64 { return math.Log(delta) * (1 + 1e-15) }

// free is sigma for the closed form: the condition is to hold from a little below ε, so that the output noise does not
// leave it.
func (c Config) free(m COP) (COP, error) {
	curve, err := m.single()
	if err != nil {
		return m, err
	}
	room := c.Epsilon
	for range 60 {
		// The rest of δ is for the output noise.
		f := objective.Free{Curve: curve, Epsilon: room}
		m.Sigma, err = f.Sigma(c.Delta)
		if err != nil {
			return m, err
		}
		m = m.finish(c.Tolerance)
		m.From = c.Epsilon - 6*m.mu()
		least, err := objective.Free{Curve: curve, Epsilon: m.From}.Lambda(m.Sigma)
		if err != nil {
			return m, err
		}
		if !(m.From > 0 && m.Lambda >= least) {
			return m, fmt.Errorf("%w: the curvature is free from λ = %.6g on", privacy.ErrUnsupported, least)
		}
		if c.satisfied(m) {
			return m, nil
		}
		room *= 1 - 1e-4
	}
	return m, c.noSigma(m)
}

// satisfied reports whether m is proved to satisfy (ε, δ).
func (c Config) satisfied(m COP) bool {
	p, err := mechanism.Profile(m)
	return err == nil && privacy.LogDeltaUpper(p, c.Epsilon) <= logDown(c.Delta)
}

// crossing returns the least x in [low, high], to the relative tolerance, at which the falling function f was seen to
// be at most target; +Inf if it is not at high. The search is regula falsi in ln x, with a halving where that stalls.
func crossing(f func(float64) (float64, error), low, high, target, tolerance float64) (float64, error) {
	fl, err := f(low)
	if err != nil {
		return 0, err
	}
	if fl <= target {
		return low, nil
	}
	// A first bracket by steps that grow.
	a, b, fb := low, low, fl
	for factor := 1.05; ; factor *= factor {
		if b >= high {
			return math.Inf(1), nil
		}
		b = math.Min(high, b*factor)
		if fb, err = f(b); err != nil {
			return 0, err
		}
		if fb <= target {
			break
		}
		a, fl = b, fb
	}
	for k := 0; b/a-1 > tolerance; k++ {
		t := (fl - target) / (fl - fb)
		if !(t > 0.02 && t < 0.98) || k%3 == 2 {
			t = 0.5
		}
		// A little to the right of where the chord crosses, to be on the safe side of it.
		x := a * math.Pow(b/a, math.Min(1-0.01, t*1.01))
		fx, err := f(x)
		if err != nil {
			return 0, err
		}
		if fx <= target {
			b, fb = x, fx
		} else {
			a, fl = x, fx
		}
	}
	return b, nil
}
