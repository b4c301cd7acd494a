package errata

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Root is the top of the checkout that the test runs in.
func Root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
}

// document returns the text of docs/errata.md.
func document(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Root(t), "docs", "errata.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Sections returns the entries of the document by ID.
func Sections(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	heading := regexp.MustCompile(`^([a-z0-9]+-[0-9]+): `)
	for _, part := range strings.Split("\n"+document(t), "\n### ")[1:] {
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

// Quote fails unless the entry id of the document states the figure, written as format writes it, so that no figure
// stands there that is not computed.
func Quote(t *testing.T, id, format string, args ...any) {
	t.Helper()
	want := fmt.Sprintf(format, args...)
	text, ok := Sections(t)[id]
	if !ok {
		t.Errorf("docs/errata.md has no entry %s to state %s", id, want)
		return
	}
	if !regexp.MustCompile(`(^|[^0-9.e+−-])` + regexp.QuoteMeta(want) + `($|[^0-9.e]|[.]($|[^0-9]))`).MatchString(
		text) {
		t.Errorf("%s: computed %s, which docs/errata.md does not state", id, want)
	}
}

// Quotes is Quote of each value; formats are separated by spaces, and the last is that of all that follow.
func Quotes(t *testing.T, id, formats string, values ...any) {
	t.Helper()
	f := strings.Fields(formats)
	for i, v := range values {
		Quote(t, id, f[min(i, len(f)-1)], v)
	}
}

// Within fails unless got is want up to tol.
func Within(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: %.8g, want %.8g ± %.3g", what, got, want, tol)
	}
}
