package learn

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// Evaluation says how well a model of classes predicts some records. Show displays its tables and its figure. No
// guarantee covers any of it.
type Evaluation struct {
	// Accuracy is Score: the share of records whose class is predicted rightly; Majority is that of always guessing the
	// most frequent class of these records.
	Accuracy, Majority float64
	// AUC of two classes, NaN of others.
	AUC     float64
	Classes []string
	// Confusion counts the records of class i that are predicted to be of class j.
	Confusion [][]int
	// Calibration has ten bins of the predicted probability, of two classes that of the positive one, of several those
	// of every class together; nil of a model that predicts no probabilities.
	Calibration []CalibrationBin
	target      frame.Target
}

// CalibrationBin is the predictions with a probability in [Lower, Upper).
type CalibrationBin struct {
	Lower, Upper float64
	// Count of predictions, the mean of their probabilities and the share that came true; both NaN where there are
	// none.
	Count               int
	Predicted, Observed float64
}

// Evaluate compares the predictions with the known classes of records. Like Score, the result is a fact about these
// records that no guarantee covers: evaluate on records that may become known.
//
// Errors: as Score; a model of other than classes.
func (m *Model) Evaluate(records Records) (*Evaluation, error) {
	d, t, err := m.scored(records, "dpnb: Evaluate is for classes; numbers and counts have Score and RMSE, quantiles "+
		"QuantileScores", frame.TwoClasses, frame.ManyClasses)
	if err != nil {
		return nil, err
	}
	k, n := len(m.target.Classes), len(d.Labels)
	e := &Evaluation{AUC: math.NaN(), Classes: m.target.Classes, Confusion: make([][]int, k), target: m.target}
	for i := range e.Confusion {
		e.Confusion[i] = make([]int, k)
	}
	if m.target.Task == frame.TwoClasses {
		e.AUC = sim.AUC(t, d.Labels)
	}
	class, right, most := make([]int, n), 0, 0
	for i, predicted := range m.decide(t) {
		class[i] = int(d.Labels[i])
		if m.target.Task == frame.TwoClasses {
			class[i] = int((d.Labels[i] + 1) / 2)
		}
		e.Confusion[class[i]][predicted]++
	}
	for i, row := range e.Confusion {
		right += row[i]
		all := 0
		for _, c := range row {
			all += c
		}
		most = max(most, all)
	}
	e.Accuracy, e.Majority = float64(right)/float64(n), float64(most)/float64(n)
	if m.probabilities {
		e.calibrate(m.predicted(t)[1:], class)
	}
	return e, nil
}

// bins of a calibration.
const bins = 10

// calibrate fills the bins from columns of probabilities: of the positive class, or of all.
func (e *Evaluation) calibrate(columns []frame.Column, class []int) {
	e.Calibration = make([]CalibrationBin, bins)
	for b := range e.Calibration {
		e.Calibration[b].Lower, e.Calibration[b].Upper = float64(b)/bins, float64(b+1)/bins
	}
	for c, column := range columns {
		if len(columns) == 1 {
			c = 1 // the positive one
		}
		for i, p := range column.Numbers {
			bin := &e.Calibration[min(bins-1, int(p*bins))]
			bin.Count++
			bin.Predicted += p
			if class[i] == c {
				bin.Observed++
			}
		}
	}
	for b := range e.Calibration {
		bin := &e.Calibration[b]
		bin.Predicted /= float64(bin.Count)
		bin.Observed /= float64(bin.Count)
	}
}

// Display shows the confusion matrix with the scores.
func (e *Evaluation) Display() display.Item {
	it := display.Item{Title: fmt.Sprintf("How well %s is predicted", e.target.Name), Warning: evaluationWarning,
		Header: []string{"is"}}
	for _, c := range e.Classes {
		it.Header = append(it.Header, "predicted "+c)
	}
	for i, row := range e.Confusion {
		cells := []string{e.Classes[i]}
		for _, n := range row {
			cells = append(cells, fmt.Sprint(n))
		}
		it.Row(cells...)
	}
	it.Note("Accuracy %.2f %%; always guessing the most frequent class: %.2f %%.", 100*e.Accuracy, 100*e.Majority)
	if !math.IsNaN(e.AUC) {
		it.Note("AUC %.3f: the probability that a record of %s has the larger score than one of %s.", e.AUC,
			e.Classes[1], e.Classes[0])
	}
	return it
}

const evaluationWarning = "A fact about the records that were scored: no guarantee covers it."

// CalibrationTable shows how often predictions came true, by their predicted probability.
func (e *Evaluation) CalibrationTable() display.Item {
	it := display.Item{Title: "Calibration", Warning: evaluationWarning,
		Header: []string{"predicted from", "to", "predictions", "mean probability", "came true"}}
	if e.Calibration == nil {
		return display.Failed(errors.New("dpnb: the model predicts no probabilities that could be calibrated"))
	}
	for _, b := range e.Calibration {
		predicted, observed := "–", "–"
		if b.Count > 0 {
			predicted, observed = fmt.Sprintf("%.1f %%", 100*b.Predicted), fmt.Sprintf("%.1f %%", 100*b.Observed)
		}
		it.Row(fmt.Sprintf("%.0f %%", 100*b.Lower), fmt.Sprintf("%.0f %%", 100*b.Upper), fmt.Sprint(b.Count), predicted,
			observed)
	}
	if len(e.Classes) == 2 {
		it.Note("Probabilities are those of %s.", e.Classes[1])
	} else {
		it.Note("Probabilities are those of every class, taken together.")
	}
	return it
}

// Figure shows the calibration beside a perfect one; nil where there is none.
func (e *Evaluation) Figure() *figure.Figure {
	if e.Calibration == nil {
		return nil
	}
	var x, y []float64
	alt := "share that came true by predicted probability:"
	for _, b := range e.Calibration {
		if b.Count > 0 {
			x, y = append(x, b.Predicted), append(y, b.Observed)
			alt += fmt.Sprintf(" %.0f %%: %.0f %%;", 100*b.Predicted, 100*b.Observed)
		}
	}
	f := figure.New("Calibration: what was predicted, and how often it came true", "predicted probability",
		"share that came true")
	f.Dashed("perfect", []float64{0, 1}, []float64{0, 1}, figure.Gray)
	f.Line("the model", x, y, figure.Blue).Dots("", x, y, figure.Blue).PercentX().Percent().XRange(0, 1).YRange(0, 1)
	f.Alt = alt
	return f.Warn(evaluationWarning)
}
