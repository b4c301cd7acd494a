// Package statistic has private statistics of the columns of a table: sums of a function of each record, with Gaussian
// noise or Laplace noise, and what is built of them.
//
// A record is a row of numbers and of codes of categories. Records may come in parts (Tally), so that a table need not
// be in memory. No record is refused: each that is out of bounds has its rule, which looks at that record alone.
package statistic

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Mechanism is a mechanism whose records may come in parts. Labels have no part in it.
type Mechanism interface {
	mechanism.Mechanism
	// Columns is how many numbers a record has; further ones are not looked at.
	Columns() int
	// Tally begins a pass over the records. The mechanism must be valid.
	Tally() Tally
}

// Tally is a pass over records. What it has seen is of no adversary's concern until Release.
type Tally interface {
	// Add takes records: columns[j][i] is number j of record i. It keeps none of the slices.
	Add(columns [][]float64)
	// Each calls f with the whole numbers that were added up and are not zero, in the order of their places. They are a
	// function of the records alone, not of their order or of the parts in which they came.
	Each(f func(place int, count int64))
	// Count adds to the number of a place what Each of another tally of the mechanism has there: then this one is of
	// the records of both. It panics for a place that the mechanism does not have.
	Count(place int, count int64)
	// Release draws noise and returns what is released. It may be called once, last.
	Release(src noise.Source) []float64
}

// run is Run of every mechanism here: the records as one part.
func run(m Mechanism, rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	r, err := mechanism.Begin(m, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	tally := m.Tally()
	n, d := rows.Dims()
	columns, row := make([][]float64, d), make([]float64, d)
	for j := range columns {
		columns[j] = make([]float64, n)
	}
	for i := range n {
		rows.Row(row, i)
		for j, v := range row {
			columns[j][i] = v
		}
	}
	tally.Add(columns)
	r.Coefficients = tally.Release(src)
	return r, nil
}

// check is Check of every mechanism here: it looks at shapes alone.
func check(m Mechanism, rows matrix.Rows, labels []float64) error {
	if rows == nil {
		return &matrix.DataError{Text: "no rows"}
	}
	switch n, d := rows.Dims(); {
	case d < m.Columns():
		return &matrix.DataError{Text: fmt.Sprintf("%d columns for a statistic of %d", d, m.Columns())}
	case len(labels) != n:
		return &matrix.DataError{Text: fmt.Sprintf("%d labels for %d records", len(labels), n)}
	}
	return nil
}

// assumptions of every mechanism here.
var assumptions = []string{
	mechanism.Chosen("bounds, categories and noise") + "; a number beyond its bounds counts as the nearer bound",
	mechanism.ExactNoise,
	"the adversary does not observe the time taken",
}

// Number is the public knowledge of a column of numbers: it is moved into [Lower, Upper].
type Number struct{ Lower, Upper float64 }

// middle returns the middle of the bounds, half half their distance.
func (b Number) middle() float64 { return 0.5*b.Lower + 0.5*b.Upper }

// half returns half the distance of the bounds.
func (b Number) half() float64 { return 0.5*b.Upper - 0.5*b.Lower }

// unit returns v moved into the bounds and scaled to [−1, 1]; 0 if it is not a number.
func (b Number) unit(v float64) float64 {
	return math.Max(-1, math.Min(1, zeroIfNaN((v-b.middle())/b.half())))
}

// Value is the inverse of unit; beyond [−1, 1] it is the bound.
func (b Number) Value(x float64) float64 {
	return math.Max(b.Lower, math.Min(b.Upper, b.middle()+x*b.half()))
}

func zeroIfNaN(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return x
}

// validate returns a *privacy.ParamError unless the bounds are finite and apart.
func (b Number) validate() error {
	if math.IsInf(b.Lower, 0) || math.IsInf(b.Upper, 0) || !(b.Lower < b.Upper) {
		return &privacy.ParamError{Name: "bounds", Value: fmt.Sprintf("[%g, %g]", b.Lower, b.Upper),
			Want: "two finite numbers, the lower first"}
	}
	return (mechanism.Scales{{"half the distance of the bounds", b.half()}}).Check()
}
