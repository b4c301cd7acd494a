package statistic

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// laplace draws noise of density e^{−|x|}/2.
func laplace(r *rand.Rand) float64 { return math.Copysign(r.ExpFloat64(), r.Float64()-0.5) }

// Intervals of means cover as often as they say, and not much more often: of the records, and with sampling of the
// population that they are drawn of; for either law, one column and three, few records and many. None is wider than
// was foretold, and what was foretold is about as wide.
func TestIntervalsOfMeansBrieflyCover(t *testing.T) {
	testscale.InTurn(t)
	const confidence, trials = 0.9, 600
	for _, law := range []Law{Gaussian, Laplace} {
		for _, columns := range []int{1, 3} {
			for _, sampling := range []bool{false, true} {
				for _, records := range []int{60, 1500} {
					m := Means{For: law, Of: make([]Number, columns)}
					for j := range m.Of {
						m.Of[j] = Number{Lower: -1, Upper: 3}
					}
					const scale = 4.0
					r := rand.New(rand.NewPCG(uint64(records), uint64(columns)))
					covered, widest := 0, 0.0
					for range trials {
						sums, total := make([]float64, m.Len()), 0.0
						data := make([][]float64, columns)
						for j := range data {
							data[j] = make([]float64, records)
							for i := range data[j] {
								// Two values, of a mean of 1.4: the variance is the most that there can be.
								if data[j][i] = -1; r.Float64() < 0.6 {
									data[j][i] = 3
								}
							}
						}
						for _, v := range data[0] {
							total += v / float64(records)
						}
						m.Sum(sums, data)
						for i := range sums {
							if law == Laplace {
								sums[i] += scale * laplace(r)
							} else {
								sums[i] += scale * r.NormFloat64()
							}
						}
						e := m.Estimates(scale, sums, confidence, sampling)[0]
						want := total
						if sampling {
							want = 1.4
						}
						if e.Lower <= want && want <= e.Upper {
							covered++
						}
						if !(e.Lower <= e.Value && e.Value <= e.Upper) {
							t.Fatalf("%v is not within its interval", e)
						}
						widest = math.Max(widest, (e.Upper-e.Lower)/2)
					}
					share := float64(covered) / trials
					// Four standard errors; Laplace noise and sampling together are bounded one by one.
					high := 0.949
					if law == Laplace && sampling {
						high = 0.995
					}
					if !(share >= 0.851 && share <= high) {
						t.Errorf("%v, %d columns, sampling %v, %d records: covered %v", law, columns, sampling, records,
							share)
					}
					foretold, middle := m.Precision(scale, float64(records), confidence, sampling)
					sums, data := make([]float64, m.Len()), make([][]float64, columns)
					for j := range data {
						data[j] = slices.Repeat([]float64{-1, 3}, records/2)
					}
					m.Sum(sums, data)
					e := m.Estimates(scale, sums, confidence, sampling)[0]
					if half := (e.Upper - e.Lower) / 2; records == 1500 && math.Abs(middle/half-1) > 0.01 {
						t.Errorf("%v, %d columns, sampling %v: ± %v foretold in the middle, and it is ± %v", law,
							columns, sampling, middle, half)
					}
					most := 1.35
					if !sampling { // the widest are of means at a bound
						most = 1.9
					}
					if records == 1500 && !(foretold >= widest*0.95 && foretold <= most*widest) {
						t.Errorf("%v, %d columns, sampling %v: ± %v foretold, ± %v at most", law, columns, sampling,
							foretold, widest)
					}
				}
			}
		}
	}
}

// The tail of two Laplace variates is that of what is drawn, where the two are alike, far from it, or one is nothing.
func TestLaplaceTail(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range [][2]float64{{1, 1}, {1, 1 - 1e-7}, {2, 0.5}, {0.5, 2}, {1, 0}, {0, 3}} {
		for _, at := range []float64{0, 0.5, 2, 5} {
			const n = 200000
			beyond := 0
			for range n {
				if math.Abs(c[0]*laplace(r)+c[1]*laplace(r)) > at {
					beyond++
				}
			}
			got, seen := laplaceTail(c[0], c[1], at), float64(beyond)/n
			if !(math.Abs(got-seen) <= 4*math.Sqrt(0.25/n)) || at == 0 && got != 1 {
				t.Errorf("%v: P(beyond %v) = %v, seen %v", c, at, got, seen)
			}
		}
	}
}
