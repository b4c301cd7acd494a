package explore

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
)

// Variance asks for the variance of a column of numbers, and for its standard deviation.
func Variance(column string) Query { return ask(moments{columns: []string{column}}) }

// Correlations asks for the correlation of each pair of columns of numbers.
func Correlations(columns ...string) Query {
	return ask(moments{columns: columns, products: true})
}

// Describe asks for the number of records, and for mean, standard deviation and quartiles of every column that is a
// number in the schema.
func Describe() Query { return ask(describe{}) }

type moments struct {
	columns  []string
	products bool
}

func (q moments) plan(s *frame.Schema) (plan, error) {
	p := momentsPlan{names: q.columns}
	p.of.Products = q.products
	if q.products && len(q.columns) < 2 {
		return nil, errors.New("dpnb: Correlations wants two columns or more")
	}
	for _, c := range q.columns {
		b, err := number(s, c)
		if err != nil {
			return nil, err
		}
		p.of.Of, p.days = append(p.of.Of, b), append(p.days, partOf(s, c) == frame.Days)
	}
	p.of.For = statistic.Gaussian
	return p, p.of.Validate()
}

type momentsPlan struct {
	names []string
	of    statistic.Moments
	days  []bool
}

func (p momentsPlan) columns() []string { return p.names }

func (p momentsPlan) label() string {
	if p.of.Products {
		return fmt.Sprintf("correlations of %d columns", len(p.names))
	}
	return "variance of " + p.names[0]
}

func (p momentsPlan) calibrate(epsilon, delta float64, countsMu bool) (statistic.Mechanism, error) {
	return statistic.LeastNoise(func(law statistic.Law) statistic.Summand {
		of := p.of
		of.For = law
		return of
	}, epsilon, delta, countsMu)
}

// precision is that of a variance wherever the mean is, and that of correlations of columns that are spread evenly
// between their bounds, and are uncorrelated.
func (p momentsPlan) precision(m statistic.Mechanism, records float64, s settings) (float64, string) {
	if !(records > 0) {
		return math.Inf(1), ""
	}
	sums := m.(statistic.Sums)
	of := sums.Of.(statistic.Moments)
	released, widest := of.Even(records), 0.0
	if !p.of.Products {
		far := of.Variance(sums, of.Farthest(records), s.confidence, 0) // which is that of equal values, 0
		even := of.Variance(sums, released, s.confidence, 0)
		return far.Upper, fmt.Sprintf("in the square of the unit (wherever its mean is; of values that "+
			"are spread evenly between the bounds about ± %.3g)", (even.Upper-even.Lower)/2)
	}
	for j := range p.names {
		for k := range j {
			e := of.Correlation(sums, released, s.confidence, j, k)
			widest = math.Max(widest, (e.Upper-e.Lower)/2)
		}
	}
	return widest, "of a correlation (of columns that are spread evenly between their bounds, else wider)"
}

func (p momentsPlan) answer(m statistic.Mechanism, released []float64, s settings) *Statistic {
	sums := m.(statistic.Sums)
	of := sums.Of.(statistic.Moments)
	if !p.of.Products {
		v := of.Variance(sums, released, s.confidence, 0)
		most := halfRange(of.Of[0])
		sd := Row{Name: "standard deviation", Estimate: root(v)}.within(0, most)
		unit := ""
		if p.days[0] {
			unit = " days"
			sd.Name += ", in days"
		}
		return &Statistic{title: "Variance of " + p.names[0], rows: []Row{
			Row{Name: "variance", Estimate: v}.within(0, most*most), sd},
			meaning: s.says(sd, "the "+sd.Name, fmt.Sprintf("A value of %s is typically %s%s from the mean; %s.",
				p.names[0], sd.figures(), unit, s.interval(sd)))}
	}
	a := &Statistic{title: "Correlations"}
	var far Row
	for j := range p.names {
		for k := range j {
			r := Row{Name: p.names[k] + ", " + p.names[j], Estimate: of.Correlation(sums, released, s.confidence,
				j, k)}.within(-1, 1)
			if a.rows = append(a.rows, r); math.Abs(r.Value) >= math.Abs(far.Value) {
				far = r
			}
		}
	}
	a.meaning = s.says(far, "each correlation", fmt.Sprintf("The strongest is %s of %s; %s. A correlation of 1 says "+
		"that one column is a rising straight line of the other, −1 that it is a falling one, 0 that it is neither.",
		far.figures(), far.Name, s.interval(far)))
	a.notes = []string{"Each is estimated separately, so together they need not be the correlations of any table."}
	return a
}

// halfRange is the largest standard deviation that a number can have.
func halfRange(b statistic.Number) float64 { return 0.5*b.Upper - 0.5*b.Lower }

// root returns the standard deviation of a variance.
func root(v statistic.Estimate) statistic.Estimate {
	return statistic.Estimate{Value: math.Sqrt(v.Value), Lower: math.Sqrt(v.Lower), Upper: math.Sqrt(v.Upper)}
}

type describe struct{}

func (describe) plan(s *frame.Schema) (plan, error) {
	var p describePlan
	for _, f := range s.Fields {
		if f.Kind == frame.Numeric && !f.Open {
			p.names = append(p.names, f.Name)
			p.of = append(p.of, statistic.Number{Lower: f.Lower, Upper: f.Upper})
			p.log, p.days = append(p.log, f.Log), append(p.days, f.Part == frame.Days)
		}
	}
	if len(p.names) == 0 {
		return nil, fmt.Errorf("dpnb: the schema has no number with bounds, to be described; %s and %s are for "+
			"categories",
			wording.Of("Count"), wording.Of("Histogram"))
	}
	return p, statistic.Summary{Of: p.of, Log: p.log, Law: statistic.Laplace, Scale: 1, Eta: 1}.Validate()
}

type describePlan struct {
	names []string
	of    []statistic.Number
	log   []bool
	days  []bool
}

func (p describePlan) columns() []string { return p.names }
func (p describePlan) label() string     { return fmt.Sprintf("summary of %d columns", len(p.names)) }

func (p describePlan) calibrate(epsilon, delta float64, countsMu bool) (statistic.Mechanism, error) {
	return statistic.CalibrateSummary(p.of, p.log, epsilon, delta, countsMu)
}

// precision is that of the quartiles.
func (p describePlan) precision(m statistic.Mechanism, records float64, s settings) (float64, string) {
	return quantilesPlan{}.precision(m.(statistic.Summary).Quartiles(0), records, s)
}

func (p describePlan) answer(m statistic.Mechanism, released []float64, s settings) *Statistic {
	all := m.(statistic.Summary)
	sums := all.Sums()
	of := sums.Of.(statistic.Moments)
	n := of.Len()
	count := Row{Name: "records", Estimate: of.Count(sums, released[:n], s.confidence)}
	a := &Statistic{title: "Summary", rows: []Row{count}}
	each := (len(released) - n) / len(p.names)
	for j, name := range p.names {
		b := p.of[j]
		add := func(what string, e statistic.Estimate, days bool, lower, upper float64) {
			a.rows = append(a.rows, Row{Name: name + ": " + what, Estimate: e, days: days}.within(lower, upper))
		}
		add("mean", of.Mean(sums, released[:n], s.confidence, j), p.days[j], b.Lower, b.Upper)
		deviation := "standard deviation"
		if p.days[j] {
			deviation += ", in days"
		}
		add(deviation, root(of.Variance(sums, released[:n], s.confidence, j)), false, 0, halfRange(b))
		q := all.Quartiles(j).Estimates(released[n+j*each:n+(j+1)*each], s.confidence, false)
		for i, what := range []string{"lower quartile", "median", "upper quartile"} {
			add(what, q[i], p.days[j], b.Lower, b.Upper)
		}
	}
	a.meaning = fmt.Sprintf("The number of %s is %s; %s. A quarter are below the lower quartile of a column, "+
		"and a quarter above its upper quartile.", s.counted(), count.figures(), s.interval(count))
	a.notes = []string{ofShared + fmt.Sprintf(" Of whole numbers a histogram whose edges lie between them says more: "+
		"%s.", wording.Setting{Field: "Edges", Value: "-0.5,0.5,…", Go: "Histogram(column, -0.5, 0.5, …)"})}
	return a
}
