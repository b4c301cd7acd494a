package learn

import (
	"fmt"
	"strings"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/runlog"
)

// SchemaCheck lists the values of a DataFrame that do not fit its schema.
type SchemaCheck struct {
	// Misfits by columns; none if everything fits.
	Misfits []frame.Misfit
	lines   bool
	// kept says that nothing was looked at, since what is shown goes into a report.
	kept bool
	err  error
}

// Check lists the values that do not fit the schema, with the lines they are on, for the keeper of the data, who needs
// to know about typing errors. A fit does not mention them: the rules of the schema's fields apply to them silently,
// since whether there are any is private. What Check returns is about individual records, and nothing protects it:
// where "dpnb report" runs a notebook on records that are neither public nor invented, nothing is looked at, and "dpnb
// check" is there for the shell.
//
// Errors (in Err, and shown): df's own, no schema, or one that is wrong.
func (df DataFrame) Check() *SchemaCheck {
	if err := df.Err(); err != nil {
		return &SchemaCheck{err: err}
	}
	s := df.records.Origin()
	if runlog.Reported() && !s.Public && !s.Invented {
		_, _, err := df.Known()
		return &SchemaCheck{kept: true, err: err}
	}
	m, err := frame.Misfits(df.records, df.schema)
	return &SchemaCheck{Misfits: m, lines: s.Path != "", err: err}
}

// Err returns the reason if nothing could be checked.
func (c *SchemaCheck) Err() error { return c.err }

// Display shows the list as a table.
func (c *SchemaCheck) Display() display.Item {
	if c.err != nil {
		return display.Failed(c.err)
	}
	if c.kept {
		return display.Item{Notes: []string{"What does not fit the schema is for the keeper of the data alone, and " +
			"in no report: in a shell, dpnb check FILE --schema SCHEMA lists it."}}
	}
	it := display.Item{Title: "What does not fit the schema", Warning: rawWarning,
		Header: []string{"column", "what", "rows", "row numbers", "values"}}
	if c.lines {
		it.Header[3] = "lines of the file"
	}
	if len(c.Misfits) == 0 {
		it.Note("Every value fits.")
	}
	for _, m := range c.Misfits {
		if m.Count == 0 {
			it.Row(m.Column, m.What, "–", "–", "–")
			continue
		}
		lines := strings.Trim(fmt.Sprint(m.Lines), "[]")
		if m.Lines == nil {
			lines = "all"
		} else if len(m.Lines) < m.Count {
			lines += " …"
		}
		texts := strings.Trim(fmt.Sprintf("%.60q", m.Texts), "[]")
		it.Row(m.Column, m.What, fmt.Sprint(m.Count), lines, texts)
	}
	return it
}
