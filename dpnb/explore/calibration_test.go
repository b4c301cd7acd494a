package explore

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/logspace"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// A model that is calibrated already stays so where noise is visible: its log loss rises little, and
// its slope does not become flat. With invented records at empty places the slope is 0.3 at s = 50.
func TestCalibrationDoesNoHarm(t *testing.T) {
	rng := noise.NewSeeded(7)
	places := len(probabilityEdges) - 1
	for _, c := range []struct{ n, deviation, base, most float64 }{
		{2000, 10, 0, 0.004}, {2000, 50, 0, 0.06}, {10000, 50, 0, 0.004}, {10000, 20, -4, 0.02},
	} {
		counts := make([]float64, 2*places)
		for range int(c.n) {
			p := 1 / (1 + math.Exp(-(c.base + rng.NormFloat64())))
			for b := range places {
				if p <= probabilityEdges[b+1] {
					if rng.Float64() < p {
						b += places
					}
					counts[b]++
					break
				}
			}
		}
		loss := func(slope, intercept float64) (sum float64) {
			for b := range places {
				lo, hi := math.Max(probabilityEdges[b], 0.003), math.Min(probabilityEdges[b+1], 0.997)
				t := slope*(math.Log(lo/(1-lo))+math.Log(hi/(1-hi)))/2 + intercept
				sum += counts[places+b]*logspace.Add(0, -t) + counts[b]*logspace.Add(0, t)
			}
			return sum
		}
		var slopes, losses float64
		const draws = 300
		for range draws {
			noisy := make([]float64, len(counts))
			for i := range noisy {
				noisy[i] = counts[i] + c.deviation*rng.NormFloat64()
			}
			a, b := platt(noisy, c.deviation)
			slopes, losses = slopes+a/draws, losses+loss(a, b)/draws
		}
		exact, _ := platt(counts, 1e-9)
		rise := losses/loss(1, 0) - 1
		said := fmt.Sprintf("n = %v, s = %v: slope %.2f, without noise %.2f; log loss + %.2f %%", c.n, c.deviation,
			slopes, exact, 100*rise)
		if t.Log(said); !(slopes > exact-0.35) || !(rise < c.most) {
			t.Error(said)
		}
	}
}
