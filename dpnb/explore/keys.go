package explore

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Keys asks which values a column has, where nobody has listed them: those that many people
// share, with about how many. One that few people have is not shown, whoever they are; one
// that a single person has is shown with a probability that δ covers. It needs δ > 0. What it
// shows may then be the categories of a schema:
//
//	df = df.WithSchema(learn.Categorical("city", keys.Names()...).OrElse("elsewhere"))
func Keys(column string) Query { return ask(keys{column}) }

type keys struct{ column string }

// ownPart is what keys of one person alone may have of δ in a ledger that counts μ: less than
// what such a ledger keeps for what is not Gaussian.
const ownPart = 0x1p-36

func (keys) plan(*frame.Schema) (plan, error) {
	return nil, errors.New("dpnb: Keys is asked as it is: it has no groups, and no margin that could be priced")
}

// of asks for the keys of df.
func (k keys) of(q Query, df learn.DataFrame, a learn.Allowance) (*Statistic, error) {
	if len(q.by) > 0 {
		_, err := k.plan(nil)
		return nil, err
	}
	if df.Err() == nil {
		df = df.WithSchema() // nothing need be known of the column
	}
	records, _, err := df.Known()
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
	for _, c := range columns {
		if !slices.Contains(records.Names(), c) {
			return nil, fmt.Errorf("dpnb: there is no column %q; the columns are %s", c, strings.Join(records.Names(),
				", "))
		}
	}
	if k.column == person {
		return nil, fmt.Errorf("dpnb: %q says whose row it is: there is nobody to share it with", person)
	}
	src := noise.OrSecure(q.src)
	m, alone, err := a.Pay(src, "keys of "+k.column, df.Unit(),
		func(epsilon, delta float64, countsMu bool) (mechanism.Mechanism, error) {
			c := statistic.SelectionConfig{Keys: rows, Epsilon: epsilon, Delta: delta, Normal: countsMu}
			if countsMu {
				c.Own = delta * ownPart
			}
			return c.Calibrate()
		})
	if err != nil {
		return nil, err
	}
	people, err := count(records, columns)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(people))
	for name := range people {
		names = append(names, name)
	}
	slices.Sort(names) // so that nothing depends on how they lie in memory
	counts := make([]int64, len(names))
	for i, name := range names {
		counts[i] = people[name]
	}
	selection := m.(statistic.Selection)
	r, err := selection.Release(counts, src)
	if err != nil {
		return nil, err
	}
	out, w := &Statistic{title: "Values of " + k.column + " that many people share"}, selection.Margin(q.confidence)
	shown := r.Also.(*statistic.Selected)
	for i, at := range shown.Places {
		out.rows = append(out.rows, Row{Name: names[at], Estimate: countOf(shown.Counts[i], w)})
	}
	slices.SortStableFunc(out.rows, func(a, b Row) int { return cmp.Compare(b.Value, a.Value) })
	out.meaning = fmt.Sprintf("%d values of %s are shown, each because its noisy number of people is above %.4g; one "+
		"that fewer share is not, and how many of these there are is not said. Before a value is chosen for its "+
		"number, the noise is within %s with %s confidence; a number just above the threshold is rather too large.",
		len(out.rows), k.column, selection.Threshold, ceil(w), q.percent())
	out.guarantee = r.Guarantee
	out.guarantee.Epsilon, out.guarantee.Delta, out.guarantee.Rows = alone.Epsilon, alone.Delta, rows
	out.mechanism, out.settings, out.from = m.String(), q.settings, df
	out.origin = out.origin.And(src)
	return out, nil
}

// count returns how many people have each value of the first column: how many rows, or, if a
// second column says whose they are, people, each once for a value.
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

// Names returns the names of the numbers: of Keys, what they are counts of.
func (s *Statistic) Names() (names []string) {
	for _, r := range s.Rows() {
		names = append(names, r.Name)
	}
	return names
}
