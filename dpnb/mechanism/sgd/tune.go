package sgd

import (
	"cmp"
	"fmt"
	"math"
	"runtime"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Tuner chooses among update rules, and with them learning rates, by trying.
//
// Honestly (Run): a Poisson number of runs of Base, each with a rule drawn evenly from Grid, each with samples and
// noise of its own; released is the run of the largest score. The number of runs is not released: the theorems hold
// because nobody knows how many others there were. If there was no run at all, which has probability e^{−μ}, the
// coefficients are zero.
//
// The runs must be independent copies of one mechanism, which a rule drawn for each is. rkw23, section 5, takes instead
// K learning rates that are evenly spaced by the K that was drawn; no theorem covers that.
type Tuner struct {
	// Base is one run, its noise calibrated for the tuned total (Calibrate). Its Update is not read.
	Base Descent
	// Grid has the rules to choose from.
	Grid []Update
	// MeanRuns is μ; MeanRunsFor finds it.
	MeanRuns float64
	// Score decides.
	Score Score
	// Accounting is how to bound.
	Accounting Accounting
}

// LearningRates returns the rules that rate makes of count learning rates, evenly spaced in the logarithm from lo to
// hi. It panics unless count ≥ 2 and 0 < lo < hi.
func LearningRates(lo, hi float64, count int, rate func(eta float64) Update) []Update {
	if count < 2 || !(lo > 0 && lo < hi) {
		panic("sgd: LearningRates wants count ≥ 2 and 0 < lo < hi")
	}
	grid := make([]Update, count)
	for i := range grid {
		grid[i] = rate(lo * math.Pow(hi/lo, float64(i)/float64(count-1)))
	}
	return grid
}

// Cost returns what the tuned release costs. With a score that reads the training records without noise nothing bounds
// that, and no profile can be had.
func (t Tuner) Cost() Cost {
	c := t.Base.Cost()
	c.MeanRuns, c.Accounting = t.MeanRuns, t.Accounting
	if t.Score != nil {
		switch m := t.Score.multiplier(); {
		case !(m > 0):
			c.ScoreMultiplier = math.NaN() // zero would be a score that costs nothing
		case !math.IsInf(m, 1):
			c.ScoreMultiplier = m
		}
	}
	return c
}

// Calibrate returns t with the smallest noise of Base with which the tuned release is proved to satisfy (ε, δ). It
// takes some seconds with Sharpest, and does not depend on the records: calibrate once for all trials.
//
// Errors: *privacy.ParamError.
func (t Tuner) Calibrate(eps, delta float64) (Tuner, error) {
	t.Base.NoiseMultiplier = 1
	if err := t.Validate(); err != nil {
		return t, err
	}
	c, err := t.Cost().CalibrateNoise(eps, delta)
	t.Base.NoiseMultiplier = c.NoiseMultiplier
	return t, err
}

// Validate implements mechanism.Mechanism.
func (t Tuner) Validate() error {
	err := privacy.Within(len(t.Grid) > 0, "Grid", 0, "at least one rule")
	for _, u := range t.Grid {
		base := t.Base
		base.Update = u
		err = cmp.Or(err, base.Validate())
	}
	if err = cmp.Or(err, privacy.Within(t.Score != nil, "Score", nil, "Holdout or Training"),
		privacy.Within(t.MeanRuns > 0, "MeanRuns", t.MeanRuns, "a positive number")); err != nil {
		return err
	}
	return cmp.Or(privacy.Within(t.Score.multiplier() > 0, "Score", t.Score.String(),
		"noise on a score that reads the training records, or a public score"), t.Score.validate(), t.Cost().Validate())
}

// Selected is the outcome of tuning, which the guarantee covers.
type Selected struct {
	// Update is the rule of the run that was selected, nil if there was no run.
	Update Update
	// Score that it was selected by, −Inf if there was no run.
	Score float64
}

// String describes the mechanism with its parameters.
func (t Tuner) String() string { return t.selected(nil) }

// selected is String with the rule of the run that was selected.
func (t Tuner) selected(u Update) string {
	base := t.Base
	base.Update = u
	return fmt.Sprintf("best of Poisson(%.5g) runs by %s, each one of %d rules drawn evenly: %s", t.MeanRuns, t.Score,
		len(t.Grid), base)
}

// Describe implements mechanism.Mechanism.
func (t Tuner) Describe() mechanism.Description {
	d := t.Base.Describe()
	d.Source += "; the selection by Papernot and Steinke 2022, Theorem 6, and docs/theory/sgd.md, section 4"
	d.Also, d.Bound = "learning rate tuned", t.Cost().Bound()
	d.Assumptions[0] = mechanism.ChosenFrom("the scores of the runs", "all other parameters", "the rule of the steps")
	d.Assumptions = append(d.Assumptions, "how many runs there were stays secret")
	if math.IsInf(t.Score.multiplier(), 1) { // whatever embeds a Holdout, too
		d.Assumptions = append(d.Assumptions, "the records of the score are public: no guarantee covers them")
	}
	return d
}

// Event implements mechanism.Mechanism. Its profile is worked out when it is first asked for: that of a tuned run takes
// seconds.
func (t Tuner) Event() (privacy.Event, error) { return lazily{t.Cost()}, t.Validate() }

// Feasible implements mechanism.Mechanism: nothing can fail.
func (t Tuner) Feasible(int, int) error { return nil }

// Check implements mechanism.Mechanism.
func (t Tuner) Check(rows matrix.Rows, labels []float64) error {
	if err := t.Base.Check(rows, labels); err != nil {
		return err
	}
	_, err := t.Score.bind(rows, labels)
	return err
}

// Run implements mechanism.Mechanism: it tunes honestly. Also in the release is *Selected.
func (t Tuner) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	r, err := mechanism.Begin(t, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	draw := noise.Exact(src)
	choices := make([]int, draw.Poisson(t.MeanRuns))
	for i := range choices {
		choices[i] = draw.Below(len(t.Grid))
	}
	best, err := t.best(rows, labels, choices, src, settings.Value().Workers)
	if err != nil {
		return nil, err
	}
	s := &Selected{Score: best.score}
	if best.rule >= 0 {
		s.Update = t.Grid[best.rule]
	}
	r.Coefficients, r.NoiseScale = best.theta, t.Base.NoiseMultiplier*t.Base.Clip
	r.Also, r.Mechanism = s, t.selected(s.Update)
	return r, nil
}

// outcome of a run; rule is −1 for no run.
type outcome struct {
	theta []float64
	score float64
	rule  int
}

// best runs Base with each of the chosen rules and returns the run of the largest score, the first of equals: as runs
// are exchangeable, that is a random one.
func (t Tuner) best(rows matrix.Rows, labels []float64, choices []int, src noise.Source, workers int) (outcome, error) {
	score, err := t.Score.bind(rows, labels)
	if err != nil {
		return outcome{}, err
	}
	fork, ok := noise.Forks(src)
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	inner := 1
	if !ok {
		fork, workers, inner = func(int) noise.Source { return src }, 1, workers
	}
	_, d := rows.Dims()
	top := outcome{theta: make([]float64, d), score: math.Inf(-1), rule: -1}
	if len(choices) == 0 {
		return top, nil
	}
	data := newRecords(rows, labels, t.Base.Clip)
	all := make([]outcome, len(choices))
	parallel.Each(len(choices), workers, func(i int) {
		run, draw := t.Base, noise.Exact(fork(i))
		run.Update = t.Grid[choices[i]]
		theta := run.descend(data, draw, inner)
		all[i] = outcome{theta, score(theta, draw), choices[i]}
	})
	for _, o := range all {
		if top.rule < 0 || o.score > top.score {
			top = o
		}
	}
	return top, nil
}
