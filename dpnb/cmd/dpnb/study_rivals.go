package main

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// contender is a way to fit in a study: with one setting, or with that of several which predicts the records to be
// scored on best, in the mean over the splits, which nobody may look at.
type contender struct {
	name string
	// open says that it does not protect anybody: no rival, but something to compare with.
	open bool
	// without says that it is without privacy, so that ε does not matter.
	without  bool
	settings []setting
}

// setting of a contender; its name is "" if there is one only.
type setting struct {
	name string
	fit  func(s split, a learn.Allowance, src noise.Source) (*learn.Model, error)
}

// contenders of a task; the first is what others are compared with.
func contenders(task string) []contender {
	of := func(name string, learner func(src noise.Source) learn.Learner, options ...learn.Option) contender {
		return contender{name: name, settings: []setting{{"", func(s split, a learn.Allowance, src noise.Source) (
			*learn.Model, error) {
			return learner(src).Fit(s.records(s.train, options...), a)
		}}}}
	}
	without := func(name string, learner learn.Learner, options ...learn.Option) contender {
		return contender{name: name + ", without privacy", open: true, without: true,
			settings: []setting{{"", func(s split, _ learn.Allowance, _ noise.Source) (*learn.Model, error) {
				return learner.FitWithoutPrivacy(s.records(s.train, options...))
			}}}}
	}
	suited := contender{name: "Suited", settings: []setting{{"", suitedFit}}}
	straightened := contender{name: "Suited, straightened", settings: []setting{{"", straightenedFit}}}
	tuned := contender{name: "gradient descent, best setting on the test records", open: true}
	for _, s := range descentGrid() {
		tuned.settings = append(tuned.settings, setting{fmt.Sprintf("%+v", s), rival(learn.GradientDescent(s)).fit})
	}
	centred, curves, norm := []learn.Option{learn.Lines()}, []learn.Option(nil), []learn.Option{learn.Uncentred(),
		learn.RowNorm(1)}
	logistic := func(src noise.Source) learn.Learner { return learn.Logistic{Noise: src, Workers: 1} }
	linear := func(src noise.Source) learn.Learner { return learn.Linear{Noise: src, Workers: 1} }
	if task == twoClasses {
		svm := func(src noise.Source) learn.Learner { return learn.SVM{Noise: src, Workers: 1} }
		return []contender{suited, straightened, of("SVM, straight lines", svm, centred...),
			of("Logistic, curves", logistic, curves...), of("Logistic, not centred", logistic, norm...),
			one("gradient descent", learn.GradientDescent(descentClasses)),
			one("DP-EBM", named("DP-EBM")), tuned,
			without("Logistic, straight lines", learn.Logistic{Lambda: 0.1}, centred...),
			without("Logistic, curves", learn.Logistic{Lambda: 0.1}, curves...)}
	}
	huber := func(src noise.Source) learn.Learner { return learn.Huber{Noise: src, Workers: 1} }
	return []contender{suited, straightened, of("Huber, straight lines", huber, centred...),
		of("Linear, curves", linear, curves...),
		of("Huber, not centred", huber, norm...), one("gradient descent", learn.GradientDescent(descentNumbers)),
		one("DP-EBM", named("DP-EBM")), one("AdaSSP", named("AdaSSP")), one("boosted AdaSSP", named("boosted AdaSSP")),
		{name: "TukeyEM", settings: []setting{{"", func(s split, a learn.Allowance, src noise.Source) (*learn.Model,
			error) {
			return rival(learn.TukeyEM(s.trained)).fit(s, a, src)
		}}}}, tuned, without("Linear, straight lines", learn.Linear{Lambda: 0.1}, centred...),
		without("Linear, curves", learn.Linear{Lambda: 0.1}, curves...)}
}

// suitedFit fits what Suited returns.
func suitedFit(s split, a learn.Allowance, src noise.Source) (*learn.Model, error) {
	l, data := learn.Suited(s.train, s.Label, s.options()...)
	switch own := l.(type) {
	case learn.SVM:
		own.Noise, own.Workers = src, 1
		l = own
	case learn.Huber:
		own.Noise, own.Workers = src, 1
		l = own
	}
	return l.Fit(data, a)
}

// straightenedFit is suitedFit with less of what bends.
func straightenedFit(s split, a learn.Allowance, src noise.Source) (*learn.Model, error) {
	m, err := suitedFit(s, a, src)
	if err != nil {
		return nil, err
	}
	shapes, err := m.Shapes()
	if err != nil {
		return nil, err
	}
	return m.With(shapes.Straightened()...)
}

// rival fits by a mechanism to rows that are centred by what is public.
func rival(m learn.Mechanism) setting {
	return setting{"", func(s split, a learn.Allowance, src noise.Source) (*learn.Model, error) {
		return m.Fit(s.centred, a, src)
	}}
}

func one(name string, m learn.Mechanism) contender {
	return contender{name: name, settings: []setting{rival(m)}}
}

// named is a mechanism of learn.AllMechanisms.
func named(name string) learn.Mechanism {
	for _, m := range learn.AllMechanisms {
		if m.Name() == name {
			return m
		}
	}
	panic("study: no mechanism " + name)
}

// The settings of gradient descent for all tables of a task: those of descentGrid with the best mean over the public
// tables of docs/theory/geometry.md, section 6, and over ε = 0.1, 0.5, 1 and 4. It was looked for on their test
// records, which favours it there.
var (
	descentClasses = learn.DescentSetting{LearningRate: 0.2, Steps: 96, Clip: 0.3}
	descentNumbers = learn.DescentSetting{LearningRate: 0.05, Steps: 96, Clip: 0.3}
)

// descentGrid are the settings among which the best one is looked for.
func descentGrid() (grid []learn.DescentSetting) {
	for _, steps := range []int{32, 96} {
		for _, clip := range []float64{0.1, 0.3, 1} {
			for _, radius := range []float64{8, 32} {
				grid = append(grid, learn.DescentSetting{Radius: radius, Steps: steps, Clip: clip})
			}
			for _, rate := range []float64{0.05, 0.2, 0.8} {
				grid = append(grid, learn.DescentSetting{LearningRate: rate, Steps: steps, Clip: clip})
			}
		}
	}
	return grid
}
