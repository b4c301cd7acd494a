package convolution

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/recent"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Of what is not known of records, in units of what is.
const (
	// fill is the mean square of a row, over the largest.
	fill = 0.5
	// density is that of residuals at their quantile, times their scale; bend is (f_ε′)²/f_ε there, times its cube.
	density, bend = 0.25, 0.118
)

// squares is about the mean of ‖A‖²_F: of m rows of norm up to a, fill·ma²; of ‖A‖₂ ≤ Ā it is between fill·Ā², where
// all rows are parallel, and m times that, where they are orthogonal and of one length, and the geometric mean is
// taken.
func (l Loss) squares() float64 {
	all := fill * l.bound() * l.bound() // bound is √m·a where rows are bounded
	if !l.ByRow {
		all *= math.Sqrt(float64(l.Forms))
	}
	return all
}

// curvature returns H, about the curvature that the records have in each direction on the way from θ⋆ to a point at a
// mean square distance of spread: n records of mean square E‖A‖²_F in d directions, each row with the mean curvature (b
// − a) times the density at 0 of residual, kernel and what the row makes of the distance together, 0.25/√(r² + (v +
// E‖A‖²_F·spread/m)/3.3) (logistic residuals of scale r have the variance 3.3r²).
func (p Planned) curvature(l Loss, spread float64) float64 {
	jump, v := l.bends()
	v += l.squares() * spread / float64(l.Forms)
	return float64(p.Records) * l.squares() / float64(p.Features) * jump * density /
		math.Sqrt(p.Residual*p.Residual+v/3.3)
}

// Excess predicts the excess of the mean risk of COP with the noise σ, the ridge λ about a centre at a mean square
// distance of apart in each direction, and l's kernel,
//
//	(d/2n)·H(σ² + λ²·apart)/(H + λ)² + m(b − a)v²·bend/(8r³),
//
// v the variance of the kernel: noise and shrinkage in the d directions, and what smoothing shifts the quantile. l.Form
// is a loss.Convolved, or there are Pieces.
//
// Source: docs/theory/smoothing.md, section on the choice of λ and width.
func (p Planned) Excess(l Loss, sigma, lambda, apart float64) float64 {
	jump, v := l.bends()
	spread := p.spread(l, sigma, lambda, apart)
	return spread*float64(p.Features)*p.curvature(l, spread)/(2*float64(p.Records)) +
		float64(l.Forms)*jump*v*v*bend/(8*p.Residual*p.Residual*p.Residual)
}

// spread predicts the mean square error e² of a coefficient: e² = (σ² + λ²·apart)/(H + λ)², H being that for e². What
// is far off sees less curvature.
func (p Planned) spread(l Loss, sigma, lambda, apart float64) float64 {
	force, e := sigma*sigma+lambda*lambda*apart, 0.0
	for range 40 {
		h := p.curvature(l, e) + lambda
		next := force / (h * h)
		if next <= e*(1+1e-9) {
			break
		}
		e = next
	}
	return e
}

// apart is the mean square of a coefficient of θ⋆.
func (p Planned) apart() float64 { return p.Radius * p.Radius / float64(p.Features) }

// noiseFactors are the σ that are looked at, in units of the Gaussian mechanism's, from the largest down.
var noiseFactors = [...]float64{4, 3, 2.4, 2, 1.7, 1.45, 1.25, 1.15, 1.08, 1.05}

// frontierKey is what the least λ/s at each of noiseFactors depends on.
type frontierKey struct {
	form           loss.Convolved
	forms          int
	epsilon, delta float64
}

var frontiers = recent.Values[frontierKey, [len(noiseFactors)]float64]{Kept: 256}

// frontier returns the least λ/s at which σ of each noise factor is proved by Theorem 6, to a hundredth, or by Theorem
// 4 where that is less: for a choice, not for a guarantee. It depends on nothing but the kernel, the slopes, m, ε and
// δ.
func (c Config) frontier(epsilon, delta float64) ([len(noiseFactors)]float64, error) {
	if c.Pieces != nil {
		return c.piecesFrontier(epsilon, delta)
	}
	form := c.wide(1).Form.(loss.Convolved)
	return frontiers.Of(frontierKey{form, c.Forms, epsilon, delta}, func() ([len(noiseFactors)]float64, error) {
		return c.newFrontier(form, epsilon, delta)
	})
}

func (c Config) newFrontier(form loss.Convolved, epsilon, delta float64) (out [len(noiseFactors)]float64, err error) {
	unit, err := privacy.GaussianSigma(epsilon, delta)
	if err != nil {
		return out, err
	}
	l := Loss{Form: form, Forms: c.Forms, Norm: 1}
	forms, err := l.forms(1)
	if err != nil {
		return out, err
	}
	s, low := l.Smoothness(), 0.05
	for i, factor := range noiseFactors {
		sigma := factor * unit * l.Lipschitz()
		ratio, err := crossing(func(ratio float64) (float64, error) {
			return objective.Rows{Forms: forms, Lambda: ratio * s, Sigma: sigma}.Roughly(epsilon, 400)
		}, low, 1e5, logDown(delta), 1e-2)
		if err != nil {
			return out, err
		}
		if c.Forms == 1 {
			free := objective.Free{Curve: forms[0].Curve, Epsilon: epsilon}
			if d, err := free.LogDelta(sigma); err == nil && d <= logDown(delta) {
				if least, err := free.Lambda(sigma); err == nil {
					ratio = math.Min(ratio, least/s)
				}
			}
		}
		out[i] = ratio
		if !math.IsInf(ratio, 1) {
			low = ratio
		}
	}
	return out, nil
}

// piecesFrontier is frontier for Pieces: closed forms, so that nothing is kept.
func (c Config) piecesFrontier(epsilon, delta float64) (out [len(noiseFactors)]float64, err error) {
	unit, err := privacy.GaussianSigma(epsilon, delta)
	if err != nil {
		return out, err
	}
	l := c.wide(1)
	for i, factor := range noiseFactors {
		out[i], err = crossing(func(ratio float64) (float64, error) {
			m := COP{Loss: l, Lambda: ratio * l.Smoothness(), Sigma: factor * unit * l.Lipschitz()}
			p, err := m.entropicPieces().Profile(privacy.AddRemove)
			if err != nil {
				return 0, err
			}
			return privacy.LogDeltaUpper(p, epsilon), nil
		}, 1e-3, 1e6, logDown(delta), 1e-3)
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// choice is a point that is predicted to be good.
type choice struct{ sigma, lambda, width, excess, spread float64 }

// choose returns the σ, λ and width with the least predicted excess for (ε, δ) and a centre at the mean square distance
// apart, among the noise factors and all λ.
func (c Config) choose(epsilon, delta, apart float64) (choice, error) {
	best := choice{excess: math.Inf(1)}
	frontier, err := c.frontier(epsilon, delta)
	if err != nil {
		return best, err
	}
	gauss, err := privacy.GaussianSigma(epsilon, delta)
	if err != nil {
		return best, err
	}
	unit := c.wide(1)
	width, _ := c.width()
	for i, factor := range noiseFactors {
		sigma := factor * gauss * unit.Lipschitz()
		if math.IsInf(frontier[i], 1) {
			continue
		}
		v := choice{}
		if width == 0 {
			v = c.bestRidge(unit, sigma, frontier[i], apart, func(v choice) float64 { return v.excess })
		} else { // λ follows
			lambda := frontier[i] * unit.Smoothness() / width
			v = choice{sigma, lambda, width, c.Planned.Excess(c.Loss, sigma, lambda, apart),
				c.Planned.spread(c.Loss, sigma, lambda, apart)}
		}
		if v.excess < best.excess {
			best = v
		}
	}
	if math.IsInf(best.excess, 1) {
		return best, c.noSigma(COP{Loss: unit})
	}
	return best, nil
}

// predicted is Calibrate by the rule Predicted.
func (c Config) predicted() (COP, error) {
	if err := c.predictable(); err != nil {
		return COP{}, err
	}
	v, err := c.choose(c.Epsilon, c.Delta, c.Planned.apart())
	if err != nil {
		return COP{}, err
	}
	return c.leastNoise(COP{Loss: c.wide(v.width), Lambda: v.lambda})
}

// predictable returns an error for a loss or a plan of which nothing can be predicted.
func (c Config) predictable() error {
	if _, ok := c.width(); !ok {
		return &privacy.ParamError{Name: "Form", Value: c.name(), Want: "a loss.Convolved, or a Lambda"}
	}
	if c.Other != nil {
		return &privacy.ParamError{Name: "Other", Value: c.Other.Name(),
			Want: "none for this rule: fix Lambda and the Width, or take the rule Paper"}
	}
	return privacy.Within(c.Planned.Residual > 0 && !math.IsInf(c.Planned.Residual, 1), "Planned.Residual",
		c.Planned.Residual, "the scale of the residuals, positive, finite and public")
}
