package explore

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/logspace"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Of five classes, with many more cells of wrong predictions than of right ones, the intervals of the accuracy, of
// recalls and of precisions have the true shares in them as often as they say: noise is in every cell.
func TestSharesOfManyClasses(t *testing.T) {
	testscale.Slow(t)
	m := must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(learn.Binary(learn.Patients(200, 1), "ill"),
		learn.Simulate(1, 1e-6)))
	l, err := m.Losses(true) // for its name alone
	if err != nil {
		t.Fatal(err)
	}
	const k, deviation, level, draws = 5, 15.0, 0.8, 300
	p := outcomesPlan{model: l, of: confusion, classes: []string{"a", "b", "c", "d", "e"}}
	rng := noise.NewSeeded(3)
	var counts, truth []float64
	rows, columns, right, all := make([]float64, k), make([]float64, k), 0.0, 0.0
	for i := range k {
		for j := range k {
			c := float64(60 + 10*i + 5*j)
			if i == j {
				c += 200
				right += c
			}
			counts = append(counts, c)
			rows[i], columns[j], all = rows[i]+c, columns[j]+c, all+c
		}
	}
	truth = append(truth, right/all)
	for _, sums := range [][]float64{rows, columns} {
		for i, sum := range sums {
			truth = append(truth, counts[i*k+i]/sum)
		}
	}
	covered := make([]float64, len(truth))
	for range draws {
		noisy := make([]float64, len(counts))
		for i, c := range counts {
			noisy[i] = c + deviation*rng.NormFloat64()
		}
		out := &Statistic{counts: noisy}
		p.confusion(out, noiseOf{deviation: deviation}, 1, settings{confidence: level})
		for i, v := range truth {
			if r := out.rows[i]; r.Lower <= v && v <= r.Upper {
				covered[i]++
			}
		}
	}
	for i, c := range covered {
		if !(math.Abs(c/draws-level) <= 4*math.Sqrt(level*(1-level)/draws)) {
			t.Errorf("%v of %v intervals have share %d in them, %v %% are promised", c, draws, i, 100*level)
		}
	}
}

// descent returns how steep what platt minimises is at a slope and an intercept, in proportion to the counts.
func descent(noisy []float64, deviation, slope, intercept float64) float64 {
	value := func(a, c float64) float64 {
		sum := math.Max(deviation, 1) / 2 * ((a-1)*(a-1) + c*c)
		for b, k := 0, len(probabilityEdges)-1; b < k; b++ {
			lo, hi := math.Max(probabilityEdges[b], 0.003), math.Min(probabilityEdges[b+1], 0.997)
			if t := a*(math.Log(lo/(1-lo))+math.Log(hi/(1-hi)))/2 + c; noisy[b]+noisy[k+b] >= 2*math.Sqrt2*deviation {
				sum += math.Max(0, noisy[k+b])*math.Log1p(math.Exp(-t)) + math.Max(0, noisy[b])*math.Log1p(math.Exp(t))
			}
		}
		return sum
	}
	const h = 1e-4
	return math.Hypot(value(slope+h, intercept)-value(slope-h, intercept),
		value(slope, intercept+h)-value(slope, intercept-h)) / (2 * h * value(slope, intercept))
}

// A model that is calibrated already stays so where noise is visible: its log loss rises little, and
// its slope does not become flat. With invented records at empty places the slope is 0.3 at s = 50.
func TestCalibrationDoesNoHarm(t *testing.T) {
	testscale.Slow(t)
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
			if off := descent(noisy, c.deviation, a, b); !(off < 1e-4) && a > leastSlope {
				t.Fatalf("s = %v: %v and %v are no minimum, by %v", c.deviation, a, b, off)
			}
			slopes, losses = slopes+a/draws, losses+loss(a, b)/draws
		}
		exact, b := platt(counts, 1e-9)
		if off := descent(counts, 1e-9, exact, b); !(off < 1e-4) {
			t.Errorf("without noise %v and %v are no minimum, by %v", exact, b, off)
		}
		rise := losses/loss(1, 0) - 1
		said := fmt.Sprintf("n = %v, s = %v: slope %.2f, without noise %.2f; log loss + %.2f %%", c.n, c.deviation,
			slopes, exact, 100*rise)
		if t.Log(said); !(slopes > exact-0.35) || !(rise < c.most) {
			t.Error(said)
		}
	}
}
