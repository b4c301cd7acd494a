package rkw23

import (
	"context"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/paper/experiment"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// Names of the methods of Figure 2, in the order in which the tables have them.
const (
	dishonest = "dishonest DP-SGD"
	ours      = "dpnb"
	asPrinted = "Algorithm 1"
	honest    = "honest DP-SGD"
)

var methodColors = map[string]figure.Color{dishonest: figure.Gray, ours: figure.Blue, asPrinted: figure.Green,
	honest: figure.Orange}

// Where time is short, there are quickTrials, and DP-SGD passes quickEpochs times over the records; in the paper there
// are Trials and SGDEpochs.
const quickTrials, quickEpochs = 7, 10

// Compare runs Figure 2 on a set and returns it as a figure with 95 % intervals and as a table, beside what Tables 1
// and 2 print for the set; the last row is by how much this project is more accurate than honest DP-SGD. In full it is
// at the scale of the paper, else with ε = 0.1, 1, 8, seven trials for ten and ten passes of DP-SGD for sixty.
//
// Errors: those of the fits.
func Compare(set experiment.Set, full bool, seed uint64) (*figure.Figure, *display.Item, error) {
	epochs := quickEpochs
	if full {
		epochs = SGDEpochs
	}
	g := Figure2([]experiment.Set{set}, HonestDPSGD(epochs), DishonestDPSGD(epochs))
	g.Seed = seed
	if !full {
		g.Epsilons, g.Trials = []float64{0.1, 1, 8}, quickTrials
	}
	cells, err := g.Run(context.Background())
	if err != nil {
		return nil, nil, err
	}
	by := map[string][]sim.Cell{}
	for _, c := range cells {
		by[c.Mechanism] = append(by[c.Mechanism], c)
	}
	f := figure.New(set.Name+": accuracy at equal ε", fmt.Sprintf("ε (add/remove-one, δ = %g)", Delta),
		"accuracy on the test set").LogX(Epsilons...).Percent()
	t := &display.Item{Title: set.Name + ": test accuracy in percent, with 95 % intervals, and what is published",
		Header: []string{"method"}}
	for _, eps := range g.Epsilons {
		t.Header = append(t.Header, fmt.Sprintf("ε = %g", eps), "published")
	}
	for _, name := range []string{dishonest, ours, asPrinted, honest} {
		var mean, lo, hi []float64
		row := []string{name}
		for _, c := range by[name] {
			l, u := c.Interval()
			mean, lo, hi = append(mean, c.Mean), append(lo, l), append(hi, u)
			row = append(row, fmt.Sprintf("%.2f ± %.2f", 100*c.Mean, 100*(u-c.Mean)), printed(set, name, c.Epsilon))
		}
		t.Row(row...)
		if name == dishonest { // its ε is not what is written below it
			f.Dashed(name, g.Epsilons, mean, methodColors[name])
		} else {
			f.Band(g.Epsilons, lo, hi, methodColors[name]).Line(name, g.Epsilons, mean, methodColors[name])
		}
	}
	row := []string{"dpnb minus honest"}
	for i, c := range by[ours] {
		difference := make([]float64, len(c.Scores)) // the trials are independent
		for k, v := range c.Scores {
			difference[k] = 100 * (v - by[honest][i].Scores[k])
		}
		d := sim.Summarize(difference)
		_, u := d.Interval()
		row = append(row, fmt.Sprintf("%+.2f ± %.2f", d.Mean, u-d.Mean), "–")
	}
	t.Row(row...)
	t.Note("Means of %d trials, in the paper %d; DP-SGD makes %d passes over the records, in the paper %d.", g.Trials,
		Trials, epochs, SGDEpochs)
	return f, t, nil
}

// published names the sets of Tables 1 and 2 as they are named here.
var published = map[string]string{"Synthetic-L": "Synthetic-L", "Adult, encoded as published": "Adult"}

// printed is a cell of Tables 1 and 2, or a dash.
func printed(set experiment.Set, method string, epsilon float64) string {
	for _, p := range Table2 {
		if p.Set == published[set.Name] && p.Mechanism == method && p.Epsilon == epsilon {
			return fmt.Sprintf("%.2f", 100*p.Value)
		}
	}
	return "–"
}

// Rates draws the accuracy of DP-SGD against its learning rate, ten passes with the noise of one run, beside what is
// left where the rate is drawn at random and the choice is paid for, and beside this project's fit, which has none.
//
// Errors: those of the fits.
func Rates(set experiment.Set, epsilon float64, trials int, seed uint64) (*figure.Figure, error) {
	rates, cells, err := atRates(set, epsilon, trials, seed)
	if err != nil {
		return nil, err
	}
	mean, lo, hi := ranges(cells[2:])
	f := figure.New(fmt.Sprintf("%s: DP-SGD against its learning rate, ε = %g", set.Name, epsilon),
		"learning rate of Adam", "accuracy on the test set")
	f.LogX(1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1).Percent()
	first, last := rates[0], rates[len(rates)-1]
	f.Level("dpnb, no rate", first, last, cells[0].Mean, figure.Blue)
	f.Level("rate drawn and paid for", first, last, cells[1].Mean, figure.Orange)
	f.Whiskers(rates, lo, hi, figure.Gray).Dots("", rates, mean, figure.Gray)
	return f.Line("this rate, not paid for", rates, mean, figure.Gray), nil
}

// ranges are the means of cells, and their least and largest scores.
func ranges(cells []sim.Cell) (mean, lo, hi []float64) {
	for _, c := range cells {
		mean, lo, hi = append(mean, c.Mean), append(lo, c.Quantile(0)), append(hi, c.Quantile(1))
	}
	return mean, lo, hi
}

// atRates runs this project's fit, honest DP-SGD, and DP-SGD at each of the returned rates with the noise of one run.
func atRates(set experiment.Set, epsilon float64, trials int, seed uint64) (rates []float64, cells []sim.Cell,
	err error) {
	g := Figure2([]experiment.Set{set}, HonestDPSGD(quickEpochs))
	g.Mechanisms = g.Mechanisms[1:] // without Algorithm 1
	g.Epsilons, g.Trials, g.Seed = []float64{epsilon}, trials, seed
	noiseOf := experiment.Remembered(func(k experiment.Key) (float64, error) {
		c, err := rkw23Descent(k, quickEpochs).Cost().CalibrateNoise(k.Epsilon, k.Delta)
		return c.NoiseMultiplier, err
	})
	for _, u := range rkw23Grid() {
		rates = append(rates, u.(sgd.Adam).LearningRate)
		g.Mechanisms = append(g.Mechanisms, experiment.Calibrated(u.(sgd.Adam).String(), func(
			k experiment.Key) (run sgd.Descent, err error) {
			run = rkw23Descent(k, quickEpochs)
			run.Update = u
			run.NoiseMultiplier, err = noiseOf(k)
			return run, err
		}))
	}
	cells, err = g.Run(context.Background())
	return rates, cells, err
}

// outputSigmas and tolerances are what Price tries: the last tolerance is that of section 5, whose σ_out is 0.15.
var (
	outputSigmas = []float64{1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1, 3, 10}
	tolerances   = []float64{1e-6, 1e-4, 1e-2}
)

// Price draws what the output noise σ_out of logistic regression costs, at the λ and σ that are worth ε without it: in
// privacy, the ε of fit and output together by μ² = R²/σ² + (2τ/(λσ_out))², for a solver that stops at τ; and in
// accuracy, which τ has no part in.
//
// Errors: *privacy.ParamError; those of the fits.
func Price(set experiment.Set, epsilon float64, trials int, seed uint64) (privacyCost, accuracyCost *figure.Figure,
	err error) {
	defer measure.Catch(&err)
	m := measure.Must(calibratedHere(set.Train.RowNorm, epsilon, Delta))
	privacyCost = figure.New(fmt.Sprintf("What output noise hides: a fit worth ε = %g if it were exact", epsilon),
		"output noise σ_out", "ε of what is released").LogX().LogY(1, 2, 5, 10, 20, 50, 100)
	privacyCost.YRange(0.9*epsilon, 100*epsilon)
	for i, tau := range tolerances {
		privacyCost.Curve(fmt.Sprintf("τ = %g", tau), outputSigmas[0], outputSigmas[len(outputSigmas)-1],
			func(out float64) float64 {
				eps, e := spent(m, tau, out)
				if e != nil {
					err = e
				}
				if eps > 100*epsilon {
					return math.NaN() // beyond the figure
				}
				return eps
			}, []figure.Color{figure.Blue, figure.Green, figure.Orange}[i])
	}
	if err != nil {
		return nil, nil, err
	}
	g := Figure2([]experiment.Set{set})
	g.Mechanisms, g.Epsilons, g.Trials, g.Seed = nil, []float64{epsilon}, trials, seed
	for _, out := range outputSigmas {
		with := m
		with.OutputSigma = out
		g.Mechanisms = append(g.Mechanisms, experiment.Calibrated(fmt.Sprint(out),
			func(experiment.Key) (objpert.Objective, error) { return with, nil }))
	}
	mean, lo, hi := ranges(measure.Must(g.Run(context.Background())))
	accuracyCost = figure.New(set.Name+": what output noise spoils", "output noise σ_out", "accuracy on the test set")
	accuracyCost.LogX().Percent().Whiskers(outputSigmas, lo, hi, figure.Blue).Line("", outputSigmas, mean, figure.Blue)
	return privacyCost, accuracyCost.Dots("", outputSigmas, mean, figure.Blue), nil
}

// calibratedHere is this project's logistic regression for (ε, δ).
func calibratedHere(rowNorm, epsilon, delta float64) (objpert.Objective, error) {
	return objpert.Calibrate(objpert.Config{Loss: loss.Logistic{}, RowNorm: rowNorm, Epsilon: epsilon, Delta: delta,
		Adjacency: privacy.AddRemove})
}

// spent is the ε at Delta of m, of the Gaussian case, with another tolerance and output noise.
func spent(m objpert.Objective, tolerance, outputSigma float64) (float64, error) {
	mu := math.Hypot(m.Lipschitz()/m.Sigma, 2*tolerance/(m.Lambda*outputSigma))
	return privacy.EpsilonUpper(privacy.GaussianProfile(mu, privacy.AddRemove), Delta)
}

// Choices compares the λ and σ of section 5 of the paper with those of this project's calibration, for logistic
// regression on rows of norm at most rowNorm.
//
// Errors: *privacy.ParamError.
func Choices(rowNorm, delta float64, epsilons ...float64) (_ *display.Item, err error) {
	defer measure.Catch(&err)
	t := &display.Item{Title: fmt.Sprintf("Ridge and noise for rows of norm at most %.4g, δ = %g", rowNorm, delta),
		Header: []string{"ε", "λ of the paper", "σ of the paper", "λ here", "σ here", "less noise"}}
	for _, eps := range epsilons {
		paper := measure.Must(Calibration(rowNorm, eps, delta))
		here := measure.Must(calibratedHere(rowNorm, eps, delta))
		t.Rowf("%v | %.2f | %.2f | %.2f | %.2f | %.0f %%", eps, paper.Lambda, paper.Sigma, here.Lambda, here.Sigma,
			100*(1-here.Sigma/paper.Sigma))
	}
	return t, nil
}
