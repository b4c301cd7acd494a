package learn

import (
	"fmt"
	"strings"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/frame"
)

// SchemaCheck lists the values of a DataFrame that do not fit its schema.
type SchemaCheck struct {
	// Misfits by columns; none if everything fits.
	Misfits []frame.Misfit
	lines   bool
	err     error
}

// Check lists the values that do not fit the schema, with the lines they are on, for the keeper of
// the data, who needs to know about typing errors. A fit does not mention them: the rules of the
// schema's fields apply to them silently, since whether there are any is private. What Check
// returns is about individual records, and nothing protects it.
//
// Errors (in Err, and shown): df's own, no schema, or one that is wrong.
func (df DataFrame) Check() *SchemaCheck {
	if err := df.Err(); err != nil {
		return &SchemaCheck{err: err}
	}
	m, err := frame.Misfits(df.scanner(), df.schema)
	return &SchemaCheck{Misfits: m, lines: df.scanner().Origin().Path != "", err: err}
}

// Err returns the reason if nothing could be checked.
func (c *SchemaCheck) Err() error { return c.err }

// Display shows the list as a table.
func (c *SchemaCheck) Display() display.Item {
	if c.err != nil {
		return display.Failed(c.err)
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
		if len(m.Lines) < m.Count {
			lines += " …"
		}
		texts := strings.Trim(fmt.Sprintf("%.60q", m.Texts), "[]")
		it.Row(m.Column, m.What, fmt.Sprint(m.Count), lines, texts)
	}
	return it
}
