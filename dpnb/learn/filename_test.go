package learn

import (
	"strings"
	"testing"
)

// Names that differ in letters a file name cannot have, or beyond its length, are those of different files.
func TestNamesHaveTheirOwnFiles(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{"a/b", "a b", "a?b", "a-b", "A-b", "ä", "ö", strings.Repeat("x", 200),
		strings.Repeat("x", 201)} {
		file := fileOf("ledger", name)
		if other, there := files[file]; there || len(file) > 150 || strings.ContainsAny(file, `/\?* `) {
			t.Errorf("%q and %q are kept in %q", name, other, file)
		}
		files[file] = name
	}
}
