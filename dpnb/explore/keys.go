package explore

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
)

// Keys asks which values of a column many people share, where its values are not listed, and by about how many. A value
// that few people have is not shown, whoever they are; one that a single person has is shown with a probability that δ
// covers. Keys needs δ > 0. The values that it shows may then be the categories of a schema:
//
//	df = df.WithSchema(learn.Categorical("city", keys.Names()...).OrElse("elsewhere"))
func Keys(column string) Query { return ask(keys{column}) }

type keys struct{ column string }

// ownPart is what keys of one person alone may have of δ in a ledger that counts μ: less than what such a ledger keeps
// for what is not Gaussian.
const ownPart = 0x1p-36

func (keys) plan(*frame.Schema) (plan, error) {
	return nil, errors.New("dpnb: Keys is asked as it is: it has no groups, and no margin that could be priced")
}

// fittedKeys are keys of a table whose columns are there.
type fittedKeys struct {
	keys
	query   Query
	df      learn.DataFrame
	records frame.Scanner
	// columns that are read: the keys, and whose row it is if there are several of a person.
	columns []string
	rows    int
}

// prepared checks the question against a table, of which nothing else need be known.
func (k keys) prepared(q Query, df learn.DataFrame) (*fittedKeys, error) {
	if len(q.by) > 0 {
		_, err := k.plan(nil)
		return nil, err
	}
	if df.Err() == nil {
		df = df.WithSchema()
	}
	records, _, err := df.Known()
	if err == nil {
		err = q.forPopulation(df)
	}
	if err != nil {
		return nil, err
	}
	columns := []string{k.column}
	_, rows := df.Person()
	person := df.PersonColumn()
	if rows > 1 {
		if person == "" {
			return nil, fmt.Errorf("dpnb: Keys counts each person once for a value, and the column that says whose " +
				"row it is was dropped: ask before that")
		}
		columns = append(columns, person)
	}
	if k.column == person {
		return nil, fmt.Errorf("dpnb: %q says whose row it is: there is nobody to share it with", person)
	}
	if err := frame.CheckSelection(columns, records.Names()); err != nil {
		return nil, err
	}
	return &fittedKeys{k, q, df, records, columns, rows}, nil
}

func (p *fittedKeys) spec() asked { return askedOf("keys of "+p.column, p.df, p.records) }

// calibrated returns the selection at its price.
func (p *fittedKeys) calibrated(c price) (statistic.Selection, error) {
	s := statistic.SelectionConfig{Keys: p.rows, Epsilon: c.Epsilon, Delta: c.Delta, Normal: c.CountsMu}
	if c.CountsMu {
		s.Own = c.Delta * ownPart
	}
	return s.Calibrate()
}

func (p *fittedKeys) release(a learn.Allowance) (*released, error) {
	r := &released{src: a.Noise(p.query.src)}
	var people map[string]int64
	m, alone, err := a.Pay(r.src, "keys of "+p.column, p.df,
		func(epsilon, delta float64, countsMu bool) (mechanism.Mechanism, error) {
			r.Priced = price{epsilon, delta, countsMu}
			return p.calibrated(r.Priced)
		},
		func(mechanism.Mechanism) (err error) {
			people, err = count(p.records, p.columns)
			return err
		})
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(people)) // so that nothing depends on how they lie in memory
	counts := make([]int64, len(names))
	for i, name := range names {
		counts[i] = people[name]
	}
	out, err := m.(statistic.Selection).Release(counts, r.src)
	if err != nil {
		return nil, err
	}
	shown := out.Also.(*statistic.Selected)
	for _, at := range shown.Places {
		r.Names = append(r.Names, names[at])
	}
	r.Numbers, r.Epsilon, r.Delta = shown.Counts, alone.Epsilon, alone.Delta
	r.Mechanism = m.String()
	return r, nil
}

func (p *fittedKeys) answered(q Query, r *released) (*Statistic, error) {
	m, err := p.calibrated(r.Priced)
	if err != nil {
		return nil, err
	}
	if err := r.by(m); err != nil {
		return nil, err
	}
	out, w := &Statistic{title: "Values of " + p.column + " that many people share"}, m.Margin(q.confidence)
	for i, name := range r.Names {
		out.rows = append(out.rows, Row{Name: name, Estimate: countOf(r.Numbers[i], w)})
	}
	slices.SortStableFunc(out.rows, func(a, b Row) int { return cmp.Compare(b.Value, a.Value) })
	out.meaning = fmt.Sprintf("%d values of %s are shown: those whose noisy number of people is above %.4g. How many "+
		"other values there are is not released. The noise in each number is within %s with %s confidence; but many "+
		"of the numbers just above the threshold are too large, because values are shown for being above it.",
		len(out.rows), p.column, m.Threshold, ceil(w), q.percent())
	return out, out.release(m, r, q, p.df)
}

// count returns how many people have each value of the first column: how many rows, or, if a second column says whose
// they are, people, each once for a value.
func count(records frame.Scanner, columns []string) (map[string]int64, error) {
	people, seen := map[string]int64{}, map[[2]string]bool{}
	err := records.Scan(columns, func(chunk *frame.Table) error {
		var of [2]*frame.Column
		for j, name := range columns {
			c, err := chunk.Column(name)
			if err != nil {
				return err
			}
			of[j] = c
		}
		for i := range chunk.Rows() {
			key := strings.TrimSpace(of[0].Text(i))
			if key == "" {
				continue // missing
			}
			if of[1] != nil {
				pair := [2]string{key, strings.TrimSpace(of[1].Text(i))}
				if seen[pair] {
					continue
				}
				seen[[2]string{strings.Clone(pair[0]), strings.Clone(pair[1])}] = true
			}
			if _, ok := people[key]; !ok {
				key = strings.Clone(key)
			}
			people[key]++
		}
		return nil
	})
	return people, err
}

// Names returns the names of the numbers: for Keys, the values that were counted.
func (s *Statistic) Names() (names []string) {
	for _, r := range s.Rows() {
		names = append(names, r.Name)
	}
	return names
}
