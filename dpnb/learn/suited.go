package learn

import "github.com/dpnb/notebooks/dpnb/frame"

// Suited returns records for a target and the learner that suits what is publicly known about it: SVM for two
// categories, Softmax for more, Huber for a number within bounds, HeavyTails for one without. For people with
// several rows it returns OneVsRest instead of Softmax, and Linear with pure ε instead of Huber, because what
// these cost for all rows of a person is known. SVM and Huber spend a twentieth on intervals for their effects. A
// report on any table begins with it. The choices rest on measurements:
// docs/theory/geometry.md, section 6.
//
//	learner, data := dpnb.Suited(df, "happy")
//	model, err := learner.Fit(data, budget.Spend(0.5))
//
// Errors (in the data's Err, and said by Fit): as Binary and Regression.
func Suited(df DataFrame, target string, opts ...Option) (Learner, *Dataset) {
	if df.schema != nil {
		if f, ok := df.schema.Field(target); ok {
			switch {
			case f.Kind == frame.Categorical && len(f.Levels) > 2 && df.rows > 1:
				return OneVsRest{}, Classes(df, target, opts...)
			case f.Kind == frame.Categorical && len(f.Levels) > 2:
				return Softmax{}, Classes(df, target, opts...)
			case f.Kind == frame.Categorical:
				return SVM{CurvatureShare: suitedShare, suited: true}, Binary(df, target, opts...)
			case f.Open:
				return HeavyTails{}, Regression(df, target, opts...)
			}
		}
	}
	if df.rows > 1 {
		return Linear{Pure: true}, Regression(df, target, opts...)
	}
	return Huber{CurvatureShare: suitedShare, suited: true}, Regression(df, target, opts...)
}

// suitedShare is what Suited spends on intervals.
const suitedShare = 0.05
