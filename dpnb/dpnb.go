// Package dpnb is differentially private convex learning for Jupyter notebooks: read a table, state a privacy budget,
// fit a model, show the result and what it cost.
//
//	df := dpnb.ReadCSV("people.csv").WithSchema(
//		dpnb.Numeric("age", 17, 90), dpnb.Categorical("city", "Bern", "Rome"), dpnb.Categorical("happy", "no", "yes"))
//	budget := dpnb.NewBudget(1, 1e-6)
//	data := dpnb.Binary(df, "happy")
//	model, err := dpnb.Logistic{}.Fit(data, budget.Spend(0.5))
//	dpnb.Show(model, err, budget)
//
// Errors are carried along: Fit or Show reports a wrong path, and nothing is spent.
//
// This package has names and no code: the code is in package learn and its neighbours, which a library that builds on
// this module may import instead. It is for notebooks: no other package of this module imports it.
package dpnb

import (
	"github.com/go-gota/gota/dataframe"

	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// # Tables and their columns

// Tables, and what is publicly known of their columns.
type (
	// DataFrame is a table of raw records with what is publicly known about its columns:
	//
	//	df.WithSchema(dpnb.Numeric("age", 17, 90))   // bounds that are known without the data
	//	df.Drop("name").DropMissing("age")
	//	dpnb.Show(df.Check())                        // typing errors, for the keeper of the data
	DataFrame = learn.DataFrame
	// Row is a row as the rules of df.Where, df.DeriveNumber and df.DeriveText see it:
	//
	//	grown := df.Where(func(r dpnb.Row) bool { return r.Number("age") >= 18 }, "age")
	Row = learn.Row
	// CSV says how ReadCSVWith reads a file: what separates fields and decimals, its encoding, lines to skip, the names
	// of its columns, which texts mean "missing".
	CSV = learn.CSV
	// Pattern has texts count as a category: dpnb.Categorical("title", "doctor", "other").Categorised(
	// dpnb.Pattern{Match: "(?i)^dr", As: "doctor"}).OrElse("other").
	Pattern = learn.Pattern
	// Field is what is publicly known about one column, made by Numeric, Log or Categorical. It can say what values
	// count as that do not fit:
	//
	//	dpnb.Categorical("city", "Bern", "Rome").OrElse("elsewhere")
	//	dpnb.Numeric("age", 17, 90).OrMissingAs(40)
	//
	// and which category models show the others against:
	//
	//	dpnb.Categorical("marital", "never", "married", "divorced").Against("married")
	Field = learn.Field
	// Dataset is records that a learner can take: Binary, Regression, Counts or Classes makes it from a DataFrame. Show
	// lists what was done to the records and what it cost.
	Dataset = learn.Dataset
	// Option is an option of Binary, Regression, Counts and Classes: Lines, Curves, InUnits, Uncentred, RowNorm,
	// ClipNorm, Positive, NoBias, StoredIn or InferBounds.
	Option = learn.Option
)

// What is known of a column without the data.
var (
	// Numeric is a number in [lower, upper]; a value beyond a bound counts as the bound:
	//
	//	dpnb.Numeric("age", 17, 90)
	//
	// Where no bounds are known, HeavyTails makes do with two numbers between which most values lie:
	//
	//	dpnb.Numeric("income", 0, 50_000).Unbounded()
	Numeric = learn.Numeric
	// Log is a number x in [lower, upper] that spreads over orders of magnitude and is used on a logarithmic scale,
	// ln(x/lower), or ln(1 + x − lower) if lower is not positive:
	//
	//	dpnb.Log("income", 1e3, 1e6).OrMissingAs(30_000)
	//
	// Without OrMissingAs a missing number counts as the middle of that scale, here 31,623.
	Log = learn.Log
	// Categorical is one of the given categories:
	//
	//	dpnb.Categorical("happy", "no", "yes")
	Categorical = learn.Categorical
	// Date is a date between two days, as a number of days; Year, Month, Weekday and Hour are parts of one. The layout
	// is how the file writes 2 January 2006, 15:04:
	//
	//	dpnb.Date("admitted", "02.01.2006", "01.01.2015", "31.12.2024")
	//	dpnb.Weekday("admitted", "2006-01-02 15:04")
	Date    = learn.Date
	Year    = learn.Year
	Month   = learn.Month
	Weekday = learn.Weekday
	// Hour is the time of the day in hours, from 0 to 24. Of a column whose weekday is learnt, too, it is a copy:
	//
	//	dpnb.Hour("hour", "2006-01-02 15:04").CopyOf("admitted")
	Hour = learn.Hour
)

// ReadCSV reads a comma-separated file with a header line. Fit or Show reports a wrong path or a broken line; Err
// reports it at once.
//
//	df := dpnb.ReadCSV("people.csv").WithSchema(dpnb.Numeric("age", 17, 90))
func ReadCSV(path string) DataFrame { return learn.ReadCSV(path) }

// ReadCSVWith reads a file as settings say:
//
//	df := dpnb.ReadCSVWith("people.data", &dpnb.CSV{Header: []string{"age", "city"}, Missing: []string{"?"}})
//	df := dpnb.ReadCSVWith("Leute.csv", &dpnb.CSV{Comma: ';', Decimal: ',', Encoding: "Windows-1252"})
func ReadCSVWith(path string, settings *CSV) DataFrame { return learn.ReadCSVWith(path, settings) }

var (
	// FromScanner takes a table that is read in chunks, from a file that may be larger than memory:
	//
	//	df := dpnb.FromScanner(parquet.Open("people.parquet", nil)) // of package dpnb/frame/parquet
	//	df := dpnb.FromScanner(frame.ScanCSV("people.csv", nil))    // of package dpnb/frame
	//
	// Questions are answered by scans. Records for learning are kept, encoded, in the user's cache folder until
	// RemoveStored; df.Collect() reads the table into memory instead.
	FromScanner = learn.FromScanner
	// StoredIn is an option of Binary and the others that says where and how these are kept:
	//
	//	dpnb.Binary(df, "ill", dpnb.StoredIn(dpnb.Storage{Dir: "/fast/disk", Double: true}))
	StoredIn = learn.StoredIn
)

// Storage says where the records of a table that is scanned are kept.
type Storage = learn.Storage

// RemoveStored removes the encoded records that fits of scanned tables have kept.
func RemoveStored() error { return learn.RemoveStored() }

var (
	// FromColumns takes what a program has in memory, a slice for each column:
	//
	//	df := dpnb.FromColumns(dpnb.Numbers("age", ages), dpnb.Texts("city", cities)).WithSchema(…)
	FromColumns = learn.FromColumns
	// Numbers is a column of numbers, a copy of a slice; NaN is missing.
	Numbers = learn.Numbers
	// Texts is a column of texts, a copy of a slice; "" is missing.
	Texts = learn.Texts
)

// FromGota takes a gota dataframe, of whose columns gota must not guess the types; df.Gota() gives one back.
//
//	df := dpnb.FromGota(func(texts ...dataframe.LoadOption) dataframe.DataFrame {
//		return dataframe.ReadCSV(file, append(texts, dataframe.WithDelimiter(';'))...)
//	})
func FromGota(load func(texts ...dataframe.LoadOption) dataframe.DataFrame) DataFrame {
	return learn.FromGota(load)
}

// Adult returns the training and the test part of the Adult census (who earns more than 50,000 dollars a year?) with
// its public schema, or invented people where the files are not on this machine. Show(train.Origin()) says which.
//
//	train, test := dpnb.Adult()
//	data := dpnb.Binary(train, "income")
func Adult() (train, test DataFrame) { return learn.Adult() }

// Patients returns invented patients with their public schema and something to learn for every learner: pressure is a
// number, visits a count, ill has two classes and ward three. The same seed gives the same patients.
//
//	data := dpnb.Regression(dpnb.Patients(10000, 1), "pressure")
func Patients(rows int, seed uint64) DataFrame { return learn.Patients(rows, seed) }

// # Records for learning

// Binary makes records of two classes, for Logistic and SVM, and for HeavyTails with LogisticLoss or HingeLoss.
//
//	data := dpnb.Binary(df, "happy")
func Binary(df DataFrame, label string, opts ...Option) *Dataset {
	return learn.Binary(df, label, opts...)
}

// Regression makes records of a number within public bounds, for Linear, Huber, Quantile and Quantiles; and for
// HeavyTails, which needs no bounds.
//
//	data := dpnb.Regression(df, "pressure")
func Regression(df DataFrame, target string, opts ...Option) *Dataset {
	return learn.Regression(df, target, opts...)
}

// Counts makes records of a count 0, 1, 2, … up to a public bound, for Poisson.
//
//	data := dpnb.Counts(df, "visits")
func Counts(df DataFrame, target string, opts ...Option) *Dataset {
	return learn.Counts(df, target, opts...)
}

// Classes makes records of several classes, for Softmax and OneVsRest.
//
//	data := dpnb.Classes(df, "ward")
func Classes(df DataFrame, label string, opts ...Option) *Dataset {
	return learn.Classes(df, label, opts...)
}

// Suited makes records for the target and returns the learner that suits it by the schema: SVM for two categories,
// Softmax for more, Huber for a number, HeavyTails for one without bounds.
//
//	learner, data := dpnb.Suited(df, "happy")
func Suited(df DataFrame, target string, opts ...Option) (Learner, *Dataset) {
	return learn.Suited(df, target, opts...)
}

// InUnits has effects in the units of the columns: rows are as long as they are, and not scaled to one norm.
func InUnits() Option { return learn.InUnits() }

// Curves has a model be a sum of curves and nothing else; numbers of a table that is scanned bend, too, with nine times
// as much room for its records.
func Curves() Option { return learn.Curves() }

// Lines has what is learnt of a number be a straight line, where else it can bend.
//
//	data := dpnb.Regression(df, "pressure", dpnb.Lines())
func Lines() Option { return learn.Lines() }

// Line has what is learnt of one number be a straight line, where others bend.
//
//	data := dpnb.Binary(df, "happy", dpnb.Line("age"))
func Line(column string) Option { return learn.Line(column) }

// Steps has what is learnt of a number be a level for each interval between public cuts, shown against the first.
//
//	data := dpnb.Binary(df, "happy", dpnb.Steps("age", 18, 65))
func Steps(column string, cuts ...float64) Option { return learn.Steps(column, cuts...) }

// Periodic has the curve of a number end as it begins. The period is the width of its bounds.
//
//	data := dpnb.Counts(df, "visits", dpnb.Periodic("hour", 24))
func Periodic(column string, period float64) Option { return learn.Periodic(column, period) }

// Rising has what is learnt of a column rise within the fit, which costs nothing.
//
//	data := dpnb.Regression(df, "pressure", dpnb.Rising("age"))
func Rising(column string) Option { return learn.Rising(column) }

// Falling has what is learnt of a column fall within the fit.
func Falling(column string) Option { return learn.Falling(column) }

// Cross has two columns learnt together, beside each by itself: an effect of each pair of categories, a curve of a
// number for each category, or a slope of one number that depends on another.
//
//	data := dpnb.Binary(df, "happy", dpnb.Cross("age", "sex"))
func Cross(column, with string) Option { return learn.Cross(column, with) }

// Uncentred has rows of the plainest features, numbers in [0, 1] and an indicator for each category, with more noise
// for what all of them share: else rows are centred.
func Uncentred() Option { return learn.Uncentred() }

// RowNorm scales every record to Euclidean norm r. Nothing need be said where rows are centred, whose norm is 1; of
// those that are Uncentred the usual choice is RowNorm(1).
func RowNorm(r float64) Option { return learn.RowNorm(r) }

// ClipNorm scales records that are longer than r down to norm r and leaves the others.
func ClipNorm(r float64) Option { return learn.ClipNorm(r) }

// Positive names the category to predict; without it that is the last in the schema.
//
//	data := dpnb.Binary(df, "happy", dpnb.Positive("no"))
func Positive(category string) Option { return learn.Positive(category) }

// WeightsFrom has the records count by a column of weights, as of a survey: a record of half the public bound half as
// much as one of the bound. What is missing, negative or no number is 0.
//
//	data := dpnb.Binary(df, "happy", dpnb.WeightsFrom("weight", 20))
func WeightsFrom(column string, bound float64) Option { return learn.WeightsFrom(column, bound) }

// ClassWeights has the records of two classes count by public weights; a class that is not named weighs 1.
//
//	data := dpnb.Binary(df, "ill", dpnb.ClassWeights(map[string]float64{"yes": 5}))
func ClassWeights(weights map[string]float64) Option { return learn.ClassWeights(weights) }

// NoBias leaves out the constant feature, and with it the intercept.
func NoBias() Option { return learn.NoBias() }

// InferBounds reads bounds and categories off the data where no schema was stated. It is for public data: NO GUARANTEE
// covers the results, and every result says so.
func InferBounds() Option { return learn.InferBounds() }

// # Questions

// Private questions about columns, which cost what they are allowed:
//
//	age, err := dpnb.Mean("age").Of(df, budget.Spend(0.1))
//	dpnb.Show(age, err)
type (
	// Query is a question that has not been asked yet: Mean and the like.
	Query = explore.Query
	// Statistic is the answer to a Query. Show displays its numbers with intervals, and a figure.
	Statistic = explore.Statistic
	// Compared is a forecast beside what was measured: Beside.
	Compared = explore.Compared
	// Price is what an answer of a given precision would cost.
	Price = explore.Price
)

// Mean asks for the mean of a column of numbers.
//
//	age, err := dpnb.Mean("age").Of(df, budget.Spend(0.1))
//
//	dpnb.Show(dpnb.Mean("age").Planned(10_000).Price(df, 0.5, 0.95)) // to ± 0.5, with 95 % confidence
func Mean(column string) Query { return explore.Mean(column) }

// Count asks how many records there are, or how many are in each group.
//
//	n, err := dpnb.Count().By("sex").Of(df, budget.Spend(0.1))
func Count() Query { return explore.Count() }

// Histogram asks how many records lie between public edges, or in each category.
//
//	ages, err := dpnb.Histogram("age", 17, 30, 45, 65, 90).Of(df, budget.Spend(0.1))
func Histogram(column string, edges ...float64) Query { return explore.Histogram(column, edges...) }

// Keys asks which values of a column many people share, where its values are not listed.
//
//	cities, err := dpnb.Keys("city").Of(df, budget.Spend(0.1))
//	df = df.WithSchema(dpnb.Categorical("city", cities.Names()...).OrElse("elsewhere"))
func Keys(column string) Query { return explore.Keys(column) }

// Crosstab asks how many records have each combination of categories.
//
//	table, err := dpnb.Crosstab("sex", "income").Of(df, budget.Spend(0.1))
func Crosstab(columns ...string) Query { return explore.Crosstab(columns...) }

// Sum asks for the sum of a column of numbers.
func Sum(column string) Query { return explore.Sum(column) }

// QuantilesOf asks for quantiles of a column of numbers, at rising levels between 0 and 1.
//
//	ages, err := dpnb.QuantilesOf("age", 0.25, 0.5, 0.75).Of(df, budget.Spend(0.1))
func QuantilesOf(column string, levels ...float64) Query {
	return explore.QuantilesOf(column, levels...)
}

// Variance asks for the variance of a column of numbers, and for its standard deviation.
func Variance(column string) Query { return explore.Variance(column) }

// Correlations asks for the correlation of each pair of columns of numbers.
//
//	c, err := dpnb.Correlations("age", "hours", "income").Of(df, budget.Spend(0.1))
func Correlations(columns ...string) Query { return explore.Correlations(columns...) }

// Describe asks for the number of records, and for mean, standard deviation and quartiles of every column that is a
// number in the schema.
//
//	dpnb.Show(dpnb.Describe().Of(df, budget.Spend(0.1)))
func Describe() Query { return explore.Describe() }

// MedianOf asks for the median of a column of numbers.
func MedianOf(column string) Query { return explore.MedianOf(column) }

// LossOf asks how wrong a released model is on average, on records to which it was not fitted.
//
//	train, rest := df.Split(0.8, "kept for the error")
//	wrong, err := dpnb.LossOf(model).Of(rest, budget.Share(0.05))
func LossOf(m *Model) Query { return explore.LossOf(m) }

// ConfusionOf asks for the confusion matrix of a released model of classes, with its accuracy and the recall and the
// precision of each class; AUCOf for how well a model of two classes ranks; CalibrationOf for how often what it
// predicts comes true. Like LossOf they are about records to which it was not fitted.
//
//	dpnb.Show(dpnb.AUCOf(model).Planned(10_000).Price(rest, 0.02, 0.95))
//	dpnb.Show(dpnb.ConfusionOf(model).Of(rest, budget.Share(0.05)))
func ConfusionOf(m *Model) Query { return explore.ConfusionOf(m) }

// AUCOf: see ConfusionOf.
func AUCOf(m *Model) Query { return explore.AUCOf(m) }

// CalibrationOf: see ConfusionOf.
func CalibrationOf(m *Model) Query { return explore.CalibrationOf(m) }

// Calibrated returns the model with the calibration that its released curve says, which costs nothing more.
//
//	curve, err := dpnb.CalibrationOf(model).Of(rest, budget.Share(0.05))
//	model, err = dpnb.Calibrated(model, curve)
func Calibrated(m *Model, curve *Statistic) (*Model, error) { return explore.Calibrated(m, curve) }

// Beside puts a forecast beside what LossOf has measured. Show displays a table and a figure.
//
//	dpnb.Show(dpnb.Beside(dpnb.StudyOf(data, 10_000, 0.5, 1e-6).Forecast(), wrong))
func Beside(forecast *Forecast, measured *Statistic) *Compared {
	return explore.Beside(forecast, measured)
}

// # Learners

// Learners. The zero value of each is right:
//
//	model, err := dpnb.Logistic{}.Fit(data, budget.Spend(0.5))     // private; charges the budget
//	plain, err := dpnb.Logistic{}.FitWithoutPrivacy(data)          // for comparison on public data
type (
	// Learner is any of those below.
	Learner = learn.Learner
	// Logistic is logistic regression, for Binary.
	Logistic = learn.Logistic
	// SVM is a linear support vector machine, for Binary.
	SVM = learn.SVM
	// Linear is least squares, for Regression.
	Linear = learn.Linear
	// Huber is regression that is robust to outliers, for Regression.
	Huber = learn.Huber
	// Quantile is quantile regression, for Regression: dpnb.Quantile{Tau: 0.9}.
	Quantile = learn.Quantile
	// Median is median regression, for Regression.
	Median = learn.Median
	// Quantiles is quantile regression at several levels in one fit, for Regression:
	//
	//	model, err := dpnb.Quantiles{Levels: []float64{0.05, 0.5, 0.95}}.Fit(data, budget.Spend(0.5))
	//	dpnb.Show(model.QuantileScores(other))
	//	dpnb.Show(model.Bands("age", map[string]any{"smoker": "yes"}))
	Quantiles = learn.Quantiles
	// Quadratic is least squares by quadratic perturbation, for Regression with targets that one model predicts
	// exactly: its guarantee rests on that assumption, which must be stated.
	//
	//	l := dpnb.Quadratic{Interpolation: dpnb.AssumeInterpolation(public.Theta(), 0.1)}
	Quadratic = learn.Quadratic
	// Interpolation is the assumption of Quadratic: AssumeInterpolation makes it.
	Interpolation = learn.Interpolation
	// Regulariser is ℓ₁, of single coefficients or of whole columns, or a constraint, for Linear, Huber and Quadratic:
	//
	//	model, err := dpnb.Linear{Regularise: dpnb.Regulariser{L1: 30}}.Fit(data, budget.Spend(0.5))
	Regulariser = learn.Regulariser
	// HeavyTails is regression with pure ε, for numbers without bounds if need be, for Regression; and for Binary as
	// dpnb.HeavyTails{Loss: dpnb.LogisticLoss}.
	HeavyTails = learn.HeavyTails
	// MomentEstimate is a private estimate of how long gradients are, for HeavyTails.MomentBound:
	//
	//	g, err := dpnb.HeavyTails{Moment: 2}.EstimateMoment(data, budget.Spend(0.05))
	MomentEstimate = learn.MomentEstimate
	// HeavyLoss is what HeavyTails minimises.
	HeavyLoss = learn.HeavyLoss
	// HeavyMethod is how HeavyTails is made private.
	HeavyMethod = learn.HeavyMethod
	// Poisson is regression of counts, for Counts.
	Poisson = learn.Poisson
	// Softmax is multinomial logistic regression, for Classes.
	Softmax = learn.Softmax
	// OneVsRest is a logistic regression for each class, for Classes.
	OneVsRest = learn.OneVsRest
	// Tune fits the best of several learners, or sets of columns, and pays for the choice:
	//
	//	l := dpnb.Tune{Learners: []dpnb.Learner{dpnb.Logistic{}, dpnb.SVM{Width: 3}}}
	//	l.Without = [][]string{nil, {"city"}}
	Tune = learn.Tune
)

// The losses of HeavyTails.
const (
	AbsoluteLoss = learn.AbsoluteLoss
	PinballLoss  = learn.PinballLoss
	HuberLoss    = learn.HuberLoss
	SquaredLoss  = learn.SquaredLoss
	LogisticLoss = learn.LogisticLoss
	HingeLoss    = learn.HingeLoss
)

// The methods of HeavyTails:
//
//	l := dpnb.HeavyTails{Method: dpnb.ByLocalisation, Records: 20_000}
const (
	ByObjective    = learn.ByObjective
	ByOutput       = learn.ByOutput
	ByDoubleOutput = learn.ByDoubleOutput
	ByLocalisation = learn.ByLocalisation
)

// AssumeInterpolation states that one point, within eta of the anchor, minimises the loss of every record that could
// ever be in the data, and that the anchor was found without them.
func AssumeInterpolation(anchor []float64, eta float64) Interpolation {
	return learn.AssumeInterpolation(anchor, eta)
}

// # Models

// What a fit returns.
type (
	// Model is a fitted model. Show displays its coefficients and its guarantee.
	//
	//	p, err := model.Predict(other)         // one for each record
	//	names, err := model.PredictClass(other)
	//	score, err := model.Score(other)       // accuracy of classes, R² of numbers, D² of counts, R¹ of quantiles
	//	q, err := model.PredictQuantiles(other)
	//	dpnb.Show(model.PredictFrame(other))   // with the probabilities of classes; no labels needed
	//	err = model.PredictCSV("predicted.csv", other, "id")
	//	dpnb.Show(model.Evaluate(other))       // confusion matrix, AUC, calibration
	//	dpnb.Show(model.PopulationIntervals(0.95)) // what goes with what among people: for the population
	//	iv, err := model.Intervals(0.95)       // what the noise has done: for the same fit without it
	//	dpnb.Show(model.Difference("marital", "divorced", "married", 0.95))
	//	dpnb.Show(model.Shapes())              // what each column does, as curves on one page
	//	dpnb.Show(model.Shape("age"))
	//	edited, err := model.With(model.Shape("age").Monotone(+1)) // predicts with a curve that rises, for free
	//	dpnb.Show(model.CoefficientsInUnits()) // without RowNorm: years, dollars
	//	dpnb.Show(model.Card())                // a model card in Markdown; card.Write("happy.md") keeps it
	//	err = model.Save("happy.json")         // and dpnb.Load in another cell, or on another machine
	Model = learn.Model
	// QuantileScores are what Model.QuantileScores returns: pinball loss, R¹ and the shares of targets below, level by
	// level; Show displays them.
	QuantileScores = learn.QuantileScores
	// Evaluation is what Model.Evaluate returns: the confusion matrix, AUC and calibration of a model of classes; Show
	// displays all of it.
	Evaluation = learn.Evaluation
	// Difference is what Model.Difference returns: of two categories of a column, with intervals; Show displays it.
	Difference = learn.Difference
	// Shape is what one column adds to what a model predicts, a curve of a number; ShapePoint is it at one value. It
	// can be changed afterwards, which costs nothing:
	//
	//	age := model.Shape("age").Monotone(+1).Set(80, 90, 0.5).Rounded(0.1)
	//	edited, err := model.With(age)
	Shape      = learn.Shape
	ShapePoint = learn.ShapePoint
	// Surface is what two columns do together, and what they do beyond what each does by itself; SurfacePoint is it at
	// two values.
	//
	//	dpnb.Show(model.Surface("age", "hours").Beyond())
	Surface      = learn.Surface
	SurfacePoint = learn.SurfacePoint
	// Shapes are those of all columns, those first that matter most.
	Shapes = learn.Shapes
	// Intervals are confidence intervals of a model's coefficients; Show displays them.
	Intervals = learn.Intervals
	// Models are models of groups of the records: FitBy.
	Models = learn.Models
)

// Load reads a model that Model.Save has written: the same to the last bit, with its guarantee. A file in which a digit
// was changed is refused.
//
//	model, err := dpnb.Load("happy.json")
func Load(path string) (*Model, error) { return learn.Load(path) }

// FitOnce fits and releases a model under a name, or returns the one that was released under that name before: a cell
// with it can run again and pays once. Another learner, schema or allowance under the same name is an error that says
// what differs. Whether the records have changed is private, and not checked.
//
//	model, err := dpnb.FitOnce("income model", dpnb.Logistic{}, data, budget.Spend(0.5))
func FitOnce(name string, l Learner, data *Dataset, allowance Allowance) (*Model, error) {
	return learn.FitOnce(name, l, data, allowance)
}

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

// # Budgets

// What may be spent.
type (
	// Budget is (ε, δ) and a ledger of what was spent: NewBudget. Show displays it.
	Budget = learn.Budget
	// BudgetCurve is the δ of all releases of a budget at several ε: budget.Curve. Show displays it.
	BudgetCurve = learn.BudgetCurve
	// Cost is what a fit would cost, before it is paid for: budget.Spend(0.5).Cost(learner, data).
	Cost = learn.Cost
	// BudgetOption is an option of NewBudget: Named, KeptIn or Additive.
	BudgetOption = learn.BudgetOption
	// Allowance is what one fit may spend: budget.Spend(0.5), or on public data Simulate. It can have a name in the
	// ledger:
	//
	//	budget.Spend(0.5).For("who is happy")
	Allowance = learn.Allowance
)

// NewBudget states how much may be learnt about any one person in all: (ε, δ) under add/remove-one. Stated again, in
// this cell or another, it is the same budget, with what was spent.
//
//	budget := dpnb.NewBudget(1, 1e-6)
//	budget := dpnb.NewBudget(1, 1e-6, dpnb.Named("wards"), dpnb.KeptIn("wards.budget.json"))
func NewBudget(epsilon, delta float64, opts ...BudgetOption) *Budget {
	return learn.NewBudget(epsilon, delta, opts...)
}

// Named tells budgets of different data apart; without it the name is "main".
func Named(name string) BudgetOption { return learn.Named(name) }

// KeptIn keeps the ledger in a file that outlives the notebook; its folder must be there. Keep the file as safe as the
// data: without it nobody knows what was spent.
func KeptIn(path string) BudgetOption { return learn.KeptIn(path) }

// Additive has what releases cost add up by ε and δ alone, which can be followed by eye and covers fewer of them.
func Additive() BudgetOption { return learn.Additive() }

// Simulate allows a fit at (ε, δ) that no budget pays for, on public or invented data: its noise must come from a Seed,
// and it protects nobody.
//
//	model, err := dpnb.Logistic{Noise: dpnb.Seed(1)}.Fit(data, dpnb.Simulate(1, 1e-6))
func Simulate(epsilon, delta float64) Allowance { return learn.Simulate(epsilon, delta) }

// NoiseSource is where noise comes from: a Seed, or nil for the secure source, which releases need.
type NoiseSource = noise.Source

// Seed returns noise that can be reproduced, for simulations: dpnb.Logistic{Noise: dpnb.Seed(1)}. Every int is a seed.
func Seed(seed int) NoiseSource { return learn.Seed(uint64(seed)) }

// # Experiments and forecasts

// Experiments on public data, and forecasts without any.
type (
	// Mechanism is a way to fit that Compare can compare with others.
	Mechanism = learn.Mechanism
	// Comparison is what Compare returns. Show displays a table and a figure.
	Comparison = learn.Comparison
	// CompareSettings are those of CompareWith: δ, the number of seeds, the test data.
	CompareSettings = learn.CompareSettings
	// ScoreCurve is what SweepEpsilon returns. Show displays a table, Figure draws a figure.
	ScoreCurve = learn.ScoreCurve
	// Study is a planned study; its Forecast says what privacy will cost, before any data are seen:
	//
	//	dpnb.Show(dpnb.Study{Records: 5000, Features: 100, Epsilon: 1}.Forecast())
	Study = learn.Study
	// Forecast is the predicted result of a Study. Show displays it, with its assumptions.
	Forecast = learn.Forecast
)

// StudyOf is the study of the target and features of data, with about the given number of records.
func StudyOf(data *Dataset, records int, epsilon, delta float64) Study {
	return learn.StudyOf(data, records, epsilon, delta)
}

// AllMechanisms is every mechanism that can be compared.
var AllMechanisms = learn.AllMechanisms

// MechanismOf is the mechanism of a learner, for Compare:
//
//	wide := dpnb.MechanismOf("wide SVM", func(noise dpnb.NoiseSource) dpnb.Learner {
//		return dpnb.SVM{Width: 3, Noise: noise}
//	})
func MechanismOf(name string, learner func(src NoiseSource) Learner) Mechanism {
	return learn.MechanismOf(name, learner)
}

// Compare fits public data by every mechanism at the same (ε, 10⁻⁶), with the noise of ten seeds each, and scores the
// fits on records kept aside.
//
//	dpnb.Show(dpnb.Compare(data, 0.5, dpnb.AllMechanisms...))
func Compare(data *Dataset, epsilon float64, mechanisms ...Mechanism) *Comparison {
	return learn.Compare(data, epsilon, mechanisms...)
}

// CompareWith is Compare with settings:
//
//	dpnb.Show(dpnb.CompareWith(dpnb.CompareSettings{Seeds: 50, Test: test}, data, 0.5, dpnb.AllMechanisms...))
func CompareWith(s CompareSettings, data *Dataset, epsilon float64, mechanisms ...Mechanism) *Comparison {
	return learn.CompareWith(s, data, epsilon, mechanisms...)
}

// SweepEpsilon fits public data at every ε, with the noise of the given number of seeds, and scores the fits on test:
// what privacy costs in accuracy.
//
//	curve, err := dpnb.SweepEpsilon(dpnb.Logistic{}, train, test, 1e-6, 20, 0.1, 0.5, 1, 2)
//	dpnb.Show(curve, curve.Figure(), err)
func SweepEpsilon(l Learner, train, test *Dataset, delta float64, seeds int, epsilons ...float64) (*ScoreCurve, error) {
	return learn.SweepEpsilon(l, train, test, delta, seeds, epsilons...)
}

// # Showing

// Show shows anything of this package, a figure, an error, or a gota dataframe: in a notebook as a table or an image,
// elsewhere as text. What may reveal something about individuals is labelled as such.
//
//	dpnb.Show(model, err)
func Show(things ...any) { learn.Show(things...) }

// Must returns v, and ends the cell if there is an error. Where v is shown at once it is not needed, because Show takes
// errors as well.
//
//	score := dpnb.Must(model.Score(test))
func Must[T any](v T, err error) T { return learn.Must(v, err) }

// Valid ends the cell if one of the things is an error, or has one: what was mistyped is said before anything is paid
// for.
//
//	_, data := dpnb.Suited(df, target)
//	dpnb.Valid(data, budget(), dpnb.Mean(number).By(group).Check(df))
func Valid(things ...any) { learn.Valid(things...) }
