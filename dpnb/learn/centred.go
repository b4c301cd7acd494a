package learn

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// hats is how many each number has in rows that can bend (docs/theory/geometry.md, section 5), and hatsGate the n̂μ
// for each of them from which numbers are predicted with them.
const (
	hats     = 8
	hatsGate = 2
)

// buys says whether the number and the mean of the records are bought before the fit: where a learner knows how to
// learn from centred rows, rows have a norm and a bias, and nothing was said from which ridges follow.
func (p recipe) buys(d *frame.Design) bool {
	if p.framed == nil || p.pure || p.choose != nil || d.Encoding == nil || d.Encoding.Bias() == 0 {
		return false
	}
	_, normed := d.Encoding.Normed()
	return normed && !d.Encoding.Open() && p.lambda == 0 && p.records == 0 && p.baseRate == 0 &&
		p.rule == objpert.Automatic && p.regulariser == (Regulariser{}) && (p.bound == 0 || p.bound == objective.Tight)
}

// seen returns the records as p learns from them: without hats unless it buys the geometry.
func (p recipe) seen(data *Dataset, allowance Allowance) *Dataset {
	if data.Err() != nil || data.design.Encoding == nil || data.design.Encoding.Curves() == nil {
		return data
	}
	if p.pure = p.pure || p.convex.loss != nil && allowance.part.Delta == 0; p.buys(data.design) {
		return data
	}
	return data.straight()
}

// centred chooses a mechanism around objective perturbation that buys the geometry of the records.
func centred(p recipe, d *frame.Design, epsilon, delta float64) (mechanism.Mechanism, error) {
	numbers, bias := p.task == frame.Number, d.Encoding.Bias()
	norm, _ := d.Encoding.Normed()
	radius := math.Nextafter(math.Hypot(1, bias), math.Inf(1))
	fits := func(beside, mu float64) (mechanism.Informed, func(float64) float64, error) {
		c := objpert.Config{Loss: p.framed, RowNorm: radius, Epsilon: epsilon, Delta: delta, Beside: beside,
			Adjacency: privacy.AddRemove, Rule: objpert.LeastNoise, Tolerance: p.tolerance}
		if numbers {
			c.Lambda, c.Bound = leastRidge*radius*radius/mu, objective.Tight
		}
		if p.curvatureShare == 0 {
			fit, err := objpert.Calibrate(c)
			return fit, func(share float64) float64 { return fit.Part(share, beside) }, err
		}
		_, k, err := interval.Calibrate(c, interval.Share{Curvature: p.curvatureShare})
		return k, func(share float64) float64 { return k.Fit.Part(share, beside+p.curvatureShare) }, err
	}
	type key struct {
		loss                                     string // a loss that is clipped cannot be compared
		radius, tolerance, share, epsilon, delta float64
	}
	m, err := calibrated(key{fmt.Sprintf("%#v", p.framed), radius, p.tolerance, p.curvatureShare, epsilon, delta},
		func() (geometry.Centred, error) {
			return geometry.Calibrate(geometry.Centred{}, geometry.Default, epsilon, delta, fits)
		})
	m.RowNorm, m.Bias, m.Numbers = norm, bias, numbers
	m.Curves, m.Free, m.Nowhere = d.Encoding.Curves(), d.Encoding.Free(), d.Encoding.Nowhere()
	if numbers && !d.Encoding.Clipped() { // what is clipped with hats is not what is clipped without
		m.Gate = hatsGate
	}
	return m, err
}

// leastRidge is the least λ of numbers, in R²/μ: there the noise of the pseudo-Huber loss is 1.04 times the Gaussian
// mechanism's or less.
const leastRidge = 0.45

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

// probability returns that of the positive class at the margin t: 1/(1 + e^{−t}) of the logistic loss, and of the
// smoothed hinge, of which g((m + t)/h)/(g((m + t)/h) + g((m − t)/h)), g the logistic function, is the share of
// positive labels at which t minimises the loss.
func (m *Model) probability(t float64) float64 {
	l, ok := m.link()
	if !ok {
		return 1 / (1 + math.Exp(-t))
	}
	margin := cmp.Or(l.Margin, 1)
	g := func(x float64) float64 { return 1 / (1 + math.Exp(-x/l.Width)) }
	return g(margin+t) / (g(margin+t) + g(margin-t))
}

// also is what was released beside the coefficients, nil for nothing.
func (m *Model) also() any {
	if m.release == nil {
		return nil
	}
	return m.release.Also
}

// placed returns the rows and the coefficients whose linear forms are predicted: rows are put where the fit had them,
// if that was bought.
func placed(rows matrix.Rows, theta []float64, also any) (matrix.Rows, []float64) {
	if b, ok := also.(*geometry.Bought); ok {
		return b.Placed(rows), b.Placing()
	}
	return rows, theta
}

// used returns the design and the coefficients that a release predicts with: without the hats, where there were too
// few records for them.
func used(d *frame.Design, r *mechanism.Release) (*frame.Design, []float64) {
	b, ok := r.Also.(*geometry.Bought)
	spans := d.Encoding.Curves()
	if !ok || b.Curved || spans == nil {
		return d, r.Coefficients
	}
	b.Used()
	straight := *d
	straight.Encoding = d.Encoding.Straight()
	straight.Features, straight.Steps = straight.Encoding.Features, straight.Encoding.Steps
	var theta []float64
	for _, j := range matrix.Outside(spans, len(r.Coefficients)) {
		theta = append(theta, r.Coefficients[j])
	}
	return &straight, theta
}
