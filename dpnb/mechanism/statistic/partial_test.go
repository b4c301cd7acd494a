package statistic

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// TestTalliesOfPartsAreThatOfAll: of any parts, in any order, tallies that were written and merged have the bytes of
// one over all records, and release the same of one seed; without one record they do not. Bytes of another mechanism or
// cut short are refused.
func TestTalliesOfPartsAreThatOfAll(t *testing.T) {
	summary := must.Get(CalibrateSummary([]Number{{0, 1}, {-2, 5}}, []bool{false, false}, 1, 1e-6, true))
	quantiles := must.Get(CalibrateQuantiles(Quantiles{Of: Number{0, 1}, Levels: []float64{0.1, 0.5}}, 1, 0, false))
	sums := must.Get(CalibrateSums(Total{Number{0, 1}}, Laplace, 1, 0))
	for _, m := range []Mechanism{summary, quantiles, sums,
		Histogram{Of: Cells{{Levels: 3}, {Edges: []float64{-1, 0, 4}}}, Scale: 1}} {
		for _, n := range []int{5, 900, many + 9000} { // keys that one record has, few, and many
			rng := rand.New(rand.NewPCG(1, uint64(n)))
			columns := [][]float64{make([]float64, n), make([]float64, n)}
			for i := range n {
				columns[0][i], columns[1][i] = float64(rng.IntN(3))/2, 3*rng.NormFloat64()
			}
			columns[0][n-1] = 1 // which is missed in every tally
			part := func(lo, hi int) Tally {
				tally := m.Tally()
				some := [][]float64{columns[0][lo:hi], columns[1][lo:hi]}
				tally.Add(some[:m.Columns()])
				return tally
			}
			whole := part(0, n)
			want := EncodeTally(whole)
			merge := func(cuts ...int) Tally {
				var parts [][]byte
				for k := range len(cuts) - 1 {
					parts = append(parts, EncodeTally(part(cuts[k], cuts[k+1])))
				}
				rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
				all := m.Tally()
				for _, p := range parts {
					must.Do(MergeTally(all, p))
				}
				return all
			}
			got := merge(0, n/3, n/3, n/2, n)
			if !bytes.Equal(EncodeTally(got), want) {
				t.Errorf("%v, %d records: other bytes", m, n)
			}
			if bytes.Equal(EncodeTally(merge(0, n/2, n-1)), want) {
				t.Errorf("%v, %d records: one less goes unnoticed", m, n)
			}
			if !slices.Equal(got.Release(noise.NewSeeded(3)), whole.Release(noise.NewSeeded(3))) {
				t.Errorf("%v, %d records: released otherwise", m, n)
			}
			if err := MergeTally(m.Tally(), want[:len(want)-1]); err == nil {
				t.Errorf("%v: cut short", m)
			}
		}
	}
	other := summary.Tally()
	other.Add([][]float64{{1}, {1}})
	if err := MergeTally(sums.Tally(), EncodeTally(other)); err == nil {
		t.Error("another mechanism's")
	}
}
