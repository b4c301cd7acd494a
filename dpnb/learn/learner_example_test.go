package learn_test

import (
	"fmt"
	"strings"

	"github.com/dpnb/notebooks/dpnb/dataset"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// A number is scaled by its public bounds, and predictions come back in its unit.
func ExampleLinear() {
	train, test := learn.Patients(3000, 1), learn.Patients(3000, 2)
	data, known := learn.Regression(train, "pressure", learn.RowNorm(1)), learn.Regression(test, "pressure",
		learn.RowNorm(1))
	model, err := learn.Linear{Noise: learn.Seed(1)}.Fit(data, learn.Simulate(1, 1e-6))
	if err != nil {
		fmt.Println(err)
		return
	}
	r2, _ := model.Score(known)
	rmse, _ := model.RMSE(known)
	plain, _ := learn.Linear{}.FitWithoutPrivacy(data)
	best, _ := plain.Score(known)
	fmt.Printf("R² %.2f, without privacy %.2f; predictions are off by %.0f mmHg\n", r2, best, rmse)
	// Output:
	// R² 0.63, without privacy 0.63; predictions are off by 10 mmHg
}

// Robust regression needs less noise where targets are near to what can be predicted.
func ExampleHuber() {
	train, test := learn.Patients(1500, 1), learn.Patients(3000, 2)
	data, known := learn.Regression(train, "pressure", learn.RowNorm(1)), learn.Regression(test, "pressure",
		learn.RowNorm(1))
	for _, l := range []learn.Learner{learn.Linear{Noise: learn.Seed(1)}, learn.Huber{Noise: learn.Seed(1)}} {
		model, err := l.Fit(data, learn.Simulate(0.5, 1e-6))
		if err != nil {
			fmt.Println(err)
			return
		}
		r2, _ := model.Score(known)
		fmt.Printf("noise %.1f, R² %.2f\n", model.Release.NoiseScale, r2)
	}
	// Output:
	// noise 19.7, R² 0.62
	// noise 9.0, R² 0.63
}

// Counts need a public upper bound; their score is the share of deviance explained.
func ExamplePoisson() {
	train, test := learn.Patients(3000, 1), learn.Patients(3000, 2)
	data, known := learn.Counts(train, "visits", learn.RowNorm(1)), learn.Counts(test, "visits", learn.RowNorm(1))
	model, err := learn.Poisson{Noise: learn.Seed(1)}.Fit(data, learn.Simulate(1, 1e-6))
	if err != nil {
		fmt.Println(err)
		return
	}
	d2, _ := model.Score(known)
	plain, _ := learn.Poisson{}.FitWithoutPrivacy(data)
	best, _ := plain.Score(known)
	fmt.Printf("D² %.2f, without privacy %.2f\n", d2, best)
	// Output:
	// D² 0.27, without privacy 0.27
}

// The support vector machine on invented people in the columns of the Adult data.
func ExampleSVM() {
	train, test, err := dataset.AdultLikeHead(3000, 1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	people := learn.FromTable(train).WithSchema(dataset.AdultSchema().Fields...)
	others := learn.FromTable(test).WithSchema(dataset.AdultSchema().Fields...)
	model, err := learn.SVM{Noise: learn.Seed(1)}.Fit(learn.Binary(people, "income", learn.RowNorm(1)),
		learn.Simulate(2, 1e-6))
	if err != nil {
		fmt.Println(err)
		return
	}
	known := learn.Binary(others, "income", learn.RowNorm(1))
	accuracy, _ := model.Score(known)
	fmt.Printf("better than always guessing the more frequent class, which is right for %.0f %%: %v\n",
		100*known.MajorityShare(), accuracy > known.MajorityShare())
	// Output:
	// better than always guessing the more frequent class, which is right for 76 %: true
}

// What was done to a target, and what it cost.
func ExampleRegression() {
	d, err := learn.Regression(learn.Patients(100, 1).Drop("ill", "ward", "visits"), "pressure",
		learn.RowNorm(1)).Design()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range d.Steps {
		fmt.Println(inLines(s.What))
	}
	// Output:
	// numbers moved into their bounds and scaled to [−1, 1] about their middle or typical value, with 8 splines each:
	// age ∈ [18, 90];
	// weight ∈ [40, 150]
	// categories as indicators less 1/K, K the number of categories:
	// smoker:
	// 2 public categories
	// rule for values that do not fit, if there are any:
	// a value that is missing or not a number counts as the middle of its bounds:
	// 54 in age, 95 in weight;
	// a text that is no category, or none, has no indicator in smoker
	// every row scaled to norm 1
	// bias 0.3333 appended:
	// ‖x‖ ≤ 1.054
	// target pressure ∈ [80, 200] moved into its bounds and scaled to [−1, 1];
	// predictions are in its own unit;
	// what is missing or not a number counts as 140
}

// A count above its public bound counts as the bound.
func ExampleCounts() {
	d, err := learn.Counts(learn.Patients(100, 1), "visits").Design()
	if err != nil {
		fmt.Println(err)
		return
	}
	last := d.Steps[len(d.Steps)-1]
	fmt.Printf("%s.\nAssumes %s.\nCosts %s.\n", inLines(last.What), last.Assumes, last.Cost)
	// Output:
	// count visits ∈ [0, 20] moved into its bounds and rounded to a whole number;
	// what is missing or not a number counts as 10.
	// Assumes the bounds and categories are public: known without the data.
	// Costs nothing: each record is treated by itself.
}

// Several classes are numbered in the order of the schema.
func ExampleClasses() {
	d, err := learn.Classes(learn.Patients(100, 1), "ward").Design()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Join(d.Target.Classes, ", "), d.Labels[:5])
	// Output:
	// heart, lungs, bones [0 1 2 1 0]
}

// Records for one learner are refused by another.
func ExampleTaskError() {
	_, err := learn.Logistic{}.FitWithoutPrivacy(learn.Regression(learn.Patients(100, 1), "pressure"))
	fmt.Println(inLines(err.Error()))
	// Output:
	// dpnb:
	// Logistic learns two classes from records made with Binary;
	// these were made with Regression, for Linear, Huber, Quantile, Quantiles, HeavyTails
}

// Three quantiles at the price of one, their scores on records that may be known, and predictions that never cross.
func ExampleQuantiles() {
	train, test := learn.Patients(8000, 1), learn.Patients(3000, 2)
	data := learn.Regression(train, "pressure", learn.RowNorm(1))
	model, err := learn.Quantiles{Levels: []float64{0.05, 0.5, 0.95}, Noise: learn.Seed(1)}.Fit(data,
		learn.Simulate(1, 1e-6))
	if err != nil {
		fmt.Println(err)
		return
	}
	scores, _ := model.QuantileScores(test)
	fmt.Printf("R¹ = %.2f, %.0f %% of the targets between the outer two\n", scores.R1, 100*scores.Coverage)
	q, _ := model.PredictQuantiles(test.Head(1))
	fmt.Printf("the first patient: %.0f < %.0f < %.0f\n", q[0][0], q[1][0], q[2][0])
	// Output:
	// R¹ = 0.39, 90 % of the targets between the outer two
	// the first patient: 87 < 102 < 118
}

// The median in the units of the columns: pressure for one year of age, for one kilogram.
func ExampleModel_CoefficientsInUnits() {
	data := learn.Regression(learn.Patients(8000, 1).Drop("ill", "ward", "visits", "smoker"), "pressure")
	model, err := learn.Median{Noise: learn.Seed(1)}.Fit(data, learn.Simulate(1, 1e-6))
	if err != nil {
		fmt.Println(err)
		return
	}
	c := model.CoefficientsInUnits()
	for i, feature := range c.Col("feature").Records() {
		fmt.Printf("%s %.2f\n", feature, c.Col("coefficient").Float()[i])
	}
	// Output:
	// age 0.60
	// weight 0.22
	// bias 132.10
}

// Bands of quantiles against age are of what was released, and look at no record.
func ExampleModel_Bands() {
	data := learn.Regression(learn.Patients(8000, 1), "pressure", learn.RowNorm(1))
	model, err := learn.Quantiles{Noise: learn.Seed(1)}.Fit(data, learn.Simulate(1, 1e-6))
	if err != nil {
		fmt.Println(err)
		return
	}
	bands, err := model.Bands("age", map[string]any{"smoker": "yes", "weight": 70})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(inLines(bands.Alt))
	// Output:
	// predicted quantiles of pressure, age from 18 to 90:
	// τ = 0.1 from 110.5 to 146.1, τ = 0.5 from 121.6 to 156.6, τ = 0.9 from 134.5 to 169.5;
	// held at weight 70, smoker yes, visits 10, ill no, ward heart
}

// A regulariser costs no privacy, and holds coefficients at zero that explain little: what they still have is noise of
// the output, of some 10⁻⁵.
func ExampleRegulariser() {
	data := learn.Regression(learn.Patients(8000, 1).Drop("ill", "ward", "visits"), "pressure", learn.Uncentred(),
		learn.RowNorm(1))
	model, err := learn.Linear{Regularise: learn.Regulariser{L1: 60}, Noise: learn.Seed(1)}.Fit(data,
		learn.Simulate(1, 1e-6))
	if err != nil {
		fmt.Println(err)
		return
	}
	d, _ := data.Design()
	for j, v := range model.Theta() {
		fmt.Printf("%s %.2f\n", d.Features[j], v)
	}
	// Output:
	// age 0.67
	// weight -0.00
	// smoker=no -0.22
	// smoker=yes -0.00
	// bias -0.28
}

// Several classes in one fit.
func ExampleSoftmax() {
	train, test := learn.Patients(8000, 1), learn.Patients(3000, 2)
	model, err := learn.Softmax{Noise: learn.Seed(1)}.Fit(learn.Classes(train, "ward", learn.RowNorm(1)),
		learn.Simulate(1, 1e-6))
	if err != nil {
		fmt.Println(err)
		return
	}
	known := learn.Classes(test, "ward", learn.RowNorm(1))
	names, _ := model.PredictClass(known)
	accuracy, _ := model.Score(known)
	fmt.Printf("%v …: %.0f %% right, the most frequent ward has %.0f %%\n", names[:3], 100*accuracy,
		100*known.MajorityShare())
	// Output:
	// [bones heart bones] …: 57 % right, the most frequent ward has 42 %
}

// One fit for each class, with composed privacy, needs more noise than Softmax.
func ExampleOneVsRest() {
	data := learn.Classes(learn.Patients(8000, 1), "ward", learn.RowNorm(1))
	for _, l := range []learn.Learner{learn.Softmax{Noise: learn.Seed(1)}, learn.OneVsRest{Noise: learn.Seed(1)}} {
		model, err := l.Fit(data, learn.Simulate(1, 1e-6))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("σ = %.1f\n", model.Release.NoiseScale)
	}
	// Output:
	// σ = 5.7
	// σ = 7.9
}

// Mechanisms and learners at the same guarantee.
func ExampleCompare() {
	data := learn.Binary(learn.Patients(4000, 1), "ill", learn.RowNorm(1))
	svm := learn.MechanismOf("SVM", func(src noise.Source) learn.Learner { return learn.SVM{Noise: src} })
	c := learn.Compare(data, 0.5, append(learn.AllMechanisms[:4:4], svm)...)
	for _, r := range c.Rows {
		fmt.Printf("%-35s λ = %5.2f, σ = %4.1f\n", r.Mechanism, r.Lambda, r.Sigma)
	}
	// Output:
	// objective perturbation              λ =  2.57, σ =  8.7
	// objective perturbation, as in dtz24 λ =  2.46, σ = 11.0
	// objective perturbation, as in rkw23 λ =  2.73, σ = 11.0
	// objective perturbation, as in KST12 λ =  1.11, σ = 22.9
	// SVM                                 λ =  2.57, σ =  8.7
}

// How well private fits predict at several ε.
func ExampleSweepEpsilon() {
	train, test := learn.Patients(3000, 1), learn.Patients(3000, 2)
	curve, err := learn.SweepEpsilon(learn.Huber{Noise: learn.Seed(1)}, learn.Regression(train, "pressure"),
		learn.Regression(test, "pressure"), 1e-6, 4, 0.1, 1, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, eps := range curve.Epsilons {
		fmt.Printf("ε = %-4g R² = %.1f\n", eps, curve.Mean[i])
	}
	// Output:
	// ε = 0.1  R² = 0.6
	// ε = 1    R² = 0.6
	// ε = 10   R² = 0.6
}

// The release alone puts wide intervals on its coefficients, free. A tenth of the budget for their curvature makes them
// narrow.
func ExampleModel_Intervals() {
	data := learn.Binary(learn.Patients(8000, 1).Drop("visits", "ward", "pressure", "smoker"), "ill", learn.NoBias())
	for _, share := range []float64{0, 0.1} {
		model, err := learn.Logistic{CurvatureShare: share, Noise: learn.Seed(1)}.Fit(data, learn.Simulate(1, 1e-6))
		if err != nil {
			fmt.Println(err)
			return
		}
		iv, err := model.Intervals(0.95)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("σ = %.1f, intervals %.1f wide, proved for every dataset: %v\n", model.Release.NoiseScale,
			iv.Width(), iv.Proved)
	}
	// Output:
	// σ = 6.0, intervals 10.7 wide, proved for every dataset: true
	// σ = 6.3, intervals 0.8 wide, proved for every dataset: false
}

// Pure ε, of numbers without bounds: the schema says where most values are, and no more.
func ExampleHeavyTails() {
	df := learn.Patients(3000, 1).Drop("ill").Drop("smoker")
	data := learn.Regression(df, "pressure")
	budget := learn.NewBudget(2, 0, learn.Named("heavy tails example"))
	model, err := learn.HeavyTails{Noise: learn.Seed(1)}.Fit(data, budget.Spend(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	state, err := budget.State()
	fmt.Println(model.Release.Guarantee.Epsilon, model.Release.Guarantee.Delta, state.RemainingEpsilon, err)
	// Output: 1 0 1 <nil>
}
