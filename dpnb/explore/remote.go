package explore

import (
	"errors"
	"fmt"
	"sync"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/typedjson"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
)

// Adding says what to add up over the records of a table: what Mechanism computes from the values of the columns, as
// the fields read them; with no columns the records themselves are counted. It is public, and travels as JSON.
type Adding struct {
	Mechanism statistic.Mechanism
	Columns   []string
	Fields    []frame.Field
}

// TalliedBy lets the records of a scanned table be added up elsewhere. open returns add, which is called when the
// budget is known to cover the question, and before it is charged: add calls each with the sums, as
// statistic.EncodeTally writes them, of parts that together have each record once. Everything else stays here: the
// noise, the ledger and the release, which is the same. The guarantee requires that the records of the table are added
// up and no others, and that nothing of the sums is shown.
//
// Keys and the error of a model, and tables in which people have several rows, are refused before anything is charged.
func (q Query) TalliedBy(open func() (add func(a Adding, each func(part []byte) error) error, err error)) Query {
	q.remote = open
	return q
}

// movable refuses what cannot be added up elsewhere.
func (q Query) movable(df learn.DataFrame) error {
	if q.remote == nil {
		return nil
	}
	switch q.question.(type) {
	case losses, outcomes, keys:
		return errors.New("dpnb: questions about a model and Keys hold more of the records than counts: ask them on " +
			"this machine")
	}
	if column, _ := df.Person(); column != "" {
		return fmt.Errorf("dpnb: which rows of a person count (%q) is known when all were seen: ask it on this machine",
			column)
	}
	return nil
}

func addUp(tally statistic.Tally, records frame.Scanner, columns []string, read reading) error {
	if columns == nil { // the records themselves are counted
		columns = records.Names()[:1]
	}
	return records.Scan(columns, func(chunk *frame.Table) error {
		v, err := read(chunk)
		if err == nil && chunk.Rows() > 0 {
			tally.Add(v)
		}
		return err
	})
}

// adding is what is to be added up of p by m, a copy: who adds up is shown what was paid for, and cannot change it.
func (p *fitted) adding(m statistic.Mechanism) (own Adding, err error) {
	a := Adding{Mechanism: m, Columns: p.columns()}
	for _, c := range a.Columns {
		if f, ok := p.schema.Field(c); ok {
			a.Fields = append(a.Fields, *f)
		}
	}
	text, err := a.MarshalJSON()
	if err == nil {
		err = own.UnmarshalJSON(text)
	}
	return own, err
}

// Tally adds up the records of a table, and returns the sums as statistic.EncodeTally writes them.
//
// Errors: those of the scan; columns that are not there, or not of their fields.
func (a Adding) Tally(records frame.Scanner) ([]byte, error) {
	schema := &frame.Schema{Fields: a.Fields}
	records, err := schema.Prepared(records)
	if err != nil {
		return nil, err
	}
	read, _, err := values(a.Columns, records, schema)
	if err != nil {
		return nil, err
	}
	tally := a.Mechanism.Tally()
	if err := addUp(tally, records, a.Columns, read); err != nil {
		return nil, err
	}
	return statistic.EncodeTally(tally), nil
}

var adding = sync.OnceValue(func() *typedjson.Codec {
	return typedjson.New[any](statistic.Sums{}, statistic.Summary{}, statistic.Quantiles{}, statistic.Histogram{},
		statistic.Moments{}, statistic.Means{}, statistic.Total{}, statistic.Grouped{})
})

// kept is Adding without its methods.
type kept Adding

// MarshalJSON implements json.Marshaler.
func (a Adding) MarshalJSON() ([]byte, error) { return adding().Marshal(kept(a)) }

// UnmarshalJSON implements json.Unmarshaler.
func (a *Adding) UnmarshalJSON(text []byte) error { return adding().Unmarshal(text, (*kept)(a)) }
