package learn

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/noise"
)

// draws are those of a maximum, of which atOnce takes a quantile: its level is off by 0.0015 at 0.95, a standard error.
const draws = 20_000

// atOnce returns c such that a normal vector of mean 0 and the given covariance is within c standard deviations in all
// of its entries at once with probability level, over the vector and the draws by which c is found: bands that cover a
// curve everywhere. An entry without variance is 0 and does not count; c is 0 where none has any.
//
// Proof: docs/theory/curves.md#dpnb-bands.
func atOnce(covariance *mat.SymDense, level float64, src *noise.Seeded) float64 {
	n := covariance.SymmetricDim()
	var of mat.EigenSym
	if !of.Factorize(covariance, true) {
		return math.Inf(1)
	}
	var vectors mat.Dense
	of.VectorsTo(&vectors)
	values := of.Values(nil)
	top := values[n-1]
	var roots [][]float64 // of each entry that varies, a row of unit length over the directions that do
	for i := range n {
		sd := math.Sqrt(covariance.At(i, i))
		if !(sd > 1e-9*math.Sqrt(top)) {
			continue
		}
		var row []float64
		for k, v := range values {
			if v > 1e-12*top {
				row = append(row, vectors.At(i, k)*math.Sqrt(v)/sd)
			}
		}
		roots = append(roots, row)
	}
	if roots == nil {
		return 0
	}
	largest, z := make([]float64, draws), make([]float64, len(roots[0]))
	for k := range largest {
		src.Gaussian(z, 1)
		for _, row := range roots {
			sum := 0.0
			for j, v := range row {
				sum += v * z[j]
			}
			largest[k] = math.Max(largest[k], math.Abs(sum))
		}
	}
	sort.Float64s(largest)
	at := int(math.Ceil(level * (draws + 1))) // of draws + 1 that are exchangeable
	if at > draws {
		return math.Inf(1)
	}
	return largest[at-1]
}
