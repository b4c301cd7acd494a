package dpnb

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/internal/runlog"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// AccuracyCurve is an experiment: how accurate private fits are at several ε,
// over many draws of the noise. Every point is a fit of its own, so it is for
// public data; with private data each would have to be paid for.
type AccuracyCurve struct {
	Epsilons []float64
	Delta    float64
	Seeds    int
	// Mean accuracy, and the ends of the interval that covers the next fit's
	// with 95 % probability if accuracies were Gaussian.
	Mean, Lower, Upper []float64
	// NonPrivate is the accuracy without noise, Majority that of always
	// guessing the more frequent class.
	NonPrivate, Majority float64
}

// MeasureAccuracy fits l on train at every ε with seeds noise draws and scores
// on test. The noise comes from streams of l.Noise if that is a Seed, else of
// Seed(1). The result does not depend on the number of workers.
func (l Logistic) MeasureAccuracy(train, test *Dataset, delta float64, seeds int, epsilons ...float64) (*AccuracyCurve, error) {
	if seeds < 2 || len(epsilons) == 0 {
		return nil, errors.New("dpnb: MeasureAccuracy needs at least two seeds and one ε")
	}
	plain, err := l.FitWithoutPrivacy(train)
	if err != nil {
		return nil, err
	}
	root, ok := l.Noise.(*noise.Seeded)
	if !ok {
		root = noise.NewSeeded(1)
	}
	seed, _ := root.Seed()
	if err := runlog.Append(runlog.KindSeed, runlog.Seed{Name: "accuracy curve", Seed: seed}); err != nil {
		return nil, err
	}
	c := &AccuracyCurve{Epsilons: epsilons, Delta: delta, Seeds: seeds}
	if c.NonPrivate, err = plain.Score(test); err != nil {
		return nil, err
	}
	c.Majority = test.MajorityShare()
	scores := make([]float64, len(epsilons)*seeds)
	errs := make([]error, len(scores))
	tasks := make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for k := range tasks {
				fit := l
				fit.Workers = 1
				// Stream k is for task k, whoever computes it.
				fit.Noise = root.Stream(k)
				m, err := fit.Fit(train, Simulate(epsilons[k/seeds], delta))
				if err != nil {
					errs[k] = err
					continue
				}
				scores[k], errs[k] = m.Score(test)
			}
		}()
	}
	for k := range scores {
		tasks <- k
	}
	close(tasks)
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	quantile := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(seeds - 1)}.Quantile(0.975)
	for i := range epsilons {
		mean, sd := stat.MeanStdDev(scores[i*seeds:(i+1)*seeds], nil)
		half := quantile * sd * math.Sqrt(1+1/float64(seeds))
		c.Mean = append(c.Mean, mean)
		c.Lower, c.Upper = append(c.Lower, math.Max(0, mean-half)), append(c.Upper, math.Min(1, mean+half))
	}
	return c, nil
}

// Display shows the curve as a table.
func (c *AccuracyCurve) Display() display.Item {
	it := display.Item{
		Title:  fmt.Sprintf("Test accuracy of private fits, δ = %.3g, %d seeds", c.Delta, c.Seeds),
		Header: []string{"ε", "mean", "95 % of fits from", "to"},
		Notes: []string{fmt.Sprintf("Without privacy %.2f %%; always guessing the more frequent class %.2f %%.", 100*c.NonPrivate, 100*c.Majority),
			"A simulation on data that are public: each point is a fit that would have to be paid for on private data."},
	}
	for i, e := range c.Epsilons {
		it.Rows = append(it.Rows, []string{fmt.Sprint(e), fmt.Sprintf("%.2f %%", 100*c.Mean[i]), fmt.Sprintf("%.2f %%", 100*c.Lower[i]), fmt.Sprintf("%.2f %%", 100*c.Upper[i])})
	}
	return it
}

// Figure draws accuracy against ε with the band of 95 % of fits.
func (c *AccuracyCurve) Figure() *figure.Figure {
	f := figure.New("What privacy costs: test accuracy against ε", fmt.Sprintf("ε, privacy loss in nats (δ = %.3g, add/remove-one)", c.Delta), "test accuracy")
	lo, hi := c.Epsilons[0], c.Epsilons[len(c.Epsilons)-1]
	f.LogX(c.Epsilons...).Percent()
	f.Band(c.Epsilons, c.Lower, c.Upper, figure.Blue)
	f.Level("without privacy", lo, hi, c.NonPrivate, figure.Gray)
	f.Level("majority class", lo, hi, c.Majority, figure.Orange)
	f.Line("", c.Epsilons, c.Mean, figure.Blue).Dots("", c.Epsilons, c.Mean, figure.Blue)
	last := len(c.Mean) - 1
	// Beside the steep part, where there is room for it.
	at := last / 4
	f.Note("private: mean, and where 95 % of fits lie", c.Epsilons[at]*1.12, c.Mean[at]-0.1*(c.NonPrivate-c.Majority), figure.Blue)
	f.XRange(lo*0.9, hi*1.1)
	f.Alt = fmt.Sprintf("test accuracy rises from %.1f %% at ε = %v to %.1f %% at ε = %v; without privacy it is %.1f %%, the majority class has %.1f %%",
		100*c.Mean[0], lo, 100*c.Mean[last], hi, 100*c.NonPrivate, 100*c.Majority)
	return f
}
