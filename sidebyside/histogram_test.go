package sidebyside

import (
	"fmt"
	"math"
	"sort"
	"testing"

	"github.com/google/differential-privacy/go/v3/dpagg"
	google "github.com/google/differential-privacy/go/v3/noise"

	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
)

// bins is how many places a histogram here has.
const bins = 20

func edges(k task) []float64 {
	e := make([]float64, bins+1)
	for i := range e {
		e[i] = k.lower + (k.upper-k.lower)*float64(i)/bins
	}
	return e
}

// place is the bin of v.
func place(e []float64, v float64) int {
	return min(bins-1, max(0, sort.Search(len(e), func(i int) bool { return e[i] > v })-1))
}

// squares returns the mean square of the errors of the counts.
func squares(k task, counts []float64) (sum float64) {
	e, truth := edges(k), make([]float64, bins)
	for _, v := range k.x {
		truth[place(e, v)]++
	}
	for i, c := range counts {
		sum += (c - truth[i]) * (c - truth[i]) / bins
	}
	return sum
}

// ourHistogram is that of normal noise, or of whatever is best at (ε, δ).
func ourHistogram(normal bool) way {
	return func(t testing.TB, k task, epsilon, delta float64) float64 {
		m, err := statistic.CalibrateHistogram(statistic.Cells{{Edges: edges(k)}}, epsilon, delta, normal)
		must(t, err)
		tally := m.Tally()
		tally.Add([][]float64{k.x})
		return squares(k, tally.Release(source))
	}
}

// theirHistogram is a count in each bin of a person who is in one.
func theirHistogram(kind google.Noise, spendsDelta bool) way {
	return func(t testing.TB, k task, epsilon, delta float64) float64 {
		if !spendsDelta {
			delta = 0
		}
		counts, e := make([]*dpagg.Count, bins), edges(k)
		for i := range counts {
			c, err := dpagg.NewCount(&dpagg.CountOptions{Epsilon: epsilon, Delta: delta, Noise: kind,
				MaxPartitionsContributed: 1})
			must(t, err)
			counts[i] = c
		}
		for _, v := range k.x {
			must(t, counts[place(e, v)].Increment())
		}
		noisy := make([]float64, bins)
		for i, c := range counts {
			v, err := c.Result()
			must(t, err)
			noisy[i] = float64(v)
		}
		return squares(k, noisy)
	}
}

// Histograms are at least as accurate as the library's with the same law of noise: root mean square errors in theirs,
// with four standard errors; half a percent is allowed, which is what whole counts add to small noise.
func TestHistogramsAreAtLeastAsAccurate(t *testing.T) {
	seed(t)
	for _, n := range []int{1000, 100_000} {
		times := map[int]int{1000: 200, 100_000: 20}[n]
		if full {
			times *= 20
		}
		for _, k := range tasks(t, n, 4) {
			for _, p := range guarantees {
				for _, law := range []string{"normal", "Laplace"} {
					kind := google.Gaussian()
					if law == "Laplace" {
						kind = google.Laplace()
					}
					own := measure(t, ourHistogram(law == "normal"), k, p.epsilon, p.delta, times)
					other := measure(t, theirHistogram(kind, law == "normal"), k, p.epsilon, p.delta, times)
					ratio := math.Sqrt(own.mean / other.mean)
					relative := 0.5 * math.Hypot(own.se/own.mean, other.se/other.mean)
					line := fmt.Sprintf("histogram %-9s n = %-6d (%g, %g), %s: error %.3f, %.3f ± %.3f of theirs",
						k.name, n, p.epsilon, p.delta, law, math.Sqrt(own.mean), ratio, ratio*relative)
					t.Log(line)
					if math.Log(ratio/1.005) > 4*relative {
						t.Errorf("less accurate: %s", line)
					}
				}
			}
		}
	}
}
