package explore

import (
	"fmt"
	"strings"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
)

// Mean asks for the mean of a column of numbers, moved into their public bounds.
func Mean(column string) Query { return ask(mean{column}) }

// Sum asks for the sum of a column of numbers, moved into their public bounds.
func Sum(column string) Query { return ask(sum{column}) }

type (
	mean struct{ column string }
	sum  struct{ column string }
)

func (q mean) plan(s *frame.Schema) (plan, error) {
	b, err := number(s, q.column)
	return onePlan{"mean", q.column, b, partOf(s, q.column)}, err
}

func (q sum) plan(s *frame.Schema) (plan, error) {
	b, err := number(s, q.column)
	return onePlan{"sum", q.column, b, partOf(s, q.column)}, err
}

// onePlan is the mean or the sum of a column.
type onePlan struct {
	what, column string
	number       statistic.Number
	part         frame.DatePart
}

func (p onePlan) columns() []string { return []string{p.column} }
func (p onePlan) label() string     { return p.what + " of " + p.column }

func (p onePlan) calibrate(epsilon, delta float64, countsMu bool) (statistic.Mechanism, error) {
	return statistic.LeastNoise(func(law statistic.Law) statistic.Summand {
		if p.what == "sum" {
			return statistic.Total{Of: p.number}
		}
		return statistic.Means{Of: []statistic.Number{p.number}, For: law}
	}, epsilon, delta, countsMu)
}

func (p onePlan) precision(m statistic.Mechanism, records float64, s settings) (float64, string) {
	unit := unitOf(p.part)
	sums := m.(statistic.Sums)
	if t, ok := sums.Of.(statistic.Total); ok {
		return t.Estimate(sums, []float64{0}, s.confidence).Upper, unit
	}
	widest, middle := sums.Of.(statistic.Means).Precision(sums.Scale, records, s.confidence, s.sampling)
	return widest, fmt.Sprintf("%s (wherever the mean is; in the middle of its bounds ± %.3g)", unit, middle)
}

func (p onePlan) answer(m statistic.Mechanism, released []float64, s settings) *Statistic {
	sums := m.(statistic.Sums)
	var e statistic.Estimate
	if t, ok := sums.Of.(statistic.Total); ok {
		e = t.Estimate(sums, released, s.confidence)
	} else {
		e = sums.Of.(statistic.Means).Estimates(sums.Scale, released, s.confidence, s.sampling)[0]
	}
	r := Row{Name: p.column, Estimate: e, days: p.part == frame.Days && p.what == "mean"}
	if p.part == frame.Days && !r.days {
		r.Name += sinceEpoch
	}
	if p.what == "mean" {
		r = r.within(p.number.Lower, p.number.Upper)
	}
	return &Statistic{title: strings.ToUpper(p.what[:1]) + p.label()[1:], axis: p.label(), rows: []Row{r},
		meaning: s.says(r, "the "+p.label(), fmt.Sprintf("The %s is %s; %s.", p.label(), r.figures(), s.interval(r)))}
}
