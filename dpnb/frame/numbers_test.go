package frame

import (
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// Digits alone are a whole number, as many as a float64 has exactly.
func TestWholeNumbers(t *testing.T) {
	for c := range 128 {
		v, ok := wholeNumber("1" + string(rune(c)))
		if digit := strings.IndexByte("0123456789", byte(c)); ok != (digit >= 0) || ok && v != float64(10+digit) {
			t.Errorf("1 and %d: %v, %v", c, v, ok)
		}
	}
	for text, want := range map[string]float64{"0": 0, "007": 7, "999999999999999": 999999999999999} {
		if v, ok := wholeNumber(text); !ok || v != want {
			t.Errorf("%s: %v, %v", text, v, ok)
		}
	}
	for _, text := range []string{"", "1000000000000000"} {
		if v, ok := wholeNumber(text); ok {
			t.Errorf("%q: %v", text, v)
		}
	}
}

// Rows of a file keep their lines where they are gathered, and rows beside some of no file have none.
func TestLinesOfGatheredRows(t *testing.T) {
	var got [][]int
	g := gather{size: 3, f: func(t *Table) error {
		got = append(got, slices.Clone(t.lines))
		return nil
	}}
	for _, lines := range [][]int{{2, 3}, {4, 5}, {0}, {7, 8}, {9, 11, 12}, {13}} {
		part := must.Get(NewTable(Column{Name: "x", Numbers: make([]float64, len(lines))}))
		if part.lines = lines; lines[0] == 0 {
			part.lines = nil
		}
		must.Do(g.add(part))
	}
	must.Do(g.flush(true))
	want := [][]int{{2, 3, 4}, nil, {8, 9, 11}, {12, 13}}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("lines %v, want %v", got, want)
	}
}
