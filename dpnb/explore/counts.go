package explore

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/logscale"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
)

// Count asks how many records there are; By asks for the number in each group.
func Count() Query { return ask(counting{}) }

// Histogram asks how many records lie between public edges, in rising order: bin i has edges[i] ≤ v < edges[i+1], and
// the last bin includes its upper edge. Without edges there are 20 bins of the same width between the bounds of the
// schema, on a logarithmic axis if the schema has one (Log) and the lower bound is positive. For a column of categories
// it asks how many records each category has.
func Histogram(column string, edges ...float64) Query {
	return ask(counting{columns: []string{column}, edges: edges})
}

// Crosstab asks how many records have each combination of categories of the columns.
func Crosstab(columns ...string) Query { return ask(counting{columns: columns, crossed: true}) }

type counting struct {
	columns []string
	edges   []float64
	// crossed says that it was asked with Crosstab, which needs a column.
	crossed bool
}

func (q counting) plan(s *frame.Schema) (plan, error) {
	if q.crossed && len(q.columns) == 0 {
		return nil, fmt.Errorf("dpnb: Crosstab() needs the columns to cross; Count() is for all records")
	}
	var p countsPlan
	for _, c := range q.columns {
		a, err := newAxis(s, c, q.edges, !q.crossed)
		if err != nil {
			return nil, err
		}
		p.axes = append(p.axes, a)
	}
	return p, p.fits()
}

// bins is how many places a histogram without edges has.
const bins = 20

// axis is a column by whose public places records are counted or grouped.
type axis struct {
	statistic.Axis
	column string
	names  []string
	// log and days say that the edges are drawn on a logarithmic axis, or on one of dates.
	log, days bool
}

// newAxis returns the axis of a column: its categories, with an own place for missing values if the schema has one, or
// intervals of numbers where these are wanted.
func newAxis(s *frame.Schema, column string, edges []float64, numbers bool) (a axis, err error) {
	a.column = column
	f, ok := s.Field(column)
	switch {
	case !ok:
		return a, fmt.Errorf("dpnb: what %q can be is not in the schema%s: state its categories or its bounds "+
			"(%s)", column, s.Like(column), wording.Setting{Field: "Schema", Go: fmt.Sprintf("Categorical(%q, …)) or "+
			"ask for the values that many people share (Keys(%[1]q)", column)})
	case f.Kind == frame.Categorical && len(edges) > 0:
		return a, fmt.Errorf("dpnb: %q has categories in the schema, which have no edges", column)
	case f.Kind == frame.Categorical:
		a.names = slices.Clone(f.Levels)
		if f.Missing {
			a.names = append(a.names, "(missing)")
		}
		a.Levels = len(a.names)
		return a, nil
	case !numbers:
		return a, fmt.Errorf("dpnb: %q is a number in the schema, and categories are wanted: %s counts between edges",
			column,
			wording.Setting{Field: "Histogram", Value: column, Go: fmt.Sprintf("Histogram(%q, edges…)", column)})
	case len(edges) == 1:
		return a, fmt.Errorf("dpnb: %s: one edge bounds nothing; give two or more, or none for %d places within the "+
			"bounds",
			wording.Setting{Field: "Edges", Value: fmt.Sprint(edges[0]),
				Go: fmt.Sprintf("Histogram(%q, %v)", column, edges[0])}, bins)
	case len(edges) == 0 && f.Open:
		return a, fmt.Errorf("dpnb: %q is %s in the schema: give the edges", column, wording.Of("Unbounded"))
	case len(edges) == 0:
		for i := range bins {
			edges = append(edges, logscale.Place(f.Lower, f.Upper, float64(i)/bins, f.Log && f.Lower > 0))
			if f.Part == frame.Days && i > 0 && f.Upper-f.Lower > bins {
				edges[i] = math.Ceil(edges[i]) // whole days are between the same edges as before
			}
		}
		edges = append(edges, f.Upper)
	}
	a.log = f.Log && edges[0] > 0
	short := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	if a.Edges = slices.Clone(edges); f.Part == frame.Days {
		short = func(v float64) string { return Row{Estimate: statistic.Estimate{Value: v}, days: true}.figures() }
		a.days = true
	}
	for i, e := range edges[1:] {
		a.names = append(a.names, short(edges[i])+" to "+short(e))
	}
	return a, nil
}

type countsPlan struct {
	axes []axis
	// by says that the axes are groups of Count.
	by int
}

// cells returns the cells of the mechanism: one if there are no axes.
func (p countsPlan) cells() statistic.Cells { return cellsOf(p.axes, statistic.Axis{Levels: 1}) }

func cellsOf(axes []axis, otherwise ...statistic.Axis) (c statistic.Cells) {
	for _, a := range axes {
		c = append(c, a.Axis)
	}
	if len(c) == 0 {
		return otherwise
	}
	return c
}

// fits refuses more cells than there may be, and edges that do not rise.
func (p countsPlan) fits() error { return tooMany(p.cells(), p.names()) }

// tooMany refuses cells that are none and too many of them, from public numbers alone.
func tooMany(c statistic.Cells, names string) error {
	if err := c.Validate(); err != nil {
		if n := c.Len(); n > statistic.MostCells {
			return fmt.Errorf("dpnb: %s has %d groups or more, and at most %d can be counted: merge categories, "+
				"or ask Keys for the values that many people share", names, n, statistic.MostCells)
		}
		return fmt.Errorf("dpnb: %s: %w", names, err)
	}
	return nil
}

func (p countsPlan) names() string { return strings.Join(p.columns(), " × ") }

func (p countsPlan) columns() []string { return columnsOf(p.axes) }

func columnsOf(axes []axis) (names []string) {
	for _, a := range axes {
		names = append(names, a.column)
	}
	return names
}

func (p countsPlan) label() string {
	switch {
	case len(p.axes) == 0:
		return "count"
	case p.by == len(p.axes):
		return "count by " + p.names()
	}
	return "counts of " + p.names()
}

func (p countsPlan) calibrate(epsilon, delta float64, countsMu bool) (statistic.Mechanism, error) {
	return statistic.CalibrateHistogram(p.cells(), epsilon, delta, countsMu)
}

func (p countsPlan) precision(m statistic.Mechanism, _ float64, s settings) (float64, string) {
	return m.(statistic.Histogram).Margin(s.confidence), "records"
}

func (p countsPlan) answer(m statistic.Mechanism, released []float64, s settings) *Statistic {
	h := m.(statistic.Histogram)
	n, w := len(released), h.Margin(s.confidence)
	out := &Statistic{title: "Number of records", axis: "records", by: p.columns()}
	for i, v := range released {
		e := countOf(v, w)
		out.rows = append(out.rows, Row{Name: "records", Estimate: e})
		if len(p.axes) > 0 {
			out.rows[i].Group = groupOf(p.axes, i)
			out.rows[i].Name = strings.Join(out.rows[i].Group, ", ")
		}
	}
	surely := fmt.Sprintf("with %s confidence the noise has changed", s.percent())
	if len(p.axes) == 0 {
		out.meaning = fmt.Sprintf("There are %s %s; %s this by at most %s.", out.rows[0].figures(),
			s.counted(), surely, ceil(w))
	} else {
		out.title = "Number of records by " + p.names()
		out.meaning = fmt.Sprintf("The table has the number of %s in each of %d groups. For any one of them, %s it by "+
			"at most %s; with the same confidence it has changed none of them by more than %s.", s.counted(), n,
			surely, ceil(w), ceil(h.Margin(math.Pow(s.confidence, 1/float64(n)))))
		out.notes = append(out.notes, "A record is in at most one group, and in none if its value is not a category "+
			"or lies beyond the edges, so each group is counted as accurately as if it were the only one. A negative "+
			"number is due to noise; its interval is that of 0.")
	}
	if len(p.axes) == 1 && p.axes[0].Edges != nil {
		out.draw = func(s *Statistic) *figure.Figure { return bars(s, p.axes[0]) }
	}
	return out
}

// countOf returns a noisy count as a whole number, and the whole numbers ≥ 0 within w of it, or of 0 if it is negative:
// they have the count itself as surely as w says. (Those within w of a negative number are fewer, down to none, the
// more the noise has taken off: they would seem to know the count the better, the worse it is known.)
func countOf(v, w float64) statistic.Estimate {
	return statistic.Estimate{Value: math.Round(v), Lower: math.Max(0, math.Ceil(v-w)),
		Upper: math.Floor(math.Max(v, 0) + w)}
}

// ceil writes a margin of whole numbers.
func ceil(w float64) string { return strconv.FormatFloat(math.Ceil(w), 'f', 0, 64) }

// groupOf returns the names of the places of a cell, one of each axis.
func groupOf(axes []axis, cell int) []string {
	names := make([]string, len(axes))
	for j := len(axes) - 1; j >= 0; j-- {
		n := axes[j].Len()
		names[j] = axes[j].names[cell%n]
		cell /= n
	}
	return names
}

// bars draws a histogram: bars with their intervals.
func bars(s *Statistic, a axis) *figure.Figure {
	var heights, middles, lower, upper []float64
	for i, r := range s.rows {
		heights = append(heights, r.Value)
		middle := 0.5*a.Edges[i] + 0.5*a.Edges[i+1]
		if a.log {
			middle = math.Sqrt(a.Edges[i]) * math.Sqrt(a.Edges[i+1])
		}
		middles = append(middles, middle)
		lower, upper = append(lower, r.Lower), append(upper, r.Upper)
	}
	f := figure.New(s.title, a.column, "records, with "+s.percent()+" intervals")
	switch {
	case a.log:
		f.LogX()
	case a.days:
		f.DatesX()
	}
	return f.Bars(a.Edges, heights, figure.Blue).Whiskers(middles, lower, upper, figure.Gray)
}
