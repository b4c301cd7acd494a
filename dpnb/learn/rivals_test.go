package learn

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// TestTunedSGDIsOfItsLoss: what was found for one learner is not taken for another at the same price.
func TestTunedSGDIsOfItsLoss(t *testing.T) {
	d := &frame.Design{RowNorm: 1}
	for _, l := range []Learner{Logistic{}, SVM{}} {
		p := l.spec()
		m := must.Get(tunedSGD(1000)(p, d, 1, 1e-6))
		if got, want := m.(sgd.Tuner).Base.Loss, p.loss(d.Target); got != want {
			t.Errorf("%s is fitted with %T, want %T", p.learner, got, want)
		}
	}
}

// Gradient descent clips no gradient of a record where it is told to clip at the longest that the loss has, and costs
// what it was given. What must be told of how many records there are is not satisfied with none.
func TestRivals(t *testing.T) {
	const norm = 1.5
	d := &frame.Design{RowNorm: norm}
	for _, l := range []Learner{Logistic{}, Huber{Threshold: 0.2}} {
		p := l.spec()
		of := p.loss(d.Target)
		longest, slope := 0.0, []float64{0}
		for k := -300; k <= 300; k++ {
			of.ValueSlope(slope, []float64{float64(k) / 10}, []float64{1})
			longest = math.Max(longest, math.Abs(slope[0]))
		}
		m := must.Get(DescentSetting{Radius: 2, Steps: 20, Clip: 1}.choose(p, d, 1, 1e-6)).(sgd.Descent)
		if !(math.Abs(m.Clip/(norm*longest)-1) <= 1e-6) || m.Average != 10 || m.Steps != 20 {
			t.Errorf("%s: gradients are at most %v long, and clipped at %v", p.learner, norm*longest, m.Clip)
		}
		if eps := must.Get(m.Cost().Epsilon(1e-6)); eps > 1 || eps < 0.99 {
			t.Errorf("%s: ε = %g of 1", p.learner, eps)
		}
		if u, ok := m.Update.(sgd.Adaptive); !ok || u.Radius != 2/norm || u.Noise != m.NoiseMultiplier*m.Clip {
			t.Errorf("%s: %+v", p.learner, m.Update)
		}
		m = must.Get(DescentSetting{LearningRate: 0.1, Steps: 20, Clip: 0.5}.choose(p, d, 1, 1e-6)).(sgd.Descent)
		if u, ok := m.Update.(sgd.Adam); !ok || u.LearningRate != 0.1 ||
			!(math.Abs(m.Clip/(norm*longest)-0.5) <= 1e-6) {
			t.Errorf("%s: %+v, clipped at %v", p.learner, m.Update, m.Clip)
		}
	}
	data := Regression(Patients(50, 1), "pressure")
	few := must.Get(TukeyEM(40_000).Fit(data, Simulate(8, 1e-6), noise.NewSeeded(1)))
	if all := strings.Join(few.release.Guarantee.Assumptions, "; "); !strings.Contains(all, "and |y| ≤ 1 (") {
		t.Errorf("targets, which are within 1, are thought to be within another bound: %s", all)
	}
	for name, m := range map[string]Mechanism{"TukeyEM": TukeyEM(0), "the median": ConvolvedMedian(0)} {
		if _, err := m.Fit(data, Simulate(1, 1e-6), noise.NewSeeded(1)); !errors.Is(err, errPublicNumber) {
			t.Errorf("%s is planned for no records", name)
		}
	}
	if _, err := tunedSGD(0)(Logistic{}.spec(), d, 1, 1e-6); err == nil {
		t.Error("tuned descent is planned for no records")
	}
	// DP-EBM learns from columns as they are.
	bent := Regression(Patients(50, 1), "pressure", Curves())
	for name, c := range map[string]struct {
		design *frame.Design
		fine   bool
	}{"no columns": {d, false}, "curves": {bent.design, false},
		"plain": {bent.encoded(bent.design.Encoding.Plain()).design, true}} {
		if _, err := boostedSteps(Linear{}.spec(), c.design, 1, 1e-6); (err == nil) != c.fine {
			t.Errorf("DP-EBM, %s: %v", name, err)
		}
	}
	// A number of records that is public is planned for, and not counted.
	for _, records := range []int{0, 1000} {
		p := Quantile{Records: records}.spec()
		m := must.Get(p.choose(p, bent.design, 1, 1e-6))
		if q, planned := m.(sgd.Quantiles); planned != (records > 0) || q.Records != float64(records) {
			t.Errorf("%d records: %v", records, m)
		}
	}
}
