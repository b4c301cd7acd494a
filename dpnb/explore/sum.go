package explore

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
)

// Sum asks for the sum of a column of numbers, moved into their public bounds.
func Sum(column string) Query { return ask(sum{column}) }

type sum struct{ column string }

func (q sum) plan(s *frame.Schema) (plan, error) {
	b, err := number(s, q.column)
	return sumPlan{q.column, b}, err
}

type sumPlan struct {
	column string
	number statistic.Number
}

func (p sumPlan) columns() []string { return []string{p.column} }
func (p sumPlan) label() string     { return "sum of " + p.column }

func (p sumPlan) calibrate(epsilon, delta float64, countsMu bool) (statistic.Mechanism, error) {
	return statistic.LeastNoise(func(statistic.Law) statistic.Summand { return statistic.Total{Of: p.number} },
		epsilon, delta, countsMu)
}

func (p sumPlan) precision(m statistic.Mechanism, records float64, s settings) (float64, string) {
	sums := m.(statistic.Sums)
	e := sums.Of.(statistic.Total).Estimate(sums, []float64{0}, s.confidence)
	return e.Upper, "in the unit of the column"
}

func (p sumPlan) answer(m statistic.Mechanism, released []float64, s settings) *Statistic {
	sums := m.(statistic.Sums)
	e := sums.Of.(statistic.Total).Estimate(sums, released, s.confidence)
	return &Statistic{title: "Sum of " + p.column, rows: []Row{{Name: p.column, Estimate: e}},
		meaning: fmt.Sprintf("The sum of %s is %s; %s.", p.column, figures(e), s.interval(e))}
}
