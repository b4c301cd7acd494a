package wording_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/wording"
)

// A setting is called in an error what Go calls it, and wherever the error is wrapped what somebody else does: a word
// that is quoted stays.
func TestSettingsInErrors(t *testing.T) {
	mark := wording.Of("Comma", "';'")
	err := wording.Errorf("line %d: set %s, of %q", 3, mark, "Comma")
	call := wording.Errorf("or %s", wording.Setting{Field: "PerPerson", Value: "id", Go: `PerPerson("id", rows)`})
	shell := func(s wording.Setting) string { return "--" + s.Field + " " + s.Value }
	for _, c := range []struct {
		of        error
		in, other string
	}{
		{err, `line 3: set Comma: ';', of "Comma"`, `line 3: set --Comma ';', of "Comma"`},
		{fmt.Errorf("a.csv: %w", err), `a.csv: line 3: set Comma: ';', of "Comma"`,
			`a.csv: line 3: set --Comma ';', of "Comma"`},
		{errors.Join(call, err), "or PerPerson(\"id\", rows)\nline 3: set Comma: ';', of \"Comma\"",
			"or --PerPerson id\nline 3: set --Comma ';', of \"Comma\""},
		{errors.New("Comma"), "Comma", "Comma"},
	} {
		if got, other := c.of.Error(), wording.In(c.of, shell); got != c.in || other != c.other {
			t.Errorf("%q and %q, want %q and %q", got, other, c.in, c.other)
		}
	}
}
