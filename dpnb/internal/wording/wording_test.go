package wording_test

import (
	"fmt"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/wording"
)

// A setting is called what Go calls it, and what a shell does where a program says so: a word that is quoted stays.
func TestSettings(t *testing.T) {
	mark := wording.Of("Comma", "';'")
	call := wording.Setting{Field: "PerPerson", Value: "id", Go: `PerPerson("id", rows)`}
	ofGo := wording.Setting{Go: "; Shape changes it"}
	say := func() string { return fmt.Sprintf("set %s, of %q, or %s%s", mark, "Comma", call, ofGo) }
	if got, want := say(), `set Comma: ';', of "Comma", or PerPerson("id", rows); Shape changes it`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	wording.Shell = func(s wording.Setting) string { return "--" + s.Field + " " + s.Value }
	defer func() { wording.Shell = nil }()
	if got, want := say(), `set --Comma ';', of "Comma", or --PerPerson id`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A list of names can be read where one has a comma in it.
func TestNames(t *testing.T) {
	for want, names := range map[string][]string{`moved in, m²`: {"moved in", "m²"},
		`"moved in", "Comment, free", "a \"b\""`: {"moved in", "Comment, free", `a "b"`}} {
		if got := wording.Names(names); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A text in quotation marks is the text to a shell, whatever is in it.
func TestQuoted(t *testing.T) {
	for text, want := range map[string]string{"n/a": "'n/a'", `$5 "x"`: `'$5 "x"'`, "it's $5": `"it's \$5"`,
		"'`": "\"'\\`\"", "": "''"} {
		if got := wording.Quoted(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
