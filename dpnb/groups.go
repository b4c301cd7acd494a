package dpnb

import "github.com/dpnb/notebooks/dpnb/learn"

// Models are models of groups of the records: FitBy.
type Models = learn.Models

// FitBy fits a model for each public category of a column, at the price of one model:
//
//	models, err := dpnb.FitBy(dpnb.Logistic{}, df, "ward", func(part dpnb.DataFrame) *dpnb.Dataset {
//		return dpnb.Binary(part, "ill")
//	}, budget.Share(0.5))
func FitBy(l Learner, df DataFrame, column string, records func(part DataFrame) *Dataset,
	a Allowance) (*Models, error) {
	return learn.FitBy(l, df, column, records, a)
}

// FitByOnce is FitBy with FitOnce for each group.
func FitByOnce(name string, l Learner, df DataFrame, column string, records func(part DataFrame) *Dataset,
	a Allowance) (*Models, error) {
	return learn.FitByOnce(name, l, df, column, records, a)
}
