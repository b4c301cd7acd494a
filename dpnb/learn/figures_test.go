package learn

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/frame"
	figures "github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
)

func TestFiguresStay(t *testing.T) {
	testscale.Slow(t)
	people := visitors(t, 300)
	binary := Binary(people.Drop("count", "score"), "ill")
	units := Binary(people.Drop("count", "score", "size"), "ill", InUnits())
	crossed := Regression(people.Drop("count", "ill"), "score", Cross("age", "income"), Curves())
	number := Regression(people.Drop("count", "ill"), "score")
	plain := Regression(people.Drop("count", "ill", "visits"), "score", RowNorm(2))
	counts := Counts(people.Drop("score", "ill"), "count")
	classes := Classes(people.Drop("score", "count", "ill"), "ward")
	two := Binary(people.Drop("count", "score"), "ill", RowNorm(2))
	figures.Figures(t, "testdata/figures.txt", 1e-4, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, figures.Numbers(values...)...) }
		y, p := []float64{0, 1, 3, 2}, []float64{0.5, 0, 2.5, 2}
		share, err := explained(squares(y, p), 5)
		_, none := explained(1, 0)
		put("scores", squares(y, p), deviances(y, p), share, err, none, within(y, nil, p), within(y, []float64{0, 2,
			0, 0}, p),
			largest([]float64{1, 9, 3, 9, 2, 9}, 2, 3), few(3, 1), few(100, 1), few(1e4, 1), orElse(0, 3), orElse(2, 3),
			middle(0), middle(100), logLogistic(2), logLogistic(-800), cutTo(-1, 2)(3), cutTo(-1, 2)(-3))
		target := frame.Target{Lower: 0, Upper: 8}
		for _, task := range []frame.Task{frame.TwoClasses, frame.ManyClasses, frame.Number, frame.Count} {
			for _, at := range []float64{-0.7, 0.4, 1.3, math.NaN()} {
				put(fmt.Sprint("score of a record ", task, at), recordScore(task, target, 1, []float64{at, 0.5}, 1, 2),
					recordScore(task, target, 0, []float64{at, 0.5}, 1, 2))
			}
		}
		for _, l := range []loss.Loss{loss.Huber{Threshold: 0.5}, loss.PseudoHuber{Threshold: 1}, loss.Squared{}} {
			curvature, square := ofResiduals(l, 0.7)
			put("of residuals "+l.Name(), curvature, square)
		}
		c := mat.NewSymDense(4, []float64{1, 0.2, 0, 0, 0.2, 2, 0, 0, 0, 0, 1, 0.3, 0, 0, 0.3, 1})
		for _, difference := range [][]float64{{-1, 1}, {1, -2, 1}, {-1, 2, -1}} {
			values := []float64{1, 3, 2, 2.5}
			put("nearest", nearest(values, c, difference), values)
		}
		put("matrices", triangle(c), must.Get(symmetric(triangle(c), 4)).At(1, 0), levelsBetween(-0.3, 1.1),
			levelsBetween(1, 1))
		for _, s := range []Study{{Records: 1000, Features: 10, Epsilon: 1}, {Records: 1000, Features: 10, Epsilon: 1,
			Noise: 2},
			{Records: 10, Features: 10, Noise: 2, Signal: 3, Threshold: 1}, {Records: 1, Features: 1, Threshold: 1}, {},
			StudyOf(number, 500, 1, 1e-6), StudyOf(binary, 500, 1, 1e-6)} {
			task, unit, err := s.task()
			put("study", s, err, unit, task)
		}
		put("noise", must.Get(noiseFor(sgd.Cost{Rate: 1, Steps: 50}, 1, 1e-6)), leastOfHuber.of(spec{}),
			leastOfSquares.of(spec{shared: true}), binary.MajorityShare(), classes.MajorityShare())
		planned := func(name string, choose choice, p spec, d *frame.Design, eps float64) {
			m, err := choose(p, d, eps, 1e-6)
			if err != nil {
				put(name, err)
				return
			}
			var all []float64
			for _, v := range figures.Numbers(m) {
				if v != 0 && len(all) < 40 {
					all = append(all, v)
				}
			}
			say(name, all...)
		}
		// What is planned: the mechanism of each learner, by ε and δ.
		for i, of := range []struct {
			l Learner
			d *Dataset
		}{{Logistic{}, binary}, {Logistic{}, units}, {SVM{CurvatureShare: 0.1}, binary}, {Logistic{Lambda: 2}, binary},
			{Logistic{Records: 400, BaseRate: 0.2}, binary}, {Logistic{Pure: true}, binary}, {Linear{}, plain},
			{Huber{}, plain}, {Huber{}, number}, {Linear{}, crossed},
			{Quantile{}, number}, {Quantiles{CurvatureShare: 0.2}, number}, {Poisson{}, counts},
			{Softmax{}, classes}, {OneVsRest{}, classes}, {Linear{Regularise: Regulariser{L1: 3}}, plain}} {
			d := must.Get(of.d.whole())
			for _, eps := range []float64{0.5, 4}[i%2 : i%2+1] {
				p := of.l.spec()
				planned(fmt.Sprintf("planned %d %g", i, eps), p.chooser(d), p, d, eps)
			}
		}
		for i, rival := range []choice{asKST12, output, descent, adaSSP, functional, boosted, fullBatch,
			tunedSGD(400)} {
			for _, of := range []struct {
				l Learner
				d *Dataset
			}{{Linear{Noise: Seed(1)}, plain}, {Logistic{Noise: Seed(1)}, two}} {
				if p := of.l.spec(); p.task == frame.Number || i < 3 || i > 5 {
					planned(fmt.Sprint("rival ", i), rival, p, must.Get(of.d.whole()), 1)
				}
			}
		}
	})
	figures.Figures(t, "testdata/fits.txt", 1e-4, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, figures.Numbers(values...)...) }
		fitted := func(name string, l Learner, d *Dataset) *Model {
			m, err := l.Fit(d, Simulate(4, 1e-6))
			if err != nil {
				t.Fatal(name, err)
			}
			score, err := m.Score(d)
			put(name, m.Norm(), m.Lambda(), score, err, m.Theta()[:3])
			if m.levels == nil {
				put("its predictions", must.Get(m.Predict(d))[:4])
			}
			return m
		}
		logistic := fitted("logistic", Logistic{Noise: Seed(1)}, binary)
		svm := fitted("SVM", SVM{Noise: Seed(1), CurvatureShare: 0.2}, units)
		huber := fitted("Huber", Huber{Noise: Seed(1), CurvatureShare: 0.2}, crossed)
		poisson := fitted("Poisson", Poisson{Noise: Seed(1)}, counts)
		softmax := fitted("softmax", Softmax{Noise: Seed(1)}, classes)
		quantiles := fitted("quantiles", Quantiles{Noise: Seed(1), Levels: []float64{0.2, 0.8}}, number)
		s := must.Get(quantiles.QuantileScores(number))
		put("their scores", s.Pinball, s.Explained, s.Below, s.R1, s.Coverage)
		put("errors", must.Get(poisson.Deviance(counts)), must.Get(poisson.RMSE(counts)), must.Get(huber.RMSE(crossed)),
			must.Get(logistic.AUC(binary)))
		for _, m := range []*Model{logistic, svm} {
			e := must.Get(m.Evaluate(map[*Model]*Dataset{logistic: binary, svm: units}[m]))
			put("evaluated", e.Accuracy, e.Majority, e.AUC, e.Confusion, e.Calibration)
			calibrated := must.Get(m.Calibrated(0.7, 0.2, "hand.", ""))
			put("log-odds", m.logOdds(0.4), m.probability(-3), calibrated.logOdds(0.4), calibrated.positive(-0.2),
				m.positive(0))
			worth, hopeless := m.hopeless()
			put("worth", worth, hopeless)
		}
		e := must.Get(softmax.Evaluate(classes))
		put("classes", e.Accuracy, e.Confusion, e.Calibration)
		intervals := func(name string, iv *Intervals, err error) {
			if put(name, err); err == nil {
				put("its ends", iv.own.Estimate[:3], iv.own.Lower[:3], iv.own.Upper[:3])
			}
		}
		for i, m := range []*Model{logistic, svm, huber, poisson, softmax} {
			// Those for the population are by draws of a kind that a last digit changes.
			for _, find := range []func(float64) (*Intervals, error){m.Intervals, m.ProvedIntervals} {
				iv, err := find(0.9)
				intervals(fmt.Sprint("intervals ", i), iv, err)
			}
			if m != logistic && m != huber {
				continue
			}
			d, err := m.Difference("ward", "w1", "w0", 0.9)
			if put("difference", err); err == nil {
				put("its span", d.Fit)
			}
			shapes := must.Get(m.Shapes())
			for _, s := range shapes.All() {
				points := s.Points()
				put(fmt.Sprint("shape ", i, s.Column()), s.Importance(), points[0].Value, points[0].Noise,
					points[len(points)-1].Value, points[len(points)-1].Noise, len(points))
				for k, changed := range []*Shape{s.Monotone(1), s.Convex(-1), s.Smoothed(0.3), s.Rounded(0.1),
					s.AtTypical()} {
					if put(fmt.Sprint("changed ", k), changed.Err()); changed.Err() == nil {
						put("to", changed.Importance(), changed.Points()[0].Value)
					}
				}
			}
			put("bend", shapes.Bend(), len(shapes.Straightened()))
			for _, s := range shapes.Surfaces() {
				points := s.Points()
				put("surface", s.Importance(), points[0].Value, points[len(points)/2].Value, s.Beyond().Importance(),
					s.AtTypical().Importance())
			}
		}
		l := must.Get(logistic.Losses(true))
		usual := l.Usual()
		put("usual log-odds", usual[0], usual[len(usual)/2], usual[len(usual)-1], len(usual))
		g := must.Get(HeavyTails{Noise: Seed(2)}.EstimateMoment(plain, Simulate(3, 0)))
		put("moment", g.Bound, g.Least)
		tuned := fitted("tuned", Tune{Noise: Seed(1), Learners: []Learner{Logistic{}, SVM{}}}, two)
		b := tuned.Release.Fitted.(bestOf)
		put("its selection", b.Mu, b.Slack, b.MeanRuns, b.ScoreSigma, b.Chosen)
	})
}
