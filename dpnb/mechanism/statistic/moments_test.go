package statistic

import (
	"math"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// No record adds more than the norm, at the corners exactly it; a tenth less would be exceeded.
func TestNormsHold(t *testing.T) {
	b := []Number{{-1, 1}, {0, 3}, {-5, -2}}
	src := noise.NewSeeded(4)
	for _, law := range []Law{Gaussian, Laplace} {
		for _, of := range []Summand{Means{b, law}, Moments{b, law, false}, Moments{b, law, true}, Moments{b[:1], law,
			true}, Total{b[0]}, Total{b[1]}, Total{b[2]}} {
			must.Do(of.Validate())
			largest := 0.0
			for i := range 3000 {
				row := make([][]float64, len(b))
				for j, c := range b {
					row[j] = []float64{c.Value(2*src.Float64() - 1)}
					if i%2 == 0 {
						row[j][0] = []float64{c.Lower, c.Upper, math.Inf(1), math.Inf(-1), math.NaN()}[src.IntN(5)]
					}
				}
				phi := make([]float64, of.Len())
				if of.Columns() == 1 {
					row = row[i%len(b):] // a column whatever bounds it was drawn for
				}
				of.Sum(phi, row)
				var l1, l2 float64
				for _, v := range phi {
					l1, l2 = l1+math.Abs(v), l2+v*v
					if math.Trunc(v/step) != v/step || !(math.Abs(v) <= 1) {
						t.Fatalf("%v adds %v", of, v)
					}
				}
				if l2 = math.Sqrt(l2); law == Laplace {
					l2 = l1
				}
				largest = math.Max(largest, l2)
			}
			if norm := of.Norm(law); largest > norm || largest < 0.999*norm || norm > 1+1e-6 {
				t.Errorf("%v, law %d: a record adds %v, and the norm is %v", of, law, largest, norm)
			}
		}
	}
}

// Variances and correlations are covered by their intervals: by ones that are half as wide much less.
func TestIntervalsOfMomentsCover(t *testing.T) {
	const n, trials = 5000, 400
	b := []Number{{-4, 4}, {-6, 6}}
	src := noise.NewSeeded(6)
	x := [][]float64{make([]float64, n), make([]float64, n)}
	for i := range n {
		x[0][i] = math.Max(-4, math.Min(4, 0.5+src.NormFloat64()))
		x[1][i] = math.Max(-6, math.Min(6, 0.6*x[0][i]+src.NormFloat64()))
	}
	exact := make([]float64, 6)
	for i := range n {
		u, v := x[0][i], x[1][i]
		for k, p := range []float64{1, u, v, u * u, v * v, u * v} {
			exact[k] += p
		}
	}
	mean := func(k int) float64 { return exact[k] / n }
	variance := mean(3) - mean(1)*mean(1)
	correlation := (mean(5) - mean(1)*mean(2)) / math.Sqrt(variance*(mean(4)-mean(2)*mean(2)))
	for _, law := range []Law{Gaussian, Laplace} {
		m := Moments{b, law, true}
		s := must.Get(CalibrateSums(m, law, 1, 1e-6))
		names := []string{"count", "mean", "variance", "correlation"}
		covered, narrower := make([]int, 4), make([]int, 4)
		tally := s.Tally().(*sumsTally)
		tally.Add(x)
		for range trials {
			tally.part = make([]float64, m.Len())
			out := tally.Release(src)
			for k, e := range []Estimate{m.Count(s, out, 0.95), m.Mean(s, out, 0.95, 0), m.Variance(s, out, 0.95, 0),
				m.Correlation(s, out, 0.95, 0, 1)} {
				want := []float64{n, mean(1), variance, correlation}[k]
				if e.Lower <= want && want <= e.Upper {
					covered[k]++
				}
				if math.Abs(e.Value-want) <= (e.Upper-e.Lower)/4 {
					narrower[k]++
				}
			}
		}
		for k, name := range names {
			share, half := float64(covered[k])/trials, float64(narrower[k])/trials
			t.Logf("law %d, %s: covers %.3f, half of it %.3f", law, name, share, half)
			if share < 0.95-4*0.011 || half > 0.88 {
				t.Errorf("law %d, %s: covers %.3f, half of it %.3f", law, name, share, half)
			}
		}
	}
}

// Half an interval is z standard deviations of what the noise of every released number does to the value, by its slopes
// as they are met, and a share of what is not known of n; each number counts, that of the other column's mean too.
func TestIntervalsOfMomentsUseEveryNumber(t *testing.T) {
	m := Moments{[]Number{{-4, 4}, {-1, 7}, {-2, 5}}, Gaussian, true}
	s := must.Get(CalibrateSums(m, Gaussian, 1, 1e-6))
	released := m.Even(4000)
	for i, c := range []float64{0.4, -0.3, 0.2, 0, 0, 0, 0.1, -0.2, 0.15} { // means, squares, products
		released[1+i] += c * 4000 * m.weights()[1+i/3]
	}
	z := normalQuantile(0.05)
	r := m.read(s, released)
	for name, f := range map[string]func(released []float64) Estimate{
		"mean":        func(x []float64) Estimate { return m.Mean(s, x, 0.95, 1) },
		"variance":    func(x []float64) Estimate { return m.Variance(s, x, 0.95, 1) },
		"correlation": func(x []float64) Estimate { return m.Correlation(s, x, 0.95, 1, 0) },
		"another":     func(x []float64) Estimate { return m.Correlation(s, x, 0.95, 1, 2) },
	} {
		var square float64
		for i := range released {
			step := 0.01 * s.deviation()
			up, down := slices.Clone(released), slices.Clone(released)
			up[i], down[i] = up[i]+step, down[i]-step
			square += math.Pow((f(up).Value-f(down).Value)/0.02, 2)
		}
		e := f(released)
		want := z * math.Sqrt(square) * r.sums[0] / (r.sums[0] - z*r.noise[0])
		half := e.Upper - e.Value
		if !(math.Abs(half-want) <= 1e-4*want) || !(math.Abs(e.Upper+e.Lower-2*e.Value) <= 1e-9) {
			t.Errorf("%s: %v ± %v, want ± %v", name, e.Value, half, want)
		}
	}
}

// Of a column whose variance may be zero nothing is said but that a correlation is in [−1, 1].
func TestCorrelationOfAConstant(t *testing.T) {
	m := Moments{[]Number{{-1, 1}, {-1, 1}}, Gaussian, true}
	s := must.Get(CalibrateSums(m, Gaussian, 1, 1e-6))
	varied := make([]float64, 1000)
	for i := range varied {
		varied[i] = float64(1 - i%3)
	}
	for flat, columns := range [][][]float64{{make([]float64, 1000), varied}, {varied, make([]float64, 1000)}} {
		tally := s.Tally().(*sumsTally)
		tally.Add(columns)
		for seed := range uint64(9) {
			if e := m.Correlation(s, tally.Release(noise.NewSeeded(seed)), 0.95, 0, 1); e != (Estimate{0, -1, 1}) {
				t.Errorf("column %d is flat: %+v", flat, e)
			}
		}
	}
}

// The interval of a sum is the noise's own, in the unit of the column, for either law.
func TestIntervalsOfTotals(t *testing.T) {
	of := Total{Number{-1, 3}}
	for law, z := range map[Law]float64{Gaussian: 1.959964, Laplace: math.Log(20)} {
		e := of.Estimate(Sums{Of: of, Law: law, Scale: 10}, []float64{50}, 0.95)
		half := 3 * 10 * z
		if !(math.Abs(e.Lower-150+half) <= 1e-4) || !(math.Abs(e.Upper-150-half) <= 1e-4) || e.Value != 150 {
			t.Errorf("law %d: %+v, want 150 ± %v", law, e, half)
		}
	}
}

// A summary costs what its parts do, each by itself: the sums and the quartiles of every column.
func TestSummaryCostsItsParts(t *testing.T) {
	of := []Number{{-1, 1}, {0, 3}, {-5, -2}}
	for _, law := range []Law{Gaussian, Laplace} {
		m := Summary{Of: of, Log: make([]bool, len(of)), Law: law, Scale: 10, Eta: 0.1}
		parts := []mechanism.Mechanism{m.Sums()}
		for j := range of {
			parts = append(parts, m.Quartiles(j))
		}
		var square float64
		for i, p := range append(parts, m) {
			p := must.Get(mechanism.Profile(p))
			mu, slack, err := privacy.AsGaussian(p, 1e-20)
			switch {
			case err != nil || slack != 0:
				t.Fatal(slack, err)
			case i < len(parts):
				square += mu * mu
			case math.Abs(mu-math.Sqrt(square)) > 0.02*mu:
				t.Errorf("law %d: μ = %v, and that of the parts is %v", law, mu, math.Sqrt(square))
			}
		}
	}
}

// A record at a corner of the bounds adds what a summary pays for, and at most a part in 10⁶ less: where weights were
// rounded up that is more than 1, and a norm that is taken for 1 is seen.
func TestSummaryPaysForTheLongestRecord(t *testing.T) {
	longer := map[Law]int{}
	for _, law := range []Law{Gaussian, Laplace} {
		for d := 1; d <= 12; d++ {
			m := Summary{Of: slices.Repeat([]Number{{0, 1}}, d), Log: make([]bool, d), Law: law, Scale: 10, Eta: 0.1}
			phi := make([]float64, m.Sums().Of.Len())
			m.Sums().Of.Sum(phi, slices.Repeat([][]float64{{1}}, d))
			var l1, l2 float64
			for _, v := range phi {
				l1, l2 = l1+math.Abs(v), l2+v*v
			}
			moved, parts := math.Sqrt(l2), m.cost().Gaussian
			if law == Laplace {
				moved, parts = l1, m.cost().Pure
			}
			if moved > 1+1e-8 {
				longer[law]++
			}
			if paid := parts[len(parts)-1] * m.Scale; paid < moved || paid > moved*(1+1e-6) {
				t.Errorf("law %d, %d columns: %.12g is paid for, a record adds %.12g", law, d, paid, moved)
			}
		}
	}
	if longer[Gaussian] == 0 || longer[Laplace] == 0 {
		t.Errorf("no record is longer than 1: %v", longer)
	}
}
