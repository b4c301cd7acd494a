// Package ssp has private linear regression (squared loss) without a solver and without a tolerance. From perturbed
// moments: AdaSSP, which releases XᵀX and Xᵀy with Gaussian noise and a ridge that adapts to the data, its boosted
// form, which releases sums of clipped residuals in rounds, and the functional mechanism, which perturbs the
// coefficients of the objective. From models of disjoint parts: TukeyEM, which draws a deep point among them. Their
// noise grows with the dimension, that of objective perturbation does not.
package ssp

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

const (
	// arithmetic is by what share of the sensitivity rounding may move two neighbours apart: half of it is for rounding
	// each record's part to multiples of the step, half for computing the smallest eigenvalue. The noise pays for it.
	arithmetic = 1e-5
	// blockRows records are packed at a time, and added to integers before 2¹⁸ of them, of up to 2¹⁷ features, could
	// leave the range in which float64 sums are exact.
	blockRows   = 64
	flushBlocks = 1 << 12
)

// inflation is what the sensitivities are multiplied by.
const inflation = (1 + 3*mechanism.NormSlack) * (1 + 3*mechanism.NormSlack) * (1 + arithmetic)

// momentStep returns h, to whose multiples the entries of xxᵀ and yx are rounded, for ‖x‖ ≤ 1 and |y| ≤ 1: at most
// 2⁻²⁶, and such that ½hd ≤ arithmetic/2. That is by how much the Frobenius norm of d² rounded entries grows, and, as a
// share of Δ₁ = √d + d/2, the ℓ₁ norm of the polynomial's coefficients: h(d/2 + d²/4) in all.
func momentStep(d int) float64 {
	return math.Min(0x1p-26, exact.Step(arithmetic/float64(d), 0))
}

// moments are XᵀX, of which the upper triangle is used, and Xᵀy.
type moments struct {
	gram  *mat.SymDense
	cross []float64
}

// newMoments computes the moments of the records in one pass, divided by rowNorm² and rowNorm·labelBound. What a record
// adds is a function of the record alone, rounded to multiples of momentStep(d), so that the sums are exact: in any
// order, for any number of workers, with any other records. Sums beyond 2⁵³ steps are cut to that, which moves no two
// of them apart.
func newMoments(rows matrix.Rows, labels []float64, rowNorm, labelBound float64, workers int) moments {
	m := moments{gram: mat.NewSymDense(rowsOf(rows), nil)}
	m.cross = m.add(rows, rowNorm, workers, func(i int, _ []float64) float64 { return labels[i] / labelBound })
	return m
}

// rowsOf returns how many entries a row has.
func rowsOf(rows matrix.Rows) int { _, d := rows.Dims(); return d }

// add sets the Gram matrix of m, if it has one, and returns Σ weight(i, xᵢ)·xᵢ, the rows being divided by rowNorm and
// |weight| ≤ 1 a function of the record alone: see newMoments.
func (m moments) add(rows matrix.Rows, rowNorm float64, workers int,
	weight func(i int, x []float64) float64) []float64 {
	n, d := rows.Dims()
	step := momentStep(d)
	blocks := (n + blockRows - 1) / blockRows
	entries := 0
	if m.gram != nil {
		entries = d * d
	}
	gramTotal, crossTotal := exact.NewTotal(entries, step), exact.NewTotal(d, step)
	var next atomic.Int64
	var lock sync.Mutex
	work := func() {
		pack, y := make([]float64, blockRows*d), make([]float64, blockRows)
		gram, cross := make([]float64, entries), make([]float64, d)
		flush := func() {
			lock.Lock()
			defer lock.Unlock()
			gramTotal.Add(gram)
			crossTotal.Add(cross)
			clear(gram)
			clear(cross)
		}
		done := 0
		for b := int(next.Add(1)) - 1; b < blocks; b = int(next.Add(1)) - 1 {
			lo, hi := b*blockRows, min(n, (b+1)*blockRows)
			for i := lo; i < hi; i++ {
				row := pack[(i-lo)*d : (i-lo+1)*d]
				rows.Row(row, i)
				for j := range row {
					row[j] /= rowNorm // 1/rowNorm may overflow
				}
				y[i-lo] = weight(i, row)
			}
			if entries > 0 {
				exact.AddOuter(gram, pack, hi-lo, d, step)
			}
			exact.AddRows(cross, y[:hi-lo], pack, step)
			if done++; done == flushBlocks {
				flush()
				done = 0
			}
		}
		flush()
	}
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	hands := max(1, min(workers, blocks))
	parallel.Each(hands, hands, func(int) { work() })
	if entries > 0 {
		gramTotal.Write(m.gram.RawSymmetric().Data)
	}
	sum := make([]float64, d)
	crossTotal.Write(sum)
	return sum
}

// smallestEigenvalue returns λ_min of a, or 0 if it is negative. A computed eigenvalue errs by some 10d·2⁻⁵³‖a‖, two of
// neighbours by twice that, for which half of arithmetic is granted. So a matrix whose Frobenius norm is so large that
// this would not do, from some 10⁷ records on, is first scaled down to the largest that will: the projection to a ball,
// which moves no two matrices apart. Its eigenvalue is then too small, and the ridge that depends on it larger than it
// need be.
func smallestEigenvalue(a *mat.SymDense) (float64, error) {
	d := a.SymmetricDim()
	// The norm errs by (d + 4)·2⁻⁵³ at most, relatively, each product by three roundings.
	most := 0.5 * arithmetic / (2 * (12*float64(d) + 8) * 0x1p-53)
	var square float64
	for j := range d {
		var row float64
		for l := range d {
			row += a.At(j, l) * a.At(j, l)
		}
		square += row
	}
	if norm := math.Sqrt(square); norm > most {
		b := mat.NewSymDense(d, nil)
		b.ScaleSym(most/norm, a)
		a = b
	}
	var eig mat.EigenSym
	if !eig.Factorize(a, false) {
		return 0, errors.New("ssp: nothing is released, because the eigenvalues of XᵀX could not be found")
	}
	return math.Max(0, floats.Min(eig.Values(nil))), nil
}

// checkRecords validates records against the bounds that the noise was calibrated for.
func checkRecords(rows matrix.Rows, labels []float64, rowNorm, labelBound float64) error {
	fail := func(format string, a ...any) error { return &matrix.DataError{Text: fmt.Sprintf(format, a...)} }
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
			return fail("the label of record %d is beyond LabelBound = %g, for which the noise was calibrated: cut or "+
				"scale the labels first", i, labelBound)
		}
	}
	longest := matrix.MaxNorm(rows)
	if math.IsNaN(longest) || math.IsInf(longest, 0) {
		return fail("a record has an entry that is NaN, ±Inf or too large: clean or clip the columns first")
	}
	return mechanism.CheckNorm(longest, rowNorm)
}

// addSymmetric adds to a symmetric matrix the noise whose coordinates in the orthonormal basis of symmetric matrices
// are N(0, σ²): N(0, σ²) on the diagonal, N(0, σ²/2) off it. ‖xxᵀ‖_F = ‖x‖² is then all that a record can move, in
// units of σ, in whatever direction it points.
func addSymmetric(a *mat.SymDense, n *exact.Symmetric, sigma float64) {
	beside := sigma / math.Sqrt2 * (1 + 0x1p-50)
	n.AddRounded(a, sigma, beside, exact.Grid(beside))
}

// spectrum is a symmetric matrix by its eigenvalues and eigenvectors.
type spectrum struct {
	values  []float64
	vectors *mat.Dense
}

// newSpectrum decomposes a matrix that was released: it looks at no record.
func newSpectrum(a *mat.SymDense) (s spectrum, err error) {
	var ok bool
	if s.values, s.vectors, ok = matrix.Eigen(a); !ok {
		return s, errors.New("ssp: nothing is released, because the eigenvalues of the perturbed moments could not " +
			"be found")
	}
	return s, nil
}

// solve returns Σ v_k(v_kᵀq)/g(e_k) over the eigenpairs, where weight gives 1/g(e) and zero leaves a direction out.
func (s spectrum) solve(q []float64, weight func(e float64) float64) []float64 {
	d := len(q)
	theta := make([]float64, d)
	for k, e := range s.values {
		var dot float64
		for j, qj := range q {
			dot += s.vectors.At(j, k) * qj
		}
		dot *= weight(e)
		for j := range theta {
			theta[j] += dot * s.vectors.At(j, k)
		}
	}
	return theta
}

// solveEigen is both at once.
func solveEigen(a *mat.SymDense, q []float64, weight func(e float64) float64) ([]float64, error) {
	s, err := newSpectrum(a)
	if err != nil {
		return nil, err
	}
	return s.solve(q, weight), nil
}

// assumptions that all mechanisms rest on.
func assumptions(rowNorm, labelBound float64) []string {
	return []string{
		"every record that could be in the data has ‖x‖₂ ≤ " + privacy.FormatUp(rowNorm, 6) + " and |y| ≤ " +
			privacy.FormatUp(labelBound, 6) + " (checked for those that are)",
		mechanism.Chosen("the bounds and the noise"),
		mechanism.ExactNoise,
		mechanism.Unseen,
	}
}
