package dtz24

import (
	"context"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/sim"
	"github.com/dpnb/notebooks/dpnb/sim/population"
)

func TestGridOfSettings(t *testing.T) {
	grid := Grid(1000)
	if len(grid) < 60 {
		t.Errorf("%d settings", len(grid))
	}
	seen := map[string]bool{}
	for _, s := range grid {
		seen[s.String()] = true
	}
	if len(seen) != len(grid) {
		t.Error("a setting is there twice")
	}
	for kind := range Kind(kinds) {
		p, err := Setting{kind, population.Sparse, 120, 60}.Run(context.Background(), 20, 5)
		if err != nil || len(p) < 4 {
			t.Errorf("%s: %d measures, %v", kind, len(p), err)
		}
		for _, v := range p {
			if !(math.Abs(v.StandardErrors()) <= 5) {
				t.Errorf("%s: %s = %v, predicted %v", kind, v.Measure, v.Simulated, v.Predicted)
			}
		}
	}
	if _, err := (Setting{Kind(kinds), population.Sparse, 10, 5}).Run(context.Background(), 2, 1); err == nil {
		t.Error("an unknown kind is accepted")
	}
}

// The histogram of the coordinates is what is predicted, for a signal that is mostly zero and fixed, too: an atom,
// widened.
func TestCoordinates(t *testing.T) {
	testscale.Slow(t)
	edges := []float64{-4, -2, -1, -0.5, -0.2, 0, 0.2, 0.5, 1, 2, 4}
	for _, kind := range []Kind{RobustObjective, LogisticObjective, RobustOutput} {
		m := measure.Must(Setting{kind, population.Rademacher, 200, 100}.model())
		r := measure.Must(population.Simulation{Population: m.population, Estimator: m.estimator, Repetitions: 60,
			Seed: 3, Edges: edges}.Run(context.Background()))
		var total float64
		for k, share := range r.Histogram() {
			predicted := m.point.CDF(m.prior, edges[k+1]) - m.point.CDF(m.prior, edges[k])
			total += predicted
			if z := (share.Mean - predicted) / share.StdErr; !(math.Abs(z) <= 4.5) {
				t.Errorf("%s, from %v: share %v, predicted %v", kind, edges[k], share, predicted)
			}
		}
		if total < 0.95 || total > 1 {
			t.Errorf("%s: the cells hold %v", kind, total)
		}
	}
}

func TestOff(t *testing.T) {
	if got := measure.Exponent([]float64{1, 10, 100}, []float64{3, 0.3, 0.03}); !(math.Abs(got+1) <= 1e-12) {
		t.Errorf("rate %v", got)
	}
	d := Dot{Prediction: Prediction{Predicted: 1, Simulated: sim.Summary{Mean: 1.5, StdErr: 0.25}}}
	if errors, percent := d.Off(); errors || !percent || d.StandardErrors() != 2 {
		t.Errorf("%v, %v, %v", errors, percent, d.StandardErrors())
	}
}
