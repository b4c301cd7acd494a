package explore

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
)

// Mean asks for the mean of a column of numbers, moved into their public bounds.
func Mean(column string) Query { return ask(mean{column}) }

type mean struct{ column string }

func (q mean) plan(s *frame.Schema) (plan, error) {
	b, err := number(s, q.column)
	return meanPlan{q.column, b}, err
}

type meanPlan struct {
	column string
	number statistic.Number
}

func (p meanPlan) columns() []string { return []string{p.column} }
func (p meanPlan) label() string     { return "mean of " + p.column }

func (p meanPlan) calibrate(epsilon, delta float64, countsMu bool) (statistic.Mechanism, error) {
	return statistic.LeastNoise(func(law statistic.Law) statistic.Summand {
		return statistic.Means{Of: []statistic.Number{p.number}, For: law}
	}, epsilon, delta, countsMu)
}

func (p meanPlan) precision(m statistic.Mechanism, records float64, s settings) (float64, string) {
	sums := m.(statistic.Sums)
	half := sums.Of.(statistic.Means).Precision(sums.Scale, records, s.confidence, s.sampling)
	return half, "in the unit of the column"
}

func (p meanPlan) answer(m statistic.Mechanism, released []float64, s settings) *Statistic {
	sums := m.(statistic.Sums)
	e := sums.Of.(statistic.Means).Estimates(sums.Scale, released, s.confidence, s.sampling)[0]
	return &Statistic{title: "Mean of " + p.column, rows: []Row{{Name: p.column, Estimate: e}},
		meaning: fmt.Sprintf("The mean of %s is %s; %s.", p.column, figures(e), s.interval(e))}
}
