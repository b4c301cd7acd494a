package convolution

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/dpnb/notebooks/dpnb/internal/recent"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Recentred is COP in stages: the ridge of each is about what the one before released, moved to ‖θ‖ ≤ Radius. Given
// that, the ridge knows nothing of the records, so that the stages compose as adaptive mechanisms do; they are one
// event. A ridge that curvature forces to be large costs little about a centre that is near.
//
// Statement: dpnb/recentring; proof: docs/theory/smoothing.md#dpnb-recentring.
type Recentred struct {
	// Stages, at least one, account by ByRows. The Centre of the first is public, nil for 0; those of the others are
	// set as they run.
	Stages []COP
	// Radius R > 0 is public.
	Radius float64
}

// Validate implements mechanism.Mechanism.
func (m Recentred) Validate() error {
	if len(m.Stages) == 0 {
		return &privacy.ParamError{Name: "Stages", Value: 0, Want: "at least one stage"}
	}
	for i, s := range m.Stages {
		if err := s.Validate(); err != nil {
			return err
		}
		if s.Account != ByRows {
			return fmt.Errorf("%w: stages by the account %v; only profiles compose, those of ByRows",
				privacy.ErrUnsupported, s.Account)
		}
		if i > 0 && (s.Centre != nil || s.Forms != m.Stages[0].Forms) {
			return &privacy.ParamError{Name: "Stages", Value: i,
				Want: "stages of as many forms, with a centre in none but the first"}
		}
	}
	return (mechanism.Scales{{"Radius", m.Radius}}).Check()
}

// event is one run as the accountant sees it.
func (m Recentred) event() (objective.Stages, error) {
	var all objective.Stages
	for _, s := range m.Stages {
		r, err := s.rows()
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// Event implements mechanism.Mechanism.
func (m Recentred) Event() (privacy.Event, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return m.event()
}

// String describes the mechanism with its parameters.
func (m Recentred) String() string {
	var all []string
	for _, s := range m.Stages {
		all = append(all, s.String())
	}
	return fmt.Sprintf("recentred within ‖θ‖ ≤ %.5g: %s", m.Radius, strings.Join(all, ", then "))
}

// Describe implements mechanism.Mechanism.
func (m Recentred) Describe() mechanism.Description {
	last := m.Stages[len(m.Stages)-1]
	d := last.Describe()
	d.Name = "recentred " + d.Name
	d.Source = "docs/theory/smoothing.md, section on recentring, with cop, Algorithm 1, in each stage"
	d.Also = fmt.Sprintf("the coefficients of %d earlier stages", len(m.Stages)-1)
	d.Bound = "composition of the stages' forms (docs/theory/smoothing.md, Theorem 6)"
	d.Assumptions = append(d.Assumptions,
		mechanism.Chosen("the number of stages, the parameters of each and the radius")+
			"; the centre of a stage is what the one before released")
	return d
}

// Feasible implements mechanism.Mechanism. records are records, not rows.
func (m Recentred) Feasible(features, records int) error {
	for _, s := range m.Stages {
		if err := s.Feasible(features, records); err != nil {
			return err
		}
	}
	return nil
}

// Check implements mechanism.Mechanism.
func (m Recentred) Check(rows matrix.Rows, labels []float64) error {
	for _, s := range m.Stages {
		if err := s.Check(rows, labels); err != nil {
			return err
		}
	}
	return nil
}

// Run implements mechanism.Mechanism. Also is a [][]float64, the coefficients that the earlier stages released.
func (m Recentred) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	r, err := mechanism.Begin(m, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	draw := noise.Exact(src)
	var earlier [][]float64
	for i, s := range m.Stages {
		if i > 0 {
			earlier = append(earlier, r.Coefficients)
			s.Centre = project(r.Coefficients, m.Radius)
		}
		if r.Coefficients, err = s.release(rows, labels, draw, settings); err != nil {
			return nil, err
		}
		r.Tolerance, r.NoiseScale = s.Tolerance, s.Sigma
	}
	r.Also = earlier
	return r, nil
}

// growths are how many times as much of the budget each stage has as the one before, bends how many times as large its
// λ/s is, stageNoise the σ, for the whole budget, that are looked at, in units of the Gaussian mechanism's.
var (
	growths    = [...]float64{0.5, 1, 2, 4}
	bends      = [...]float64{0.3, 1, 3}
	stageNoise = [...]float64{3, 2.2, 1.7, 1.4, 1.2}
)

// stagesKey is what the frontier of stages depends on.
type stagesKey struct {
	frontierKey
	stages       int
	growth, bend float64
}

var stageFrontiers = recent.Values[stagesKey, [len(stageNoise)]float64]{Kept: 256}

// shares returns the share of each of k stages in 1/σ², rising by the factor growth.
func shares(k int, growth float64) []float64 {
	q, sum := make([]float64, k), 0.0
	for i := range q {
		q[i] = math.Pow(growth, float64(i))
		sum += q[i]
	}
	for i := range q {
		q[i] /= sum
	}
	return q
}

// stagesFrontier is frontier for stages, of the ratio λ/s of the first.
func (c Config) stagesFrontier(k int, growth, bend float64) ([len(stageNoise)]float64, error) {
	form := c.wide(1).Form.(loss.Convolved)
	key := stagesKey{frontierKey{form, c.Forms, c.Epsilon, c.Delta}, k, growth, bend}
	return stageFrontiers.Of(key, func() ([len(stageNoise)]float64, error) {
		return c.newStagesFrontier(form, k, growth, bend)
	})
}

func (c Config) newStagesFrontier(form loss.Convolved, k int, growth, bend float64) (out [len(stageNoise)]float64,
	err error) {
	unit, err := privacy.GaussianSigma(c.Epsilon, c.Delta)
	if err != nil {
		return out, err
	}
	l := Loss{Form: form, Forms: c.Forms, Norm: 1}
	forms, err := l.forms(1)
	if err != nil {
		return out, err
	}
	s, low := l.Smoothness(), 0.05
	for i, factor := range stageNoise {
		out[i], err = crossing(func(ratio float64) (float64, error) {
			var all objective.Stages
			for i, q := range shares(k, growth) {
				all = append(all, objective.Rows{Forms: forms, Lambda: ratio * math.Pow(bend, float64(i)) * s,
					Sigma: factor * unit * l.Lipschitz() / math.Sqrt(q)})
			}
			return all.Roughly(c.Epsilon, 400)
		}, low, 1e5, logDown(c.Delta), 2e-2)
		if err != nil {
			return out, err
		}
		if math.IsInf(out[i], 1) {
			for j := range out[i:] {
				out[i+j] = math.Inf(1)
			}
			break
		}
		low = out[i]
	}
	return out, nil
}

// CalibrateRecentred returns the mechanism in at most the given number of stages with the least predicted excess risk:
// their number, which is one where ε√n is small, the shares of the budget, the noise, and for each stage λ and a
// kernel's width, given how far the one before is expected to be from θ⋆. c.Form is a loss.Convolved of width 0, c.Rule
// is Predicted.
//
// Errors: as Calibrate.
func CalibrateRecentred(c Config, stages int) (Recentred, error) {
	if err := cmp.Or(c.validate(), c.Planned.validate()); err != nil {
		return Recentred{}, err
	}
	if err := c.predictable(); err != nil {
		return Recentred{}, err
	}
	if c.Pieces != nil {
		return Recentred{}, fmt.Errorf("%w: stages of Pieces; only profiles for every ε compose, those of ByRows",
			privacy.ErrUnsupported)
	}
	kernel := c.Form.(loss.Convolved)
	switch {
	case stages < 1 || stages > 10:
		return Recentred{}, &privacy.ParamError{Name: "stages", Value: stages, Want: "1 to 10"}
	case kernel.Width != 0 || c.Lambda != 0 || c.Rule != Predicted:
		return Recentred{}, &privacy.ParamError{Name: "Rule", Value: int(c.Rule),
			Want: "Predicted, with no Width and no Lambda"}
	}
	c.Epsilon, c.Delta = privacy.Typed(c.Epsilon, c.Delta)
	gauss, err := privacy.GaussianSigma(c.Epsilon, c.Delta)
	if err != nil {
		return Recentred{}, err
	}
	best, err := c.bestPlan(stages, gauss)
	if err != nil {
		return Recentred{}, err
	}
	if best == nil {
		return Recentred{}, c.noSigma(COP{Loss: c.wide(1)})
	}
	for scale, step := outputRoom, 2e-4; scale < 2; scale, step = scale*(1+step), 2*step {
		m := Recentred{Radius: c.Planned.Radius}
		for _, v := range best {
			s := COP{Loss: c.wide(v.width), Lambda: v.lambda, Sigma: v.sigma * scale}
			m.Stages = append(m.Stages, s.finish(c.Tolerance))
		}
		if err := m.Validate(); err != nil {
			return m, err
		}
		p, err := mechanism.Profile(m)
		if err != nil {
			return m, err
		}
		if privacy.LogDeltaUpper(p, c.Epsilon) <= logDown(c.Delta) {
			return m, nil
		}
	}
	return Recentred{}, c.noSigma(COP{Loss: c.wide(best[0].width)})
}

// doubt is by how much each further stage has to promise less: predictions for two stages were two thirds of those for
// one, beside what was measured (docs/theory/smoothing.md, Recentring).
const doubt = 1.5

// bestPlan returns the plan of at most so many stages with the least predicted excess; nil if there is none.
func (c Config) bestPlan(stages int, gauss float64) (best []choice, err error) {
	least := math.Inf(1)
	for k := 1; k <= stages; k++ {
		growths, bends := growths[:], bends[:]
		if k == 1 {
			growths, bends = []float64{1}, []float64{1}
		}
		for _, growth := range growths {
			for _, bend := range bends {
				frontier, err := c.stagesFrontier(k, growth, bend)
				if err != nil {
					return nil, err
				}
				for i, factor := range stageNoise {
					if math.IsInf(frontier[i], 1) {
						break
					}
					plan := c.plan(frontier[i], bend, factor*gauss, shares(k, growth))
					if excess := plan[k-1].excess * math.Pow(doubt, float64(k-1)); excess < least {
						best, least = plan, excess
					}
				}
			}
		}
	}
	return best, nil
}

// plan chooses λ and the width of each stage, noise in units of L/√share; the ratio λ/s is bend times that of the stage
// before.
func (c Config) plan(ratio, bend, noise float64, shares []float64) []choice {
	unit := c.wide(1)
	var out []choice
	apart := c.Planned.apart()
	for i, q := range shares {
		of := func(v choice) float64 { return v.spread }
		if i == len(shares)-1 {
			of = func(v choice) float64 { return v.excess }
		}
		v := c.bestRidge(unit, noise*unit.Lipschitz()/math.Sqrt(q), ratio*math.Pow(bend, float64(i)), apart, of)
		out = append(out, v)
		apart = math.Min(apart, v.spread)
	}
	return out
}

// bestRidge returns the λ with the least predicted excess for the noise and the ratio λ/s, and the width that belongs
// to it. unit is the loss at width 1.
func (c Config) bestRidge(unit Loss, sigma, ratio, apart float64, of func(choice) float64) choice {
	at := func(lambda float64) choice {
		w := ratio * unit.Smoothness() / lambda // s ∝ 1/w
		l := unit.wide(w)
		return choice{sigma, lambda, w, c.Planned.Excess(l, sigma, lambda, apart), c.Planned.spread(l, sigma, lambda,
			apart)}
	}
	centre := math.Log(unit.Smoothness()/c.Planned.Residual) + math.Log(ratio)
	x, _ := univariate.Golden(func(x float64) float64 { return math.Log(of(at(math.Exp(x)))) }, centre-12, centre+12,
		50)
	return at(math.Exp(x))
}
