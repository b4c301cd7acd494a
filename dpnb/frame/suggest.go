package frame

import (
	"slices"
	"strings"
)

// Like returns ", which has " and the names in the schema that one who wrote name may have meant, or that the schema
// has name to ignore it; "" if there are none.
func (s *Schema) Like(name string) string {
	if slices.Contains(s.Ignored, name) {
		return ` but for the type "ignore"`
	}
	var names []string
	for _, f := range s.Fields {
		names = append(names, f.Name)
	}
	if near := nearest(name, names); near != nil {
		return ", which has " + quoteAll(near)
	}
	return ""
}

// like returns a question after the names that one who wrote name may have meant.
func like(name string, names []string) string {
	if near := nearest(name, names); near != nil {
		return " (" + strings.Join(near, " or ") + "?)"
	}
	return ""
}

// nearest returns the names that differ from name by the fewest letters, if by no more than a third of them, letters of
// either case being the same.
func nearest(name string, names []string) (near []string) {
	of := []rune(strings.ToLower(name))
	least := max(1, len(of)/3)
	for _, n := range names {
		switch d := distance(of, []rune(strings.ToLower(n))); {
		case d < least:
			near, least = []string{n}, d
		case d == least:
			near = append(near, n)
		}
	}
	return near
}

// distance returns how many letters are to be left out, put in or exchanged to make b of a.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before := row[0]
		row[0] = i + 1
		for j := range b {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before, row[j+1] = row[j+1], min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
