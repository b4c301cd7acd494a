package figure_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// Intervals put every name beside its line, and refuse what does not match.
func TestIntervals(t *testing.T) {
	names := []string{"first", "second", "third"}
	f := figure.New("intervals", "score", "").Intervals(names, []float64{1, 2, 3}, []float64{2, 3, 4},
		[]float64{3, 4, 5}, figure.Blue).
		Vertical("limit", 4.5, 3, figure.Gray).PercentX()
	svg := must.Get(f.SVG())
	for _, want := range append(names, "limit", "200 %") {
		if !bytes.Contains(svg, []byte(want)) {
			t.Errorf("%q is missing", want)
		}
	}
	for name, f := range map[string]*figure.Figure{
		"no names": figure.New("", "", "").Intervals(nil, nil, nil, nil, figure.Blue),
		"other sizes": figure.New("", "", "").Intervals(names, []float64{1}, []float64{2, 3, 4}, []float64{3, 4, 5},
			figure.Blue),
	} {
		if _, err := f.SVG(); err == nil {
			t.Errorf("%s: drawn", name)
		}
	}
}

// What is not known has an interval and no dot, and is said to be unknown.
func TestIntervalsOfTheUnknown(t *testing.T) {
	dots := func(mid float64) (int, string) {
		f := figure.New("", "x", "").Intervals([]string{"a"}, []float64{0}, []float64{mid}, []float64{2}, figure.Blue)
		return bytes.Count(must.Get(f.SVG()), []byte("<path")), f.Words()
	}
	known, words := dots(1)
	unknown, said := dots(math.NaN())
	if unknown != known-1 || !strings.Contains(words, "a 1 (0 to 2)") || !strings.Contains(said, "a unknown (0 to 2)") {
		t.Errorf("%d paths for %d: %q and %q", unknown, known, said, words)
	}
}
