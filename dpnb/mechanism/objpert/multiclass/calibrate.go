package multiclass

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/pld"
)

// Config asks for a mechanism that satisfies (ε, δ). None of it may depend on the records.
type Config struct {
	// Classes is K ≥ 2.
	Classes int
	// RowNorm is R: every record has ‖x‖₂ ≤ R, the bias included.
	RowNorm float64
	// Epsilon > 0, 0 < Delta < 1.
	Epsilon, Delta float64
	Adjacency      privacy.Adjacency
	// Lambda fixes λ; zero chooses it.
	Lambda float64
	// NoiseFactor f ≥ 1: σ is f times what no λ could lower, and λ the smallest that then suffices. Zero means, for
	// Softmax, 1.05 from three classes on and 1 for two; for OneVsRest 1 where the Gaussian case is proved and 1.3
	// elsewhere. Where no λ suffices and f was not given, f is raised.
	NoiseFactor float64
	// Tolerance is τ; zero means 1e-6·L.
	Tolerance float64
	// Reserved in [0, 1) is the part of μ² that Gaussian mechanisms beside the fit are to have (Part): with them it
	// satisfies (ε, δ). Zero is none.
	Reserved float64
}

// share is μ of the output noise, and of what is beside the fit, in units of that of the objective.
func (c Config) share() float64 {
	return math.Hypot(objpert.OutputShare, math.Sqrt(c.Reserved/(1-c.Reserved)))
}

// apart takes what was accounted as noise of the output for the mechanisms beside, but for its own part.
func (c Config) apart(outputSigma *float64) {
	if c.Reserved > 0 {
		*outputSigma *= c.share() / objpert.OutputShare * (1 + 0x1p-40)
	}
}

func (c Config) validate() error {
	return cmp.Or(privacy.CheckGaussianDelta(c.Delta), privacy.CheckEpsilon(c.Epsilon),
		privacy.Within(c.Lambda >= 0 && !math.IsInf(c.Lambda, 1), "Lambda", c.Lambda,
			"a positive number, or 0 to have it chosen"),
		privacy.Within(c.NoiseFactor == 0 || c.NoiseFactor >= 1 && c.NoiseFactor < 1e6, "NoiseFactor", c.NoiseFactor,
			"a number of at least 1, or 0 to have it chosen"),
		privacy.Within(c.Tolerance >= 0 && !math.IsInf(c.Tolerance, 1), "Tolerance", c.Tolerance,
			"a positive number, or 0 to have it chosen"),
		privacy.Within(c.Reserved >= 0 && c.Reserved < 1, "Reserved", c.Reserved,
			"a part of the budget, in [0, 1)"), mechanism.OnlyAddRemove(c.Adjacency, "objective perturbation is"))
}

// CalibrateSoftmax returns the mechanism with the least noise, by the stated rule, that is proved to satisfy (ε, δ).
//
// Errors: *privacy.ParamError; an error that wraps privacy.ErrUnsupported for an adjacency other than add/remove-one,
// or an (ε, δ) that is not reached.
func CalibrateSoftmax(c Config, bound Bound) (Softmax, error) {
	m := Softmax{Classes: c.Classes, RowNorm: c.RowNorm, Lambda: 1, Sigma: 1, Tolerance: 1, OutputSigma: 1,
		Bound: bound}
	if err := cmp.Or(m.Validate(), c.validate()); err != nil {
		return m, err
	}
	m.Tolerance = cmp.Or(c.Tolerance, 1e-6*m.Lipschitz())
	k := calibration{
		config: c, least: 1e-3 * m.Smoothness(), far: 1e12, factor: 1.05, precision: 1e-6,
		set: func(lambda, sigma float64) (profiled, error) {
			m.Lambda, m.Sigma = lambda, sigma
			m.OutputSigma = 2 * m.Tolerance / (lambda * c.share() * m.Lipschitz() / sigma)
			return m, nil
		},
		unit: m.Lipschitz(),
	}
	if c.Classes == 2 && bound == Vertex {
		k.factor = 1 + 1e-9
	}
	if bound == RankK {
		k.precision = 1e-3 // each value is a composition
	}
	err := k.search()
	c.apart(&m.OutputSigma)
	return m, err
}

// CalibrateOneVsRest returns the K fits with the least noise, by the stated rule, that are proved to satisfy (ε, δ)
// together.
//
// Errors: as CalibrateSoftmax, and for a loss of unbounded slope.
func CalibrateOneVsRest(c Config, l loss.Loss) (OneVsRest, error) {
	m := OneVsRest{Classes: c.Classes, Binary: objpert.Objective{Loss: l, RowNorm: c.RowNorm, Lambda: 1, Sigma: 1,
		Tolerance: 1, OutputSigma: 1}}
	if err := cmp.Or(m.Validate(), c.validate()); err != nil {
		return m, err
	}
	b := &m.Binary
	b.Tolerance = cmp.Or(c.Tolerance, 1e-6*b.Lipschitz())
	onlyGaussian := false
	k := calibration{
		config: c, least: 1e-3 * b.Smoothness(), far: 1e12, factor: 1 + 1e-9, precision: 1e-6,
		set: func(lambda, sigma float64) (profiled, error) {
			b.Lambda, b.Sigma = lambda, sigma
			b.OutputSigma = 2 * b.Tolerance / (lambda * c.share() * b.Lipschitz() / sigma)
			if err := m.Validate(); err != nil {
				return nil, err
			}
			return roughly{m, onlyGaussian}, nil
		},
		unit: b.Lipschitz() * math.Sqrt(float64(c.Classes)),
	}
	// Is there a λ for the Gaussian case? With a loss that has none, it is far dearer to compute, and no factor near
	// one will do.
	b.Lambda = 1e3 * (b.Lipschitz() + b.Smoothness())
	if b.Sigma = b.Lipschitz(); !b.Gaussian() {
		k.factor, k.precision = 1.3, 1e-3
	} else {
		onlyGaussian = c.Lambda == 0 && c.NoiseFactor == 0
	}
	err := k.search()
	c.apart(&b.OutputSigma)
	return m, err
}

// roughly is a OneVsRest as the calibration sees it.
type roughly struct {
	OneVsRest
	// onlyGaussian says that nothing but the Gaussian case is of use.
	onlyGaussian bool
}

// Profile composes on a small lattice: valid, and a percent dearer in δ.
func (m roughly) Profile() (privacy.Profile, error) {
	if m.onlyGaussian && !m.Gaussian() {
		return privacy.NonPrivate{}.Profile(privacy.AddRemove)
	}
	return m.profile(&pld.Settings{MaxPoints: 1 << 10})
}

// profiled is a mechanism whose parameters have been set.
type profiled interface {
	Profile() (privacy.Profile, error)
}

// calibration is a search for λ and σ.
type calibration struct {
	config Config
	// set sets λ and σ, with the output noise that belongs to them.
	set func(lambda, sigma float64) (profiled, error)
	// unit is the sensitivity of a Gaussian mechanism that costs no more than this.
	unit float64
	// least is the smallest λ that is tried; far·least the largest.
	least, far float64
	// factor is the NoiseFactor where none was given.
	factor float64
	// precision is the relative one of σ.
	precision float64
}

// satisfied reports whether λ and σ, which it sets, are proved to satisfy (ε, δ).
func (k *calibration) satisfied(lambda, sigma float64) (bool, error) {
	m, err := k.set(lambda, sigma)
	if err != nil {
		return false, err
	}
	p, err := m.Profile()
	if err != nil {
		return false, err
	}
	eps, delta := privacy.Typed(k.config.Epsilon, k.config.Delta)
	return privacy.DeltaUpper(p, eps) <= delta, nil
}

// search sets λ and σ by the rule of Config, or returns why there are none.
func (k *calibration) search() error {
	c := k.config
	if c.Lambda > 0 {
		_, err := k.leastSigma(c.Lambda)
		return err
	}
	// What no λ could lower: next to no curvature.
	sigma, err := k.leastSigma(k.far * k.least)
	if err != nil {
		return err
	}
	f := cmp.Or(c.NoiseFactor, k.factor)
	lambda, err := k.leastLambda(f * sigma)
	for ; c.NoiseFactor == 0 && errors.Is(err, errNone) && f < 100; lambda, err = k.leastLambda(f * sigma) {
		f = math.Max(1.05, 1.1*f)
	}
	if err != nil {
		larger := "ε"
		if c.NoiseFactor != 0 {
			larger = "NoiseFactor"
		}
		return fmt.Errorf("%w: no λ gives (ε = %.6g, δ = %.6g) with σ = %.6g times the least; take a larger %s or fix "+
			"Lambda",
			privacy.ErrUnsupported, c.Epsilon, c.Delta, f, larger)
	}
	good, err := k.satisfied(lambda, f*sigma)
	if err == nil && !good {
		err = errNone
	}
	return err
}

var errNone = errors.New("multiclass: no value satisfies the target")

// leastLambda returns, from above, the smallest λ ≥ least that suffices at σ.
func (k *calibration) leastLambda(sigma float64) (float64, error) {
	at := func(lambda float64) (bool, error) { return k.satisfied(lambda, sigma) }
	if good, err := at(k.least); err != nil || good {
		return k.least, err
	}
	lambda, err := univariate.Smallest{Start: k.far * k.least, Factor: k.far, Least: k.least, Most: k.far * k.least,
		Cut: univariate.Geometric, Tolerance: 1e-4}.Find(at)
	if err == nil && math.IsInf(lambda, 1) {
		err = errNone
	}
	return lambda, err
}

// leastSigma sets and returns, from above, the smallest σ that suffices at λ.
func (k *calibration) leastSigma(lambda float64) (float64, error) {
	c := k.config
	// In units of the Gaussian mechanism of the same sensitivity.
	g, err := privacy.GaussianSigma(c.Epsilon, c.Delta)
	if err != nil {
		return 0, err
	}
	g *= k.unit
	sigma, err := univariate.Smallest{Start: g * (1 + 1e-9), Factor: 1.3, Least: 0.99 * g, Most: 1e4 * g,
		Cut: univariate.Arithmetic, Tolerance: k.precision}.Find(func(sigma float64) (bool, error) {
		return k.satisfied(lambda, sigma)
	})
	if err == nil && math.IsInf(sigma, 1) {
		err = fmt.Errorf("%w: no σ gives (ε = %g, δ = %g) at λ = %g; take a larger λ", privacy.ErrUnsupported,
			c.Epsilon, c.Delta, lambda)
	}
	if err != nil {
		return 0, err
	}
	_, err = k.set(lambda, sigma)
	return sigma, err
}
