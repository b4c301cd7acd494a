// Package linear has private linear regression (squared loss) from perturbed
// moments: AdaSSP, which releases XᵀX and Xᵀy with Gaussian noise and a ridge
// that adapts to the data, and the functional mechanism, which perturbs the
// coefficients of the objective. They need no solver and no tolerance; their
// noise grows with the dimension, that of objective perturbation does not.
package linear

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

const (
	// normSlack is by how much, relatively, a record's computed norm may exceed
	// RowNorm.
	normSlack = 1e-12
	// arithmetic is by what share of the sensitivity the rounding of two
	// neighbours' moments may move them apart; the noise pays for it, and a
	// run of more records than it suffices for releases nothing.
	arithmetic = 1e-5
	// blockRows records are packed at a time; maxChunks bounds the partial sums.
	// Neither depends on the number of workers, so nor does the result.
	blockRows = 64
	maxChunks = 64
)

// inflation is what the sensitivities are multiplied by.
const inflation = (1 + 3*normSlack) * (1 + 3*normSlack) * (1 + arithmetic)

// moments are XᵀX, of which the upper triangle is used, and Xᵀy.
type moments struct {
	gram  *mat.SymDense
	cross []float64
}

// chunking returns the number of partial sums and of blocks.
func chunking(n int) (chunks, blocks int) {
	blocks = (n + blockRows - 1) / blockRows
	return min(maxChunks, blocks), blocks
}

// newMoments computes the moments of the records in one pass, divided by
// rowNorm² and rowNorm·labelBound.
func newMoments(rows erm.Rows, labels []float64, rowNorm, labelBound float64, workers int) moments {
	n, d := rows.Dims()
	chunks, blocks := chunking(n)
	if n == 0 {
		return moments{mat.NewSymDense(d, nil), make([]float64, d)}
	}
	parts := make([]moments, chunks)
	var next atomic.Int64
	work := func() {
		pack, y := make([]float64, blockRows*d), make([]float64, blockRows)
		// The products of a block have sums of their own: added to those of the
		// chunk at once, the depth would be the number of its records.
		gram, cross := mat.NewSymDense(d, nil), make([]float64, d)
		for c := int(next.Add(1)) - 1; c < chunks; c = int(next.Add(1)) - 1 {
			m := moments{mat.NewSymDense(d, nil), make([]float64, d)}
			for b := c * blocks / chunks; b < (c+1)*blocks/chunks; b++ {
				lo, hi := b*blockRows, min(n, (b+1)*blockRows)
				for i := lo; i < hi; i++ {
					row := pack[(i-lo)*d : (i-lo+1)*d]
					rows.Row(row, i)
					for j := range row {
						row[j] /= rowNorm // 1/rowNorm may overflow
					}
					y[i-lo] = labels[i] / labelBound
				}
				x := blas64.General{Rows: hi - lo, Cols: d, Stride: d, Data: pack[:(hi-lo)*d]}
				blas64.Syrk(blas.Trans, 1, x, 0, gram.RawSymmetric())
				blas64.Gemv(blas.Trans, 1, x, blas64.Vector{N: hi - lo, Data: y[:hi-lo], Inc: 1}, 0, blas64.Vector{N: d, Data: cross, Inc: 1})
				floats.Add(m.gram.RawSymmetric().Data, gram.RawSymmetric().Data)
				floats.Add(m.cross, cross)
			}
			parts[c] = m
		}
	}
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var wait sync.WaitGroup
	for range min(workers, chunks) {
		wait.Go(work)
	}
	wait.Wait()
	total := parts[0]
	for _, m := range parts[1:] {
		total.gram.AddSym(total.gram, m.gram)
		floats.Add(total.cross, m.cross)
	}
	return total
}

// roundingShare bounds by how much rounding moves the moments of two neighbours
// apart, as a share of the sensitivity: each sum of n products errs by at most
// h·u of the sum of their sizes, h the depth of the sums, and the smallest
// eigenvalue by 10d·u of the largest besides; two more roundings scale a record.
func roundingShare(n, d int) float64 {
	return 2 * 1.01 * 0x1p-53 * float64(n) * (depth(n) + 10*float64(d))
}

// depth returns h, the largest number of roundings of one product in a moment:
// those of its block, of the blocks of a chunk, of the chunks, and its own.
func depth(n int) float64 {
	chunks, blocks := chunking(n)
	return blockRows + float64(blocks)/float64(chunks) + 1 + float64(chunks) + 6
}

// errRounding is the end of a run with more records, some ten million, than there can be
// for float64 sums whose rounding is paid for. Their number is private: Check does not
// look at it, and the run has been charged.
var errRounding = errors.New("linear: nothing is released, because the rounding of the sums is not paid for: with so many features fit fewer records")

// checkRecords validates records against the bounds that the noise was
// calibrated for.
func checkRecords(rows erm.Rows, labels []float64, rowNorm, labelBound float64) error {
	fail := func(format string, a ...any) error { return &erm.DataError{Text: fmt.Sprintf(format, a...)} }
	if rows == nil {
		return fail("a fit needs rows")
	}
	n, d := rows.Dims()
	switch {
	case d == 0:
		return fail("there are no features (d = 0): keep at least one column, or add a bias")
	case len(labels) != n:
		return fail("%d labels for %d records", len(labels), n)
	}
	for i, y := range labels {
		if !(math.Abs(y) <= labelBound) {
			return fail("the label of record %d is beyond LabelBound = %g, for which the noise was calibrated: cut or scale the labels first", i, labelBound)
		}
	}
	longest := erm.MaxNorm(rows)
	switch {
	case math.IsNaN(longest) || math.IsInf(longest, 0):
		return fail("a record has an entry that is NaN, ±Inf or too large: clean or clip the columns first")
	case !(longest <= rowNorm*(1+normSlack)):
		return fail("a record is longer than RowNorm = %g, for which the noise was calibrated: scale or clip the rows first", rowNorm)
	}
	return nil
}

// addSymmetric adds to a symmetric matrix the noise whose coordinates in the
// orthonormal basis of symmetric matrices are N(0, σ²): N(0, σ²) on the diagonal,
// N(0, σ²/2) off it. ‖xxᵀ‖_F = ‖x‖² is then all that a record can move, in units
// of σ, in whatever direction it points.
func addSymmetric(a *mat.SymDense, n *exact.Symmetric, sigma float64) {
	beside := sigma / math.Sqrt2 * (1 + 0x1p-50)
	n.AddRounded(a, sigma, beside, exact.Grid(beside))
}

// solveEigen returns Σ v_k(v_kᵀq)/g(e_k) over the eigenpairs of a, where weight
// gives 1/g(e) and zero leaves a direction out.
func solveEigen(a *mat.SymDense, q []float64, weight func(e float64) float64) ([]float64, error) {
	var eig mat.EigenSym
	if !eig.Factorize(a, true) {
		return nil, fmt.Errorf("linear: nothing is released, because the eigenvalues of the perturbed moments could not be found")
	}
	d := len(q)
	var v mat.Dense
	eig.VectorsTo(&v)
	theta := make([]float64, d)
	for k, e := range eig.Values(nil) {
		var dot float64
		for j, qj := range q {
			dot += v.At(j, k) * qj
		}
		dot *= weight(e)
		for j := range theta {
			theta[j] += dot * v.At(j, k)
		}
	}
	return theta, nil
}

// assumptions that both mechanisms rest on.
func assumptions(rowNorm, labelBound float64) []string {
	return []string{
		"every record that could be in the data has ‖x‖₂ ≤ " + privacy.FormatUp(rowNorm, 6) + " and |y| ≤ " + privacy.FormatUp(labelBound, 6) + " (checked for those that are)",
		"the bounds and the noise were chosen without looking at the records",
		mechanism.ExactNoise,
		"time taken and failures are not observed by the adversary",
	}
}
