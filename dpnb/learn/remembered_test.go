package learn

import (
	"fmt"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/recent"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// With all that was calibrated for other questions remembered, a learner has the mechanism that it has by itself.
// Neighbours here differ in one thing.
func TestOtherQuestionsAreNotRemembered(t *testing.T) {
	testscale.InTurn(t)
	people := visitors(t, 60)
	binary, counts := Binary(people.Drop("count", "score"), "ill"), Counts(people.Drop("score", "ill"), "count")
	classes, number := Classes(people.Drop("score", "count"), "ward"), Regression(people.Drop("count", "ill"), "score")
	stored, storedClasses := Binary(people.Drop("count", "score"), "ill", Uncentred()),
		Classes(people.Drop("score", "count"), "ward", Uncentred())
	storedNumber := Regression(people.Drop("count", "ill"), "score", Uncentred())
	type way struct {
		l      Learner
		data   *Dataset
		change func(p *spec, d *frame.Design)
	}
	same := func(*spec, *frame.Design) {}
	weighted := func(_ *spec, d *frame.Design) { d.Target.Weighted = true }
	upper := func(_ *spec, d *frame.Design) { d.Target.Upper = 20 }
	fourth := func(_ *spec, d *frame.Design) { d.Target.Classes = []string{"a", "b", "c", "d"} }
	tolerance := func(p *spec, _ *frame.Design) { p.tolerance = 1e-3 }
	shared := func(p *spec, _ *frame.Design) { p.shared = true }
	levels := func(l ...float64) Quantiles { return Quantiles{Levels: l, Steps: 9} }
	ways := []way{{Logistic{}, binary, same}, {Logistic{}, stored, same}, {levels(0.3), storedNumber, same},
		{Quantiles{Levels: []float64{0.3}, Steps: 8}, storedNumber, same}, {Logistic{}, binary, weighted},
		{Logistic{}, binary, tolerance},
		{Logistic{Records: 300}, binary, same}, {Logistic{CurvatureShare: 0.1}, binary, same},
		{Logistic{CurvatureShare: 0.3}, binary, same}, {SVM{}, binary, same}, {SVM{Width: 0.5}, binary, same},
		{Poisson{}, counts, same}, {Poisson{}, counts, upper}, {Poisson{Clip: 2}, counts, same},
		{OneVsRest{}, classes, same}, {OneVsRest{}, classes, fourth}, {Linear{}, number, same},
		{Linear{}, number, shared}, {Huber{}, number, same}, {levels(0.3), number, same}, {levels(0.6), number, same},
		{Quantiles{Levels: []float64{0.3}, Steps: 8}, number, same}, {Quantile{Tau: 0.3, Smooth: 0.1}, number, same},
		{Quantile{Tau: 0.3, Smooth: 0.2}, number, same},
		{Logistic{}, stored, weighted}, {Logistic{CurvatureShare: 0.1}, stored, same},
		{Logistic{CurvatureShare: 0.3}, stored, same}, {SVM{}, stored, same}, {SVM{Width: 0.5}, stored, same},
		{Softmax{}, storedClasses, same}, {Softmax{Bound: multiclass.RankK}, storedClasses, same},
		{Softmax{}, storedClasses, fourth}}
	text := func(w way, epsilon, delta float64) string {
		p, d := w.l.spec(), *must.Get(w.data.whole())
		w.change(&p, &d)
		m, err := p.chooser(&d)(p, &d, epsilon, delta)
		if err != nil {
			return err.Error()
		}
		return string(must.Get(mechanisms().Marshal(m)))
	}
	var alone []string
	seen := map[string]int{}
	for i, w := range ways {
		calibrations = recent.Values[any, any]{Kept: 1024}
		alone = append(alone, text(w, 1, 1e-6))
		if j, twice := seen[alone[i]]; twice {
			t.Errorf("ways %d and %d have the same mechanism, so that nothing is told apart: %s", j, i, alone[i])
		}
		seen[alone[i]] = i
	}
	calibrations = recent.Values[any, any]{Kept: 1024}
	for _, w := range ways[:3] {
		text(w, 1, 1e-5)
		text(w, 2, 1e-6)
	}
	for i, w := range ways {
		if got := text(w, 1, 1e-6); got != alone[i] {
			t.Errorf("%d, %+v, with what came before it has\n%s\nand alone\n%s", i, w.l, got, alone[i])
		}
	}
}

// TestOtherMediansAreNotRemembered: a convolved median is remembered by all that it is calibrated for.
func TestOtherMediansAreNotRemembered(t *testing.T) {
	testscale.InTurn(t)
	type way struct {
		records                     int
		norm, epsilon, delta, width float64
	}
	ways := []way{{1234, 1.5, 0.7, 3e-6, 7}, {1234, 1.5, 0.7, 3e-6, 6}, {1234, 1.5, 0.7, 1e-6, 7},
		{1234, 1.5, 1, 3e-6, 7}, {1234, 2, 0.7, 3e-6, 7}, {4321, 1.5, 0.7, 3e-6, 7}}
	text := func(w way) string {
		people := Patients(40, 1)
		if w.width < 7 {
			people = people.Drop("smoker")
		}
		data := Regression(people, "pressure", Uncentred(), RowNorm(w.norm))
		m := must.Get(ConvolvedMedian(w.records).Fit(data, Simulate(w.epsilon, w.delta), Seed(1)))
		return fmt.Sprintf("%+v", m.release.Mechanism)
	}
	calibrations = recent.Values[any, any]{Kept: 1024}
	first := text(ways[0])
	for _, w := range ways[1:] {
		if got := text(w); got == first {
			t.Errorf("%+v has the mechanism of %+v: %s", w, ways[0], got)
		}
	}
}

// TestAnotherTailIsNotRemembered: what a fit costs as a Gaussian mechanism leaves out no more than it may.
func TestAnotherTailIsNotRemembered(t *testing.T) {
	calibrations = recent.Values[any, any]{Kept: 1024}
	p := Logistic{Records: 40, Bound: objective.Integral}.spec()
	d := must.Get(Binary(Patients(40, 1), "ill", Uncentred()).whole())
	m := must.Get(p.chooser(d)(p, d, 1, 1e-6))
	for _, tail := range []float64{1e-7, 1e-12} {
		if c := must.Get(asGaussian(m, tail)); !(c.slack > 0 && c.slack <= tail) {
			t.Errorf("%v leaves out %g, and %g may be", m, c.slack, tail)
		}
	}
}
