package interval

import (
	"math"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// TestMatricesOfNeighboursDifferByTheRecord, exactly, for every remainder of four and of a block, wherever the record
// stands, dense and sparse; what it adds is no longer than is paid for. Sums of products in float64 are found out.
func TestMatricesOfNeighboursDifferByTheRecord(t *testing.T) {
	rng := noise.NewSeeded(7)
	const d = 5
	found := 0
	for _, l := range []loss.Loss{loss.Logistic{}, loss.Huber{Threshold: 0.7}} {
		fit := must.Get(objpert.Calibrate(config(l, 1)))
		s, l2 := Curvature{Fit: fit}.sensitivities()
		for _, n := range []int{1, 2, 3, 4, 5, 6, 255, 256, 257, 259} {
			theta := make([]float64, d)
			rng.Gaussian(theta, 2)
			x, y := records(n, make([]float64, d), rng)
			// Rows that are orthogonal to a long θ, but for rounding: it decides margins.
			for i := range n {
				row := x.Data[i*d : (i+1)*d]
				floats.AddScaled(row, -floats.Dot(row, theta)/floats.Dot(theta, theta), theta)
			}
			floats.Scale(1e16, theta)
			for _, at := range []int{0, n / 2, n - 1} {
				var others []int
				var rest []float64
				for i := range n {
					if i != at {
						others, rest = append(others, i), append(rest, y[i])
					}
				}
				h, v := moments(fit, x, y, theta, true, 2)
				if one, _ := moments(fit, x, y, theta, true, 1); !mat.Equal(h, one) {
					t.Fatalf("%s, n = %d: the matrix depends on the number of goroutines", l.Name(), n)
				}
				h0, v0 := moments(fit, x.Select(others), rest, theta, true, 0)
				h1, v1 := moments(fit, x.Select([]int{at}), y[at:at+1], theta, true, 0)
				for _, m := range [][3]*mat.SymDense{{h, h0, h1}, {v, v0, v1}} {
					for j := range d {
						for k := range d {
							if m[0].At(j, k)-m[1].At(j, k) != m[2].At(j, k) {
								t.Fatalf("%s, n = %d, record %d: the matrix differs by something else", l.Name(), n, at)
							}
						}
					}
				}
				if a, b := mat.Norm(h1, 2), mat.Norm(v1, 2); a > s || b > l2 {
					t.Errorf("a record adds matrices of norm %v and %v; paid for: %v and %v", a, b, s, l2)
				}
				sparse := x.Sparse()
				hs, _ := moments(fit, sparse, y, theta, false, 0)
				hs0, _ := moments(fit, sparse.Select(others), rest, theta, false, 0)
				hs1, _ := moments(fit, sparse.Select([]int{at}), y[at:at+1], theta, false, 0)
				hs0.ScaleSym(-1, hs0)
				hs.AddSym(hs, hs0)
				if !mat.Equal(hs, hs1) {
					t.Errorf("%s, n = %d, record %d: the matrix of sparse rows differs by something else", l.Name(), n,
						at)
				}
				if n > 1 {
					var a, b mat.SymDense
					a.SymOuterK(1, mat.NewDense(n, d, x.Data).T())
					b.SymOuterK(1, mat.NewDense(n-1, d, x.Select(others).Data).T())
					for j := range d {
						if a.At(j, j)-b.At(j, j) != x.At(at, j)*x.At(at, j) {
							found++
						}
					}
				}
			}
		}
	}
	if found < 50 {
		t.Errorf("sums in float64 are found out in %d entries only", found)
	}
}

// TestWeightsAreBounded: whatever a loss returns, a record adds no more than is paid for.
func TestWeightsAreBounded(t *testing.T) {
	rows := matrix.NewDense(3, 2, []float64{0.6, 0.8, 0.6, 0.8, 0.6, 0.8})
	p := newParts(2, 1, 1)
	p.add(rows.Data, []float64{math.NaN(), -1, 3}, make([]float64, 6))
	if m := mat.Norm(p.Matrix(), 2); !(math.Abs(m-1) <= 1e-6) {
		t.Errorf("weights of NaN, −1 and 3 add a matrix of norm %v, want that of 1", m)
	}
}

// TestExtremeLossesAreRefusedBeforeTheCharge, not by a panic after it.
func TestExtremeLossesAreRefusedBeforeTheCharge(t *testing.T) {
	fit := objpert.Objective{Loss: loss.Softplus{Width: 1e-300}, RowNorm: 1, Lambda: 1, Sigma: 1, Tolerance: 1e-6,
		OutputSigma: 1}
	if err := (Curvature{Fit: fit, Sigma: 1}).Validate(); err == nil {
		t.Error("a curvature of 1e299 is not refused")
	}
}

// The sums of many goroutines take no more memory than there is room for: of 1,500 features those of one take 36 MB.
func TestSumsTakeLittleMemory(t *testing.T) {
	testscale.Slow(t)
	const n, d = 20 * 256, 1500
	fit := must.Get(objpert.Calibrate(config(loss.Logistic{}, 1)))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	moments(fit, &matrix.CSR{N: n, D: d, Starts: make([]int, n+1)}, make([]float64, n), make([]float64, d), false, 20)
	runtime.ReadMemStats(&after)
	if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 450 {
		t.Errorf("20 goroutines took %d MB", mb)
	}
}
