package learn_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-gota/gota/dataframe"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// countingNoise counts what is drawn from it.
type countingNoise struct {
	*noise.Seeded
	draws int
}

func (c *countingNoise) Uint64() uint64 {
	c.draws++
	return c.Seeded.Uint64()
}

// refused are fits that what is public forbids, with what the error says: several parts have " … " between them.
type refused []struct {
	l    learn.Learner
	data *learn.Dataset
	says string
}

// check fits all with an allowance of budgets of their own. Nothing may be drawn, no ledger charged.
func (all refused) check(t *testing.T, what string, delta float64,
	allowance func(b *learn.Budget) learn.Allowance) {
	t.Helper()
	for _, c := range all {
		src, l := &countingNoise{Seeded: noise.NewSeeded(1)}, reflect.New(reflect.TypeOf(c.l)).Elem()
		l.Set(reflect.ValueOf(c.l))
		l.FieldByName("Noise").Set(reflect.ValueOf(src))
		budget := fresh(1, delta)
		m, err := l.Interface().(learn.Learner).Fit(c.data, allowance(budget))
		for says := range strings.SplitSeq(c.says, " … ") {
			if err == nil || m != nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s, %+v: %v, want %q", what, c.l, err, says)
			}
		}
		if s, _ := budget.State(); len(s.Entries) != 0 || src.draws != 0 {
			t.Errorf("%s, %+v: %d charges, %d draws", what, c.l, len(s.Entries), src.draws)
		}
	}
}

func half(b *learn.Budget) learn.Allowance { return b.Spend(0.5) }

// What is wrong by what is public is refused before any noise is drawn, with the ledger as it was, by the name and the
// value that the user gave, and says what to do.
func TestRefusedBeforeTheCharge(t *testing.T) {
	data, nan, inf := kinds(t, 60), math.NaN(), math.Inf(1)
	two, number, count, classes := data["Binary"], data["Regression"], data["Counts"], data["Classes"]
	happy := func(text string, o ...learn.Option) *learn.Dataset {
		return learn.Binary(frameOf(t, text), "happy", o...)
	}
	people60 := learn.Patients(60, 11)
	refused{
		{learn.Logistic{}, learn.Binary(learn.ReadCSV("nowhere/data.csv"), "happy"), "nowhere/data.csv"},
		{learn.Logistic{}, happy(""), "empty"},
		{learn.Logistic{}, learn.Binary(learn.ReadCSV(os.DevNull), "a"), "device"},
		{learn.Logistic{}, learn.Binary(frameOf(t, people), "sad"), `no column "sad"`},
		{learn.Logistic{}, learn.Binary(frameOf(t, people).Drop("weight"), "happy"), `no column "weight"`},
		{learn.Logistic{}, happy("happy\nyes\nno\n"), "d = 0"}, {learn.Logistic{}, nil, "no dataset"},
		{learn.Logistic{}, learn.Binary(ofGota(people60.Gota()), "ill"), "WithSchema … InferBounds"},
		{learn.Logistic{}, happy(people, learn.RowNorm(0)), "RowNorm"},
		{learn.Logistic{}, happy(people, nil), "leave it out"},
		{learn.Logistic{}, happy(people, learn.RowNorm(nan)), "RowNorm"},

		{learn.Logistic{Lambda: -1}, two, "Lambda = -1"}, {learn.Logistic{Lambda: nan}, two, "Lambda = NaN"},
		{learn.Logistic{Lambda: 1e-9}, happy(people, learn.RowNorm(1)), "larger λ"},
		{learn.SVM{Lambda: -1}, two, "Lambda"},
		{learn.Logistic{Bound: objective.KST12}, two, "no proved bound"},
		{learn.Logistic{Records: -5}, two, "Records = -5"},
		{learn.SVM{Records: -5}, two, "Records = -5"}, {learn.SVM{Width: -3}, two, "Width = -3"},
		{learn.SVM{Width: nan}, two, "Width = NaN"},
		{learn.Linear{Clip: -1}, number, "Clip = -1 … or 0 to have it chosen"},
		{learn.Linear{Clip: nan}, number, "Clip = NaN"}, {learn.Linear{Clip: inf}, number, "Clip = +Inf"},
		{learn.Linear{Lambda: inf}, number, "Lambda"}, {learn.Huber{Threshold: -2}, number, "Threshold = -2"},
		{learn.Linear{Bound: objective.GaussianLower}, number, "no proved bound"},
		{learn.Huber{Bound: objective.RKW23, Lambda: 0.5}, number, "smoothness"},
		{learn.Poisson{Clip: -2}, count, "Clip = -2"}, {learn.Poisson{Clip: nan}, count, "Clip = NaN"},
		{learn.Poisson{Clip: inf}, count, "Clip = +Inf"}, {learn.Poisson{Lambda: nan}, count, "Lambda"},
		{learn.Linear{Regularise: learn.Regulariser{L1: -1}}, number, "L1 = -1"},
		{learn.Huber{Regularise: learn.Regulariser{GroupL1: nan}}, number, "GroupL1 = NaN"},
		{learn.Linear{Regularise: learn.Regulariser{L1: 1, GroupL1: 1}}, number, "not both"},
		{learn.Linear{Regularise: learn.Regulariser{L1: 1}, CurvatureShare: 0.1}, number, "CurvatureShare"},
		{learn.Linear{Regularise: learn.Regulariser{Ball: 1, NonNegative: true}}, number,
			"one of Ball, Box and NonNegative"},
		{learn.Linear{Regularise: learn.Regulariser{Box: -1}}, number, "Box = -1"},
		{learn.Quantile{CurvatureShare: 0.2, L1: 1}, number, "leave CurvatureShare out"},
		{learn.Quantile{CurvatureShare: 1}, number, "CurvatureShare = 1"},
		{learn.Quantile{L1: inf}, number, "L1 = +Inf"}, {learn.Quantiles{L1: -2}, number, "L1 = -2"},

		{learn.Quantile{Tau: 1}, number, "Tau = 1"}, {learn.Quantile{Tau: -0.1}, number, "Tau = -0.1"},
		{learn.Quantile{Tau: nan}, number, "Tau = NaN"}, {learn.Quantile{Tau: inf}, number, "Tau = +Inf"},
		{learn.Quantile{Tau: 1e-9}, number, "Tau = 1e-09"}, {learn.Quantile{Radius: -1}, number, "Radius = -1"},
		{learn.Quantile{Radius: inf}, number, "Radius = +Inf"}, {learn.Quantile{Radius: nan}, number, "Radius = NaN"},
		{learn.Quantile{Steps: -1}, number, "Steps = -1"}, {learn.Quantiles{Levels: []float64{}}, number, "Levels"},
		{learn.Quantiles{Levels: []float64{0, 0.5}}, number, "Levels"},
		{learn.Quantiles{Levels: []float64{0.5, 1}}, number, "Levels"},
		{learn.Quantiles{Levels: []float64{0.9, 0.5}}, number, "Levels"},
		{learn.Quantiles{Levels: []float64{0.5, 0.5}}, number, "Levels"},
		{learn.Quantiles{Levels: []float64{nan}}, number, "Levels"}, {learn.Quantiles{Radius: -1}, number, "Radius"},
		{learn.Quantiles{Steps: -1}, number, "Steps"}, {learn.Quantile{Smooth: -1}, number, "Smooth = -1"},
		{learn.Quantile{Smooth: 0.1, Steps: 5}, number, "Steps"}, {learn.Quantile{Smooth: 0.1, L1: 1}, number, "L1"},
		{learn.Quantile{Smooth: 0.1, Radius: 1}, number, "Radius"},
		{learn.Quantile{Smooth: 0.1, Tau: 2}, number, "Tau"},
		{learn.Quantile{Smooth: 0.1, CurvatureShare: 0.2}, number, "CurvatureShare"},
		{learn.Quantile{Smooth: 0.1, Pure: true}, number, "Smooth"},
		{learn.Median{ReplaceOne: true}, learn.Regression(patients(40).PerPerson("id", 4), "age"), "ReplaceOne"},

		{learn.Quadratic{}, interpolating(t, 50), "AssumeInterpolation"},
		{learn.Quadratic{Interpolation: learn.AssumeInterpolation([]float64{1}, 0)}, interpolating(t, 50),
			"in the order of a, b, bias"},
		{learn.Quadratic{Interpolation: learn.AssumeInterpolation(planted, -1)}, interpolating(t, 50), "a finite η"},
		{learn.Quadratic{Interpolation: learn.AssumeInterpolation(planted, 0), Threshold: -1}, interpolating(t, 50),
			"Threshold = -1"},
		{learn.Huber{}, learn.Regression(incomes(t, 100).Drop("rich"), "spending"), "Unbounded"},
	}.check(t, "by itself", 1e-6, half)
	for _, share := range []float64{-0.1, 1, 2, nan, inf} {
		refused{
			{learn.Logistic{CurvatureShare: share}, two, "CurvatureShare"}, {learn.SVM{CurvatureShare: share}, two,
				"CurvatureShare"}, {learn.Linear{CurvatureShare: share}, number, "CurvatureShare"},
			{learn.Huber{CurvatureShare: share}, number, "CurvatureShare"},
			{learn.Poisson{CurvatureShare: share}, count, "CurvatureShare"},
		}.check(t, "a share", 1e-6, half)
	}
	for _, rate := range []float64{-0.1, 1, nan} {
		refused{{learn.Logistic{BaseRate: rate}, two, "BaseRate"},
			{learn.SVM{BaseRate: rate, Records: 60}, two, "BaseRate"}}.
			check(t, "a base rate", 1e-6, half)
	}
	for what, c := range map[string]struct {
		allowance func(b *learn.Budget) learn.Allowance
		says      string
	}{
		"ε = 0":   {func(b *learn.Budget) learn.Allowance { return b.Spend(0) }, "Epsilon = 0"},
		"ε < 0":   {func(b *learn.Budget) learn.Allowance { return b.Spend(-1) }, "Epsilon = -1"},
		"ε = NaN": {func(b *learn.Budget) learn.Allowance { return b.Spend(nan) }, "Epsilon = NaN"},
		"more ε":  {func(b *learn.Budget) learn.Allowance { return b.Spend(1.1) }, "refused"},
		"more δ":  {func(b *learn.Budget) learn.Allowance { return b.Spend(0.5).WithDelta(1e-5) }, "refused"},
		"δ = 1":   {func(b *learn.Budget) learn.Allowance { return b.Spend(0.5).WithDelta(1) }, "Delta = 1"},
		"no budget": {func(*learn.Budget) learn.Allowance { return learn.Allowance{} },
			"no budget"},
		"share 0":   {func(b *learn.Budget) learn.Allowance { return b.Share(0) }, "Share"},
		"share < 0": {func(b *learn.Budget) learn.Allowance { return b.Share(-0.1) }, "Share"},
		"share > 1": {func(b *learn.Budget) learn.Allowance { return b.Share(1.5) }, "Share"},
		"share NaN": {func(b *learn.Budget) learn.Allowance { return b.Share(nan) }, "Share"},
		"budget ε":  {func(*learn.Budget) learn.Allowance { return fresh(0, 1e-6).Spend(0.5) }, "Epsilon"},
		"budget δ":  {func(*learn.Budget) learn.Allowance { return fresh(1, 1).Spend(0.5) }, "Delta"},
		"of none":   {func(*learn.Budget) learn.Allowance { return (*learn.Budget)(nil).Spend(0.5) }, "no budget"},
		"small ε":   {func(*learn.Budget) learn.Allowance { return learn.Simulate(1e-12, 1e-18) }, "take a larger ε"},
	} {
		refused{{learn.Logistic{}, happy(people, learn.RowNorm(1)), c.says}}.check(t, what, 1e-6, c.allowance)
	}
	for says, a := range map[string]learn.Allowance{"no budget": (*learn.Budget)(nil).Spend(0.5),
		"costs nothing": learn.Simulate(1, 0), "Share": fresh(1, 1e-6).Share(-1), "Epsilon": fresh(0, 1e-6).Share(-1)} {
		if _, _, _, err := a.Priced(nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("a price of %q: %v", says, err)
		}
	}
	one := learn.Regulariser{L1: 1}
	refused{
		{learn.Logistic{CurvatureShare: 0.1}, two, "CurvatureShare … Logistic spends no δ"},
		{learn.Softmax{}, classes, "Delta = 0 … for example 1e-6 … several classes"},
		{learn.Quantiles{}, number, "Delta = 0 … do not … HeavyTails"}, {learn.Poisson{}, count, "Delta = 0"},
		{learn.Linear{Regularise: one}, number, "Regularise"},
		{learn.Huber{CurvatureShare: 0.1}, number, "CurvatureShare"},
		{learn.Linear{Bound: objective.RKW23}, number, "Bound"}, {learn.Median{Steps: 10}, number, "Steps"},
		{learn.Median{L1: 1}, number, "L1"}, {learn.Logistic{BaseRate: 0.2}, two, "BaseRate"},
		{learn.SVM{CurvatureShare: 0.1}, two, "CurvatureShare"}, {learn.Quantile{Tau: 1.5}, number, "Tau"},
		{learn.Huber{Threshold: -1}, number, "Threshold"}, {learn.Logistic{Records: -1}, two, "Records"},
		{learn.Median{Radius: -1}, number, "Radius"}, {learn.Median{ReplaceOne: true}, number, "ReplaceOne"},
		{learn.Tune{Learners: []learn.Learner{learn.Logistic{}, learn.SVM{}}}, two, "Delta"},
	}.check(t, "a budget without δ", 0, half)
	heavy := learn.Regression(incomes(t, 100).Drop("rich"), "spending")
	type tails = learn.HeavyTails
	refused{
		{tails{Loss: 17}, heavy, "Loss = 17"}, {tails{Loss: learn.PinballLoss}, heavy, "Tau = 0"},
		{tails{Loss: learn.PinballLoss, Tau: 1.2}, heavy, "Tau = 1.2"}, {tails{Tau: 0.3}, heavy, "Tau = 0.3"},
		{tails{Loss: learn.HuberLoss, Threshold: -1}, heavy, "Threshold = -1"},
		{tails{Threshold: 0.1}, heavy, "Threshold"},
		{tails{Loss: learn.SquaredLoss, MomentBound: -1}, heavy, "MomentBound"},
		{tails{MomentBound: -1}, heavy, "MomentBound"},
		{tails{Moment: 1}, heavy, "Moment"}, {tails{Moment: 2}, heavy, "MomentBound"},
		{tails{Moment: nan}, heavy, "Moment"},
		{tails{Centre: []float64{1}}, heavy, "Centre"}, {tails{Radius: -1}, heavy, "Radius"},
		{tails{Radius: inf}, heavy,
			"Radius"}, {tails{WorstCase: true}, heavy, ""}, {tails{Records: -1}, heavy, "Records"},
		{tails{Method: learn.ByOutput}, heavy, "Records"}, {tails{Method: 4}, heavy, "Method = 4"},
		{tails{Method: -1}, heavy, "Method = -1"}, {tails{Phases: 2}, heavy, "Phases"},
		{tails{Phases: 3, Method: learn.ByDoubleOutput, Records: 100}, heavy, "Phases = 3"},
		{tails{Method: learn.ByDoubleOutput}, heavy, "Records = 0"},
		{tails{Method: learn.ByLocalisation}, heavy, "Records"},
		{tails{Method: learn.ByLocalisation, Phases: -1, Records: 100}, heavy, "Count = -1"},
		{tails{Method: learn.ByLocalisation, Phases: 8, Records: 100}, heavy, "phase 8, the "},
	}.check(t, "heavy tails", 0, half)
	refused{{tails{}, heavy, "pure"}}.check(t, "δ asked for", 1e-3, func(b *learn.Budget) learn.Allowance {
		return b.Spend(0.5).WithDelta(1e-4)
	})
}

// Records for another learner are refused, and the error names what would do; numbers of workers are positive or
// chosen; ε and δ are those of a guarantee. Without privacy what is refused of a learner is refused, too.
func TestEveryLearnerRefuses(t *testing.T) {
	data := kinds(t, 50)
	pure := []string{"Logistic", "SVM", "Linear", "Huber", "Quantile"} // of δ = 0 with these settings
	for _, l := range learners {
		workers := reflect.New(reflect.TypeOf(l.zero)).Elem()
		workers.Set(reflect.ValueOf(l.zero))
		workers.FieldByName("Workers").SetInt(-1)
		wrong := refused{{workers.Interface().(learn.Learner), data[l.from], "Workers = -1"}}
		for made, d := range data {
			if made != l.from {
				says := fmt.Sprintf("%s … %s … %s", strings.Fields(l.name)[0], made, l.from)
				wrong = append(wrong, refused{{l.zero, d, says}}...)
			}
		}
		wrong.check(t, l.name, 1e-6, half)
		for _, c := range wrong {
			if _, err := c.l.FitWithoutPrivacy(c.data); err == nil {
				t.Errorf("%s: %q is no reason without privacy", l.name, c.says)
			}
		}
		for _, at := range [][2]float64{{0, 1e-6}, {-1, 1e-6}, {math.NaN(), 1e-6}, {2000, 1e-6}, {1, 0}, {1, -1},
			{1, 1},
			{1, math.NaN()}} {
			_, err := learn.Tuned(l.zero, 0, 0, noise.NewSeeded(1)).Fit(data[l.from], learn.Simulate(at[0], at[1]))
			if (err == nil) != (at == [2]float64{1, 0} && slices.Contains(pure, l.name)) {
				t.Errorf("%s: ε = %v, δ = %v: %v", l.name, at[0], at[1], err)
			}
		}
	}
	var task *learn.TaskError
	if _, err := (learn.Median{}).FitWithoutPrivacy(data["Binary"]); !errors.As(err, &task) {
		t.Errorf("the median of two classes: %v", err)
	}
	for _, l := range []learn.Learner{learn.Quantile{Tau: 1}, learn.Quantiles{Levels: []float64{0.5, 0.5}},
		learn.SVM{Width: -3}} {
		from := "Regression"
		if _, svm := l.(learn.SVM); svm {
			from = "Binary"
		}
		if _, err := l.FitWithoutPrivacy(data[from]); err == nil {
			t.Errorf("%+v without privacy", l)
		}
	}
}

// Weights, terms and choices are refused where they mean nothing.
func TestOptionsRefusedBeforeTheCharge(t *testing.T) {
	weighted, _ := surveyed(60)
	with := learn.WeightsFrom("survey", 4)
	classes := func(weights map[string]float64) *learn.Dataset {
		return learn.Binary(weighted.Drop("survey"), "ill", learn.ClassWeights(weights))
	}
	refused{
		{learn.Quantile{Tau: 0.5}, learn.Regression(weighted, "pressure", with), "weights"},
		{learn.Softmax{}, learn.Classes(weighted, "ward", with), "weights"},
		{learn.Linear{Regularise: learn.Regulariser{L1: 3}}, learn.Regression(weighted, "pressure", with), "weights"},
		{learn.Tune{Learners: []learn.Learner{learn.Linear{}, learn.Quantile{Tau: 0.5}}},
			learn.Regression(weighted, "pressure", with), "Tune does not choose"},
		{learn.SVM{CurvatureShare: 0.1}, learn.Binary(weighted, "ill", with), "CurvatureShare"},
		{learn.Logistic{}, learn.Binary(weighted, "ill", learn.WeightsFrom("survey", 0)), "bound"},
		{learn.Logistic{}, learn.Binary(weighted, "ill", learn.WeightsFrom("wait", 4)), "wait"},
		{learn.Logistic{}, learn.Binary(weighted, "ill", learn.WeightsFrom("ill", 4)), "ill"},
		{learn.Logistic{}, classes(map[string]float64{"ja": 4}), "ja"},
		{learn.Logistic{}, classes(map[string]float64{"yes": -4}), "positive"},
	}.check(t, "weights", 1e-6, half)
	refused{{learn.Logistic{}, learn.Binary(weighted, "ill", with), "weights"}}.check(t, "weights", 0, half)

	df, _ := workers(t, 300, 1, func(age, _ float64, _, _ int) float64 { return age / 50 })
	numbers := func(o ...learn.Option) *learn.Dataset { return learn.Regression(df, "pay", o...) }
	age := learn.Rising("age")
	refused{
		{learn.Huber{}, numbers(learn.Line("ages")), `no column "ages"`}, {learn.Huber{}, numbers(learn.Line("pay")),
			"is to be predicted"}, {learn.Huber{}, numbers(learn.Cross("sex", "pay")), "to be predicted"},
		{learn.Huber{}, numbers(learn.Line("age"), learn.Uncentred()), "of centred rows"},
		{learn.Huber{}, numbers(learn.Periodic("hour", 12)), "not one period of 12"},
		{learn.Huber{}, numbers(learn.Line("hour"), learn.Periodic("hour", 24)), "can have one of line, steps"},
		{learn.Huber{}, numbers(learn.Steps("age", 5)), "must rise and lie"},
		{learn.Huber{}, numbers(learn.Steps("sex", 1)), "a line, steps and a period"},
		{learn.Softmax{}, learn.Classes(df, "city", age), "several classes"},
		{learn.OneVsRest{}, learn.Classes(df, "city", age), "several classes"},
		{learn.Median{}, numbers(age), "is proved for"}, {learn.Huber{Pure: true}, numbers(age), "is proved for"},
		{learn.Huber{CurvatureShare: 0.1}, numbers(age), "buys no intervals"},
		{learn.Logistic{Lambda: 3}, learn.Binary(df, "sex", age), "leave out Lambda"},
		{learn.Huber{Regularise: learn.Regulariser{L1: 2}}, numbers(age), "leave out Lambda"},
		{learn.Huber{}, numbers(age, learn.Falling("age")), "to rise and to fall"},
		{learn.Huber{}, numbers(learn.Periodic("hour", 24), learn.Rising("hour")), "no period"},
		{learn.Huber{}, numbers(learn.Cross("age", "sex"), age), "no cross"},
		{learn.Huber{}, numbers(learn.Cross("age", "sex"), learn.Rising("sex")), "are crossed"},
		{learn.Huber{}, numbers(age, learn.Uncentred()), "of centred rows"},
		{learn.Huber{}, numbers(learn.Rising("ages")), "no column"},
	}.check(t, "terms", 1e-6, half)

	l, rising := learn.Suited(df, "pay", age)
	if _, err := l.Fit(rising, fresh(1, 1e-6).Spend(0.5)); err != nil {
		t.Error(err)
	}

	data := kinds(t, 50)
	two, numeric := data["Binary"], data["Regression"]
	of := func(l ...learn.Learner) learn.Tune { return learn.Tune{Learners: l} }
	without := func(columns ...string) learn.Tune {
		return learn.Tune{Learners: []learn.Learner{learn.Logistic{}, learn.SVM{}}, Without: [][]string{columns}}
	}
	both := of(learn.Logistic{}, learn.SVM{})
	refused{
		{of(learn.Logistic{}), two, "two or more"}, {of(), two, "Learners = 0"}, {of(nil, nil), two, "no learner"},
		{of(learn.Tune{}, learn.Logistic{}), two, "fitted once"},
		{of(learn.Logistic{CurvatureShare: 0.1}, learn.Logistic{}), two, "leave CurvatureShare"},
		{of(learn.Logistic{}, learn.Linear{}), two, "Linear learns a number"},
		{learn.Tune{Learners: both.Learners, Runs: 0.5}, two, "Runs = 0.5"},
		{learn.Tune{Learners: both.Learners, ScoreShare: 1}, two, "ScoreShare = 1"},
		{without("nowhere"), two, `names "nowhere"`}, {without("age", "age"), two, `names "age"`},
		{without("age", "weight", "smoker", "pressure", "visits", "ward"), two, "no features"},
		{of(learn.Logistic{Lambda: -1}, learn.Logistic{}), two, "Lambda = -1"},
		{of(tailsOfClasses, learn.Logistic{}), two, "HeavyTails: it is of pure"},
		{of(learn.Linear{}, learn.Quantile{Tau: 0.9}), numeric, "which the best quantile is not"},
	}.check(t, "a choice", 1e-6, half)
}

var tailsOfClasses = learn.HeavyTails{Loss: learn.LogisticLoss}

// A dataframe or a budget that is none, and a comparison of nothing, are errors that say what is wanted.
func TestRefusedElsewhere(t *testing.T) {
	df, two := frameOf(t, people), kinds(t, 50)["Binary"]
	for says, err := range map[string]error{
		"Epsilon = 0": learn.Compare(two, 0, learn.AllMechanisms...).Err(),
		"is nil":      learn.Compare(two, 1, nil).Err(),
		"Delta = 1":   learn.CompareWith(learn.CompareSettings{Delta: 1}, two, 1, learn.AllMechanisms...).Err(),
		"Head(-3)":    df.Head(-3).Err(), "Filter": df.Filter(nil).Err(),
		"empty DataFrame":     learn.FromTable(nil).Err(),
		`no column "nothing"`: df.Drop("nothing").Err(),
		`no column "none"`:    df.DropMissing("none").Err(),
		"boom":                learn.FromGota(broken).Err(), "-1": learn.Patients(-1, 1).Err(),
		"options": learn.FromGota(func(...dataframe.LoadOption) (d dataframe.DataFrame) {
			return d
		}).Err(),
		"make one with":          learn.DataFrame{}.Head(3).Err(),
		"no column is selected":  df.Drop("age", "city", "happy").Head(1).Err(),
		`two fields named "age"`: df.WithSchema(learn.Numeric("age", 0, 9), learn.Numeric("age", 0, 99)).Err(),
		"lower < upper":          df.WithSchema(learn.Numeric("age", 9, 9)).Err(),
		`PerPerson("id", rows)`: learn.Binary(learn.FromTable(must.Get(patients(2).Table())).WithSchema(
			learn.Numeric("age", 0, 100), learn.Categorical("ill", "no", "yes")), "ill").Err(),
		"person = 0":       patients(3).PerPerson("id", 0).Err(),
		`no column "name"`: patients(3).PerPerson("name", 1).Err(),
		"already":          patients(3).PerPerson("id", 2).PerPerson("id", 1).Err(),
		"person = 1000000": patients(3).PerPerson("id", 1e6).Err(),
	} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}
