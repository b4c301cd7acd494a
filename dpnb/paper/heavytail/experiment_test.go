package heavytail

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// Cells of docs/theory/heavytail.md, at ε = 1: the mean excess risk is what stands there, to four standard errors and a
// tenth; without a fit it is 0.2691 for k = 2.
func TestCells(t *testing.T) {
	testscale.Slow(t)
	cells := []struct {
		p       Population
		n, fits int
		want    float64
		full    bool
	}{
		{Population{Moment: 2, Features: 5}, 1000, 20, 4.9e-3, false},
		{Population{Moment: 2, Features: 5}, 10_000, 6, 3.85e-4, false},
		{Population{Moment: 2, Features: 50}, 10_000, 3, 8.25e-3, false},
		{Population{Moment: 2, Features: 50}, 1000, 20, 0.187, true},
		{Population{Moment: 2, Features: 50}, 100_000, 4, 4.9e-4, true},
		{Population{Moment: 3, Features: 50}, 10_000, 6, 6.2e-3, true},
	}
	for _, c := range cells {
		if c.full && !testscale.Full() {
			continue
		}
		mean, deviation := measure.Must2(c.p.Cell(Default, c.n, 1, c.fits, 1))
		if !(math.Abs(mean-c.want) <= 4*deviation+0.1*c.want) {
			t.Errorf("%+v, n = %d: %.3g (s.e. %.2g), want %.3g", c.p, c.n, mean, deviation, c.want)
		}
		if trivial := c.p.Excess(make([]float64, c.p.Features)); c.p.Moment == 2 &&
			!(math.Abs(trivial-0.2691) <= 5e-4) {
			t.Errorf("without a fit %.4f", trivial)
		}
	}
	// The other mechanisms are worse, and better than nothing.
	p := Population{Moment: 2, Features: 5}
	best, _ := measure.Must2(p.Cell(Default, 2000, 1, 4, 2))
	for name, fit := range map[string]Fit{"worst case": WorstCase, "output": Output} {
		mean, _ := measure.Must2(fit.mean(p, 2000))
		if mean < best || mean > 0.25 {
			t.Errorf("%s: %.4f, default %.4f", name, mean, best)
		}
	}
}

func (f Fit) mean(p Population, n int) (mean, deviation float64, err error) {
	return p.Cell(f, n, 1, 4, 2)
}

// The closed form of the excess risk against draws, and the moment bound.
func TestPopulation(t *testing.T) {
	p := Population{Moment: 3, Features: 4}
	w := []float64{0.2, 0.9, 0.5, 0.1}
	rows, y := p.Draw(noise.NewSeeded(3), 200_000)
	truth, sum, moment := p.truth(), 0.0, 0.0
	for i := range y {
		x := rows.Data[4*i : 4*i+4]
		sum += math.Abs(y[i]-floats.Dot(x, w)) - math.Abs(y[i]-floats.Dot(x, truth))
		moment += math.Pow(floats.Norm(x, 2), 2)
	}
	n := float64(len(y))
	if got, want := sum/n, p.Excess(w); !(math.Abs(got-want) <= 0.02*want) {
		t.Errorf("excess risk %.4f, closed form %.4f", got, want)
	}
	if got := moment / n; !(math.Abs(got-4) <= 0.2) {
		t.Errorf("mean of ‖x‖² is %.3f, want d = 4", got)
	}
	if got, want := (Population{Moment: 2, Features: 50}).MomentBound(), math.Sqrt(50); !(math.Abs(got-want) <= 1e-9) {
		t.Errorf("G₂ = %g, want √d = %g", got, want)
	}
}

// The Gamma quantiles that stand in docs/theory/heavytail.md.
func TestQuantilesOfTheNorm(t *testing.T) {
	for d, want := range map[float64]float64{5: 1.832, 50: 1.244} {
		if got := gammaQuantile(d, math.Exp(-3)) / d; !(math.Abs(got-want) <= 5e-4) {
			t.Errorf("d = %g: %.4f d, want %.3f d", d, got, want)
		}
	}
}

// A default fit of 100,000 records of 50 features takes less than half a second of one processor, and 0.63 times the
// records' memory beside them, since directions are float32; what it takes for a number in a record hardly changes with
// n and d.
func BenchmarkDefaultFit(b *testing.B) {
	for _, size := range []struct{ n, d int }{{100_000, 50}, {25_000, 50}, {100_000, 10}, {25_000, 200}} {
		b.Run(fmt.Sprintf("n=%d/d=%d", size.n, size.d), func(b *testing.B) {
			p, src := Population{Moment: 2, Features: size.d}, noise.NewSeeded(1)
			rows, y := p.Draw(src, size.n)
			solve := measure.Must(Default(p, size.n, 1))
			b.ReportAllocs()
			for b.Loop() {
				must.Get(solve(rows, y, src))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size.n*size.d), "ns/number")
		})
	}
}
