// Package sidebyside holds this module's statistics against Google's library for differential privacy, at equal (ε, δ),
// on the same records. It is a module of its own, so that nobody who uses the other needs that library.
package sidebyside

import (
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
	"testing/cryptotest"

	"github.com/google/differential-privacy/go/v3/dpagg"
	google "github.com/google/differential-privacy/go/v3/noise"

	"github.com/dpnb/notebooks/dpnb/dataset"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// full asks for as many draws as give figures to a few percent.
var full = os.Getenv("DPNB_FULL") != ""

// task is tables of records, each sorted, with their public bounds.
type task struct {
	name         string
	lower, upper float64
	tables       [][]float64
	x            []float64 // the one in use
}

// tasks returns tables of n records of each law: normal, lognormal, and two columns of Adult, drawn with replacement
// from its records (or from invented people where there are none).
func tasks(t testing.TB, n, tables int) []task {
	src := noise.NewSeeded(uint64(n))
	train, _, err := dataset.Adult()
	if err != nil {
		t.Fatal(err)
	}
	draw := func(f func() float64) [][]float64 {
		all := make([][]float64, tables)
		for k := range all {
			all[k] = make([]float64, n)
			for i := range all[k] {
				all[k][i] = f()
			}
			slices.Sort(all[k])
		}
		return all
	}
	column := func(name string) func() float64 {
		c, err := train.Column(name)
		if err != nil {
			t.Fatal(err)
		}
		return func() float64 { return c.Number(src.IntN(train.Rows())) }
	}
	return []task{
		{"normal", -8, 8, draw(func() float64 { return src.NormFloat64() }), nil},
		{"lognormal", 0, 100, draw(func() float64 { return math.Exp(src.NormFloat64()) }), nil},
		{"age", 17, 90, draw(column("age")), nil},
		{"hours", 1, 99, draw(column("hours-per-week")), nil},
	}
}

func (k task) mean() float64 {
	var sum float64
	for _, v := range k.x {
		sum += v
	}
	return sum / float64(len(k.x))
}

// levels of the quantiles that are asked for at once.
var levels = []float64{0.25, 0.5, 0.75}

// errorsOf returns the mean over the levels of |estimate − quantile|.
func (k task) errorsOf(estimates []float64) float64 {
	var sum float64
	for i, q := range levels {
		sum += math.Abs(estimates[i] - k.x[int(math.Ceil(q*float64(len(k.x))))-1])
	}
	return sum / float64(len(levels))
}

// way is a way to an error: one release of the records of a task at (ε, δ).
type way func(t testing.TB, k task, epsilon, delta float64) float64

// ours are this module's ways, as its front door chooses them.
var ours = map[string]way{
	"mean": func(t testing.TB, k task, epsilon, delta float64) float64 {
		b := statistic.Number{Lower: k.lower, Upper: k.upper}
		m, err := statistic.LeastNoise(func(law statistic.Law) statistic.Summand {
			return statistic.Means{Of: []statistic.Number{b}, For: law}
		}, epsilon, delta, false)
		must(t, err)
		released := release(m, k.x)
		return math.Abs(m.Of.(statistic.Means).Estimates(m.Scale, released, 0.95, false)[0].Value - k.mean())
	},
	"quantiles": func(t testing.TB, k task, epsilon, delta float64) float64 {
		b := statistic.Number{Lower: k.lower, Upper: k.upper}
		m, err := statistic.CalibrateQuantiles(statistic.Quantiles{Of: b, Levels: levels}, epsilon, delta, false)
		must(t, err)
		released := release(m, k.x)
		return k.errorsOf([]float64{released[2], released[4], released[6]})
	},
}

func release(m statistic.Mechanism, x []float64) []float64 {
	tally := m.Tally()
	tally.Add([][]float64{x})
	return tally.Release(source)
}

// theirs are the library's, with either of its kinds of noise.
func theirs(kind google.Noise, spendsDelta bool) map[string]way {
	part := func(delta float64) float64 {
		if spendsDelta {
			return delta
		}
		return 0
	}
	return map[string]way{
		"mean": func(t testing.TB, k task, epsilon, delta float64) float64 {
			m, err := dpagg.NewBoundedMean(&dpagg.BoundedMeanOptions{Epsilon: epsilon, Delta: part(delta), Noise: kind,
				MaxPartitionsContributed: 1, MaxContributionsPerPartition: 1, Lower: k.lower, Upper: k.upper})
			must(t, err)
			for _, v := range k.x {
				must(t, m.Add(v))
			}
			v, err := m.Result()
			must(t, err)
			return math.Abs(v - k.mean())
		},
		"quantiles": func(t testing.TB, k task, epsilon, delta float64) float64 {
			m, err := dpagg.NewBoundedQuantiles(&dpagg.BoundedQuantilesOptions{Epsilon: epsilon, Delta: part(delta),
				Noise: kind, MaxPartitionsContributed: 1, MaxContributionsPerPartition: 1, Lower: k.lower,
				Upper: k.upper})
			must(t, err)
			for _, v := range k.x {
				must(t, m.Add(v))
			}
			var at []float64
			for _, q := range levels {
				v, err := m.Result(q)
				must(t, err)
				at = append(at, v)
			}
			return k.errorsOf(at)
		},
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// figures are the errors of several releases.
type figures struct{ mean, se float64 }

func measure(t testing.TB, w way, k task, epsilon, delta float64, times int) (f figures) {
	var square float64
	for i := range times {
		k.x = k.tables[i%len(k.tables)]
		e := w(t, k, epsilon, delta)
		f.mean += e / float64(times)
		square += e * e / float64(times)
	}
	f.se = math.Sqrt(math.Max(0, square-f.mean*f.mean) / float64(times))
	return f
}

// source is what this module's noise is drawn from. Fresh noise is right for speed; errors are of seeded draws (seed).
var source noise.Source = noise.NewSecure()

// seed makes the numbers of a test the same in every run: this module's by a seeded source, for its secure one reads
// the system by a path that no test can turn, and the other library's by crypto/rand, which it reads. A verdict on
// errors is then one on the code alone: fresh numbers would fail by chance, since each run makes 64 comparisons at four
// standard errors, and these are found from few errors.
func seed(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	source = noise.NewSeeded(1)
	t.Cleanup(func() { source = noise.NewSecure() })
}

var guarantees = []struct{ epsilon, delta float64 }{{1, 1e-5}, {0.1, 1e-6}}

// Means and quantiles are at least as accurate as the library's with the better one of its kinds of noise: errors in
// theirs. Of 30 errors with exponential tails the logarithm of the ratio is nearly normal; four of its standard errors
// are seen.
func TestAtLeastAsAccurate(t *testing.T) {
	seed(t)
	for _, n := range []int{1000, 100_000} {
		times, tables := map[int]int{1000: 60, 100_000: 30}[n], map[int]int{1000: 60, 100_000: 2}[n]
		if full {
			times, tables = map[int]int{1000: 2000, 100_000: 200}[n], map[int]int{1000: 500, 100_000: 20}[n]
		}
		for _, k := range tasks(t, n, tables) {
			for _, p := range guarantees {
				for _, what := range []string{"mean", "quantiles"} {
					own := measure(t, ours[what], k, p.epsilon, p.delta, times)
					other := measure(t, theirs(google.Laplace(), false)[what], k, p.epsilon, p.delta, times)
					kind := "Laplace"
					g := measure(t, theirs(google.Gaussian(), true)[what], k, p.epsilon, p.delta, times)
					if g.mean < other.mean {
						other, kind = g, "Gaussian"
					}
					ratio := own.mean / other.mean
					relative := math.Hypot(own.se/own.mean, other.se/other.mean)
					line := fmt.Sprintf("%-9s %-9s n = %-6d (%g, %g): error %.2g, %.3f ± %.3f of theirs (%s)", what,
						k.name, n, p.epsilon, p.delta, own.mean, ratio, ratio*relative, kind)
					t.Log(line)
					if math.Log(ratio) > 4*relative {
						t.Errorf("less accurate: %s", line)
					}
				}
			}
		}
	}
}
