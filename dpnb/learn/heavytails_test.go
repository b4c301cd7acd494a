package learn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// incomes returns records with heavy tails: spending = 1000 + 0.3·income − 20·age + noise, and rich = spending is above
// 9,000, with some numbers that are none.
func incomes(t *testing.T, n int) learn.DataFrame {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 9))
	var csv strings.Builder
	csv.WriteString("income,age,spending,rich\n")
	for i := range n {
		income, age := 20_000*math.Exp(0.8*r.NormFloat64()), 18+60*r.Float64()
		spending := 1000 + 0.3*income - 20*age + 500*r.NormFloat64()/math.Sqrt(r.ExpFloat64())
		rich := "no"
		if spending > 9000 {
			rich = "yes"
		}
		in := fmt.Sprintf("%.2f", income)
		if i%500 == 7 {
			in = []string{"Inf", "NaN", "1e300", "x"}[i/500%4]
		}
		fmt.Fprintf(&csv, "%s,%.1f,%.2f,%s\n", in, age, spending, rich)
	}
	table := must.Get(frame.ReadCSV(strings.NewReader(csv.String()), nil))
	return learn.FromTable(table).WithSchema(learn.Numeric("income", 0, 50_000).Unbounded(), learn.Numeric("age",
		18, 78).Unbounded(),
		learn.Numeric("spending", 0, 20_000).Unbounded(), learn.Categorical("rich", "no", "yes"))
}

// On a budget of δ = 0 the fit is near the truth in the units of the columns, for features and a target without bounds,
// and what is spent is ε alone.
func TestHeavyTails(t *testing.T) {
	testscale.InTurn(t)
	df := incomes(t, 20_000)
	data := learn.Regression(df.Drop("rich"), "spending")
	budget := learn.NewBudget(3, 0, learn.Named(t.TempDir()))
	m := must.Get(learn.HeavyTails{Noise: learn.Seed(3)}.Fit(data, budget.Spend(1)))
	if g := m.Release.Guarantee; g.Epsilon != 1 || g.Delta != 0 || privacy.DeltaUpper(g.Profile, 1) != 0 ||
		privacy.DeltaUpper(g.Profile, 0.99) == 0 {
		t.Errorf("guarantee (%g, %g), δ(1) = %g", g.Epsilon, g.Delta, privacy.DeltaUpper(g.Profile, 1))
	}
	plain := must.Get(learn.HeavyTails{}.FitWithoutPrivacy(data))
	for name, m := range map[string]*learn.Model{"private": m, "plain": plain} {
		units := m.CoefficientsInUnits()
		if units.Err != nil {
			t.Fatal(units.Err)
		}
		got := units.Col("coefficient").Float()
		for j, want := range []float64{0.3, -20, 1000} {
			if room := []float64{0.01, 3, 150}[j]; !(math.Abs(got[j]-want) <= room) {
				t.Errorf("%s: coefficient %d is %.4f, want %g", name, j, got[j], want)
			}
		}
	}
	if s, err := budget.State(); err != nil || s.SpentEpsilon != 1 || s.SpentDelta != 0 || len(s.Entries) != 1 {
		t.Errorf("state %+v (%v)", s, err)
	}
	// Records with an infinite number have no part in a score, and one wild target has little: it is R¹ of the median.
	// With R² it would be all.
	if s, err := plain.Score(df.Drop("rich").Head(1000)); err != nil || s < 0.85 {
		t.Errorf("R¹ = %.3f (%v)", s, err)
	}
	q50, err := m.QuantileScores(df.Drop("rich"))
	if err != nil || q50.Levels[0] != 0.5 || !(math.Abs(q50.Below[0]-0.5) <= 0.02) {
		t.Errorf("scores of the median %+v (%v)", q50, err)
	}
	shown := fmt.Sprint(m.Display()) + fmt.Sprint(plain.Display())
	if strings.Contains(shown, "standard deviation") || strings.Contains(shown, "λ = ") ||
		strings.Count(shown, "C = ") != 1 || !strings.Contains(shown, "replaced by another it is at most ε = 2") {
		t.Errorf("shown: %s", shown)
	}
	// A quantile and a planned number; the share of another budget's δ is left there.
	other := learn.NewBudget(3, 1e-6, learn.Named(t.TempDir()+" with δ"))
	q := must.Get(learn.HeavyTails{Loss: learn.PinballLoss, Tau: 0.9, Records: 20_000,
		Noise: learn.Seed(4)}.Fit(data, other.Spend(1)))
	if got := below(t, q, df.Drop("rich"), "spending"); !(math.Abs(got-0.9) <= 0.02) {
		// what is smoothed is as wide as the noise of the data here: 0.85 with the kink left in place
		t.Errorf("%.3f of the targets are below the 0.9 quantile", got)
	}
	if s, err := other.State(); err != nil || s.SpentDelta != 0 || s.SpentEpsilon != 1 {
		t.Errorf("state %+v (%v)", s, err)
	}
	for _, l := range []learn.HeavyTails{{Loss: learn.HuberLoss}, {Loss: learn.SquaredLoss},
		{MomentBound: 4, WorstCase: true}, {Method: learn.ByOutput, Records: 20_000}} {
		l.Noise = learn.Seed(5)
		m, err := l.Fit(data, learn.Simulate(2, 1e-6))
		if err != nil {
			t.Errorf("%+v: %v", l, err)
		} else if m.Release.Guarantee.Delta != 0 {
			t.Errorf("%+v: δ = %g", l, m.Release.Guarantee.Delta)
		}
	}
	few, err := learn.HeavyTails{Records: 100, Noise: learn.Seed(1)}.Fit(data, learn.Simulate(0.1, 0))
	if err != nil || !strings.Contains(few.Display().Warning, "about 156 are needed") {
		t.Errorf("few records: %v, %q", err, few.Display().Warning)
	}
	two := learn.Binary(df.Drop("spending"), "rich")
	for _, l := range []learn.HeavyTails{{Loss: learn.LogisticLoss}, {Loss: learn.HingeLoss}} {
		l.Noise, l.Radius = learn.Seed(5), 10
		m := must.Get(l.Fit(two, learn.Simulate(1, 0)))
		if score, err := m.Score(df.Drop("spending")); err != nil || score < 0.85 {
			t.Errorf("%+v: accuracy %.3f (%v)", l, score, err)
		}
	}
}

// A centre near the truth spares the ball and the ridge their pull: with a ball too small for the coefficients about 0
// the fit is as good as with a large one.
func TestHeavyTailsCentre(t *testing.T) {
	df := incomes(t, 4000)
	data := learn.Regression(df.Drop("rich"), "spending")
	plain := must.Get(learn.HeavyTails{}.FitWithoutPrivacy(data))
	far := func(centre []float64) (sum float64) {
		m := must.Get(learn.HeavyTails{Radius: 0.5, Centre: centre, Records: 4000, Noise: learn.Seed(2)}.Fit(data,
			learn.Simulate(1, 0)))
		for j, v := range m.Theta() {
			sum = math.Hypot(sum, v-plain.Theta()[j])
		}
		return sum
	}
	if without, with := far(nil), far([]float64{1.3, -0.1, -0.8}); without < 1 || with > 0.05 {
		t.Errorf("%.3f from the fit without a centre, %.3f with one", without, with)
	}
}

// What is estimated is the moment, to the width of a cell and noise, for the price that was asked and no more; the
// A moment of records whose bounds were read off the data says so, and that its ε is large.
func TestMomentsWithCaveats(t *testing.T) {
	df := must.Get(learn.Patients(60, 1).Table())
	data := learn.Regression(learn.FromTable(df).Select("age", "pressure"), "age", learn.InferBounds())
	g := must.Get(learn.HeavyTails{Noise: learn.Seed(1)}.EstimateMoment(data, fresh(20, 0).Spend(15)))
	for _, want := range []string{"READ OFF THE DATA", "so large"} {
		if w := g.Display().Warning; !strings.Contains(w, want) {
			t.Errorf("%q does not say %q", w, want)
		}
	}
}

// noise alone is never taken for records; a wrong G costs no privacy.
func TestEstimateMoment(t *testing.T) {
	df := incomes(t, 20_000)
	data := learn.Regression(df.Drop("rich"), "spending")
	d := must.Get(data.Design())
	var lengths, products []float64
	for i := range d.Records() {
		var square float64
		for _, v := range d.Rows.(*matrix.Dense).Data[i*d.Width() : (i+1)*d.Width()] {
			square += v * v
		}
		if norm := math.Sqrt(square); norm < 1e9 && math.Abs(d.Labels[i]) < 1e9 {
			lengths, products = append(lengths, norm), append(products, norm*math.Abs(d.Labels[i]))
		}
	}
	root := func(x []float64, k float64) (m float64) {
		for _, v := range x {
			m += math.Pow(v, k) / float64(len(x))
		}
		return math.Pow(m, 1/k)
	}
	budget := learn.NewBudget(4, 1e-6, learn.Named(t.TempDir()))
	for _, c := range []struct {
		l    learn.HeavyTails
		want float64
	}{
		{learn.HeavyTails{}, root(lengths, 2)},
		{learn.HeavyTails{Loss: learn.PinballLoss, Tau: 0.8, Moment: 1.5}, 0.8 * root(lengths, 1.5)},
		{learn.HeavyTails{Loss: learn.SquaredLoss, Moment: 1.1}, root(products, 1.1)},
	} {
		c.l.Noise = learn.Seed(6)
		g := must.Get(c.l.EstimateMoment(data, budget.Spend(1)))
		if !(math.Abs(g.Bound/c.want-1) <= 0.15) || g.Release.Guarantee.Delta != 0 || g.Release.Guarantee.Epsilon != 1 {
			t.Errorf("%+v: G = %.4g, want %.4g; %+v", c.l, g.Bound, c.want, g.Release.Guarantee)
		}
	}
	if s, err := budget.State(); err != nil || s.SpentEpsilon != 3 || s.SpentDelta != 0 || len(s.Entries) != 3 {
		t.Errorf("state %+v (%v)", s, err)
	}
	few := learn.Regression(df.Drop("rich").Head(10), "spending")
	nothing := 0
	for seed := range uint64(40) {
		g := must.Get(learn.HeavyTails{Noise: learn.Seed(seed)}.EstimateMoment(few, learn.Simulate(0.1, 0)))
		if g.Bound == 0 {
			nothing++
		}
	}
	if nothing < 33 { // 38 are expected, 33 or more with a probability of 0.99
		t.Errorf("ten records at ε = 0.1: told from noise in %d of 40", 40-nothing)
	}
	for _, l := range []learn.HeavyTails{{Moment: 1}, {Loss: 17}, {Loss: learn.PinballLoss}, {Moment: math.NaN()}} {
		if _, err := l.EstimateMoment(data, budget.Spend(0.5)); err == nil {
			t.Errorf("%+v: accepted", l)
		}
	}
	if s, _ := budget.State(); s.SpentEpsilon != 3 {
		t.Errorf("charged for nothing: %+v", s)
	}
	for _, g := range []float64{1e-3, 1, 1e3} {
		l := learn.HeavyTails{MomentBound: g, Records: 20_000, Noise: learn.Seed(1)}
		m, err := l.Fit(data, learn.Simulate(1, 0))
		if err != nil || m.Release.Guarantee.Epsilon != 1 || privacy.DeltaUpper(m.Release.Guarantee.Profile, 1) != 0 {
			t.Errorf("G = %g: %+v (%v)", g, m, err)
		}
	}
}
