package explore

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
)

// Numbers that one mechanism gave are not read as those of another, of which the intervals would be narrower.
func TestAnswersAreOfTheirMechanism(t *testing.T) {
	cells := statistic.Cells{{Levels: 3}}
	m := must.Get(statistic.CalibrateHistogram(cells, 1, 0, false))
	other := must.Get(statistic.CalibrateHistogram(cells, 1.1, 0, false))
	r := &released{Mechanism: m.String()}
	if err := r.by(m); err != nil {
		t.Error(err)
	}
	if err := r.by(other); err == nil {
		t.Errorf("what %v gave is read as given by %v", m, other)
	}
}
