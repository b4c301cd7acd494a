package explore

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
)

// QuantilesOf asks for quantiles of a column of numbers, at rising levels between 0 and 1: the q-quantile has a share
// of q of the records below it. Many levels at once cost little more than one. Their Price is for a precision in shares
// of the records: Price(df, 0.01, 0.95) is the cost of an answer for 0.5 that lies between the 0.49- and the
// 0.51-quantile.
func QuantilesOf(column string, levels ...float64) Query {
	return ask(quantiles{column, slices.Clone(levels)})
}

// MedianOf asks for the median of a column of numbers.
func MedianOf(column string) Query { return QuantilesOf(column, 0.5) }

type quantiles struct {
	column string
	levels []float64
}

func (q quantiles) plan(s *frame.Schema) (plan, error) {
	b, err := number(s, q.column)
	if err != nil {
		return nil, err
	}
	f, _ := s.Field(q.column)
	m := statistic.Quantiles{Of: b, Log: f.Log, Levels: q.levels, Eta: 1}
	return quantilesPlan{q.column, m, f.Part == frame.Days}, m.Validate()
}

type quantilesPlan struct {
	column string
	m      statistic.Quantiles
	days   bool
}

func (p quantilesPlan) columns() []string { return []string{p.column} }

func (p quantilesPlan) label() string {
	switch {
	case len(p.m.Levels) > 1:
		return "quantiles of " + p.column
	case p.m.Levels[0] == 0.5:
		return "median of " + p.column
	}
	return fmt.Sprintf("%g-quantile of %s", p.m.Levels[0], p.column)
}

func (p quantilesPlan) calibrate(epsilon, delta float64, countsMu bool) (statistic.Mechanism, error) {
	return statistic.CalibrateQuantiles(p.m, epsilon, delta, countsMu)
}

// precision is in shares of the records: half the width of the widest interval that will be shown.
func (p quantilesPlan) precision(m statistic.Mechanism, records float64, s settings) (float64, string) {
	if !(records > 0) {
		return math.Inf(1), ""
	}
	return slices.Max(m.(statistic.Quantiles).HalfWidths(s.confidence, records, s.sampling)), evenly
}

// evenly is the unit of what is asked of quantiles, with what their price assumes.
const evenly = "of the records (± 0.5 is all of the range; on average, where records are spread evenly, else wider)"

func (p quantilesPlan) answer(m statistic.Mechanism, released []float64, s settings) *Statistic {
	q := m.(statistic.Quantiles)
	a := &Statistic{title: strings.ToUpper(p.label()[:1]) + p.label()[1:], axis: p.column}
	for i, e := range q.Estimates(released, s.confidence, s.sampling) {
		a.rows = append(a.rows, Row{Name: fmt.Sprintf("%g", q.Levels[i]), Estimate: e, days: p.days}.within(
			q.Of.Lower, q.Of.Upper))
	}
	last := a.rows[len(a.rows)-1]
	a.meaning = s.says(last, fmt.Sprintf("the %s-quantile", last.Name), fmt.Sprintf("For about %g %% of the records "+
		"%s is at most %s; %s.", 100*q.Levels[len(q.Levels)-1], p.column, last.figures(), s.interval(last)))
	a.notes = []string{"The intervals are cautious: in simulations with smooth distributions 97 to 100 of 100 " +
		"contain the true quantile where 95 are promised. They assume that records are spread about evenly " +
		"between one quantile and the next. " + ofShared}
	return a
}

// ofShared is said of every interval for quantiles.
const ofShared = "Where many records share a few values, the true quantile may be the nearest value outside the " +
	"interval."
