package learn

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/internal/runlog"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// ScoreCurve is an experiment: how well private fits predict at several ε, over
// many draws of the noise. Every point is a fit of its own, so it is for public
// data; with private data each would have to be paid for.
type ScoreCurve struct {
	Epsilons []float64
	Delta    float64
	Seeds    int
	// Task decides what the score is: see Model.Score.
	Task frame.Task
	// Mean score, and the smallest and the largest of the Seeds: the next fit's lies
	// between them with probability (Seeds − 1)/(Seeds + 1), whatever its law.
	Mean, Lower, Upper []float64
	// NonPrivate is the score without noise, Baseline that of guessing without
	// the features: the more frequent class, or the mean.
	NonPrivate, Baseline float64
}

// Measure fits l on train at every ε with seeds noise draws and scores on test.
// The noise comes from streams of l's Noise if that is a Seed, else of Seed(1).
// The result does not depend on the number of workers.
func Measure(l Learner, train, test *Dataset, delta float64, seeds int, epsilons ...float64) (*ScoreCurve, error) {
	if seeds < 2 || len(epsilons) == 0 {
		return nil, errors.New("dpnb: a measurement needs at least two seeds and one ε")
	}
	plain, err := l.FitWithoutPrivacy(train)
	if err != nil {
		return nil, err
	}
	p := l.recipe()
	root, err := simulationRoot(p.noise, "accuracy curve")
	if err != nil {
		return nil, err
	}
	c := &ScoreCurve{Epsilons: epsilons, Delta: delta, Seeds: seeds, Task: p.task, Baseline: test.MajorityShare()}
	if c.NonPrivate, err = plain.Score(test); err != nil {
		return nil, err
	}
	p.workers = 1
	scores := make([]float64, len(epsilons)*seeds)
	err = eachTask(len(scores), func(k int) error {
		fitted := p
		// Stream k is for task k, whoever computes it.
		fitted.noise = root.Stream(k)
		m, err := fit(train, Simulate(epsilons[k/seeds], delta), fitted)
		if err != nil {
			return err
		}
		scores[k], err = m.Score(test)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range epsilons {
		s := summarise(scores[i*seeds : (i+1)*seeds])
		c.Mean, c.Lower, c.Upper = append(c.Mean, s.mean), append(c.Lower, s.lower), append(c.Upper, s.upper)
	}
	return c, nil
}

// simulationRoot returns the seeded source of an experiment, Seed(1) unless src
// is one, and records its seed for the report.
func simulationRoot(src noise.Source, name string) (*noise.Seeded, error) {
	root, ok := src.(*noise.Seeded)
	if !ok {
		root = noise.NewSeeded(1)
	}
	seed, _ := root.Seed()
	return root, runlog.Append(runlog.KindSeed, runlog.Seed{Name: name, Seed: seed})
}

// eachTask runs tasks 0, …, n − 1 on all processors and returns the error
// of the first that fails.
func eachTask(n int, run func(k int) error) error {
	return parallel.For(context.Background(), n, 0, func(_, k int) error { return run(k) })
}

// summary of the scores of many seeds.
type summary struct {
	mean float64
	// margin is half the 95 % interval of the mean, by Student's law.
	margin float64
	// lower and upper are the smallest and the largest score. Near the best that can
	// be reached the law of scores is skew, so that no Gaussian interval is shown.
	lower, upper float64
}

func summarise(scores []float64) summary {
	s := sim.Summarize(scores)
	_, end := s.Interval()
	return summary{s.Mean, end - s.Mean, slices.Min(scores), slices.Max(scores)}
}

// Display shows the curve as a table.
func (c *ScoreCurve) Display() display.Item {
	s := measureOf(c.Task)
	it := display.Item{
		Title:  fmt.Sprintf("Test %s of private fits, δ = %.3g, %d seeds", s.name, c.Delta, c.Seeds),
		Header: []string{"ε", "mean", "worst fit", "best fit"},
		Notes: []string{fmt.Sprintf("Without privacy %s; %s %s.", s.text(c.NonPrivate), s.guess, s.text(c.Baseline)),
			"A simulation on data that are public: each point is a fit that would have to be paid for on private data."},
	}
	for i, e := range c.Epsilons {
		it.Rows = append(it.Rows, []string{fmt.Sprint(e), s.text(c.Mean[i]), s.text(c.Lower[i]), s.text(c.Upper[i])})
	}
	return it
}

// Figure draws the score against ε with the band from the worst to the best fit.
func (c *ScoreCurve) Figure() *figure.Figure {
	if c == nil {
		return nil
	}
	s := measureOf(c.Task)
	f := figure.New(fmt.Sprintf("What privacy costs: test %s against ε", s.name), fmt.Sprintf("ε, privacy loss in nats (δ = %.3g, add/remove-one)", c.Delta), "test "+s.name)
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
	f.Note(fmt.Sprintf("private: mean, and where all %d fits lie", c.Seeds), c.Epsilons[at]*1.12, c.Mean[at]-0.1*(c.NonPrivate-c.Baseline), figure.Blue)
	f.XRange(lo*0.9, hi*1.1)
	if s.percent {
		f.Alt = fmt.Sprintf("test accuracy rises from %.1f %% at ε = %v to %.1f %% at ε = %v; without privacy it is %.1f %%, the majority class has %.1f %%",
			100*c.Mean[0], lo, 100*c.Mean[last], hi, 100*c.NonPrivate, 100*c.Baseline)
	} else {
		f.Alt = fmt.Sprintf("test %s goes from %s at ε = %v to %s at ε = %v; without privacy it is %s, the mean has 0",
			s.name, s.text(c.Mean[0]), lo, s.text(c.Mean[last]), hi, s.text(c.NonPrivate))
	}
	return f
}
