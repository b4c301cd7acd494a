package learn

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/internal/runlog"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// ScoreCurve is an experiment: how well private fits predict at several values of ε, over many draws of the noise.
// Every point is a fit of its own, so it is for public data; with private data each would have to be paid for.
type ScoreCurve struct {
	Epsilons []float64
	Delta    float64
	Seeds    int
	// Task decides what the score is: see Model.Score.
	Task frame.Task
	// Quantiles says that l fits quantiles.
	Quantiles bool
	// Mean score, and the smallest and the largest of the Seeds: the next fit's lies between them with probability
	// (Seeds − 1)/(Seeds + 1), whatever its law.
	Mean, Lower, Upper []float64
	// NonPrivate is the score without noise, Baseline that of guessing without the features: the more frequent class,
	// or the mean.
	NonPrivate, Baseline float64
	warning              string
}

// SweepEpsilon fits l on train at every ε, with as many draws of the noise as seeds says, and scores the fits on test.
// The noise comes from streams of l's Noise if that is a Seed, else of Seed(1). The result does not depend on the
// number of workers.
//
// Errors: fewer than two seeds, no ε, or that of a fit.
func SweepEpsilon(l Learner, train, test *Dataset, delta float64, seeds int, epsilons ...float64) (*ScoreCurve, error) {
	if seeds < 2 || len(epsilons) == 0 {
		return nil, errors.New("dpnb: a curve needs at least two seeds and one ε")
	}
	if err := own(l); err != nil {
		return nil, err
	}
	plain, err := l.FitWithoutPrivacy(train)
	if err != nil {
		return nil, err
	}
	p := l.spec()
	root, err := simulationRoot(p.noise, "accuracy curve")
	if err != nil {
		return nil, err
	}
	c := &ScoreCurve{Epsilons: epsilons, Delta: delta, Seeds: seeds, Task: p.task, Quantiles: p.levels != nil,
		Baseline: test.MajorityShare(), warning: notPublic(train, test)}
	if c.NonPrivate, err = plain.Score(test); err != nil {
		return nil, err
	}
	p.workers = 1
	rows := trials(len(epsilons), seeds, root, test, (*Model).Score, func(i, _ int, src noise.Source) (*Model, error) {
		fitted := p
		fitted.noise = src
		return fit(train, Simulate(epsilons[i], delta), fitted)
	})
	for _, r := range rows {
		if r.Err != nil {
			return nil, r.Err
		}
		c.Mean, c.Lower, c.Upper = append(c.Mean, r.Mean), append(c.Lower, r.Lower), append(c.Upper, r.Upper)
	}
	return c, nil
}

// simulationRoot returns the seeded source of an experiment, Seed(1) unless src is one, and records its seed for the
// report.
func simulationRoot(src noise.Source, name string) (*noise.Seeded, error) {
	root, ok := src.(*noise.Seeded)
	if !ok {
		root = noise.NewSeeded(1)
	}
	seed, _ := root.Seed()
	return root, runlog.Append(runlog.KindSeed, runlog.Seed{Name: name, Seed: seed})
}

// trials makes fits for n rows with as many seeds each, on all processors, and scores them on test. Stream i·seeds + k
// of root is for seed k of row i, whoever computes it; a row's error is that of the first seed, by number, that failed.
func trials(n, seeds int, root *noise.Seeded, test *Dataset, score func(*Model, Records) (float64, error),
	fit func(i, seed int, src noise.Source) (*Model, error)) []CompareRow {
	scores, errs, rows := make([]float64, n*seeds), make([]error, n*seeds), make([]CompareRow, n)
	parallel.Each(n*seeds, 0, func(k int) {
		m, err := fit(k/seeds, k%seeds, root.Stream(k))
		if err == nil {
			if k%seeds == 0 {
				rows[k/seeds] = CompareRow{Lambda: m.lambda, Sigma: m.release.NoiseScale}
			}
			scores[k], err = score(m, test)
		}
		errs[k] = err
	})
	for i := range rows {
		r, mine := &rows[i], scores[i*seeds:(i+1)*seeds]
		s := sim.Summarize(mine)
		_, end := s.Interval()
		r.Mean, r.Margin, r.Lower, r.Upper = s.Mean, end-s.Mean, slices.Min(mine), slices.Max(mine)
		r.Err = cmp.Or(errs[i*seeds : (i+1)*seeds]...)
	}
	return rows
}

// Display shows the curve as a table.
func (c *ScoreCurve) Display() display.Item {
	s := measureOf(c.Task, c.Quantiles)
	it := display.Item{
		Title: fmt.Sprintf("Test %s of private fits, δ = %s, %d seeds", s.name, privacy.FormatUp(c.Delta, 3),
			c.Seeds),
		Warning: c.warning, Header: []string{"ε", "mean", "worst fit", "best fit"},
	}
	for i, e := range c.Epsilons {
		it.Row(fmt.Sprint(e), s.text(c.Mean[i]), s.text(c.Lower[i]), s.text(c.Upper[i]))
	}
	it.Note("Without privacy %s; %s %s.", s.text(c.NonPrivate), s.guess, s.text(c.Baseline))
	it.Note("A simulation%s: each point is a fit that would have to be paid for on private data.", onPublic(c.warning))
	return it
}

// onPublic says of an experiment that nothing is warned of that its data are public.
func onPublic(warning string) string {
	if warning == "" {
		return " on data that are public"
	}
	return ""
}

// Figure draws the score against ε with the band from the worst to the best fit.
func (c *ScoreCurve) Figure() *figure.Figure {
	if c == nil {
		return nil
	}
	s := measureOf(c.Task, c.Quantiles)
	f := figure.New(fmt.Sprintf("What privacy costs: test %s against ε", s.name),
		fmt.Sprintf("ε, privacy loss (δ = %s, add/remove-one)", privacy.FormatUp(c.Delta, 3)), "test "+s.name)
	lo, hi := c.Epsilons[0], c.Epsilons[len(c.Epsilons)-1]
	f.LogX(c.Epsilons...)
	if s.percent {
		f.Percent()
	}
	f.Band(c.Epsilons, c.Lower, c.Upper, figure.Blue)
	f.Level("without privacy", lo, hi, c.NonPrivate, figure.Gray)
	f.Level(s.baseline, lo, hi, c.Baseline, figure.Orange)
	f.Line("", c.Epsilons, c.Mean, figure.Blue).Dots("", c.Epsilons, c.Mean, figure.Blue)
	last := len(c.Mean) - 1
	// Beside the steep part, where there is room for it.
	at := last / 4
	f.Note(fmt.Sprintf("private: mean, and where all %d fits lie", c.Seeds), c.Epsilons[at]*1.12,
		c.Mean[at]-0.1*(c.NonPrivate-c.Baseline), figure.Blue)
	f.XRange(lo*0.9, hi*1.1)
	if s.percent {
		f.Alt = fmt.Sprintf("test accuracy rises from %.1f %% at ε = %v to %.1f %% at ε = %v; without privacy it is "+
			"%.1f %%, "+
			"the majority class has %.1f %%", 100*c.Mean[0], lo, 100*c.Mean[last], hi, 100*c.NonPrivate, 100*c.Baseline)
	} else {
		f.Alt = fmt.Sprintf("test %s goes from %s at ε = %v to %s at ε = %v; without privacy it is %s, the mean has 0",
			s.name, s.text(c.Mean[0]), lo, s.text(c.Mean[last]), hi, s.text(c.NonPrivate))
	}
	return f.Warn(c.warning)
}
