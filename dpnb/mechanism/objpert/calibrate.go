package objpert

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Config asks for an Objective that satisfies (ε, δ). None of it may depend on the records.
type Config struct {
	Loss    loss.Loss
	RowNorm float64
	// Epsilon > 0, 0 < Delta < 1.
	Epsilon, Delta float64
	Adjacency      privacy.Adjacency
	// Lambda fixes λ; zero chooses it by Rule.
	Lambda float64
	// Rule chooses λ where Lambda is zero.
	Rule LambdaRule
	// Planned is for Automatic and PredictedError: what is publicly known of the records. It is not looked at where
	// Lambda is given.
	Planned Planned
	// NoiseFactor f ≥ 1 is for SmallestLambda: σ is f times that of the Gaussian mechanism at the same (ε, δ), and λ
	// the smallest that then satisfies (ε, δ). Zero means 1.3, as in rkw23, section 5, or the least power of 1.3 for
	// which there is such a λ. λ is at least s/1000: a smaller one saves no noise and leaves the fit without a scale.
	NoiseFactor float64
	// Tolerance is τ; zero means 1e-6·L.
	Tolerance float64
	// Reserved in [0, 1) is the part of μ² that Gaussian mechanisms beside the fit are to have (Part): with them it
	// satisfies (ε, δ). Zero is none.
	Reserved float64
	// Clip C > 0 clips every gradient at norm C (loss.ClippedAt); zero does not clip.
	Clip float64
	// Bound is how to account, as in Objective. objective.Tight halves λ or saves noise where the Gaussian case is not
	// proved, and takes a tenth of a second at a λ that is given, more where it is to be found.
	Bound objective.Bound
}

// LambdaRule is how λ and σ are chosen without looking at the records.
type LambdaRule int

const (
	// Automatic is PredictedError where Planned.Records is stated, else LeastNoise. On data where the two differ the
	// former was the better or equal (docs/theory/lambda_rule.md).
	Automatic LambdaRule = iota
	// LeastNoise takes the smallest λ at which objective perturbation is proved to cost no more than the Gaussian
	// mechanism, so that σ is as small as any accounting could make it. Losses for which there is no such λ fall back
	// to SmallestLambda.
	LeastNoise
	// SmallestLambda takes the smallest λ that suffices for NoiseFactor times the Gaussian mechanism's σ (rkw23,
	// section 5).
	SmallestLambda
	// PredictedError takes what LeastNoise takes, or the larger λ at which the error that is predicted from Planned is
	// least (Planned.BestLambda): there it costs no more privacy and no more noise.
	PredictedError
)

// OutputShare is μ_out/μ_objective. The output noise then costs about OutputShare²/2 = 0.045 % of the privacy loss.
// With τ = 10⁻⁶L it is 2·10⁻⁶σ/(λ·OutputShare) = 6.7·10⁻⁵σ/λ, beside σ/(λ + H) that is in the solution already where
// the records have the curvature H. In units of the variance the two cost
//
//	OutputShare² + (2·10⁻⁶(1 + H/λ)/OutputShare)²,
//
// least at OutputShare = 0.0014·√(1 + H/λ): 0.03 for H/λ ≈ 450. From H/λ = 150 on it is better than 0.01 would be (at
// 10⁴ the whole variance is 1.4 times that of the solution, not 5 times); below, it costs 0.04 % more σ at most.
const OutputShare = 0.03

// Calibrate returns the mechanism with the least noise, by the stated rule, that is proved to satisfy (ε, δ).
//
// Errors: *privacy.ParamError; an error that wraps privacy.ErrUnsupported for a loss of unbounded slope, an adjacency
// other than add/remove-one, or an (ε, δ) that no λ reaches.
func Calibrate(c Config) (Objective, error) {
	m := Objective{Loss: c.Loss, RowNorm: c.RowNorm, Lambda: 1, Sigma: 1, Tolerance: 1, OutputSigma: 1}
	if c.Clip != 0 && c.Loss != nil {
		m.Loss = loss.ClippedAt(c.Loss, c.Clip, c.RowNorm)
	}
	if err := m.Validate(); err != nil {
		return m, err
	}
	if c.Rule == Automatic {
		c.Rule = LeastNoise
		if c.Planned.Records != 0 {
			c.Rule = PredictedError
		}
	}
	if err := c.validate(); err != nil {
		return m, err
	}
	m.Bound = c.Bound
	m.Lambda = cmp.Or(c.Lambda, 2*m.Smoothness()) // any λ that every bound admits
	if err := m.Validate(); err != nil {
		return m, err
	}
	m.Tolerance = cmp.Or(c.Tolerance, 1e-6*m.Lipschitz())
	k := &calibration{m: m}
	k.eps, k.delta = privacy.Typed(c.Epsilon, c.Delta)
	unit, err := privacy.GaussianSigma(k.eps, k.delta)
	if err != nil {
		return m, err
	}
	k.gauss = unit * m.Lipschitz()
	// The parts of a Gaussian loss add in squares.
	k.share = math.Hypot(OutputShare, math.Sqrt(c.Reserved/(1-c.Reserved)))
	k.exact = k.gauss * math.Hypot(1, k.share) * (1 + 1e-12)
	k.least = 1e-3 * m.Smoothness()
	if m.Bound == objective.RKW23 {
		k.least = m.Smoothness() * (1 + 1e-9)
	}
	find := k.byRule
	switch {
	case c.Lambda > 0:
		find = func(c Config) (Objective, error) { return k.withLambda(c.Lambda) }
	case c.Rule == PredictedError:
		k.least = math.Max(k.least, c.Planned.BestLambda(m, k.gauss))
		find = k.predicted
	}
	if m, err = find(c); err == nil && c.Reserved > 0 {
		// What was accounted as noise of the output is for the mechanisms beside, but for its own part.
		m.OutputSigma = m.outputSigma(OutputShare) * (1 + 0x1p-40)
	}
	return m, err
}

// outputSigma returns σ_out of a share of the fit's μ = L/σ.
func (m Objective) outputSigma(share float64) float64 {
	return 2 * m.Tolerance / (m.Lambda * share * m.Lipschitz() / m.Sigma)
}

// Part returns the μ of a Gaussian mechanism that has the part share of μ² beside a fit that was calibrated for
// Config.Reserved = all, share being of that.
func (m Objective) Part(share, all float64) float64 {
	return math.Sqrt(share/(1-all)) * m.Lipschitz() / m.Sigma * (1 - 0x1p-40)
}

// byRule returns the mechanism at the least λ, from k.least on, that LeastNoise or SmallestLambda takes.
func (k *calibration) byRule(c Config) (Objective, error) {
	m := k.m
	if c.Rule != SmallestLambda && (m.Bound == 0 || m.Bound == objective.Tight) {
		lambda, err := smallest(k.least, func(lambda float64) (bool, error) {
			g := m
			g.Lambda, g.Sigma = lambda, k.exact
			return g.Gaussian(), nil
		})
		if err != nil {
			return m, err
		}
		if !math.IsInf(lambda, 1) {
			if good, err := k.satisfied(lambda, k.exact); err != nil || good {
				return k.m, err
			}
		}
	}
	f := cmp.Or(c.NoiseFactor, 1.3)
	for {
		lambda, err := k.lambdaAt(f * k.gauss)
		switch {
		case err != nil:
			return m, err
		case k.m.numerical() && lambda > k.least && !math.IsInf(lambda, 1):
			return k.from(lambda, f*k.gauss, true)
		case !math.IsInf(lambda, 1):
			// At the smallest λ that is tried, or where the Gaussian case begins, there is noise to spare.
			return k.withLambda(lambda)
		case c.NoiseFactor != 0 || f > 1e3:
			larger := "ε"
			if c.NoiseFactor != 0 {
				larger = "NoiseFactor"
			}
			return m, fmt.Errorf("%w: no λ gives (ε = %.6g, δ = %.6g) with σ = %.6g times the Gaussian mechanism's; "+
				"take a larger %s",
				privacy.ErrUnsupported, c.Epsilon, c.Delta, f, larger)
		}
		f *= 1.3
	}
}

// calibration is a search for the parameters of m.
type calibration struct {
	m          Objective
	eps, delta float64
	// gauss is the Gaussian mechanism's σ; exact the same with the output noise.
	gauss, exact float64
	// share is the μ of what is beside the objective's noise, over that.
	share float64
	// least is the smallest λ that is tried.
	least float64
	// slowly says that δ is looked at as well as it can be had.
	slowly bool
}

// steep reports whether the percent of δ by which quick values are too large is more than a thousandth of σ.
func (k *calibration) steep() bool {
	unit, err := privacy.GaussianSigma(k.eps, 1.01*k.delta)
	return err == nil && k.gauss/k.m.Lipschitz() > 1.001*unit
}

// set sets λ and σ, with the output noise that belongs to them.
func (k *calibration) set(lambda, sigma float64) {
	k.m.Lambda, k.m.Sigma = lambda, sigma
	k.m.OutputSigma = k.m.outputSigma(k.share)
}

// satisfied sets λ and σ, with the output noise that belongs to them, and reports whether the whole mechanism is proved
// to satisfy (ε, δ).
func (k *calibration) satisfied(lambda, sigma float64) (bool, error) {
	over, err := k.over(lambda, sigma)
	return err == nil && over <= 0, err
}

// over returns, having set λ and σ, by how much the ln δ that is proved of the whole mechanism exceeds what is wanted.
func (k *calibration) over(lambda, sigma float64) (float64, error) {
	k.set(lambda, sigma)
	p, err := k.m.Profile()
	if err != nil {
		return 0, err
	}
	if q, ok := p.(privacy.QuickProfile); ok && !k.slowly {
		want := math.Log(k.delta)
		return proved(q.QuickLogDeltaUpper(k.eps) - (want - 1e-14*math.Abs(want))), nil
	}
	delta := privacy.DeltaUpper(p, k.eps)
	if delta <= k.delta {
		return math.Min(0, math.Log(delta/k.delta)), nil
	}
	return proved(math.Max(math.SmallestNonzeroFloat64, math.Log(delta/k.delta))), nil
}

// proved returns by how much a bound exceeds what is wanted; one that is no number has proved nothing.
func proved(over float64) float64 {
	if math.IsNaN(over) {
		return math.Inf(1)
	}
	return over
}

// clearlyLess is a difference in ln δ that is more than the errors of what is computed.
const clearlyLess = 0.05

// excess returns ln δ − ln δ wanted, of the objective's part alone, for the bounds that are computed; roughly is some
// percent above, and costs less.
func (k *calibration) excess(lambda, sigma float64, roughly bool) (float64, error) {
	g := k.m
	g.Lambda, g.Sigma = lambda, sigma
	p, err := g.objectiveProfile()
	if err != nil {
		return 0, err
	}
	remove, add := p.LogDeltaUpper, math.Inf(-1)
	if r, ok := p.(privacy.RoughProfile); ok {
		if roughly {
			remove = r.RoughLogDeltaUpper
		}
		add = r.RoughLogDeltaUpper(privacy.Add, k.eps)
	}
	up := remove(privacy.Remove, k.eps)
	if !(add <= up-clearlyLess) && !roughly {
		add = p.LogDeltaUpper(privacy.Add, k.eps)
	}
	return math.Max(-1e6, math.Max(up, add)-math.Log(k.delta)), nil
}

// closedForm is the same search by a bound that costs microseconds.
func (k *calibration) closedForm() *calibration {
	g := *k
	g.m.Bound = objective.DTZ24
	return &g
}

// sigmaAt returns the smallest σ that suffices at λ, +Inf if there is none; by a computed bound, about the smallest for
// the objective's part.
func (k *calibration) sigmaAt(lambda float64) (float64, error) {
	if !k.m.numerical() {
		return smallest(k.gauss, func(sigma float64) (bool, error) { return k.satisfied(lambda, sigma) })
	}
	return k.search(k.gauss, false, func(sigma float64) (float64, error) {
		g := k.m
		g.Lambda, g.Sigma = lambda, sigma
		p, err := g.objectiveProfile()
		if err != nil {
			return 0, err
		}
		return privacy.QuickLogDeltaUpper(p, k.eps) - math.Log(k.delta), nil
	})
}

// closely is by what part σ may be larger than the least.
const closely = 2e-4

// search returns σ with over(σ) ≤ 0 that is larger than need be by closely at most, or just the first that it meets;
// over is by how much ln δ exceeds what is wanted. +Inf if there is none up to 1e12·start.
//
// The σ of the Gaussian mechanism that has the same δ at ε is known; by what factor it is too small is a function of ln
// σ that is next to linear, with a slope of about −1.
func (k *calibration) search(start float64, first bool, over func(sigma float64) (float64, error)) (float64, error) {
	const widest = 2
	want := math.Log(k.delta)
	low, high := 0.0, math.Inf(1)
	slope, lastX, last := 1.0, math.NaN(), math.NaN()
	sigma := start
	for step := closely / 4; ; step *= 2 {
		v, err := over(sigma)
		if err != nil {
			return 0, err
		}
		grow := math.Copysign(widest, v)
		if unit, err := privacy.GaussianSigma(k.eps, math.Exp(v+want)); err == nil {
			grow = math.Log(k.gauss / k.m.Lipschitz() / unit)
		}
		if v > 0 {
			low = sigma
		} else if high = sigma; first || grow > -closely {
			return high, nil
		}
		if high <= low*(1+closely/4) || math.IsInf(high, 1) && sigma > 1e12*start {
			return high, nil
		}
		x := math.Log(sigma)
		if seen := (last - grow) / (x - lastX); seen > 0 && math.Abs(x-lastX) > closely {
			slope = math.Max(0.1, math.Min(seen, 10))
		}
		lastX, last = x, grow
		by := math.Max(-widest, math.Min(widest, (grow+closely/2)/slope))
		// Until there is a bracket steps grow, whatever the slope says; then it is halved wherever they leave it, and
		// at the latest when they should have ended.
		switch {
		case math.IsInf(high, 1):
			by = math.Max(by, math.Min(step, widest))
		case low == 0:
			by = math.Min(by, -math.Min(step, widest))
		}
		next := sigma * math.Exp(by)
		if low > 0 && !math.IsInf(high, 1) && (!(next > low && next < high) || step > 1) {
			next = math.Sqrt(low) * math.Sqrt(high)
		}
		sigma = next
	}
}

// lambdaAt is sigmaAt with the parts of λ and σ exchanged.
func (k *calibration) lambdaAt(sigma float64) (float64, error) {
	if !k.m.numerical() {
		return smallest(k.least, func(lambda float64) (bool, error) { return k.satisfied(lambda, sigma) })
	}
	guess, err := k.closedForm().lambdaAt(sigma)
	if err != nil {
		return 0, err
	}
	if math.IsInf(guess, 1) {
		guess = 10 * k.m.Smoothness()
	}
	return crossing(k.least, guess/2, func(lambda float64, roughly bool) (float64, error) {
		return k.excess(lambda, sigma, roughly)
	})
}

// withLambda returns the mechanism with the least noise at λ.
func (k *calibration) withLambda(lambda float64) (Objective, error) {
	// Where λ is just large enough for the Gaussian case, that case ends a little above this σ: a search from below
	// could step over it.
	g := k.m
	if g.Lambda, g.Sigma = lambda, k.exact; !g.numerical() || g.Gaussian() {
		if good, err := k.satisfied(lambda, k.exact); err != nil || good {
			return k.m, err
		}
	}
	sigma, err := k.sigmaAt(lambda)
	if err != nil {
		return k.m, err
	}
	if math.IsInf(sigma, 1) {
		return k.m, fmt.Errorf("%w: no σ gives (ε = %.6g, δ = %.6g) at λ = %g: log(1 + s/λ) = %.4g alone is too much; "+
			"take a larger λ",
			privacy.ErrUnsupported, k.eps, k.delta, lambda, math.Log1p(k.m.Smoothness()/lambda))
	}
	return k.from(lambda, sigma, !k.m.numerical())
}

// from returns the mechanism with about the least σ that satisfies (ε, δ) with its output noise, or just the first that
// is met, looked for from where the objective's part alone does.
func (k *calibration) from(lambda, sigma float64, first bool) (Objective, error) {
	if k.m.numerical() {
		sigma *= math.Hypot(1, k.share)
	}
	over := func(sigma float64) (float64, error) { return k.over(lambda, sigma) }
	sigma, err := k.search(sigma, first, over)
	if err == nil && !first && !math.IsInf(sigma, 1) && k.steep() {
		k.slowly = true
		sigma, err = k.search(sigma, false, over)
	}
	if err == nil && math.IsInf(sigma, 1) {
		err = fmt.Errorf("%w: no σ was found for (ε = %.6g, δ = %.6g) at λ = %g; take a larger λ",
			privacy.ErrUnsupported, k.eps, k.delta, lambda)
	}
	if err == nil {
		k.set(lambda, sigma)
	}
	return k.m, err
}

func (c Config) validate() error {
	if err := cmp.Or(privacy.CheckGaussianDelta(c.Delta), privacy.CheckEpsilon(c.Epsilon),
		privacy.Within(c.Lambda >= 0 && !math.IsInf(c.Lambda, 1), "Lambda", c.Lambda,
			"a positive number, or 0 to have it chosen"),
		privacy.Within(c.Rule >= Automatic && c.Rule <= PredictedError, "Rule", int(c.Rule),
			"Automatic, LeastNoise, SmallestLambda or PredictedError"),
		privacy.Within(c.NoiseFactor == 0 || c.NoiseFactor >= 1 && c.NoiseFactor < 1e6, "NoiseFactor", c.NoiseFactor,
			"a number of at least 1, or 0 for 1.3"),
		privacy.Within(c.Reserved >= 0 && c.Reserved < 1, "Reserved", c.Reserved, "a part of the budget, in [0, 1)"),
		privacy.Within(c.Tolerance >= 0 && !math.IsInf(c.Tolerance, 1), "Tolerance", c.Tolerance,
			"a positive number, or 0 to have it chosen")); err != nil {
		return err
	}
	if c.Rule == PredictedError && c.Lambda == 0 {
		if err := c.Planned.Validate(); err != nil {
			return err
		}
	}
	return mechanism.OnlyAddRemove(c.Adjacency, "objective perturbation is")
}

// smallest returns, to a relative 1e-6 and from above, the smallest x ≥ start at which ok holds, +Inf if it does not up
// to 1e15·start.
func smallest(start float64, ok func(float64) (bool, error)) (float64, error) {
	return univariate.Smallest{Start: start, Least: start, Factor: 2, MaxFactor: 64, Most: 1e15 * start,
		Cut: univariate.GeometricWide, Tolerance: 1e-6}.Find(ok)
}
