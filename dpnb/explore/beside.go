package explore

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// Compared is the forecast error of a model beside the measured one.
type Compared struct {
	forecast *learn.Forecast
	measured *Statistic
}

// Beside puts the forecast error of a model beside the answer to LossOf, which was paid for, so that this costs
// nothing. Show displays a table and a figure.
func Beside(forecast *learn.Forecast, measured *Statistic) *Compared {
	return &Compared{forecast, measured}
}

// Err returns the reason if there is nothing to compare: what went wrong with either, an answer to a question other
// than LossOf, a forecast for labels beside the error of a number or the other way round.
func (c *Compared) Err() error {
	switch {
	case c == nil || c.forecast == nil:
		return errors.New("dpnb: no forecast to compare with")
	case c.forecast.Err() != nil:
		return c.forecast.Err()
	case c.measured.Err() != nil:
		return c.measured.Err()
	case c.measured.losses == nil:
		return errors.New("dpnb: Beside wants the answer to LossOf, which is the error of a model")
	case c.measured.losses.Classes != (c.forecast.Study.Noise == 0):
		return errors.New("dpnb: one of them is of classes and one of numbers: StudyOf makes the study of the target")
	}
	return nil
}

// rows returns names with the values and their intervals, which of a forecast are points.
func (c *Compared) rows() (names []string, lower, value, upper []float64) {
	names, value = c.forecast.Errors()
	for i := range names {
		names[i] = "forecast: " + names[i]
	}
	lower, upper = append(lower, value...), append(upper, value...)
	e := c.measured.rows[0].Estimate
	return append(names, "measured: this model"), append(lower, e.Lower), append(value, e.Value), append(upper, e.Upper)
}

// Display shows both, with notes on what the difference means.
func (c *Compared) Display() display.Item {
	if err := c.Err(); err != nil {
		return display.Failed(err)
	}
	l, s := c.measured.losses, c.forecast.Study
	it := c.measured.from.WithOrigin(display.Item{
		Title:   fmt.Sprintf("The error for %s: what was forecast, and what was measured", l.Target()),
		Header:  []string{"", "error", c.measured.percent() + " from", "to"},
		Warning: c.measured.warning()})
	digits := decimals(c.measured.rows[0].Estimate)
	names, lower, value, upper := c.rows()
	for i, name := range names {
		from, to := "–", "–"
		if i == len(names)-1 {
			from, to = round(lower[i], digits), round(upper[i], digits)
		}
		it.Row(name, round(value[i], digits), from, to)
	}
	supposed := fmt.Sprintf("a signal of strength %.3g, with which even the best model is wrong for a share of %s",
		s.Signal, round(value[0], digits))
	if !l.Classes {
		supposed = fmt.Sprintf("that features explain %.0f %% of a variance of %.3g²",
			100*s.Signal*s.Signal/(s.Signal*s.Signal+s.Noise*s.Noise), math.Hypot(s.Signal, s.Noise))
	}
	it.Note("The forecast was made from public numbers, before anything was paid for. It assumes %s. A larger "+
		"measured error says that the target is harder to predict than that, or that features are unequal or "+
		"correlated; a smaller one, that it is easier.", supposed)
	it.Note("What carries over is the difference between the forecasts with and without privacy: what privacy costs. " +
		"Where the measured interval is wider than that difference, the cost is too small to be seen here.")
	if l.ManyClasses() {
		it.Note("The forecast is for two classes, and the model has more.")
	}
	return it
}

// Illustration draws the errors, the forecast ones as points.
func (c *Compared) Illustration() *figure.Figure {
	if c.Err() != nil {
		return nil
	}
	l := c.measured.losses
	axis := "mean absolute error"
	if l.Classes {
		axis = "share predicted wrongly"
	}
	names, lower, value, upper := c.rows()
	f := figure.New("What was forecast, and what was measured", axis+", with its "+c.measured.percent()+" interval", "")
	f.Intervals(names, lower, value, upper, figure.Blue).Warn(c.measured.warning())
	if l.Classes {
		f.PercentX()
	}
	return f
}
