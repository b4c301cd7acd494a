package learn

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/additive"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// hats is how many each number has in rows that can bend, and hatsGate the n̂μ for each of them from which they do, of
// two classes hatsGateOfTwo (docs/theory/geometry.md, section 5).
const (
	hats          = 8
	hatsGate      = 2
	hatsGateOfTwo = 1
	// mostSmoothed are the coefficients, of all classes together, whose second differences are penalised: the penalty
	// is a matrix.
	mostSmoothed = 4096
)

// buys says whether the number and the mean of the records are bought before the fit: where a learner knows how to
// learn from centred rows, rows have a norm and a bias, and nothing was said from which ridges follow.
func (p spec) buys(d *frame.Design) bool {
	return p.informed != nil && !p.pure && p.free(d)
}

// free says whether rows have a norm and a bias, and nothing was said from which ridges follow.
func (p spec) free(d *frame.Design) bool {
	if d.Encoding == nil || d.Encoding.Bias() == 0 {
		return false
	}
	_, normed := d.Encoding.Normed()
	return normed && !d.Encoding.Open() && p.lambda == 0 &&
		p.rule == objpert.Automatic && p.regulariser == (Regulariser{}) && (p.bound == 0 || p.bound == objective.Tight)
}

// seen returns the records as p learns from them: without hats unless it buys the geometry.
func (p spec) seen(data *Dataset, pure bool) *Dataset {
	if data.Err() != nil || data.design.Encoding == nil || data.design.Encoding.Curves() == nil {
		return data
	}
	p.pure = p.pure || p.convex.loss != nil && pure
	if d := data.design; p.bends(d) && (p.buys(d) || p.pure && p.buysPurely(d)) {
		return data
	}
	return data.straight()
}

// bends says whether p can learn curves of so many features.
func (p spec) bends(d *frame.Design) bool {
	if p.levels != nil && p.smooth == 0 { // the curvature of quantiles is hardly ever known along hats
		return p.curvatureShare == 0
	}
	return max(1, len(d.Target.Classes))*d.Width() <= mostSmoothed
}

// informed calibrates a fit of centred rows of a norm, that is worth mu of its own and beside which Gaussian mechanisms
// have the part beside of the μ² of (ε, δ); part says what μ is for some of that.
type informed func(p spec, d *frame.Design, radius, mu float64, c objpert.Config) (
	fit mechanism.Informed, part func(share float64) float64, err error)

// framed calibrates objective perturbation of a loss with a least ridge.
func framed(l loss.Loss, least leastRidge) informed {
	return func(p spec, d *frame.Design, radius, mu float64, c objpert.Config) (mechanism.Informed,
		func(float64) float64, error) {
		c.Loss, c.Rule = weighed(d, l), objpert.LeastNoise
		if p.task != frame.TwoClasses {
			c.Lambda, c.Bound = least.of(p)*radius*radius*l.Smoothness()/mu, objective.Tight
		}
		if p.curvatureShare == 0 {
			fit, err := objpert.Calibrate(c)
			return fit, func(share float64) float64 { return fit.Part(share, c.Reserved) }, err
		}
		_, k, err := interval.Calibrate(c, interval.Share{Curvature: p.curvatureShare})
		return k, func(share float64) float64 { return k.Fit.Part(share, c.Reserved+p.curvatureShare) }, err
	}
}

// centred chooses a mechanism around a fit that buys the geometry of the records.
func centred(p spec, d *frame.Design, epsilon, delta float64) (mechanism.Mechanism, error) {
	radius := math.Nextafter(math.Hypot(1, d.Encoding.Bias()), math.Inf(1))
	fits := func(beside, mu float64) (mechanism.Informed, func(float64) float64, error) {
		return p.informed(p, d, radius, mu, objpert.Config{RowNorm: radius, Epsilon: epsilon, Delta: delta,
			Reserved: beside, Adjacency: privacy.AddRemove, Tolerance: p.tolerance})
	}
	about := geometry.Centred{Planned: float64(p.records)}
	type key struct {
		planned, weighted                        bool
		learner, levels                          string
		own, upper                               float64
		classes                                  int
		shared                                   bool
		radius, tolerance, share, epsilon, delta float64
	}
	m, err := calibrated(key{p.records > 0, d.Target.Weighted, p.learner,
		fmt.Sprint(p.levels, p.steps, p.smooth), p.own.value, d.Target.Upper,
		len(d.Target.Classes), p.shared, radius,
		p.tolerance, p.curvatureShare, epsilon, delta}, func() (geometry.Centred, error) {
		return geometry.Calibrate(about, geometry.Default, epsilon, delta, fits)
	})
	p.describe(&m, d)
	if !d.Encoding.Clipped() { // what is clipped with hats is not what is clipped without
		if m.Gate = hatsGate; p.task == frame.TwoClasses {
			m.Gate = hatsGateOfTwo
		}
	}
	if p.task == frame.Count {
		m.Most = d.Target.Upper
	}
	return m, err
}

// describe says what is public of the records of a design, to what buys their geometry.
func (p spec) describe(m *geometry.Centred, d *frame.Design) {
	numbers := p.task == frame.Number
	m.RowNorm, _ = d.Encoding.Normed()
	m.Bias, m.Numbers, m.Planned, m.BaseRate = d.Encoding.Bias(), numbers, float64(p.records), p.baseRate
	m.Weighted, m.Wide = d.Target.Weighted, numbers && p.levels == nil
	m.Curves, m.Free, m.Nowhere = d.Encoding.Curves(), d.Encoding.Free(), d.Encoding.Nowhere()
	m.Crossed = len(d.Encoding.CrossedCurves())
	if m.Held = d.Encoding.Held(); d.Encoding.Clipped() {
		m.Whole = math.Min(1, d.Encoding.TypicalNorm()/m.RowNorm)
	}
	if p.levels == nil && (numbers || p.task == frame.TwoClasses) && (p.curvatureShare == 0 || p.suited) {
		for _, n := range d.Encoding.Scales() {
			m.Cells = append(m.Cells, geometry.Number(n))
		}
		if numbers {
			m.Pairs = d.Encoding.Blocks()
		}
	}
}

// detailed returns a design with the products and cells that rows of a fit without privacy have, and where these are;
// nil and d, if they have none.
func (p spec) detailed(d *frame.Design) (*frame.Design, *geometry.Bought) {
	if !p.buys(d) {
		return d, nil
	}
	var m geometry.Centred
	if p.describe(&m, d); len(m.Cells)+len(m.Pairs) == 0 {
		return d, nil
	}
	b, rows := m.Plain(d.Rows, d.Labels)
	if b == nil {
		return d, nil
	}
	out := *d
	out.Rows = rows
	return &out, b
}

// leastRidge is the least λ of numbers and counts, in R²s/μ, where (ε, δ) is kept and where a μ is, as of a share:
// there the curvature of one record adds about a tenth to the noise. A share counts it most, as its μ is that of every
// ε (docs/theory/geometry.md#dpnb-least-ridge).
type leastRidge struct{ whole, share float64 }

// Slopes of a pseudo-Huber loss are largest where it has no curvature, those of least squares, clipped, where it has.
var (
	leastOfHuber   = leastRidge{0.45, 0.75}
	leastOfSquares = leastRidge{0.9, 1.4}
)

func (r leastRidge) of(p spec) float64 {
	if p.shared {
		return r.share
	}
	return r.whole
}

// bought returns what was bought of the geometry of the records, nil if it was not.
func (m *Model) bought() *geometry.Bought {
	b, _ := m.also().(*geometry.Bought)
	return b
}

// link returns the loss by whose minimisers the margins of a support vector machine are probabilities; ok is false of
// other models.
func (m *Model) link() (l loss.Softplus, ok bool) {
	if !m.probabilities || m.hinge == (loss.Softplus{}) {
		return l, false
	}
	return m.hinge, true
}

// probability returns that of the positive class at the margin t, by its log-odds: t of the logistic loss; of the
// smoothed hinge those of g((m + t)/h)/(g((m + t)/h) + g((m − t)/h)), g the logistic function, which is the share of
// positive labels at which t minimises the loss; of a calibrated model the calibrated ones.
func (m *Model) probability(t float64) float64 { return 1 / (1 + math.Exp(-m.logOdds(t))) }

// also is what was released beside the coefficients, nil for nothing.
func (m *Model) also() any {
	if m.release == nil {
		if m.plain != nil {
			return m.plain
		}
		return nil
	}
	return m.release.Also
}

// placed returns the rows and the coefficients whose linear forms are predicted: rows are put where the fit had them,
// if that was bought.
func placed(rows matrix.Rows, theta []float64, also any) (matrix.Rows, []float64) {
	switch b := also.(type) {
	case *geometry.Bought:
		return b.Placed(rows), b.Placing()
	case *additive.Cells:
		return b.Placed(rows), theta
	}
	return rows, theta
}

// used returns the design and the coefficients that a release predicts with: without the hats, where there were too few
// records for them.
func used(d *frame.Design, r *mechanism.Release) (*frame.Design, []float64) {
	b, ok := r.Also.(*geometry.Bought)
	spans, less := d.Encoding.Curves(), (*frame.Encoding).Straight
	if ok && b.CrossedLines {
		spans, less = d.Encoding.CrossedCurves(), (*frame.Encoding).Uncrossed
	}
	if !ok || b.Curved && !b.CrossedLines || spans == nil {
		return d, r.Coefficients
	}
	b.Used()
	straight := *d
	straight.Encoding = less(d.Encoding)
	straight.Features, straight.Steps = straight.Encoding.Features, straight.Encoding.Steps
	var theta []float64
	kept := matrix.Outside(spans, d.Width())
	for one := range slices.Chunk(r.Coefficients, d.Width()) {
		for _, j := range kept {
			theta = append(theta, one[j])
		}
	}
	return &straight, theta
}
