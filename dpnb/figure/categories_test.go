package figure_test

import (
	"bytes"
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
