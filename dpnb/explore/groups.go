package explore

import (
	"fmt"
	"strings"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
)

// By asks the question about each group of public categories of the columns, at the price of asking it once: a record
// is in one group, or in none. The groups must not be read off the table; where they are not known, Keys finds those
// that many people share.
func (q Query) By(columns ...string) Query {
	q.by = append(append([]string(nil), q.by...), columns...)
	if len(columns) == 0 {
		q.err = fmt.Errorf("dpnb: By() wants the columns to group by")
	}
	return q
}

func grouped(p plan, s *frame.Schema, by []string) (plan, error) {
	var axes []axis
	for _, c := range by {
		a, err := newAxis(s, c, nil, false)
		if err != nil {
			return nil, err
		}
		axes = append(axes, a)
	}
	if c, ok := p.(countsPlan); ok {
		c.axes, c.by = append(axes, c.axes...), len(axes)
		return c, c.fits()
	}
	return groupsPlan{p, axes}, tooMany(cellsOf(axes), strings.Join(by, " × "))
}

type groupsPlan struct {
	plan
	axes []axis
}

func (p groupsPlan) by() []string      { return columnsOf(p.axes) }
func (p groupsPlan) columns() []string { return append(p.by(), p.plan.columns()...) }
func (p groupsPlan) label() string     { return p.plan.label() + " by " + strings.Join(p.by(), " × ") }

func (p groupsPlan) calibrate(epsilon, delta float64, countsMu bool) (statistic.Mechanism, error) {
	m, err := p.plan.calibrate(epsilon, delta, countsMu)
	if err != nil {
		return nil, err
	}
	sums, ok := m.(statistic.Sums)
	if !ok {
		of, by := p.plan.columns()[0], p.axes[0].column
		return nil, fmt.Errorf("dpnb: %s cannot be asked of groups at the price of one: ask it of all records, or "+
			"ask for a count, a mean, a sum or a variance of each group. Quantiles of groups can be read off %s",
			p.plan.label(), wording.Setting{Field: "Histogram", Go: fmt.Sprintf("Histogram(%q).By(%q)", of, by),
				Value: fmt.Sprintf("%q --by %q", of, by)})
	}
	sums.Of = statistic.Grouped{Of: sums.Of, By: cellsOf(p.axes)}
	return sums, sums.Validate()
}

// precision is for so many records in each group.
func (p groupsPlan) precision(m statistic.Mechanism, records float64, s settings) (float64, string) {
	one := m.(statistic.Sums)
	one.Of = one.Of.(statistic.Grouped).Of
	return p.plan.precision(one, records, s)
}

func (p groupsPlan) answer(m statistic.Mechanism, released []float64, s settings) *Statistic {
	one := m.(statistic.Sums)
	g := one.Of.(statistic.Grouped)
	one.Of = g.Of
	out, k := &Statistic{by: p.by()}, one.Of.Len()
	for i := range g.By.Len() {
		part, names := p.plan.answer(one, released[i*k:(i+1)*k], s), groupOf(p.axes, i)
		for _, r := range part.rows {
			r.Group = append(append([]string(nil), names...), r.Group...)
			name := strings.Join(names, ", ")
			if len(part.rows) > 1 {
				name += ": " + r.Name
			}
			r.Name = name
			out.rows = append(out.rows, r)
		}
		out.title, out.axis, out.notes = part.title+" by "+strings.Join(p.by(), " × "), part.axis, part.notes
	}
	out.meaning = fmt.Sprintf("%s: each number is within its interval with %s confidence; %s. The fewer records a "+
		"group has, the wider its interval.", out.title, s.percent(), s.reason())
	return out
}
