package checksum

import (
	"errors"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// What was sealed comes back, spaces aside, and nothing that differs from it in a letter does.
func TestSealed(t *testing.T) {
	const content = `{"a":[1,2],"b":"<&>"}`
	sealed := string(must.Get(Seal("model", 2, []byte(content))))
	for _, text := range []string{sealed, strings.ReplaceAll(sealed, "\n", "\n\t")} {
		got, version, err := Unseal("model", 3, []byte(text))
		if s := strings.NewReplacer(" ", "", "\n", "", "\t", "").Replace(string(got)); err != nil || version != 2 ||
			s != content {
			t.Errorf("%s, version %d, %v", got, version, err)
		}
	}
	for _, c := range []struct{ from, to, want string }{
		{"2\n", "3\n", ErrChanged.Error()},
		{"<&>", "<&", ErrChanged.Error()},
		{`"version": 2`, `"version": 1`, ErrChanged.Error()},
		{`"version": 2`, `"version": 0`, "in version 0"},
		{`"version": 2`, `"version": 4`, "in version 4"},
		{"model", "ledger", "no file of a model"},
		{`"version"`, `"Version"`, "other keys"},
		{`"format"`, `"more": 1, "format"`, "other keys"},
		{`"content"`, `"contents"`, "other keys"},
		{"}\n", "\n", "not all of it"},
	} {
		i := strings.LastIndex(sealed, c.from)
		text := sealed[:max(i, 0)] + c.to + sealed[max(i, 0)+len(c.from):]
		if _, _, err := Unseal("model", 3, []byte(text)); i < 0 || err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q: %v, want %q", c.to, c.from, err, c.want)
		}
	}
	if _, err := Seal("model", 1, []byte("{")); err == nil {
		t.Error("what is no JSON is sealed")
	}
	if errors.Is(Read([]byte(`[1, 2]`), new([]int)), nil) == (Read([]byte(`[1, 02]`), new([]int)) == nil) {
		t.Error("a number is read as this program does not write it")
	}
}
