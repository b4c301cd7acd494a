package cop

import (
	"context"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testscale"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// The default of dpnb.Median beside the best private method of the base case, noisy descent with
// steps that n sets, on the same records with the same stream of noise.
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
		for _, runs := range []int{50, len(door.Scores)} {
			difference := make([]float64, runs)
			for k := range difference {
				difference[k] = door.Scores[k] - other.Scores[k]
			}
			d := sim.Summarize(difference)
			t.Logf("n = %4d, ε = %3g, %d runs: %.6f beside %.6f, ratio %.3f, difference %.6f (%.6f), %+.1f",
				points[i].N, points[i].Epsilon, runs, door.Mean, other.Mean, door.Mean/other.Mean, d.Mean, d.StdErr,
				d.Mean/d.StdErr)
			if math.IsNaN(d.Mean) {
				t.Error("no difference")
			}
		}
	}
}
