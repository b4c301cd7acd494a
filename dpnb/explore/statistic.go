package explore

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Row is one number of an answer, by its name, with its interval.
type Row struct {
	Name string
	// Group has the categories that it is of, one for each column of By; nil of all records.
	Group []string
	statistic.Estimate
	// days since 1970-01-01, which are shown as dates.
	days bool
	// unknown says that it can be anything, for all that was released: its interval has all that is possible.
	unknown bool
	// most is how large it can be; 0 if that is not known.
	most float64
}

// within says of r that nothing beyond these bounds is possible, of which rounding may have taken something.
func (r Row) within(lower, upper float64) Row {
	slack := 1e-12 * (upper - lower)
	r.most = math.Max(math.Abs(lower), math.Abs(upper))
	r.unknown = r.Lower <= lower+slack && r.Upper >= upper-slack
	return r
}

// says returns the sentence about r, which is what, unless nothing is known of it.
func (s settings) says(r Row, what, sentence string) string {
	if !r.unknown {
		return sentence
	}
	lower, upper := r.bounds()
	return fmt.Sprintf(buysNothing+"with %s confidence %s is between %s and %s, which is all that is possible; %s.",
		s.percent(), what, lower, upper, s.reason())
}

// buysNothing begins what is said of a number of which nothing is known; nothingKnown is said of others beside it.
const (
	buysNothing  = "This share buys nothing: "
	nothingKnown = "–: this share buys nothing there, or there are no records: the interval is all that is possible."
)

// Statistic is the answer to a Query. Everything in it is released: it may be shown, kept and computed with at no
// further cost.
type Statistic struct {
	title, meaning string
	rows           []Row
	// axis is what Illustration's axis has; "" where rows are of different kinds.
	axis string
	// by are the columns of Row.Group.
	by []string
	// draw is Illustration where it is not one of intervals.
	draw  func(s *Statistic) *figure.Figure
	notes []string
	// before says that it was released before; "" if it was not.
	before    string
	guarantee mechanism.Guarantee
	mechanism string
	settings
	dataDependent bool
	origin        noise.Origin
	// losses that it is the mean of; nil of other answers.
	losses *learn.Losses
	// counts of outcomes, with the deviation of their noise, of a question and a model; nil of other answers.
	counts    []float64
	deviation float64
	of        kind
	model     *learn.Losses
	from      learn.DataFrame
	// again answers with another confidence.
	again func(confidence float64) (*Statistic, error)
}

// Err returns the reason if s is not a statistic, else nil.
func (s *Statistic) Err() error {
	if s == nil || s.title == "" {
		return errors.New("dpnb: no statistic: look at the err that came with it")
	}
	return nil
}

// Rows returns the numbers with their intervals.
func (s *Statistic) Rows() []Row {
	if s.Err() != nil {
		return nil
	}
	return append([]Row(nil), s.rows...)
}

// Value returns the first number, which for a mean is the only one; NaN if there is none.
func (s *Statistic) Value() float64 {
	if s.Err() != nil || len(s.rows) == 0 {
		return math.NaN()
	}
	return s.rows[0].Value
}

// Interval returns the interval of the first number.
func (s *Statistic) Interval() (lower, upper float64) {
	if s.Err() != nil || len(s.rows) == 0 {
		return math.NaN(), math.NaN()
	}
	return s.rows[0].Lower, s.rows[0].Upper
}

// WithConfidence returns the same answer with intervals of another confidence, which costs nothing: no noise is drawn.
//
// Errors: a confidence that is not between 0 and 1; as Err.
func (s *Statistic) WithConfidence(c float64) (*Statistic, error) {
	if err := s.Err(); err != nil {
		return nil, err
	}
	return s.again(c)
}

// Guarantee returns what the release is proved to satisfy.
func (s *Statistic) Guarantee() mechanism.Guarantee { return s.guarantee }

// DataFrame returns the numbers as a dataframe with columns statistic, value, lower, upper; before them one for each
// column that the question was grouped by.
func (s *Statistic) DataFrame() dataframe.DataFrame {
	if err := s.Err(); err != nil {
		return dataframe.DataFrame{Err: err}
	}
	var names []string
	var value, lower, upper []float64
	for _, r := range s.rows {
		names = append(names, r.Name)
		value, lower, upper = append(value, r.Value), append(lower, r.Lower), append(upper, r.Upper)
	}
	var all []series.Series
	for j, column := range s.by {
		var of []string
		for _, r := range s.rows {
			of = append(of, r.Group[j])
		}
		all = append(all, series.New(of, series.String, column))
	}
	return dataframe.New(append(all, series.New(names, series.String, "statistic"),
		series.New(value, series.Float, "value"), series.New(lower, series.Float, "lower"),
		series.New(upper, series.Float, "upper"))...)
}

// warning says what of the numbers no guarantee covers, "" if nothing.
func (s *Statistic) warning() string {
	warnings := []string{s.origin.Warning(), s.guarantee.Warning()}
	if s.dataDependent {
		warnings = append(warnings, "Bounds or categories were READ OFF THE DATA: the guarantee does not cover that.")
	}
	return strings.Join(slices.DeleteFunc(warnings, func(w string) bool { return w == "" }), " ")
}

// Display shows the numbers with their intervals, what they mean and the guarantee.
func (s *Statistic) Display() display.Item {
	if err := s.Err(); err != nil {
		return display.Failed(err)
	}
	it := s.from.WithOrigin(display.Item{Title: s.title, Header: []string{"", "value", s.percent() + " from", "to"}})
	for i, r := range s.rows {
		if i == mostShown && wording.Shell == nil { // a shell has no other place for them
			it.Note("… and %d more; DataFrame has them all.", len(s.rows)-i)
			break
		}
		lower, upper := r.bounds()
		it.Row(r.Name, r.figures(), lower, upper)
	}
	it.Warning = s.warning()
	it.Notes = append(it.Notes, s.meaning)
	it.Notes = append(it.Notes, s.notes...)
	it.Note("Guarantee: %s", s.guarantee.Words())
	if s.before != "" {
		it.Notes = append(it.Notes, s.before)
	}
	it.Detail("How: %s. Bound: %s.", s.mechanism, s.guarantee.Bound)
	it.Detail("Assumes: %s.", strings.Join(s.guarantee.Assumptions, "; "))
	return it
}

// sinceEpoch says what numbers that are dates count.
const sinceEpoch = " in days since 1970-01-01"

// How many numbers a table shows, and a figure.
const mostShown, mostDrawn = 100, 50

// Illustration draws the numbers with their intervals, nil if there are none. Show shows it beside the table.
func (s *Statistic) Illustration() *figure.Figure {
	if s.Err() != nil || len(s.rows) == 0 {
		return nil
	}
	if s.draw != nil {
		return s.draw(s).Warn(s.warning())
	}
	var names []string
	var lo, mid, hi []float64
	for _, r := range s.rows[:min(mostDrawn, len(s.rows))] {
		names = append(names, r.Name)
		value := r.Value
		if r.unknown {
			value = math.NaN()
		}
		lo, mid, hi = append(lo, r.Lower), append(mid, value), append(hi, r.Upper)
	}
	axis := cmp.Or(s.axis, "value") + ", with " + s.percent() + " intervals"
	dates := 0
	for _, r := range s.rows {
		if r.days {
			dates++
		}
	}
	if dates > 0 && dates < len(s.rows) {
		axis += "; dates" + sinceEpoch
	}
	f := figure.New(s.title, axis, "")
	if dates == len(s.rows) {
		f.DatesX()
	}
	return f.Intervals(names, lo, mid, hi, figure.Blue).Warn(s.warning())
}

// percent writes the confidence: 95 %.
func (s settings) percent() string { return strconv.FormatFloat(100*s.confidence, 'g', 6, 64) + " %" }

// interval says what the interval of r is.
func (s settings) interval(r Row) string {
	lower, upper := r.bounds()
	return fmt.Sprintf("with %s confidence it is between %s and %s; %s", s.percent(), lower, upper, s.reason())
}

// reason says what an interval allows for.
func (s settings) reason() string {
	if s.sampling {
		return "this allows for the noise and for chance in who was asked"
	}
	return "this allows for the noise alone"
}

// figures writes the value with the digits that its interval leaves.
func (r Row) figures() string {
	if r.unknown {
		return "–"
	}
	if r.days {
		return r.date(math.Round)(r.Value)
	}
	return round(r.Value, r.decimals())
}

// decimals is how many places after the point r is worth: those of its interval, as far as they are among the first six
// digits of what it can be.
func (r Row) decimals() int {
	d := decimals(r.Estimate)
	if r.most > 0 {
		d = min(d, max(0, 5-int(math.Floor(math.Log10(r.most)))))
	}
	return d
}

// bounds writes the ends of the interval, which are moved outwards to dates and to digits that are fewer than it has.
func (r Row) bounds() (lower, upper string) {
	if r.days {
		return r.date(math.Floor)(r.Lower), r.date(math.Ceil)(r.Upper)
	}
	d := r.decimals()
	if d == decimals(r.Estimate) {
		return round(r.Lower, d), round(r.Upper, d)
	}
	unit := math.Pow10(d)
	return round(math.Floor(r.Lower*unit)/unit, d), round(math.Ceil(r.Upper*unit)/unit, d)
}

// date returns what writes a number of days as a date, with the time where the interval leaves less than a day.
func (r Row) date(to func(float64) float64) func(days float64) string {
	seconds, layout := int64(86400), time.DateOnly
	if r.Upper-r.Lower < 2 && decimals(r.Estimate) > 0 {
		seconds, layout = 60, "2006-01-02 15:04"
	}
	return func(days float64) string {
		return time.Unix(int64(to(days*86400/float64(seconds)))*seconds, 0).UTC().Format(layout)
	}
}

// decimals is how many places after the point e is worth: two digits of its interval.
func decimals(e statistic.Estimate) int {
	if e.Value == math.Trunc(e.Value) && e.Lower == math.Trunc(e.Lower) && e.Upper == math.Trunc(e.Upper) {
		return 0 // a count
	}
	width := e.Upper - e.Lower
	if !(width > 0) {
		return 3
	}
	return max(0, min(12, 1-int(math.Floor(math.Log10(width/2)))))
}

func round(v float64, decimals int) string { return strconv.FormatFloat(v, 'f', decimals, 64) }
