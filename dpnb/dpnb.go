// Package dpnb is the front door of differentially private convex learning in
// Jupyter notebooks: read a table, state a privacy budget, fit a model, show
// the result and what it cost.
//
// It has names and no code: what stands behind them is in the packages that they
// point to, of which learn has most. A notebook types dpnb.Logistic, a library that
// builds on this module may import learn and its neighbours instead. Everybody may
// enter; only the command line and notebooks do.
package dpnb

import (
	"github.com/go-gota/gota/dataframe"

	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Tables and what is publicly known of their columns.
type (
	// DataFrame is a table of raw records: learn.DataFrame.
	DataFrame = learn.DataFrame
	// CSV says how a file is read.
	CSV = learn.CSV
	// Field is the public knowledge of one column.
	Field = learn.Field
	// Dataset is records that a learner can take: learn.Dataset.
	Dataset = learn.Dataset
	// Records are kinds of them that Model.Predict takes.
	Records = learn.Records
	// Option says how records are made of a table.
	Option = learn.Option
)

// Constructors of fields: bounds and categories that are known without the data.
var (
	// Numeric is a number in [lower, upper].
	Numeric = learn.Numeric
	// Log is a number in [lower, upper] that is used on a logarithmic scale.
	Log = learn.Log
	// Categorical is one of the given categories.
	Categorical = learn.Categorical
)

// ReadCSV reads a comma-separated file with a header line. An error is carried by the
// table, and comes from Fit or Show.
func ReadCSV(path string) DataFrame { return learn.ReadCSV(path) }

// ReadCSVWith reads a file with the given settings.
func ReadCSVWith(path string, settings *CSV) DataFrame { return learn.ReadCSVWith(path, settings) }

// FromGota takes a gota dataframe.
func FromGota(df dataframe.DataFrame) DataFrame { return learn.FromGota(df) }

// Adult returns the Adult census, or invented people where the file is not there.
func Adult() (train, test DataFrame) { return learn.Adult() }

// Patients returns invented patients, for examples.
func Patients(rows int, seed uint64) DataFrame { return learn.Patients(rows, seed) }

// Binary makes records of two classes, for Logistic and SVM.
func Binary(df DataFrame, label string, opts ...Option) *Dataset {
	return learn.Binary(df, label, opts...)
}

// Regression makes records of a number, for Linear and Huber.
func Regression(df DataFrame, target string, opts ...Option) *Dataset {
	return learn.Regression(df, target, opts...)
}

// Counts makes records of a count, for Poisson.
func Counts(df DataFrame, target string, opts ...Option) *Dataset {
	return learn.Counts(df, target, opts...)
}

// Classes makes records of several classes, for Softmax and OneVsRest.
func Classes(df DataFrame, label string, opts ...Option) *Dataset {
	return learn.Classes(df, label, opts...)
}

// RowNorm scales records to norm r at most.
func RowNorm(r float64) Option { return learn.RowNorm(r) }

// ClipNorm clips longer records to norm r and leaves the others.
func ClipNorm(r float64) Option { return learn.ClipNorm(r) }

// Positive says which category of the label is the positive class.
func Positive(category string) Option { return learn.Positive(category) }

// NoBias leaves out the constant feature of an intercept.
func NoBias() Option { return learn.NoBias() }

// InferBounds reads bounds off the data, which no guarantee covers.
func InferBounds() Option { return learn.InferBounds() }

// Learners: the zero value of each is right.
type (
	// Learner is a way to fit: learn.Learner.
	Learner = learn.Learner
	// Logistic is logistic regression.
	Logistic = learn.Logistic
	// SVM is a linear support vector machine.
	SVM = learn.SVM
	// Linear is least squares.
	Linear = learn.Linear
	// Huber is regression that outliers do not move.
	Huber = learn.Huber
	// Poisson is regression of counts.
	Poisson = learn.Poisson
	// Softmax is multinomial logistic regression.
	Softmax = learn.Softmax
	// OneVsRest is a logistic regression for each class.
	OneVsRest = learn.OneVsRest

	// Model is what a learner returns: learn.Model.
	Model = learn.Model
	// Intervals are confidence intervals of coefficients.
	Intervals = learn.Intervals
)

// What may be spent.
type (
	// Budget is (ε, δ) and what was spent of it: learn.Budget.
	Budget = learn.Budget
	// BudgetOption says which budget is meant and where its ledger lies.
	BudgetOption = learn.BudgetOption
	// Allowance is what one fit may spend.
	Allowance = learn.Allowance
)

// NewBudget states a budget of (ε, δ) under add/remove-one, or goes on with the one
// that was stated before: learn.NewBudget.
func NewBudget(epsilon, delta float64, opts ...BudgetOption) *Budget {
	return learn.NewBudget(epsilon, delta, opts...)
}

// Named tells budgets of different data apart.
func Named(name string) BudgetOption { return learn.Named(name) }

// KeptIn keeps the ledger in a file that outlives the notebook or program.
func KeptIn(path string) BudgetOption { return learn.KeptIn(path) }

// Simulate allows a fit at (ε, δ) that is paid for by no budget, on public data.
func Simulate(epsilon, delta float64) Allowance { return learn.Simulate(epsilon, delta) }

// Seed returns the reproducible noise of a seed, for simulations.
func Seed(seed uint64) noise.Source { return learn.Seed(seed) }

// Comparisons and predictions.
type (
	// Mechanism is a way to fit that Compare can hold against others.
	Mechanism = learn.Mechanism
	// Comparison is what Compare returns.
	Comparison = learn.Comparison
	// CompareSettings are those of CompareWith.
	CompareSettings = learn.CompareSettings
	// CompareRow is one mechanism's.
	CompareRow = learn.CompareRow
	// ScoreCurve is what Measure returns.
	ScoreCurve = learn.ScoreCurve
	// Plan is a study that has not been made yet.
	Plan = learn.Plan
	// Forecast is what Predict returns.
	Forecast = learn.Forecast
)

// AllMechanisms is every mechanism that can be compared.
var AllMechanisms = learn.AllMechanisms

// By is the mechanism of a learner, for Compare.
func By(name string, learner func(src noise.Source) Learner) Mechanism {
	return learn.By(name, learner)
}

// Compare fits public data by every mechanism at (ε, 10⁻⁶) and scores them.
func Compare(data *Dataset, epsilon float64, mechanisms ...Mechanism) *Comparison {
	return learn.Compare(data, epsilon, mechanisms...)
}

// CompareWith is Compare with settings.
func CompareWith(s CompareSettings, data *Dataset, epsilon float64, mechanisms ...Mechanism) *Comparison {
	return learn.CompareWith(s, data, epsilon, mechanisms...)
}

// Measure fits l on train at every ε and scores on test, for a curve.
func Measure(l Learner, train, test *Dataset, delta float64, seeds int, epsilons ...float64) (*ScoreCurve, error) {
	return learn.Measure(l, train, test, delta, seeds, epsilons...)
}

// Predict says what private learning will cost, before any data are seen.
func Predict(plan Plan) *Forecast { return learn.Predict(plan) }

// Show shows anything of this package, a figure, an error, or a gota dataframe: in a
// notebook as a table or an image, elsewhere as text.
func Show(things ...any) { learn.Show(things...) }
