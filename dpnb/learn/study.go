package learn

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/numeral"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

// Study is a planned study: what is known of it without a single record.
type Study struct {
	// Records n and Features d, the constant included. Both must be public: under add/remove-one a count of private
	// records is itself private, so take a round number from the design of the study.
	Records, Features int
	// Epsilon is ε, Delta is δ; zero is 1e-6. Under add/remove-one.
	Epsilon, Delta float64
	// Signal is κ, the standard deviation of the best score xᵀβ⋆. Zero is 2 for labels (the best classifier is then
	// right for about four of five) and 1 for numbers.
	Signal float64
	// Noise is the standard deviation of a number about xᵀβ⋆. With it the study is of a regression by Huber's loss;
	// zero is a logistic regression of labels.
	Noise float64
	// Threshold of Huber's loss; zero is 1.345 times Noise, where it is 95 % efficient without privacy.
	Threshold float64
	// Mechanisms to forecast; none is all of them.
	Mechanisms []proportional.Mechanism
}

// StudyOf returns the study of the target and the features of data, with about the given number of records. For a
// number, whose law is not public, it assumes a standard deviation of a quarter of the width of its bounds, and that
// features explain half of the variance; for classes a Signal of 2. If you know better, set the fields before the
// Forecast. Where up to k rows of a person count (PerPerson) noise is k times as large, as at ε/k, which the study has.
//
// Errors (in the Forecast's Err): as data's.
func StudyOf(data *Dataset, records int, epsilon, delta float64) Study {
	s := Study{Records: records, Features: data.Features(), Epsilon: epsilon, Delta: delta}
	if data.Err() == nil {
		s.Epsilon /= float64(max(1, data.design.RowsOfAPerson))
	}
	if data.Err() == nil && (data.design.Target.Task == frame.Number || data.design.Target.Task == frame.Count) {
		s.Signal = data.design.Target.HalfWidth() / 2 / math.Sqrt2
		s.Noise = s.Signal
	}
	return s
}

// Errors returns the forecast error of each fit on new records, with the names of the fits: for labels the share that
// is wrong, for numbers E|y − ŷ|, by the normal law that y − ŷ has in the limit. First comes the smallest error
// possible, then the fit without privacy, then the mechanisms.
func (f *Forecast) Errors() (names []string, errors []float64) {
	if f.err != nil {
		return nil, nil
	}
	add := func(name string, v float64) { names, errors = append(names, name), append(errors, v) }
	of := func(q proportional.Prediction) float64 {
		if f.Study.Noise == 0 {
			return q.Quality().Error
		}
		return math.Sqrt(2 / math.Pi * (q.Point.MSE() + f.Study.Noise*f.Study.Noise))
	}
	best := math.Sqrt(2/math.Pi) * f.Study.Noise
	if f.Study.Noise == 0 {
		best = f.NonPrivate.Quality().BestError
	}
	add("the best there is", best)
	add("without privacy", of(f.NonPrivate))
	for _, q := range f.Predictions {
		add(q.Mechanism.String(), of(q))
	}
	return names, errors
}

// Forecast is the predicted result of a Study.
type Forecast struct {
	Study Study
	// NonPrivate is the fit with the best ridge and no privacy.
	NonPrivate proportional.Prediction
	// Predictions, one for each mechanism, each with its best parameters.
	Predictions []proportional.Prediction
	err         error
}

// Forecast says what private learning will cost, before any data are seen: the error of each mechanism at its best
// parameters, by the theory of the proportional regime (dtz24), which is exact in the limit of many records and
// features. Its assumptions are shown with it; the least realistic is that features are independent and of equal
// variance.
//
//	dpnb.Show(dpnb.Study{Records: 5000, Features: 100, Epsilon: 1}.Forecast())
//
// Nothing private enters, so nothing is spent. Errors (in Err, and shown): a number that is out of range.
func (s Study) Forecast() *Forecast {
	f := &Forecast{Study: s}
	task, unit, err := f.Study.task()
	if err != nil {
		f.err = err
		return f
	}
	s = f.Study
	target := proportional.Target{Epsilon: s.Epsilon, Delta: s.Delta, Adjacency: privacy.AddRemove}
	f.Predictions, f.err = proportional.Predict(task, s.Records, s.Features, target, s.Mechanisms...)
	if f.err != nil {
		return f
	}
	task.AspectRatio = float64(s.Features) / float64(s.Records)
	if f.NonPrivate, f.err = task.NonPrivate(); f.err != nil || unit == 1 {
		return f
	}
	f.NonPrivate = f.NonPrivate.InUnits(unit)
	for i, q := range f.Predictions {
		f.Predictions[i] = q.InUnits(unit)
	}
	return f
}

// task fills in what a study leaves out. A regression is the same problem in any unit of its numbers: its task is in
// the one in which the larger of signal and noise is 1, and unit is how many of the study's that is.
func (s *Study) task() (_ proportional.Task, unit float64, _ error) {
	for _, v := range []struct {
		name  string
		value float64
		min   float64
		want  string
	}{
		{"Records", float64(s.Records), 1, "a positive number"},
		{"Features", float64(s.Features), 1, "a positive number"},
		{"Delta", s.Delta, 0, "a number in (0, 1), or 0 for 1e-6"},
		{"Signal", s.Signal, 0, "a positive number, or 0 to have it chosen"},
		{"Noise", s.Noise, 0, "a positive number for a regression, or 0 for labels"},
		{"Threshold", s.Threshold, 0, "a positive number, or 0 to have it chosen"},
	} {
		if !(v.value >= v.min) || math.IsInf(v.value, 1) {
			return proportional.Task{}, 1, &privacy.ParamError{Name: "Study." + v.name, Value: v.value, Want: v.want}
		}
	}
	s.Delta = cmp.Or(s.Delta, 1e-6)
	if s.Noise == 0 {
		if s.Threshold != 0 {
			return proportional.Task{}, 1, &privacy.ParamError{Name: "Study.Threshold", Value: s.Threshold,
				Want: "0 without Study.Noise: it belongs to a regression"}
		}
		s.Signal = cmp.Or(s.Signal, 2)
		return proportional.Task{Loss: loss.Logistic{}, Link: proportional.LogisticLink{}, Kappa: s.Signal, Radius: 1,
			Goal: proportional.Misclassification}, 1, nil
	}
	s.Signal = cmp.Or(s.Signal, 1)
	unit = math.Max(s.Noise, s.Signal)
	noise, threshold := s.Noise/unit, s.Threshold/unit
	if s.Threshold == 0 {
		s.Threshold, threshold = 1.345*s.Noise, 1.345*noise
	}
	return proportional.Task{Loss: loss.Huber{Threshold: threshold}, Noise: proportional.Normal(0, noise),
		Kappa: s.Signal / unit, Radius: 1, Goal: proportional.SquaredError}, unit, nil
}

// Err returns the reason if there is no forecast.
func (f *Forecast) Err() error { return f.err }

// Display shows the forecast as a table, with its assumptions.
func (f *Forecast) Display() display.Item {
	if f.err != nil {
		return display.Failed(f.err)
	}
	s := f.Study
	it := display.Item{Title: fmt.Sprintf("What to expect of %d records, %d features, ε = %s, δ = %s (add/remove-one)",
		s.Records, s.Features, privacy.FormatUp(s.Epsilon, 6), privacy.FormatUp(s.Delta, 3))}
	labels := s.Noise == 0
	it.Header = []string{"Huber regression", "error of a prediction", "distance from β⋆", "λ", "noise"}
	if labels {
		it.Header = []string{"logistic regression", "wrong on new records", "AUC", "cosine to β⋆", "λ", "noise"}
	}
	var edges, assumptions []string
	row := func(name string, q proportional.Prediction) {
		cells := []string{name}
		if labels {
			k := q.Quality()
			cells = append(cells, fmt.Sprintf("%.2f %%", 100*k.Error), fmt.Sprintf("%.3f", k.AUC),
				fmt.Sprintf("%.3f", q.Point.SignalCorrelation()))
		} else {
			cells = append(cells, fmt.Sprintf("%.4g", math.Sqrt(q.Point.MSE()+s.Noise*s.Noise)),
				fmt.Sprintf("%.3g %%", 100*q.Point.RMSE/s.Signal))
		}
		parameter := fmt.Sprintf("%.3g", q.Lambda)
		if q.Steps > 0 {
			parameter = fmt.Sprintf("%s of %.3g", numeral.Count(q.Steps, "step"), q.Step)
		}
		it.Row(append(cells, parameter, fmt.Sprintf("%.3g", q.Nu))...)
		if q.AtEdge {
			edges = append(edges, name)
		}
	}
	row("without privacy", f.NonPrivate)
	for _, q := range f.Predictions {
		row(q.Mechanism.String(), q)
		for _, a := range q.Assumptions() {
			if !slices.Contains(assumptions, a) {
				assumptions = append(assumptions, a)
			}
		}
	}
	if len(edges) > 0 {
		it.Note("At the edge of the range searched, so a parameter beyond it may be better: %s.",
			strings.Join(edges, ", "))
	}
	measure := "Distance from β⋆ is ‖β̂ − β⋆‖/‖β⋆‖;"
	if labels {
		measure = "Only the direction of β̂ decides which records are wrong, so the parameters are chosen for the " +
			"direction, and the length of β̂ may be anything;"
		k := f.NonPrivate.Quality()
		it.Note("Nobody can do better than %.2f %% wrong and AUC %.3f, which is what β⋆ itself has.", 100*k.BestError,
			k.BestAUC)
	} else {
		it.Note("Nobody can do better than an error of %.4g, the root mean square that β⋆ itself leaves.", s.Noise)
	}
	it.Note("%s λ goes with the sum of the losses; noise is the scale in each coordinate of what is added to the "+
		"objective, to the coefficients, or to each gradient.", measure)
	it.Note("This is a prediction, not a measurement; the guarantee holds without it. It assumes:")
	for _, a := range assumptions {
		it.Note("· %s", a)
	}
	return it
}
