package scale

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Cluster is a model of a pass over Records records by w workers, each of one processor with its part of them at hand:
//
//	t(w) = Records·Record/w · max(S₁, …, S_w) + Fixed + PerWorker·w   seconds.
//
// Sᵢ is how much longer or shorter than the mean worker i takes, independent and lognormal with mean 1 and standard
// deviation Spread. The pass ends with its slowest worker.
type Cluster struct {
	Records float64
	// Record is the seconds that one worker takes for one record in a pass.
	Record, Spread float64
	// Fixed and PerWorker are what a pass costs beside: the driver asks each worker and hears from each.
	Fixed, PerWorker float64
}

// Measured returns the model with what was measured: Record and Spread of the passes by one processor, Fixed and
// PerWorker of those over next to nothing by 1 to 16 worker processes, of which it is the line of least squares. Beyond
// these it extrapolates.
func Measured(records float64) Cluster {
	var each []float64
	for _, r := range Kept(Pass) {
		each = append(each, r.Seconds/float64(r.Rows))
	}
	mean, sd := stat.MeanStdDev(each, nil)
	var w, took []float64
	for _, r := range Kept(Empty) {
		w, took = append(w, float64(r.Workers)), append(took, r.Seconds)
	}
	fixed, per := stat.LinearRegression(w, took, nil, false)
	return Cluster{records, mean, sd / mean, fixed, per}
}

// Split is where the seconds of a pass go.
type Split struct {
	Workers int
	// Work would be all if every worker were as fast as the mean, Waiting is for the slowest, Overhead the rest.
	Work, Waiting, Overhead float64
}

// Total returns the seconds of the pass.
func (s Split) Total() float64 { return s.Work + s.Waiting + s.Overhead }

// Pass returns where a pass by w workers spends its time, in the mean of so many simulated passes.
func (c Cluster) Pass(w, draws int, seed uint64) Split {
	rng := noise.NewSeeded(seed).Stream(w)
	variance := math.Log1p(c.Spread * c.Spread) // of ln S
	z := make([]float64, w)
	var slowest float64
	for range draws {
		rng.Gaussian(z, math.Sqrt(variance))
		slowest += math.Exp(slices.Max(z) - variance/2)
	}
	slowest /= float64(draws)
	work := c.Records * c.Record / float64(w)
	return Split{w, work, work * (slowest - 1), c.Fixed + c.PerWorker*float64(w)}
}

// Splits are passes by more and more workers.
type Splits []Split

// Simulate returns passes by 10 to 1,000 workers, 500 simulated ones each.
func (c Cluster) Simulate(seed uint64) (all Splits) {
	for _, w := range figure.Geometric(10, 1000, 20) {
		all = append(all, c.Pass(int(math.Round(w)), 500, seed))
	}
	return all
}

// Best returns the fastest.
func (s Splits) Best() Split {
	return slices.MinFunc(s, func(a, b Split) int { return cmp.Compare(a.Total(), b.Total()) })
}

// Figure draws the time of a pass against the number of workers, and where it goes.
func (s Splits) Figure() *figure.Figure {
	f := figure.New("A pass by many workers, simulated", "workers", "seconds").LogX().LogY()
	for _, part := range []struct {
		name string
		of   func(Split) float64
		c    figure.Color
	}{{"the pass", Split.Total, figure.Ink}, {"work", func(s Split) float64 { return s.Work }, figure.Blue},
		{"waiting", func(s Split) float64 { return s.Waiting }, figure.Orange},
		{"overhead", func(s Split) float64 { return s.Overhead }, figure.Green}} {
		var x, y []float64
		for _, at := range s {
			x, y = append(x, float64(at.Workers)), append(y, part.of(at))
		}
		f.Line(part.name, x, y, part.c)
	}
	return f
}

// Display says how many workers are best, and what the pass costs there.
func (s Splits) Display() display.Item {
	it := display.Item{Title: "A pass, in seconds", Header: []string{"workers", "work", "waiting", "overhead", "total",
		"of one's"}}
	best := s.Best()
	for _, at := range []Split{s[0], best, s[len(s)-1]} {
		one := s[0].Work * float64(s[0].Workers)
		it.Rowf("%d | %.2g | %.2g | %.2g | %.2g | 1/%.0f", at.Workers, at.Work, at.Waiting, at.Overhead, at.Total(),
			one/at.Total())
	}
	it.Note("The fewest, the best and the most of %d numbers of workers; the last column is the total over what one "+
		"worker would take.", len(s))
	return it
}

// Display says what the model is made of.
func (c Cluster) Display() display.Item {
	it := display.Item{Title: fmt.Sprintf("A model of passes over %s records", figure.Number(c.Records)),
		Header: []string{"what", "value"}}
	it.Row("a record, on one processor", fmt.Sprintf("%.0f ns", 1e9*c.Record))
	it.Row("standard deviation of a worker's time over its mean", fmt.Sprintf("%.2f", c.Spread))
	it.Row("overhead of a pass", fmt.Sprintf("%.1f ms, and %.1f ms for each worker", 1e3*c.Fixed, 1e3*c.PerWorker))
	return it
}
