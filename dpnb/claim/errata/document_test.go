package errata

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const document = "../../../docs/errata.md"

// conventions are the entries for which there is nothing to compute: those that
// state a convention instead of an error, readings, which say that a theorem is
// used where its assumptions do not hold, and slips of notation.
var conventions = map[string]bool{"general-23": true, "general-24": true, "rkw23-42": true, "dtz24-57": true, "dtz24-59": true, "rkw23-67": true}

// sections returns the entries of the document by ID.
func sections(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	heading := regexp.MustCompile(`^([a-z0-9]+-[0-9]+): `)
	for _, part := range strings.Split("\n"+string(text), "\n### ")[1:] {
		part, _, _ = strings.Cut(part, "\n## ")
		part, _, _ = strings.Cut(part, "\n<a id=") // the next entry's anchor
		m := heading.FindStringSubmatch(part)
		if m == nil {
			t.Fatalf("an entry without an ID: %.60q", part)
		}
		if _, twice := out[m[1]]; twice {
			t.Fatalf("%s is there twice", m[1])
		}
		out[m[1]] = part
	}
	return out
}

// quote fails unless the entry id of the document states the figure, written
// as format writes it, so that no figure stands there that is not computed.
func quote(t *testing.T, id, format string, args ...any) {
	t.Helper()
	want := fmt.Sprintf(format, args...)
	text, ok := sections(t)[id]
	if !ok {
		t.Errorf("docs/errata.md has no entry %s to state %s", id, want)
		return
	}
	if !regexp.MustCompile(`(^|[^0-9.e+−-])` + regexp.QuoteMeta(want) + `($|[^0-9.e]|[.]($|[^0-9]))`).MatchString(text) {
		t.Errorf("%s: computed %s, which docs/errata.md does not state", id, want)
	}
}

// Every erratum with a test stands in the document, and every one in the
// document has a test, conventions excepted.
func TestDocumentAndTestsAgree(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	tested := map[string]bool{}
	quoted := regexp.MustCompile(`quote\(t, "([a-z0-9]+-[0-9]+)"`)
	for _, f := range files {
		source, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range quoted.FindAllStringSubmatch(string(source), -1) {
			tested[m[1]] = true
		}
	}
	entries := sections(t)
	for id := range tested {
		if _, ok := entries[id]; !ok {
			t.Errorf("%s has a test and no entry", id)
		}
	}
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if stated := fmt.Sprintf("%d entries", len(entries)); !strings.Contains(string(text), "\n"+stated+":") {
		t.Errorf("the introduction does not say that there are %s", stated)
	}
	for id := range entries {
		if n := len(regexp.MustCompile(`(?m)^\| \[?`+id+`(\]\(#[a-z0-9-]+\))? \|`).FindAll(text, -1)); n != 1 {
			t.Errorf("%s stands %d times in the table", id, n)
		}
		if tested[id] == conventions[id] {
			t.Errorf("%s: has a test: %v, is a convention, a reading or a slip of notation: %v", id, tested[id], conventions[id])
		}
	}
	if len(tested) < 30 {
		t.Errorf("only %d errata have a test", len(tested))
	}
}
