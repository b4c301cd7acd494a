package learn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// pureLearners with what they learn from; the first version takes what there is, the second spends no δ of a budget
// that has some.
var pureLearners = []struct {
	from         string
	zero, stated learn.Learner
}{
	{"Regression", learn.Linear{Noise: learn.Seed(1)}, learn.Linear{Noise: learn.Seed(1), Pure: true}},
	{"Regression", learn.Huber{Noise: learn.Seed(1)}, learn.Huber{Noise: learn.Seed(1), Pure: true}},
	{"Regression", learn.Median{Noise: learn.Seed(1)}, learn.Median{Noise: learn.Seed(1), Pure: true}},
	{"Regression", learn.Quantile{Tau: 0.8, Noise: learn.Seed(1)},
		learn.Quantile{Tau: 0.8, Noise: learn.Seed(1), Pure: true}},
	{"Binary", learn.Logistic{Noise: learn.Seed(1)}, learn.Logistic{Noise: learn.Seed(1), Pure: true}},
	{"Binary", learn.SVM{Noise: learn.Seed(1)}, learn.SVM{Noise: learn.Seed(1), Pure: true}},
}

// On a budget of δ = 0, and with Pure on another, the ordinary learners are of pure ε: two fits of ½ are charged as 1
// and no δ, a third is refused; what was fitted learns. For neighbours, of which one lacks a person, the exact
// densities of the mechanism that was run differ by no more than its ε.
func TestPurely(t *testing.T) {
	testscale.InTurn(t)
	data := kinds(t, 4000)
	r := rand.New(rand.NewPCG(2, 2))
	for i, c := range pureLearners {
		d, err := data[c.from].Design()
		if err != nil {
			t.Fatal(err)
		}
		for k, delta := range []float64{0, 1e-6} {
			l := []learn.Learner{c.zero, c.stated}[k]
			budget := learn.NewBudget(1, delta, learn.Named(fmt.Sprint(t.TempDir(), i, k)))
			var m *learn.Model
			for range 2 {
				if m, err = l.Fit(data[c.from], budget.Spend(0.5)); err != nil {
					t.Fatalf("%T, δ = %g: %v", l, delta, err)
				}
				g := m.Release.Guarantee
				if g.Epsilon != 0.5 || g.Delta != 0 || privacy.DeltaUpper(g.Profile, 0.5) != 0 ||
					privacy.DeltaUpper(g.Profile, 0.49) == 0 {
					t.Errorf("%T, δ = %g: %+v", l, delta, g)
				}
			}
			if _, err := l.Fit(data[c.from], budget.Spend(0.01)); err == nil {
				t.Errorf("%T, δ = %g: a third", l, delta)
			}
			if s, err := budget.State(); err != nil || s.SpentEpsilon != 1 || s.SpentDelta != 0 || len(s.Entries) != 2 {
				t.Errorf("%T, δ = %g: %+v (%v)", l, delta, s, err)
			}
			if _, err := l.Fit(data[c.from], learn.NewBudget(1, delta, learn.Named(fmt.Sprint(t.TempDir(), i, k,
				"asked"))).Spend(0.5).WithDelta(1e-9)); err == nil && k == 1 {
				t.Errorf("%T: Pure, and a δ was asked for", l)
			}
			ran := m.Release.Fitted.(pure.Objective)
			if want := ran.Loss.Lipschitz() * d.RowNorm; !(math.Abs(ran.Clip/want-1) <= 1e-15) {
				t.Errorf("%T: C = %g, the longest gradient is %g", l, ran.Clip, want)
			}
			law := audit.PureLaw{Loss: ran.Loss, Scale: ran.Scale, Lambda: ran.Lambda,
				Bend: loss.FreeBend(ran.Clip, math.Max(ran.Scale, ran.Clip/8), ran.Lambda)}
			rows := d.Rows.(*matrix.Dense)
			record := func() audit.PureRecord {
				i := r.IntN(rows.N)
				unit, norms := matrix.Directions(&matrix.Dense{N: 1, D: rows.D,
					Data: rows.Data[i*rows.D : (i+1)*rows.D]}, 1)
				x := make([]float64, rows.D)
				unit.Row(x, 0)
				return audit.PureRecord{Direction: x, Norm: norms[0], Label: d.Labels[i]}
			}
			worst := 0.0
			for range 500 {
				people := []audit.PureRecord{record(), record(), record()}
				w := make([]float64, rows.D)
				for j := range w {
					w[j] = r.NormFloat64() * ran.Clip / ran.Lambda * math.Exp(2*r.NormFloat64())
				}
				worst = math.Max(worst, math.Abs(law.LogRatio(people, record(), w)))
			}
			if worst > ran.Epsilon() || ran.Epsilon() > 0.5 || worst < 0.1 {
				t.Errorf("%T: neighbours differ by %.4f, claimed %.4f of 0.5", l, worst, ran.Epsilon())
			}
			plain := must.Get(l.FitWithoutPrivacy(data[c.from]))
			best := must.Get(plain.Score(learn.Patients(1000, 5)))
			if got, err := m.Score(learn.Patients(1000, 5)); err != nil || got < best-0.12 {
				t.Errorf("%T: score %.3f (%v), without privacy %.3f", l, got, err, best)
			}
		}
	}
}

// A λ that is fixed needs no count of the records.
func TestPurelyUncounted(t *testing.T) {
	m, err := learn.Linear{Lambda: 50, Noise: learn.Seed(1)}.Fit(kinds(t, 100)["Regression"], learn.Simulate(1, 0))
	if err != nil || m.Release.Fitted.(pure.Objective).Lambda != 50 || strings.Contains(m.Release.Mechanism, "count") {
		t.Errorf("λ = 50: %+v (%v)", m, err)
	}
}

// The level of a quantile is what was asked for, which takes the kink to be moved for what is bent: in its place it
// leaves 0.117 and 0.887.
func TestPurelyLevel(t *testing.T) {
	testscale.Slow(t)
	df := learn.Patients(20_000, 3)
	for k, data := range []*learn.Dataset{learn.Regression(df, "pressure"),
		learn.Regression(df, "pressure", learn.Curves())} {
		for _, tau := range []float64{0.1, 0.9} {
			m := must.Get(learn.Quantile{Tau: tau, Noise: learn.Seed(1)}.Fit(data, learn.Simulate(1, 0)))
			scores := must.Get(m.QuantileScores(learn.Patients(20_000, 4)))
			t.Logf("rows %d, τ = %g: %.4f below", k, tau, scores.Below[0])
			if !(math.Abs(scores.Below[0]-tau) <= 0.008) {
				t.Errorf("rows %d, τ = %g: %.4f of the targets are below", k, tau, scores.Below[0])
			}
		}
	}
}

// Without a δ, too, learners buy the geometry of centred rows: what was bought and the fit are charged as one, nothing
// else has a part in ε, and the model learns more than of rows as they are.
func TestPurelyCentred(t *testing.T) {
	train, test := learn.Patients(4000, 1).Drop("ward", "visits"), learn.Patients(4000, 5)
	const eps = 0.02
	fit := func(k int, o learn.Option, a learn.Allowance) (*learn.Model, float64) {
		s := learn.Seed(1)
		l := []learn.Learner{learn.Logistic{Noise: s}, learn.SVM{Noise: s}, learn.Linear{Noise: s},
			learn.Huber{Noise: s}, learn.Median{Noise: s}, learn.Quantile{Tau: 0.8, Noise: s}}[k]
		data := learn.Regression(train, "pressure", o)
		if k < 2 {
			data = learn.Binary(train, "ill", o)
		}
		m, err := l.Fit(data, a)
		if err != nil {
			t.Fatalf("%T: %v", l, err)
		}
		score := must.Get(m.Score(test))
		return m, score
	}
	gain := 0.0
	for k := range 6 {
		budget := learn.NewBudget(eps, 0, learn.Named(fmt.Sprint(t.TempDir(), k)))
		m, after := fit(k, learn.Curves(), budget.Spend(eps))
		if s, err := budget.State(); err != nil || s.SpentEpsilon != eps || s.SpentDelta != 0 || len(s.Entries) != 1 {
			t.Errorf("%d: %+v (%v)", k, s, err)
		}
		g := m.Release.Guarantee
		if g.Epsilon != eps || g.Delta != 0 || privacy.DeltaUpper(g.Profile, eps) != 0 ||
			privacy.DeltaUpper(g.Profile, 0.999*eps) == 0 {
			t.Errorf("%d: %+v", k, g)
		}
		if _, ok := m.Release.Also.(*geometry.Bought); !ok {
			t.Errorf("%d: nothing was bought", k)
		}
		if f := m.Release.Fitted.(pure.Objective); !(f.Epsilon() <= 0.88*eps) {
			t.Errorf("%d: the fit costs %v", k, f.Epsilon())
		}
		_, before := fit(k, learn.Uncentred(), learn.Simulate(eps, 0))
		t.Logf("%d: score %.3f, of rows as they are %.3f", k, after, before)
		gain += (after - before) / 6
	}
	if gain < 0.05 {
		t.Errorf("%.3f is gained in the mean over learners", gain)
	}
}

// For people with two rows the count, the mean and the fit have half of ε each, and for a person what was asked for.
func TestPurelyCentredForPeople(t *testing.T) {
	data := learn.Binary(patients(300).PerPerson("id", 2), "ill", learn.Curves())
	m := must.Get(learn.SVM{Noise: learn.Seed(1)}.Fit(data, learn.Simulate(1, 0)))
	g := m.Release.Guarantee
	if g.Epsilon != 1 || g.Rows != 2 || privacy.DeltaUpper(g.Profile, 1) != 0 ||
		privacy.DeltaUpper(g.Profile, 0.99) == 0 {
		t.Errorf("%+v", g)
	}
	if fit := m.Release.Fitted.(pure.Objective); !(fit.Epsilon() <= 0.44) {
		t.Errorf("the fit of a row costs %v", fit.Epsilon())
	}
}
