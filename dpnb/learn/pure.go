package learn

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// convex is what a learner minimises where it spends no δ.
type convex struct {
	// loss, with the clipping of the learner as its threshold; nil where the learner needs a δ.
	loss loss.Convex
	// framed is that of rows that were centred, and of numbers whose unit is their spread; nil has rows as they are.
	framed loss.Convex
	// radius of the ball of the coefficients; zero has it chosen.
	radius float64
	// needDelta are settings of its own that mean nothing without a δ, and whether they were stated.
	needDelta []setting
}

// setting is one of a learner, by name, and whether it was stated.
type setting struct {
	name   string
	stated bool
}

// The ball of the coefficients over the bound on rows, where nothing else is said: predictions within 8 of the middle
// of a number's bounds, and up to 32 for the margin of two classes, which are near the best of five for invented people
// and patients. docs/theory/learners.md, section 8.
const pureNumber, pureClasses = 8, 32

// withoutDelta returns the specification for δ = 0: objective perturbation of the smooth Lipschitz extension of the
// same loss, with C = L·R, the longest gradient there is within the public bounds, so that nothing is cut that is not
// cut with a δ. docs/theory/learners.md, section 8.
func (p spec) withoutDelta() spec {
	p.pure = true
	p.choose = func(p spec, d *frame.Design, epsilon, _ float64) (mechanism.Mechanism, error) {
		for _, s := range append(slices.Clone(p.convex.needDelta), setting{"Smooth", p.smooth != 0},
			setting{"Regularise", p.regulariser != Regulariser{}}, setting{"BaseRate", p.baseRate != 0},
			setting{"CurvatureShare", p.curvatureShare != 0 && !p.suited}, setting{"Bound", p.bound != 0}) {
			if s.stated {
				return nil, &privacy.ParamError{Name: s.name, Value: "set", Want: fmt.Sprintf(
					"nothing where %s spends no δ: it is for fits with δ > 0", p.learner)}
			}
		}
		if p.buysPurely(d) {
			return p.centredPurely(d, epsilon)
		}
		c := pure.Config{Loss: p.convex.loss, Epsilon: epsilon, Adjacency: privacy.AddRemove, Features: d.Width(),
			Records: p.records, Lambda: p.lambda, Clip: p.convex.loss.Lipschitz() * d.RowNorm,
			Radius: orElse(p.convex.radius, pureNumber/d.RowNorm)}
		switch {
		case p.task == frame.TwoClasses:
			c.Radius = pureClasses / d.RowNorm
		case p.levels != nil && p.convex.radius == 0:
			c.Radius = quantileRadius / d.RowNorm
		}
		switch {
		case p.records == 0 && p.lambda == 0:
			m := pure.Counted{Config: c, Share: countPart}
			return m, m.Validate()
		case p.records == 0: // nothing is chosen by their number
			c.Records = 1_000_000
		}
		return c.Calibrate()
	}
	return p
}

// buysPurely says whether the number and the mean of the records are bought before a fit that spends no δ.
func (p spec) buysPurely(d *frame.Design) bool {
	return p.convex.framed != nil && p.convex.radius == 0 && p.free(d)
}

// centredBall is the ball of the coefficients of centred rows, which is so large that none is seen to reach it, and
// pureHatsGate the n̂μ for each coordinate of rows from which curves are fitted (docs/theory/geometry.md, section 5).
const (
	centredBall  = 64
	pureHatsGate = 3
)

// centredPurely chooses a mechanism around objective perturbation of pure ε that buys the geometry of the records.
func (p spec) centredPurely(d *frame.Design, epsilon float64) (mechanism.Mechanism, error) {
	bias := d.Encoding.Bias()
	norm, _ := d.Encoding.Normed()
	c := geometry.Centred{Planned: float64(p.records), RowNorm: norm, Bias: bias,
		Numbers: p.task == frame.Number, Curves: d.Encoding.Curves(),
		Free: d.Encoding.Free(), Nowhere: d.Encoding.Nowhere(), Gate: pureHatsGate}
	return geometry.CalibratePure(c, geometry.DefaultPure, epsilon, func(part float64) (mechanism.Informed, error) {
		clip := p.convex.framed.Lipschitz() * math.Hypot(1, bias)
		return pure.Config{Loss: p.convex.framed, Epsilon: part, Adjacency: privacy.AddRemove, Features: d.Width(),
			Records: 1, Clip: clip, Lambda: clip, Radius: centredBall}.Calibrate()
	})
}
