package learn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
)

// donors are invented: an amount that is lognormal, and an age.
func donors(t *testing.T, amount learn.Field) learn.DataFrame {
	r := rand.New(rand.NewPCG(1, 2))
	rows := "age,years,amount\n"
	for range 3000 {
		age := 18 + 70*r.Float64()
		rows += fmt.Sprintf("%.0f,%d,%.2f\n", age, 1+r.IntN(9), math.Exp(3+0.01*age+0.8*r.NormFloat64()))
	}
	return frameOf(t, rows).WithSchema(learn.Numeric("age", 18, 98), learn.Numeric("years", 0, 10), amount)
}

// How far residuals count in full is said in the column's unit, as a factor of a logarithm, in the model, its card and
// beside intervals; and that the mean is another thing, where the target is skewed.
func TestThresholdIsSaid(t *testing.T) {
	testscale.InTurn(t)
	const skewed = "Of a skewed amount"
	plain, log := donors(t, learn.Numeric("amount", 0, 500)), donors(t, learn.Log("amount", 1, 1000))
	for name, c := range map[string]struct {
		l      learn.Learner
		data   *learn.Dataset
		clip   float64 // in the bought unit, or else in half the width
		hinted bool
	}{
		"linear":      {learn.Linear{CurvatureShare: 0.1}, learn.Regression(plain, "amount"), 2, true},
		"huber":       {learn.Huber{CurvatureShare: 0.1}, learn.Regression(plain, "amount"), 1, true},
		"clipped":     {learn.Linear{Clip: 0.3}, learn.Regression(plain, "amount"), 0.3, true},
		"not centred": {learn.Huber{}, learn.Regression(plain, "amount", learn.Uncentred()), 0.25, true},
		"regularised": {learn.Linear{Regularise: learn.Regulariser{L1: 1}}, learn.Regression(plain, "amount"), 0.5,
			true},
		"without a δ":      {learn.Linear{Pure: true}, learn.Regression(plain, "amount"), 2, true},
		"weighted":         {learn.Huber{}, learn.Regression(plain, "amount", learn.WeightsFrom("years", 10)), 1, true},
		"on a logarithm":   {learn.Linear{CurvatureShare: 0.1}, learn.Regression(log, "amount"), 2, false},
		"of a bell's form": {learn.Huber{}, learn.Regression(learn.Patients(3000, 1), "pressure"), 1, false},
	} {
		m := must.Get(learn.Tuned(c.l, 0, 0, learn.Seed(1)).Fit(c.data, learn.Simulate(2, 1e-6)))
		unit, target := 250.0, "amount"
		if name == "of a bell's form" {
			unit, target = 60, "pressure"
		}
		if b, ok := m.Release.Also.(*geometry.Bought); ok {
			unit *= b.Unit
		}
		want := fmt.Sprintf("A residual beyond ± %.3g (%s) counts by its absolute value", c.clip*unit, target)
		if name == "on a logarithm" {
			factor := math.Exp(2 * m.Release.Also.(*geometry.Bought).Unit * math.Log(1000) / 2)
			want = fmt.Sprintf("A residual beyond a factor of %.3g (amount) counts by its absolute value", factor)
		}
		path := filepath.Join(t.TempDir(), "m.json")
		must.Do(m.Save(path))
		said := []string{m.Display().Text(), string(must.Get(m.Card())), must.Get(learn.Load(path)).Display().Text()}
		if iv, err := m.Intervals(0.9); err == nil {
			said = append(said, iv.Display().Text())
		} else if c.clip >= 1 && !strings.Contains(name, "δ") {
			t.Errorf("%s: %v", name, err)
		}
		for _, text := range said {
			text = strings.ReplaceAll(text, `\`, "")
			if !strings.Contains(text, want) || strings.Contains(text, skewed) != c.hinted {
				t.Errorf("%s: want %q, a hint %v, in\n%s", name, want, c.hinted, text)
			}
		}
	}
	m := must.Get(learn.Tuned(learn.Poisson{}, 0, 0, learn.Seed(1)).Fit(learn.Counts(plain, "amount"),
		learn.Simulate(2, 1e-6)))
	if text := m.Display().Text(); !strings.Contains(text, "A residual beyond ± 23 (amount) counts as that much") {
		t.Error(text)
	}
	models := must.Get(learn.FitBy(learn.Huber{Noise: learn.Seed(1)}, learn.Patients(3000, 1), "ward",
		func(part learn.DataFrame) *learn.Dataset { return learn.Regression(part, "pressure") },
		learn.Simulate(2, 1e-6)))
	of := func(k int) string {
		at := models.Models[k].Release.Also.(*geometry.Bought).Unit * 60
		return fmt.Sprintf("%s ± %.3g (pressure)", models.Groups[k], at)
	}
	if text := models.Display().Text(); !strings.Contains(text, "A residual beyond "+of(0)+", "+of(1)) ||
		strings.Count(text, "A residual") != 1 {
		t.Errorf("want %s and %s in\n%s", of(0), of(1), text)
	}
	m = must.Get(learn.Tuned(learn.Quantile{}, 0, 0, learn.Seed(1)).Fit(learn.Regression(plain, "amount"),
		learn.Simulate(2, 1e-6)))
	if text := m.Display().Text(); strings.Contains(text, "A residual beyond") {
		t.Error(text)
	}
}

// A threshold that no residual passes was meant in the unit of the column: nothing is spent, and what it is in halves
// of the width is said.
func TestThresholdInTheColumnsUnit(t *testing.T) {
	plain, log := donors(t, learn.Numeric("amount", 0, 500)), donors(t, learn.Log("amount", 1, 1000))
	b := learn.NewBudget(1, 1e-6, learn.Named(t.Name()))
	for _, c := range []struct {
		l    learn.Learner
		df   learn.DataFrame
		want string
	}{
		{learn.Linear{Clip: 100}, plain, "its unit is half the width of the bounds of amount, 250"},
		{learn.Linear{Clip: 100}, plain, "for 100 in its own unit it is 0.4"},
		{learn.Huber{Threshold: 2.01}, plain, "want at most 2"},
		{learn.Huber{Threshold: 4}, log, "for a factor of 4 it is 0.4014"},
		{learn.Linear{Clip: 100, Pure: true}, plain, "it is 0.4"},
	} {
		_, err := c.l.Fit(learn.Regression(c.df, "amount"), b.Share(0.1))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%#v: %v, want %q", c.l, err, c.want)
		}
	}
	if _, n := spent(t, b); n > 0 {
		t.Errorf("%d releases", n)
	}
	must.Get(learn.Tuned(learn.Linear{Clip: 2}, 0, 0, learn.Seed(1)).Fit(learn.Regression(plain, "amount"),
		learn.Simulate(1, 1e-6)))
}

// Of a target that must be skewed, by what was bought of it, predictions are those of the mean where records are
// enough; others, quantiles and fits of few records have the usual unit, half the deviation.
func TestSkewedTargetsHaveAWiderUnit(t *testing.T) {
	amounts := donors(t, learn.Numeric("amount", 0, 500))
	skewed := func(opts ...learn.Option) *learn.Dataset { return learn.Regression(amounts, "amount", opts...) }
	bell := learn.Regression(learn.Patients(3000, 1), "pressure")
	table := must.Get(amounts.Table())
	mean := 0.0
	for _, v := range must.Get(table.Column("amount")).Texts {
		mean += math.Min(500, must.Get(strconv.ParseFloat(v, 64))) / 3000
	}
	for name, c := range map[string]struct {
		l           learn.Learner
		data        *learn.Dataset
		epsilon     float64
		least, most float64 // of the unit in deviations, 0.18 of the amounts and 0.27 of the bell
	}{
		"linear":      {learn.Linear{}, skewed(), 8, 4 * 0.08, 0.5},
		"huber":       {learn.Huber{}, skewed(), 8, 4 * 0.08, 0.5},
		"few records": {learn.Huber{}, skewed(), 0.1, 0.02, 0.15},
		"a quantile":  {learn.Quantile{}, skewed(), 8, 0.07, 0.11},
		"a bell":      {learn.Huber{}, bell, 8, 0.1, 0.17},
	} {
		m := must.Get(learn.Tuned(c.l, 0, 0, learn.Seed(1)).Fit(c.data, learn.Simulate(c.epsilon, 1e-6)))
		if unit := m.Release.Also.(*geometry.Bought).Unit; !(unit >= c.least && unit <= c.most) {
			t.Errorf("%s: unit %g, want it in [%g, %g]", name, unit, c.least, c.most)
		}
		if name == "linear" {
			got := floats.Sum(must.Get(m.Predict(amounts))) / 3000
			if !(math.Abs(got/mean-1) <= 0.03) {
				t.Errorf("predicted %g in the mean, which is %g", got, mean)
			}
		}
	}
}
