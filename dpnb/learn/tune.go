package learn

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Tune fits the best of several learners, and pays for the choice: a Poisson number of times one of them is drawn at
// random with equal probability, fitted, and scored on the same records with noise; the fit with the largest score is
// released, and nothing about the others, not even how many there were. The cost of the whole is proved
// (docs/theory/sgd.md, section 4): the guarantee is that of the allowance, and each fit has about twice the noise that
// it would have alone. So Tune pays where learners differ by more than that, for example by a λ or a Clip that is far
// off, or by columns that only add noise.
//
//	model, err := dpnb.Tune{
//		Learners: []dpnb.Learner{dpnb.Linear{Clip: 0.1}, dpnb.Linear{Clip: 0.5}},
//		Without:  [][]string{nil, {"visits", "ward"}},
//	}.Fit(data, budget.Spend(1))
//
// Neither the settings nor the columns may be chosen by looking at the records. The score is the number of records
// whose class is predicted rightly; of a number or a count the sum of 1 − min(1, |y − ŷ|/h), h half the width of the
// public bounds.
type Tune struct {
	// Learners to choose from, all for the same task. Refused are CurvatureShare, as there are no intervals after a
	// choice; HeavyTails, which has no δ for the choice to spend; and quantiles, which the score does not measure.
	Learners []Learner
	// Without has sets of columns; each learner is tried without each set. Nil is the one set of none.
	Without [][]string
	// Runs is the mean number of fits; zero is three for each choice, so that each is drawn at least once with
	// probability 0.95.
	Runs float64
	// ScoreShare in (0, 1) is the part of each fit's μ² that is spent on its score; zero is 0.1.
	ScoreShare float64
	// Noise is the source of all noise; nil is noise.NewSecure(). Those of the learners are not used.
	Noise noise.Source
	// Workers is the number of goroutines; zero means one for each processor.
	Workers int
}

// Fit releases a private model: see Learner. The model says what was chosen. If no fit was drawn, which has probability
// e^{−Runs}, all coefficients are zero.
func (l Tune) Fit(data *Dataset, allowance Allowance) (*Model, error) {
	if err := data.Err(); err != nil {
		return nil, err
	}
	data = data.held()
	p, err := l.among(data)
	if err != nil {
		return nil, err
	}
	m, err := fit(data, allowance, p)
	if err != nil {
		return nil, err
	}
	m.learner, m.title = "Tune", "tuned "+m.title
	return m, nil
}

// among returns the specification of the whole, which chooses noise for every choice.
func (l Tune) among(data *Dataset) (spec, error) {
	choices, err := l.choices(data)
	if err != nil {
		return spec{}, err
	}
	p := choices[0].spec
	p.learner, p.entry, p.noise, p.workers = "Tune", "tuned", l.Noise, l.Workers
	p.convex = convex{} // the choice needs a δ
	p.instead(func(_ spec, _ *frame.Design, epsilon, delta float64) (mechanism.Mechanism, error) {
		return l.calibrate(choices, epsilon, delta)
	})
	return p, nil
}

// Choice says how a model was chosen: among a Poisson number of fits with mean MeanRuns, each Mu-GDP up to Slack, by
// scores with noise of ScoreSigma.
type Choice struct{ MeanRuns, Mu, ScoreSigma, Slack float64 }

// Choice says how m was chosen; it is zero if Tune did not choose it.
func (m *Model) Choice() Choice {
	if m.Err() == nil && m.release != nil {
		if b, ok := m.release.Fitted.(bestOf); ok {
			return Choice{b.MeanRuns, b.Mu, b.ScoreSigma, b.Slack}
		}
	}
	return Choice{}
}

// FitWithoutPrivacy returns the fit of the largest score without noise, for comparison on public data.
func (l Tune) FitWithoutPrivacy(data *Dataset) (*Model, error) {
	choices, err := l.choices(data)
	if err != nil {
		return nil, err
	}
	var best *Model
	top := math.Inf(-1)
	for _, c := range choices {
		m, err := fitWithoutPrivacy(c.data(), c.spec)
		if err != nil {
			return nil, err
		}
		if s := c.score(m.linear(), m.also()); s > top {
			best, top = m, s
		}
	}
	return best, nil
}

func (l Tune) spec() spec {
	if len(l.Learners) == 0 || l.Learners[0] == nil {
		return spec{learner: "Tune", noise: l.Noise}
	}
	p := l.Learners[0].spec()
	p.learner, p.noise = "Tune", l.Noise
	return p
}

// tuneChoice is a learner with the records that it learns from.
type tuneChoice struct {
	spec   spec
	design *frame.Design
}

func (c tuneChoice) data() *Dataset { return &Dataset{design: c.design} }

// choices returns every learner with every set of columns.
//
// Errors: settings that are out of range, learners that cannot be compared, columns that are not there: all public.
func (l Tune) choices(data *Dataset) ([]tuneChoice, error) {
	if err := data.Err(); err != nil {
		return nil, err
	}
	if data.design.Target.Weighted {
		return nil, errors.New("dpnb: Tune does not choose among fits to records with weights, as its score counts " +
			"every record once: leave out WeightsFrom and ClassWeights, or fit one learner")
	}
	if s := l.ScoreShare; s != 0 && !(s > 0 && s < 1) {
		return nil, &privacy.ParamError{Name: "ScoreShare", Value: s, Want: "a number in (0, 1), or 0 for 0.1"}
	}
	if r := l.Runs; r != 0 && !(r >= 1 && r <= 1000) {
		return nil, &privacy.ParamError{Name: "Runs", Value: r,
			Want: "a mean from 1 to 1000, or 0 for three of each choice"}
	}
	without := l.Without
	if without == nil {
		without = [][]string{nil}
	}
	if len(l.Learners)*len(without) < 2 {
		return nil, &privacy.ParamError{Name: "Learners", Value: len(l.Learners),
			Want: "two or more, or several sets of columns: of one there is nothing to choose, and its own Fit is " +
				"cheaper"}
	}
	var out []tuneChoice
	for _, columns := range without {
		design, err := data.without(columns)
		if err != nil {
			return nil, err
		}
		for _, learner := range l.Learners {
			c := tuneChoice{design: design}
			if err := own(learner); err != nil {
				return nil, err
			}
			if _, nested := learner.(Tune); nested {
				return nil, errors.New("dpnb: Tune chooses among learners that are fitted once, not among other " +
					"choices")
			}
			c.spec = learner.spec()
			c.spec.workers = l.Workers
			if err := errors.Join(c.spec.valid(), c.spec.suits(design)); err != nil {
				return nil, err
			}
			if why := c.spec.untunable(); why != "" {
				return nil, fmt.Errorf("dpnb: Tune does not choose among %s: %s", c.spec.learner, why)
			}
			if table, ok := data.from.(*frame.Table); ok && design.Encoding.Curves() != nil &&
				!(c.spec.bends(design) && c.spec.buys(design)) {
				if c.design, err = design.Encoding.Straight().Design(table); err != nil {
					return nil, err
				}
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// untunable says why fits of p cannot be chosen among; "" if they can.
func (p spec) untunable() string {
	switch {
	case p.pure:
		return "it is of pure ε and spends no δ, which the choice does; fit one, with its settings from what is public"
	case p.levels != nil:
		return "the score is how near a prediction is to the target, which the best quantile is not; of quantiles " +
			"choose by what is public"
	case p.curvatureShare != 0:
		return "with CurvatureShare it pays for intervals, and there are none after a choice: given that a fit had " +
			"the best score, its noise is not the noise that was drawn; leave CurvatureShare at 0"
	}
	return ""
}

// without returns the records as they are made without some columns.
func (d *Dataset) without(columns []string) (*frame.Design, error) {
	if len(columns) == 0 {
		return d.whole()
	}
	table, ok := d.from.(*frame.Table)
	if d.design.Encoding == nil || !ok {
		return nil, errors.New("dpnb: these records were made of no table, of which columns could be left out")
	}
	kept := d.design.Encoding.Kept()
	for _, name := range columns {
		at := slices.IndexFunc(kept.Fields, func(f frame.Field) bool { return f.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("dpnb: Without names %q, which is none of the features' columns", name)
		}
		kept.Fields = slices.Delete(kept.Fields, at, at+1)
	}
	e, err := kept.Encoding()
	if err != nil {
		return nil, err
	}
	return e.Design(table)
}

// tuneSlack is the part of δ that fits which are nearly Gaussian may have beside their μ.
const tuneSlack = 1e-3

// calibrate chooses the noise of every choice for (ε, δ) of the whole.
func (l Tune) calibrate(choices []tuneChoice, epsilon, delta float64) (mechanism.Mechanism, error) {
	share := orElse(l.ScoreShare, 0.1)
	b := bestOf{MeanRuns: orElse(l.Runs, float64(3*len(choices))), Chosen: -1, choices: choices}
	if !(epsilon > 0 && epsilon <= 1e3) || !(delta > 0 && delta < 1) {
		_, err := privacy.GaussianSigma(epsilon, delta)
		return nil, cmp.Or(err, error(&privacy.ParamError{Name: "Epsilon", Value: epsilon,
			Want: "a number in (0, 1000]"}))
	}
	// The largest μ of one run, in the Gaussian case.
	b.Slack = tuneSlack * delta / b.MeanRuns
	low, high := 0.0, 1.0
	holds := func(mu float64) bool {
		p, err := privacy.SelectionPoissonProfile(privacy.GaussianProfile(mu, privacy.AddRemove), b.MeanRuns)
		return err == nil && privacy.DeltaUpper(p, epsilon) <= delta*(1-2*tuneSlack)
	}
	for holds(high) && high < 1e3 {
		low, high = high, 2*high
	}
	for range 40 {
		if mid := 0.5 * (low + high); holds(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	if low == 0 {
		return nil, fmt.Errorf("%w: no noise gives (ε = %g, δ = %g) to the best of %g fits", privacy.ErrUnsupported,
			epsilon, delta, b.MeanRuns)
	}
	ofScore, ofFit := low*math.Sqrt(share), low*math.Sqrt(1-share)
	b.ScoreSigma = 1 / ofScore * (1 + 1e-15)
	for _, c := range choices {
		m, mu, err := c.under(ofFit, delta/b.MeanRuns, b.Slack)
		if err != nil {
			return nil, err
		}
		b.Fits, b.Mu = append(b.Fits, m), math.Max(b.Mu, mu)
	}
	return b, b.Validate()
}

// under returns the mechanism of a choice with as little noise as costs at most μ, but for a probability of slack.
func (c tuneChoice) under(most, delta, slack float64) (m mechanism.Mechanism, cost float64, err error) {
	c.spec.shared = true
	choose := c.spec.chooser(c.design)
	for mu := most * (1 - 1e-9); mu > most/16; {
		epsilon, err := privacy.EpsilonUpper(privacy.GaussianProfile(mu, privacy.AddRemove), delta)
		if err != nil {
			return nil, 0, err
		}
		if m, err = choose(c.spec, c.design, epsilon, delta); err != nil {
			return nil, 0, err
		}
		c, err := asGaussian(m, slack)
		if err != nil || c.mu <= most {
			return m, c.mu, err
		}
		mu *= most / c.mu * (1 - 1e-3)
	}
	return nil, 0, fmt.Errorf("%w: no choice of parameters for %s was found that costs a μ of %.3g, as a fit among "+
		"several may; a larger λ costs less", privacy.ErrUnsupported, c.spec.learner, most)
}

// gaussian is what a mechanism costs as a Gaussian one, but for a probability of slack.
type gaussian struct{ mu, slack float64 }

// asGaussian is privacy.AsGaussian of a mechanism. It can take seconds, and is remembered by all that the mechanism is
// made of, by which a saved model knows its guarantee as well.
func asGaussian(m mechanism.Mechanism, tail float64) (gaussian, error) {
	find := func() (c gaussian, err error) {
		p, err := mechanism.Profile(m)
		if err == nil {
			c.mu, c.slack, err = privacy.AsGaussian(p, tail)
		}
		return c, err
	}
	text, err := mechanisms().Marshal(m)
	if err != nil { // of no model
		return find()
	}
	type key struct {
		kind, mechanism string
		tail            float64
	}
	return calibrated(key{fmt.Sprintf("%T", m), string(text), tail}, find)
}
