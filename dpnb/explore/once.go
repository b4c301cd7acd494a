package explore

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/permit"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Once asks the question under a name, or returns the answer that was released under that name before, as learn.FitOnce
// does for models: a cell with it can run again and pays once. Whether it is the same question is decided by what is
// public: what is asked, what is known about its columns, and the names of their files. The confidence of its intervals
// may change, at no cost.
//
// Errors: as Of and learn.Once; a seed (Noise), for a simulation costs nothing anyway.
func (q Query) Once(name string, df learn.DataFrame, a learn.Allowance) (*Statistic, error) {
	if q.src != nil && noise.Simulated(q.src) {
		return nil, errors.New("dpnb: an answer with noise from a seed is not a release: ask with Of")
	}
	p, err := q.prepared(df)
	if err != nil {
		return nil, err
	}
	r, err := learn.Once(name, a.Resumable(permit.New()), p.spec(), p.release,
		func(r *released) ([]byte, error) { return json.Marshal(r) }, func(content []byte) (*released, error) {
			r, err := readReleased(content)
			if err == nil {
				r.before = a.ReleasedBefore(name)
			}
			return r, err
		})
	if r == nil {
		return nil, err
	}
	s, failed := answer(p, q, r)
	return s, errors.Join(err, failed)
}

// asked is what a question is by what is public.
type asked struct {
	Question string        `json:"question"`
	Fields   []frame.Field `json:"fields"`
	// By names the columns of the groups; Person the column that tells whose row it is, and how many Rows of a person
	// count.
	By     []string `json:"by,omitempty"`
	Person string   `json:"person,omitempty"`
	Rows   int      `json:"rows,omitempty"`
	Data   string   `json:"data"`
	// Seen is how the table was read, and what was done to its rows.
	Seen frame.Seen `json:"seen"`
	// DataDependent says that what is known of the columns was read off the data.
	DataDependent bool `json:"data_dependent,omitempty"`
	// Checksum of a public file.
	Checksum string `json:"checksum,omitempty"`
	// Group of a model, whose records alone are asked about.
	Group string `json:"group,omitempty"`
}

func (p *fitted) spec() asked {
	r := askedOf(fmt.Sprintf("%s: %+v", p.label(), p.query.question), p.df, p.records)
	r.By, r.DataDependent, r.Group = p.query.by, p.dataDependent, p.group
	for _, c := range p.columns() {
		if f, ok := p.schema.Field(c); ok {
			r.Fields = append(r.Fields, *f)
		}
	}
	return r
}

// askedOf is a question about records of df without what is known of their columns.
func askedOf(question string, df learn.DataFrame, records frame.Scanner) asked {
	source := records.Origin()
	r := asked{Question: question, Data: source.Told(), Seen: source.Seen(), Checksum: source.Checksum()}
	r.Person, r.Rows = df.Person()
	return r
}

// readReleased reads what was released by secure noise, which alone is kept.
func readReleased(content []byte) (*released, error) {
	r := &released{src: noise.NewSecure()}
	if err := json.Unmarshal(content, r); err != nil {
		return nil, fmt.Errorf("dpnb: what was released cannot be read: %w", err)
	}
	return r, nil
}
