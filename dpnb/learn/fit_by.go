package learn

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/entropy"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
)

// Models are models of the same kind, one for each group of records.
type Models struct {
	// Column says which group a record is in; Groups are its public categories, in the order of the schema, and Models
	// those of their records.
	Column string
	Groups []string
	Models []*Model
}

// FitBy fits a model for each category of a column, on the records that have it, at the price of one model: a record is
// in at most one group, and the ledger counts the largest cost of a group (docs/theory/ledger.md, section 7). It has a
// line for each group. records makes records from the rows of a group, which lack that column:
//
//	models, err := learn.FitBy(learn.Logistic{}, df, "ward", func(part learn.DataFrame) *learn.Dataset {
//		return learn.Binary(part, "ill")
//	}, budget.Share(0.5))
//
// A row whose value is missing, also where the schema says that it may be (OrMissing), or is none of the categories,
// without an OrElse, is in no group and in no model; Show says so.
//
// Of people of whom one row counts (PerPerson with 1, of df) it is the person who is in at most one group, as the row
// is chosen before the groups are made.
//
// Errors: those of l.Fit and of the records; a column without public categories; people with several rows (PerPerson),
// who may be in several groups, also where records keeps one row in each group; passes that are made elsewhere
// (PassesBy). What does not depend on the records is found before anything is spent. An error after that comes with the
// models that were released.
func FitBy(l Learner, df DataFrame, column string, records func(part DataFrame) *Dataset, a Allowance) (
	*Models, error) {
	return fitBy(l, df, column, records, a, nil)
}

// FitByOnce is FitBy with FitOnce: each model is kept under the name and its group, so that a cell that runs again pays
// nothing. One that was interrupted resumes where it was, and pays for one more model, because nobody can know that
// rows are still assigned to groups as before.
func FitByOnce(name string, l Learner, df DataFrame, column string, records func(part DataFrame) *Dataset,
	a Allowance) (*Models, error) {
	if err := a.suitsOnce(name); err != nil {
		return nil, err
	}
	return fitBy(l, df, column, records, a, func(group string) string {
		return fmt.Sprintf("%s: %s = %s", name, column, group)
	})
}

// fitBy fits each group's model, under a name of its own if named is not nil.
func fitBy(l Learner, df DataFrame, column string, records func(part DataFrame) *Dataset, a Allowance,
	named func(group string) string) (*Models, error) {
	// A partition of this call alone: another may have a column of the same name and categories that deals the rows
	// otherwise, by another rule or of another table.
	a.partition = fmt.Sprintf("%s, %s", column, entropy.Text())
	a.label = strings.TrimPrefix(a.label+", ", ", ")
	parts, err := groupsOf(l, df, column, records, a, named)
	if err != nil {
		return nil, err
	}
	out := &Models{Column: column}
	for _, data := range parts {
		group, own := data.group.Name, a.of(column, data.group)
		var m *Model
		if named != nil {
			m, err = FitOnce(named(group), l, data, own)
		} else {
			m, err = l.Fit(data, own)
		}
		if m != nil {
			m.group = data.group // also of what an earlier version has kept
			out.Groups, out.Models = append(out.Groups, group), append(out.Models, m)
		}
		if err != nil {
			return out, fmt.Errorf("%s = %s: %w", column, group, err)
		}
	}
	return out, nil
}

// of returns the allowance for the model of a group.
func (a Allowance) of(column string, group *ofGroup) Allowance {
	a.rows, a.group, a.label = group, group.Name, a.label+column+" = "+group.Name
	return a
}

// together reports whether one call has released the models, of the groups of one partition.
func (s *Models) together() bool {
	of := s.Models[0].partition
	return of != "" && !slices.ContainsFunc(s.Models, func(m *Model) bool { return m.partition != of })
}

// ofGroup marks the rows of a group, and what is made of them, by its address. A model of them keeps it: the column as
// the schema has it, by which rows are of a category or not, and the category.
type ofGroup struct {
	Field frame.Field
	Name  string
}

// inNone says, by the schema alone, which rows are in no group; "" where all are in one.
func (g *ofGroup) inNone() string {
	which := "is missing or none of these"
	switch {
	case g == nil || g.Field.Else != "" && !g.Field.Missing:
		return ""
	case g.Field.Else != "":
		which = "is missing"
	}
	return fmt.Sprintf("Rows whose %s %s, if there are any, are in no group, and in no model.", g.Field.Name, which)
}

func (g *ofGroup) valid() bool {
	s := frame.Schema{Fields: []frame.Field{g.Field}}
	return s.Validate() == nil && g.Field.Kind == frame.Categorical && slices.Contains(g.Field.Levels, g.Name)
}

// Group returns the column and the category of the records that m was fitted to, as a model of FitBy; "" of others.
func (m *Model) Group() (column, category string) {
	if m.Err() != nil || m.group == nil {
		return "", ""
	}
	return m.group.Field.Name, m.group.Name
}

// OfGroup returns the rows of df that are of the group of m, by the rule of its fit, which looks at each row alone; df
// itself and false where m is of no group, or df lacks the column.
func (m *Model) OfGroup(df DataFrame) (own DataFrame, ok bool) {
	column, category := m.Group()
	if column == "" || df.Err() != nil || !slices.Contains(df.records.Names(), column) {
		return df, false
	}
	return df.ofCategory(&frame.Schema{Fields: []frame.Field{m.group.Field}}, column, category), true
}

// OfCategory returns the rows of df of one category of a column, which is read as the schema says. It looks at each row
// alone, so that a fit of these rows, or a question about them, keeps its guarantee for df.
//
//	bern := df.OfCategory("city", "Bern")
func (df DataFrame) OfCategory(column, category string) DataFrame {
	_, schema, err := df.Known()
	if err != nil {
		return DataFrame{err: err}
	}
	return df.ofCategory(schema, column, category)
}

func (df DataFrame) ofCategory(schema *frame.Schema, column, category string) DataFrame {
	return df.by(func(s frame.Scanner) (frame.Scanner, error) {
		p, err := frame.NewPartition(s, schema, column)
		if err != nil {
			return nil, err
		}
		return p.Group(category)
	})
}

// ofWhat is what m predicts and, of a group, of which.
func (m *Model) ofWhat() string {
	if column, category := m.Group(); column != "" {
		return fmt.Sprintf("%s where %s = %s", m.target.Name, column, category)
	}
	return m.target.Name
}

// groupsOf returns the records of each group, of which it is known that a model of each can be paid for.
func groupsOf(l Learner, df DataFrame, column string, records func(part DataFrame) *Dataset, a Allowance,
	named func(group string) string) ([]*Dataset, error) {
	if err := own(l); err != nil {
		return nil, err
	}
	if records == nil {
		return nil, errors.New("dpnb: FitBy wants a function that makes records of the rows of a group: " +
			"func(part dpnb.DataFrame) *dpnb.Dataset { return dpnb.Binary(part, \"ill\") }")
	}
	_, schema, err := df.Known()
	if err != nil {
		return nil, err
	}
	if df.rows > 1 {
		return nil, errPeopleInGroups(df.person)
	}
	f, ok := schema.Field(column)
	switch {
	case ok && f.Kind != frame.Categorical:
		return nil, fmt.Errorf("dpnb: %s: %q is a number in the schema, and groups are public categories",
			wording.Of("FitBy"), column)
	case !ok:
		return nil, fmt.Errorf("dpnb: %s: the schema has no categories of %q%s: groups are public categories",
			wording.Of("FitBy"), column, schema.Like(column))
	}
	// Who is in which group is decided before the function can do anything about it.
	partition, err := frame.NewPartition(df.records, schema, column)
	if err != nil {
		return nil, err
	}
	var rows []DataFrame
	for _, group := range f.Levels {
		part := df.by(func(frame.Scanner) (frame.Scanner, error) { return partition.Group(group) })
		part.group = &ofGroup{*f, group}
		rows = append(rows, part.Drop(column))
	}
	var parts []*Dataset
	for _, part := range rows {
		data := records(part)
		p := l.spec()
		if err := data.Err(); err != nil {
			return nil, err
		}
		data = data.held()
		if data.group != part.group {
			return nil, errors.New("dpnb: FitBy: the function makes records from other rows than it was given: " +
				"groups could then share records, and the price of one would not pay for all")
		}
		if data.remote { // by a function of the program's, which could add up over other records
			return nil, fmt.Errorf("dpnb: %s: one group's price pays for all because no record is in two, and passes "+
				"that are made elsewhere (%s) could be over any: leave it out", wording.Of("FitBy"),
				wording.Of("PassesBy"))
		}
		if data.design.RowsOfAPerson != df.rows { // of each group one: they may be of the same person
			return nil, errPeopleInGroups(data.design.Person)
		}
		_, tunes := l.(Tune) // it has prices of several learners, which its fit looks at
		if !tunes && (named == nil || !a.keeps(named(part.group.Name))) {
			if _, _, err := priced(p.seen(data, a.part.Delta == 0), a.of(column, data.group), &p); err != nil {
				return nil, err
			}
		}
		if !sameEncoding(parts, data) {
			return nil, errors.New("dpnb: FitBy: the function does not make the same kind of records for all " +
				"groups")
		}
		parts = append(parts, data)
	}
	return parts, nil
}

// errPeopleInGroups does not say to leave out PerPerson: a row would then be protected, and its person would not.
func errPeopleInGroups(person string) error {
	return fmt.Errorf("dpnb: rows of one person (%q) may be in several groups, and then the costs add up: %s is of "+
		"people of whom one row counts, which is chosen before the groups are made: %s. Or fit each group by itself, "+
		"from a table of its rows%s, and pay for each", person, wording.Of("FitBy"),
		wording.Setting{Field: "RowsOfAPerson", Value: "1",
			Go: fmt.Sprintf("PerPerson(%q, 1) of the whole table", person)}, wording.Setting{Go: " (Where)"})
}

// sameEncoding reports whether data is encoded as the first part is, if there is one.
func sameEncoding(parts []*Dataset, data *Dataset) bool {
	return len(parts) == 0 || data.design.Encoding.Equal(parts[0].design.Encoding)
}

// Err returns the reason if there are no models, else nil.
func (s *Models) Err() error {
	if s == nil || len(s.Models) == 0 {
		return errNoModel
	}
	for _, m := range s.Models {
		if err := m.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Of returns the model of a group; nil if there is none.
func (s *Models) Of(group string) *Model {
	if s.Err() != nil {
		return nil
	}
	if k := slices.Index(s.Groups, group); k >= 0 {
		return s.Models[k]
	}
	return nil
}

// Display shows a column of coefficients for each group.
func (s *Models) Display() display.Item {
	if err := s.Err(); err != nil {
		return display.Failed(err)
	}
	first := s.Models[0]
	it := display.Item{Title: fmt.Sprintf("%s for %s, by %s", strings.ToUpper(first.title[:1])+first.title[1:],
		first.target.Name, s.Column), Header: append([]string{"feature"}, s.Groups...)}
	factors := first.factorWords()
	for _, name := range s.Groups {
		if factors != "" {
			it.Header = append(it.Header, "factor, "+name)
		}
	}
	for j := range first.coefficients {
		row := []string{strings.TrimSpace(first.part(j) + " " + first.features[j%len(first.features)])}
		for _, m := range s.Models {
			row = append(row, fmt.Sprintf("%+.3f", m.coefficients[j]))
		}
		for _, m := range s.Models {
			if by, ok := m.factor(m.features[j%len(m.features)], m.coefficients[j]); ok {
				row = append(row, by)
			}
		}
		it.Row(row...)
	}
	for _, m := range s.Models {
		if w := m.warning(); !strings.Contains(it.Warning, w) {
			it.Warning = join(it.Warning, w)
		}
	}
	it.Note("Coefficients: %s.", first.meaning())
	for _, said := range []string{factors, first.group.inNone(), s.counted()} {
		if said != "" {
			it.Notes = append(it.Notes, said)
		}
	}
	if first.release != nil {
		it.Note("%s", first.whatMissing())
	}
	switch {
	case first.release != nil && !s.together():
		it.Note("Guarantee of each: %s They were not all released at once, and what they cost together is in the "+
			"budget.", first.release.Guarantee.Words())
	case first.release != nil:
		it.Note("Guarantee of all of them together: %s It is that of one model, because a %s is in at most one group.",
			first.release.Guarantee.Words(), first.release.Guarantee.Unit())
		it.Note("Each model has as much noise as one of all records would have, so a group of few records has a less " +
			"accurate model.")
	}
	return it
}

// Illustration draws the coefficients of all groups, with their 95 % intervals where the models have some with ends.
func (s *Models) Illustration() *figure.Figure {
	if s.Err() != nil {
		return nil
	}
	var names []string
	var lo, mid, hi []float64
	first, note := s.Models[0], "coefficient"
	d := min(len(first.coefficients), 12)
	for j := range d {
		for k, m := range s.Models {
			names = append(names, strings.TrimSpace(m.part(j)+" "+m.features[j%len(m.features)])+", "+s.Groups[k])
			v := m.coefficients[j]
			lo, mid, hi = append(lo, v), append(mid, v), append(hi, v)
			if iv, err := m.Intervals(0.95); err == nil && !math.IsInf(iv.Upper[j]-iv.Lower[j], 0) {
				note = "coefficient, with its 95 % interval"
				lo[len(lo)-1], mid[len(mid)-1], hi[len(hi)-1] = iv.Lower[j], iv.Estimate[j], iv.Upper[j]
			}
		}
	}
	it := s.Display()
	return figure.New(it.Title, note, "").Intervals(names, lo, mid, hi, figure.Blue).Warn(it.Warning)
}
