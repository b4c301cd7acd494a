package solutions

import (
	"strings"
	"testing"
)

// A solution that is missing, not computed, or states another number is found.
func TestFaults(t *testing.T) {
	const text = "# A\n\n## Exercises\n\n1. How many?\n2. How much?\n\n<details><summary>Solutions</summary>\n\n" +
		"1. There are 12.5 of them.\n2. At σ = 3.\n\n</details>\n\n## Summary\n"
	for _, c := range []struct {
		text     string
		computed [][]string
		want     int
	}{
		{text, [][]string{{"12.5 of them"}, {"σ = 3"}}, 0},
		{text, [][]string{{"12.5"}, {"3"}}, 0},
		{text, [][]string{{"12"}, {"3"}}, 1},
		{text, [][]string{{"2.5"}, {"4"}}, 2},
		{text, [][]string{{"12.5"}, {}}, 1},
		{text, [][]string{{"12.5"}}, 1},
		{strings.Replace(text, "2. At", "At", 1), [][]string{{"12.5"}, {"3"}}, 1},
		{strings.Replace(text, "</details>", "", 1), [][]string{{"12.5"}, {"3"}}, 1},
		{"# A\n", nil, 1},
	} {
		if got := faults(c.text, c.computed); len(got) != c.want {
			t.Errorf("%v, want %d of them", got, c.want)
		}
	}
}

// A row of a table of errata that says something else is found.
func TestOtherRows(t *testing.T) {
	const page = "| entry | subject |\n| [a-1](#a-1) | sign |\n| [a-2](#a-2) | factor |\n"
	const own = "| entry | subject |\n| [a-1](../docs/errata.md#a-1) | sign |\n"
	if got := otherRows(own, page); len(got) != 0 {
		t.Error(got)
	}
	for _, wrong := range []string{strings.Replace(own, "sign", "size", 1), strings.Replace(own, "#a-1", "#a-2", 1),
		strings.Replace(own, "a-1", "a-3", 1)} {
		if got := otherRows(wrong, page); len(got) != 1 {
			t.Errorf("%q: %v", wrong, got)
		}
	}
}
