package cop

import (
	"context"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testscale"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// The default of dpnb.Median beside the best private method of the base case, noisy descent with
// steps that n sets, on the same records with the same stream of noise: 400 runs see differences of
// a twentieth. In no cell is it behind by two standard errors; with steps that fit themselves alone
// it would be by a tenth with 100 records, where a gradient hardly stands out of its noise.
func TestFrontDoorPaired(t *testing.T) {
	if !testscale.Full() {
		t.Skip("minutes")
	}
	e := Reproduce(5, false, FrontDoor(), Descent())
	e.Counts, e.Epsilons, e.Runs, e.Seed, e.Paired = Counts, Epsilons, 400, 7, true
	points, err := e.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(points); i += 2 {
		door, other := points[i].Empirical, points[i+1].Empirical
		difference := make([]float64, len(door.Scores))
		for k := range difference {
			difference[k] = door.Scores[k] - other.Scores[k]
		}
		few, all := sim.Summarize(difference[:paperRuns]), sim.Summarize(difference)
		t.Logf("n = %4d, ε = %3g: %.6f beside %.6f, ratio %.3f, %+.1f standard errors; of %d runs %+.1f", points[i].N,
			points[i].Epsilon, door.Mean, other.Mean, door.Mean/other.Mean, all.Mean/all.StdErr, paperRuns,
			few.Mean/few.StdErr)
		if all.Mean > 2*all.StdErr || few.Mean > 2*few.StdErr {
			t.Errorf("the front door has %.6f, noisy descent %.6f", door.Mean, other.Mean)
		}
	}
}
