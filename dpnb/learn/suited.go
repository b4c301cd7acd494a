package learn

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/frame"
)

// Suited returns records for a target and the learner that suits what is publicly known about it: SVM for two
// categories, Softmax for more, Huber for a number within bounds, HeavyTails for one without. SVM and Huber spend a
// twentieth on intervals for their effects, where there are some for the population. A report on any table begins with
// it, and the records, shown, say what was chosen and why. The choices rest on measurements: docs/theory/geometry.md,
// section 6.
//
//	learner, data := dpnb.Suited(df, "happy")
//	model, err := learner.Fit(data, budget.Spend(0.5))
//
// Errors (in the data's Err, and said by Fit): as Binary and Regression.
func Suited(df DataFrame, target string, opts ...Option) (Learner, *Dataset) {
	because := func(l Learner, d *Dataset, what, why string) (Learner, *Dataset) {
		d.why = fmt.Sprintf("Suited: %s, because %s %s.", what, target, why)
		return l, d
	}
	if df.schema != nil {
		if f, ok := df.schema.Field(target); ok {
			switch {
			case f.Kind == frame.Categorical && len(f.Levels) > 2:
				return because(Softmax{}, Classes(df, target, opts...), "softmax regression",
					"has several categories: one joint fit needs less noise than one for each")
			case f.Kind == frame.Categorical:
				data := Binary(df, target, opts...)
				share, intervals := suitedIntervals(SVM{}, data)
				return because(SVM{CurvatureShare: share, suited: true}, data,
					"a support vector machine", "has two categories: it ranks better than logistic regression where "+
						"noise is large, and gives probabilities; "+intervals)
			case f.Open:
				return because(HeavyTails{}, Regression(df, target, opts...), "HeavyTails", "has no public bounds")
			}
		}
	}
	data := Regression(df, target, opts...)
	share, intervals := suitedIntervals(Huber{}, data)
	return because(Huber{CurvatureShare: share, suited: true}, data,
		"Huber regression", "is a number within bounds: few targets far off do not need more noise; "+intervals)
}

// suitedIntervals says what is spent on intervals of l: nothing where there are none for the population, as a column
// must rise, records have weights, a person has several rows, or rows are not centred.
func suitedIntervals(l Learner, d *Dataset) (share float64, why string) {
	switch {
	case d.Err() != nil:
	case mustRise(d.design.Encoding):
		return 0, "there are no intervals where a column must rise or fall"
	case d.design.Target.Weighted:
		return 0, "nothing is spent on intervals where records have weights"
	case d.design.RowsOfAPerson > 1:
		return 0, "nothing is spent on intervals where a person has several rows, of which there are none for the " +
			"population"
	case d.remote || !l.spec().buys(d.design):
		return 0, "nothing is spent on intervals where rows are not centred, of which there are none for the population"
	}
	return suitedShare, "a twentieth is spent on intervals for its effects where there is a δ"
}

// suitedShare is what Suited spends on intervals.
const suitedShare = 0.05
