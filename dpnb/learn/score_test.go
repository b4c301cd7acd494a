package learn_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Scores by their definitions, from the predictions.
func TestScoresByDefinition(t *testing.T) {
	data := plain(t, 400)
	fit := func(l learn.Learner, from string) (*learn.Model, []float64, []float64) {
		m := must.Get(l.FitWithoutPrivacy(data[from]))
		p := must.Get(m.Predict(data[from]))
		d, _ := data[from].Design()
		y := make([]float64, len(d.Labels))
		for i, l := range d.Labels {
			y[i] = d.Target.Value(l)
		}
		return m, p, y
	}
	mean := func(y []float64) (m float64) {
		for _, v := range y {
			m += v / float64(len(y))
		}
		return m
	}
	check := func(name string, got float64, err error, want float64) {
		t.Helper()
		if err != nil || !(math.Abs(got-want) <= 1e-12*(1+math.Abs(want))) {
			t.Errorf("%s = %v (%v), by definition %v", name, got, err, want)
		}
	}
	m, p, y := fit(learn.Huber{}, "Regression")
	var left, total float64
	for i := range y {
		left += (y[i] - p[i]) * (y[i] - p[i])
		total += (y[i] - mean(y)) * (y[i] - mean(y))
		if p[i] < 80 || p[i] > 200 {
			t.Errorf("predicted %v, the bounds are [80, 200]", p[i])
		}
	}
	s, err := m.Score(data["Regression"])
	check("R²", s, err, 1-left/total)
	s, err = m.RMSE(data["Regression"])
	check("RMSE", s, err, math.Sqrt(left/float64(len(y))))
	if _, err := m.Deviance(data["Regression"]); err == nil {
		t.Error("a number has a deviance")
	}

	m, p, y = fit(learn.Poisson{}, "Counts")
	dev := func(y, mu float64) float64 {
		if y == 0 {
			return 2 * mu
		}
		return 2 * (y*math.Log(y/mu) - y + mu)
	}
	left, total = 0, 0
	squares := 0.0
	for i := range y {
		left += dev(y[i], p[i])
		total += dev(y[i], mean(y))
		squares += (y[i] - p[i]) * (y[i] - p[i])
	}
	s, err = m.Score(data["Counts"])
	check("D²", s, err, 1-left/total)
	s, err = m.Deviance(data["Counts"])
	check("deviance", s, err, left/float64(len(y)))
	s, err = m.RMSE(data["Counts"])
	check("RMSE of counts", s, err, math.Sqrt(squares/float64(len(y))))

	m, p, y = fit(learn.SVM{}, "Binary")
	right := 0.0
	for i := range y {
		if (p[i] > 0.5) == (y[i] > 0) {
			right++
		}
	}
	s, err = m.Score(data["Binary"])
	check("accuracy", s, err, right/float64(len(y)))
	if _, err := m.RMSE(data["Binary"]); err == nil {
		t.Error("classes have an RMSE")
	}
	if _, err := m.Score(data["Regression"]); err == nil {
		t.Error("records of another target are scored")
	}
	m, p, y = fit(learn.Softmax{}, "Classes")
	names := must.Get(m.PredictClass(data["Classes"]))
	d, _ := data["Classes"].Design()
	theta, k := m.Theta(), d.Width()
	right = 0
	for i := range y {
		best, at := math.Inf(-1), 0
		for c := range 3 {
			sum := 0.0
			for j := range k {
				sum += d.Rows.(*matrix.Dense).At(i, j) * theta[c*k+j]
			}
			if sum > best {
				best, at = sum, c
			}
		}
		if p[i] != float64(at) || names[i] != []string{"heart", "lungs", "bones"}[at] {
			t.Fatalf("patient %d: predicted %v, %s, want class %d", i, p[i], names[i], at)
		}
		if float64(at) == y[i] {
			right++
		}
	}
	s, err = m.Score(data["Classes"])
	check("accuracy of several classes", s, err, right/float64(len(y)))
	if df := m.Coefficients(); df.Nrow() != 3*k || df.Names()[0] != "class" {
		t.Errorf("coefficients of several classes: %v", df)
	}
	if _, err := m.RMSE(data["Classes"]); err == nil {
		t.Error("several classes have an RMSE")
	}
	if got := data["Classes"].MajorityShare(); !(got > 1.0/3 && got < 0.7) {
		t.Errorf("majority share of three classes: %v", got)
	}
}

// Records that were made for another target are refused; other bounds are not looked at, since the model has its own;
// and a target that never varies has no R².
func TestScoreRefuses(t *testing.T) {
	df := learn.Patients(60, 2)
	m := must.Get(learn.Linear{}.FitWithoutPrivacy(learn.Regression(df.Drop("visits"), "pressure")))
	if _, err := m.Score(learn.Counts(df.Drop("pressure"), "visits")); err == nil || !strings.Contains(err.Error(),
		"visits") {
		t.Errorf("another target: %v", err)
	}
	wider := df.Drop("visits").WithSchema(learn.Numeric("age", 18, 90), learn.Numeric("weight", 40, 150),
		learn.Categorical("smoker", "no", "yes"),
		learn.Numeric("pressure", 0, 300), learn.Categorical("ill", "no", "yes"), learn.Categorical("ward", "heart",
			"lungs", "bones"))
	want, _ := m.Score(df)
	if got, err := m.Score(learn.Regression(wider, "pressure")); err != nil || got != want {
		t.Errorf("other bounds of the target make a score of %v (%v), want %v", got, err, want)
	}
	one := learn.Regression(df.Drop("visits").Head(1), "pressure")
	if _, err := m.Score(one); err == nil || !strings.Contains(err.Error(), "the same") {
		t.Errorf("R² of one record: %v", err)
	}
	if rmse, err := m.RMSE(one); err != nil || math.IsNaN(rmse) {
		t.Errorf("RMSE of one record: %v, %v", rmse, err)
	}
}

// Every learner can be measured, with the same result again.
func TestMeasureEveryLearner(t *testing.T) {
	testscale.InTurn(t)
	data := kinds(t, 500)
	for _, l := range learners {
		seeded := learn.Tuned(l.zero, 0, 0, noise.NewSeeded(4))
		a, err := learn.SweepEpsilon(seeded, data[l.from], data[l.from], 1e-5, 2, 0.5, 50)
		if err != nil {
			t.Fatal(l.name, err)
		}
		b := a
		if l.name == learners[0].name || testscale.Full() {
			b, _ = learn.SweepEpsilon(seeded, data[l.from], data[l.from], 1e-5, 2, 0.5, 50)
		}
		for i := range a.Mean {
			if a.Mean[i] != b.Mean[i] || a.Lower[i] != b.Lower[i] {
				t.Errorf("%s: %v, again %v", l.name, a.Mean, b.Mean)
			}
		}
		if !(a.NonPrivate > a.Baseline) ||
			!(math.Abs(a.Mean[1]-a.NonPrivate) <= 0.05) || a.Mean[0] > a.NonPrivate+0.01 {
			t.Errorf("%s: %+v", l.name, a)
		}
		it := a.Display()
		percent := strings.Contains(it.Rows[0][1], "%")
		if percent != (l.from == "Binary" || l.from == "Classes") || !strings.Contains(strings.Join(it.Notes, " "),
			"simulation") {
			t.Errorf("%s is shown as %+v", l.name, it)
		}
		drawn, err := a.Figure().SVG()
		baseline := map[bool]string{true: "majority class", false: "test data"}[percent]
		for _, level := range []string{"without privacy", baseline} {
			if err != nil || !bytes.Contains(drawn, []byte(level+"<")) {
				t.Errorf("%s: the figure lacks the level %q (%v)", l.name, level, err)
			}
		}
	}
}
