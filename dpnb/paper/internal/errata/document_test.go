package errata

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// conventions are the entries for which there is nothing to compute: those that state a convention instead of an error,
// readings, which say that a theorem is used where its assumptions do not hold, and slips of notation.
var conventions = map[string]bool{"general-23": true, "general-24": true, "rkw23-42": true, "dtz24-57": true,
	"dtz24-59": true, "rkw23-67": true}

// Every erratum with a test stands in the document, and every one in the document has a test, conventions excepted.
func TestDocumentAndTestsAgree(t *testing.T) {
	files := must.Get(filepath.Glob("../../*/errata*_test.go"))
	tested := map[string]bool{}
	quoted := regexp.MustCompile(`errata\.Quotes?\(t, "([a-z0-9]+-[0-9]+)"`)
	for _, f := range files {
		source := must.Get(os.ReadFile(f))
		for _, m := range quoted.FindAllStringSubmatch(string(source), -1) {
			tested[m[1]] = true
		}
	}
	entries := Sections(t)
	for id := range tested {
		if _, ok := entries[id]; !ok {
			t.Errorf("%s has a test and no entry", id)
		}
	}
	text := document(t)
	if stated := fmt.Sprintf("%d entries", len(entries)); !strings.Contains(text, "\n"+stated+":") {
		t.Errorf("the introduction does not say that there are %s", stated)
	}
	for id := range entries {
		if n := len(regexp.MustCompile(`(?m)^\| \[?`+id+`(\]\(#[a-z0-9-]+\))? \|`).FindAllString(text, -1)); n != 1 {
			t.Errorf("%s stands %d times in the table", id, n)
		}
		if tested[id] == conventions[id] {
			t.Errorf("%s: has a test: %v, is a convention, a reading or a slip of notation: %v", id, tested[id],
				conventions[id])
		}
	}
	if len(tested) < 30 {
		t.Errorf("only %d errata have a test", len(tested))
	}
}
