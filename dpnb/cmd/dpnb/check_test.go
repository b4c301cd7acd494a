package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// The keeper of a file hears that a schema fits none of its labels, before a fit is paid for.
func TestCheckCommand(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must.Do(os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	schema := write("schema.json", `{"version": 1, "fields": [
		{"name": "age", "type": "number", "lower": 0, "upper": 110},
		{"name": "ill", "type": "category", "categories": ["no", "yes"]}]}`)
	for _, c := range []struct {
		text string
		want []string
		err  error
	}{
		{"age,ill\n40,No\n50,Yes\n", []string{"RAW RECORDS", "NOT ONE VALUE FITS", "capital letters"}, errToldAlready},
		{"age;ill\n40;no\n500;yes\n", []string{"RAW RECORDS", "above 110", "500"}, errToldAlready},
		{"age,ill\n40,no\n50,yes\n", []string{"RAW RECORDS", "Every value fits."}, nil},
	} {
		said, err := call(t, newCheckCommand(), write("a.csv", c.text), "--schema", schema, "--separator", c.text[3:4])
		if err != c.err {
			t.Errorf("%q: %v", c.text, err)
		}
		for _, want := range c.want {
			if !strings.Contains(said, want) {
				t.Errorf("%q is not in %s", want, said)
			}
		}
	}
	// Of several files each row is said of the file that it is in.
	write("part-1.csv", "age,ill\n40,no\n")
	write("part-2.csv", "age,ill\n40,no\n500,no\n")
	write("part-3.csv", "age,ill\n600,no\n")
	said, err := call(t, newCheckCommand(), filepath.Join(dir, "part-*.csv"), "--schema", schema, "--memory", "64MiB")
	if err != errToldAlready || !strings.Contains(said, "in part-2.csv\n") || !strings.Contains(said,
		"in part-3.csv\n") ||
		strings.Contains(said, "in part-1.csv") || strings.Count(said, "RAW RECORDS") != 1 {
		t.Errorf("%s (%v)", said, err)
	}
}
