package sgd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// unlike counts the pairs of neighbours whose computed sums do not differ by exactly what the record gives alone:
// samples of every remainder of four, the record at the front, in the middle and at the end.
func unlike(rng *rand.Rand, n int, sum func(index []int) []float64) (wrong int) {
	for _, size := range []int{0, 1, 2, 3, 4, 5, 6, 7, 61, 1022, 1023} {
		without := rng.Perm(n)
		record := without[n-1]
		without = without[:size]
		alone, a := sum([]int{record}), sum(without)
		for _, at := range []int{0, size / 2, size} {
			b := sum(slices.Insert(slices.Clone(without), at, record))
			floats.Sub(b, a)
			if !floats.Equal(b, alone) {
				wrong++
			}
		}
	}
	return wrong
}

// TestSumsOfNeighboursDifferByTheRecord, exactly, in any order, for any number of workers and every kind of rows; and
// what a record gives has norm at most C. A sum in float64 that is not rounded record by record first is found out in
// many pairs.
func TestSumsOfNeighboursDifferByTheRecord(t *testing.T) {
	testscale.Slow(t)
	const n, d = 1100, 37
	rng := rand.New(rand.NewPCG(2, 3))
	theta := make([]float64, d)
	for j := range theta {
		theta[j] = 0.4 * rng.NormFloat64()
	}
	for _, share := range []float64{0.1, 0.3, 1} {
		dense, labels := simulated(n, d, share, 6)
		for _, clip := range []float64{0.7, 1, 1e-90, 1e90} {
			for _, l := range []loss.Loss{loss.Logistic{}, loss.Clipped(loss.Squared{}, 1)} {
				for name, rows := range map[string]matrix.Rows{"dense": dense, "sparse": dense.Sparse(),
					"other": plainRows{dense}} {
					for _, workers := range []int{1, 3} {
						b := newBatch(newRecords(rows, labels, clip), l, n, workers)
						b.chunk = b.block // many chunks
						got := func(index []int) []float64 {
							sum := make([]float64, d)
							b.sum(sum, theta, index)
							return sum
						}
						if wrong := unlike(rng, n, got); wrong > 0 {
							t.Errorf("share %v, C = %v, %s, %s: %d of 33 pairs differ by something else", share, clip,
								l.Name(), name, wrong)
						}
						for i := range 20 {
							if norm := floats.Norm(got([]int{i}), 2); !(norm <= clip) {
								t.Errorf("a record's vector has norm %v > %v", norm, clip)
							}
						}
						fault := func(index []int) []float64 {
							sum, s := make([]float64, d), make([]float64, 1)
							for _, i := range index {
								rows.Margins(s, theta, i, i+1)
								l.ValueSlope(s, s, labels[i:i+1])
								s[0] = clipped(s[0], b.largest[i])
								rows.AddScaled(sum, s, i, i+1)
							}
							return sum
						}
						if wrong := unlike(rng, n, fault); wrong < 5 && workers == 1 && name == "sparse" {
							t.Errorf("a sum in float64 is found out in %d of 33 pairs only", wrong)
						}
					}
				}
			}
		}
	}
}

// TestSumsBeyondRange: 2²⁷ and more records of norm C are more than float64 adds exactly; their sum is cut, and
// neighbours still differ by no more than the record.
func TestSumsBeyondRange(t *testing.T) {
	rows, labels := matrix.NewDense(2, 1, []float64{4, -4}), []float64{1, 1}
	b := newBatch(newRecords(rows, labels, 1), loss.Logistic{}, 2, 1)
	one := make([]float64, 1)
	b.sum(one, []float64{0}, []int{0})
	most := 0x1p53 * b.step
	for _, start := range []float64{0, most - 3*math.Abs(one[0])/2, most} {
		b.total.Clear()
		b.total.Add([]float64{-start})
		var last float64
		for k := range 4 {
			sum := make([]float64, 1)
			b.total.Write(sum)
			if k > 0 && (!(math.Abs(sum[0]-last) <= 1) || !(math.Abs(sum[0]) <= most)) {
				t.Errorf("from %v a record moves the sum from %v to %v", start, last, sum[0])
			}
			last = sum[0]
			b.total.Add(one)
		}
		if start == most && last != -most {
			t.Errorf("beyond the range the sum is %v, want %v", last, -most)
		}
	}
}
