package explore

import (
	"fmt"
	"slices"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
)

// LossOf asks how wrong a released model is, on average: for classes the share of records whose class it predicts
// wrongly, for numbers and counts the mean of min(|y − ŷ|, h), with h half the width of the public bounds
// (learn.Losses). Ask it about records to which the model was not fitted, such as a part that Split has kept aside:
//
//	train, rest := df.Split(0.8, "kept for the error")
//	wrong, err := explore.LossOf(model).Of(rest, budget.Share(0.05))
//
// A model of a group (learn.FitBy) is asked about the records of its group alone, of a table that has its column.
func LossOf(m *learn.Model) Query { return ask(losses{m}) }

type losses struct{ model *learn.Model }

// String says which model it is, by what was released, for the specification of Once.
func (q losses) String() string {
	l, err := q.model.Losses(true)
	if err != nil {
		return err.Error()
	}
	return l.String()
}

func (q losses) plan(*frame.Schema) (plan, error) {
	// Of checks again, with the source of noise.
	l, err := q.model.Losses(true)
	if err != nil {
		return nil, err
	}
	of := onePlan{what: "mean", column: "the loss of " + l.Target(), number: statistic.Number{Upper: l.Most}}
	return lossPlan{of, l}, nil
}

// lossPlan is the mean of a column that a model makes of others.
type lossPlan struct {
	onePlan
	of *learn.Losses
}

func (p lossPlan) columns() []string { return p.of.Columns() }
func (p lossPlan) label() string     { return "error of a model of " + p.of.Target() }

// dataDependent implements maker: the bound on a loss is the model's.
func (p lossPlan) dataDependent() bool { return p.of.Warning() != "" }

func (p lossPlan) made(chunk *frame.Table) ([][]float64, error) {
	l, err := p.of.Of(chunk)
	return [][]float64{l}, err
}

func (p lossPlan) precision(m statistic.Mechanism, records float64, s settings) (float64, string) {
	half, _ := p.onePlan.precision(m, records, s)
	return half, p.unit()
}

func (p lossPlan) unit() string {
	switch {
	case p.of.Classes:
		return "of the records"
	case p.of.Logarithmic():
		return "on the logarithmic scale"
	}
	return "in the unit of " + p.of.Target()
}

func (p lossPlan) answer(m statistic.Mechanism, released []float64, s settings) *Statistic {
	out := p.onePlan.answer(m, released, s)
	out.losses = p.of
	e := &out.rows[0]
	out.title, out.axis, e.Name = "Error of a model of "+p.of.Target(), "error", "mean absolute error"
	if p.of.Classes {
		e.Name = "share predicted wrongly"
		out.meaning = s.says(*e, "the error", fmt.Sprintf("The model predicts a share of %s of these records wrongly; "+
			"%s.", e.figures(), s.interval(*e)))
		return out
	}
	out.meaning = s.says(*e, "the error", fmt.Sprintf("The model is off by %s on average, %s; %s.", e.figures(),
		p.unit(), s.interval(*e)))
	out.notes = append(out.notes, fmt.Sprintf("An error of more than %.10g, half the width of the public bounds, "+
		"counts as that.", p.of.Most))
	return out
}

// maker is a plan whose values are made of its columns in another way than by the schema.
type maker interface {
	made(chunk *frame.Table) ([][]float64, error)
	// dataDependent says that what is known of the values was read off the data.
	dataDependent() bool
}

// reader returns how the values of p are read of the chunks of a table, and whether what is known of its columns was
// read off the data.
func reader(p plan, records frame.Scanner, s *frame.Schema) (reading, bool, error) {
	if own, ok := p.(maker); ok {
		for _, c := range p.columns() {
			if !slices.Contains(records.Names(), c) {
				return nil, false, fmt.Errorf("dpnb: the model wants a column %q; the columns are %s", c,
					wording.Names(records.Names()))
			}
		}
		return own.made, own.dataDependent(), nil
	}
	return values(p.columns(), records, s)
}

// reading gives the values of a chunk.
type reading func(chunk *frame.Table) ([][]float64, error)

// values returns the reading of columns by a schema, and whether what it knows was read off the data.
func values(columns []string, records frame.Scanner, s *frame.Schema) (reading, bool, error) {
	v, err := frame.NewValues(s, records.Names(), columns)
	if err != nil {
		return nil, false, err
	}
	if columns == nil { // the records themselves are counted
		return func(chunk *frame.Table) ([][]float64, error) {
			return [][]float64{make([]float64, chunk.Rows())}, nil
		}, v.DataDependent(), nil
	}
	return v.Of, v.DataDependent(), v.Check(records)
}
