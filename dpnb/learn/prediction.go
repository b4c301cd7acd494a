package learn

import (
	"fmt"
	"math"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"

	"github.com/dpnb/notebooks/dpnb/frame"
)

// Predict returns for every record: from Logistic the probability of the
// positive class; from SVM xᵀθ, which is positive where the positive class is
// predicted; of several classes the place in the schema of the one predicted,
// from 0 (PredictClass has its name); of a number the prediction in its own unit; of a
// count its mean. Numbers and counts are moved into their public bounds, as the targets
// were.
//
// The model makes rows of the records as it did in the fit, whatever schema and options
// they come with: Columns are found by name, in any order, others are not looked at,
// and no label is needed.
//
// Errors: the records' own, a column that is not there, or no model.
func (m *Model) Predict(records Records) ([]float64, error) {
	t, err := m.margins(records)
	if err != nil {
		return nil, err
	}
	if m.target.Task == frame.ManyClasses {
		return m.largest(t), nil
	}
	return m.predictions(t), nil
}

// margins returns xᵀθ for every record, those of several classes class by class.
func (m *Model) margins(records Records) ([]float64, error) {
	if err := m.Err(); err != nil {
		return nil, err
	}
	if records == nil {
		return nil, fmt.Errorf("dpnb: no records to predict for")
	}
	rows, err := records.rows(m.encoding)
	if err != nil {
		return nil, err
	}
	d := len(m.features)
	t := make([]float64, rows.N*(len(m.coefficients)/d))
	for c := range len(m.coefficients) / d {
		rows.Margins(t[c*rows.N:(c+1)*rows.N], m.coefficients[c*d:(c+1)*d], 0, rows.N)
	}
	return t, nil
}

// scored returns the records as the model makes them, with their labels, and xᵀθ.
func (m *Model) scored(records Records) (*frame.Design, []float64, error) {
	t, err := m.margins(records)
	if err != nil {
		return nil, nil, err
	}
	d, err := records.made(m.encoding)
	if err != nil {
		return nil, nil, err
	}
	if len(d.Labels) == 0 {
		return nil, nil, fmt.Errorf("dpnb: there are no records to score on")
	}
	return d, t, nil
}

// prediction returns what is predicted at t = xᵀθ.
func (m *Model) prediction(t float64) float64 {
	switch {
	case m.probabilities:
		return 1 / (1 + math.Exp(-t))
	case m.target.Task == frame.Number:
		return m.target.Value(t)
	case m.target.Task == frame.Count:
		return math.Max(m.target.Lower, math.Min(m.target.Upper, math.Exp(t)))
	}
	return t
}

// predictions overwrites xᵀθ with what is predicted there.
func (m *Model) predictions(t []float64) []float64 {
	for i, v := range t {
		t[i] = m.prediction(v)
	}
	return t
}

// PredictClass returns the name of the class that is predicted for every record.
//
// Errors: as Predict, or a model of no classes.
func (m *Model) PredictClass(records Records) ([]string, error) {
	t, err := m.margins(records)
	if err != nil {
		return nil, err
	}
	switch m.target.Task {
	case frame.TwoClasses:
		return m.sides(t), nil
	case frame.ManyClasses:
		t = m.largest(t)
		names := make([]string, len(t))
		for i, k := range t {
			names[i] = m.target.Classes[int(k)]
		}
		return names, nil
	}
	return nil, fmt.Errorf("dpnb: the model predicts %v, not classes: use Predict", m.target.Task)
}

// sides returns the names of the classes of two on whose sides xᵀθ is.
func (m *Model) sides(t []float64) []string {
	names := make([]string, len(t))
	for i, v := range t {
		if names[i] = m.target.Classes[0]; v > 0 {
			names[i] = m.target.Classes[1]
		}
	}
	return names
}

// largest returns for every record the place of the class with the largest xᵀθ,
// the first if there are several.
func (m *Model) largest(t []float64) []float64 {
	classes := len(m.target.Classes)
	n := len(t) / classes
	at := make([]float64, n)
	for i := range at {
		best := t[i]
		for c := 1; c < classes; c++ {
			if v := t[c*n+i]; v > best {
				best, at[i] = v, float64(c)
			}
		}
	}
	return at
}

// PredictFrame is Predict as a dataframe with a row for every record: a column
// prediction with the class, the number or the mean of the count, and of two classes
// another with the probability of the positive one, or with xᵀθ from SVM. It is about
// single records. Its error, if it has one, is in it, as is usual with gota.
//
// Errors: as Predict.
func (m *Model) PredictFrame(records Records) dataframe.DataFrame {
	t, err := m.margins(records)
	if err != nil {
		return dataframe.DataFrame{Err: err}
	}
	const prediction = "prediction"
	switch m.target.Task {
	case frame.TwoClasses:
		name := "score of " + m.target.Classes[1]
		if m.probabilities {
			name = "probability of " + m.target.Classes[1]
		}
		sides := series.New(m.sides(t), series.String, prediction)
		return dataframe.New(sides, series.New(m.predictions(t), series.Float, name))
	case frame.ManyClasses:
		names, err := m.PredictClass(records)
		if err != nil {
			return dataframe.DataFrame{Err: err}
		}
		return dataframe.New(series.New(names, series.String, prediction))
	}
	return dataframe.New(series.New(m.predictions(t), series.Float, prediction))
}
