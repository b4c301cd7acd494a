package exact

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// preRound replaces each of v by the nearest multiple of h, of two that are as near by the even one.
func preRound(v []float64, h float64) {
	for i, x := range v {
		v[i] = math.RoundToEven(x/h) * h
	}
}

// TestAddIsPreRoundOfTheProducts: the kernels that add rounded products give what preRound of the products gives, ties
// of either sign included, dense and sparse, for every number of rows.
func TestAddIsPreRoundOfTheProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	for _, h := range []float64{0x1p-25, 0x1p-300, 0x1p200} {
		for k := range 10 {
			const d = 7
			x, w := make([]float64, k*d), make([]float64, k)
			for i := range x {
				x[i] = rng.NormFloat64()
				if i%3 == 0 {
					x[i] = float64(rng.IntN(9)-4) * 0x1p-26 // half steps: ties
				}
			}
			for i := range w {
				w[i] = float64(1-2*(i%2)) * h * 0x1p25
			}
			want, outer := make([]float64, d), make([]float64, d*d)
			for i, v := range w {
				product := make([]float64, d)
				for j := range product {
					product[j] = v * x[i*d+j]
				}
				preRound(product, h)
				for j, p := range product {
					want[j] += p
				}
				for j := range d {
					a := make([]float64, 0, d)
					for l := j; l < d; l++ {
						a = append(a, x[i*d+j]*x[i*d+l])
					}
					preRound(a, 0x1p-25)
					for l, p := range a {
						outer[j*d+j+l] += p
					}
				}
			}
			rows, one, thin, gram := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d*d)
			AddRows(rows, w, x, h)
			columns := []int32{0, 1, 2, 3, 4, 5, 6}
			for i, v := range w {
				Add(one, v, x[i*d:(i+1)*d], h)
				AddSparse(thin, v, columns, x[i*d:(i+1)*d], h)
			}
			AddOuter(gram, x, k, d, 0x1p-25)
			if !slices.Equal(rows, want) || !slices.Equal(one, want) || !slices.Equal(thin, want) {
				t.Errorf("h = %v, %d rows: %v, %v, %v, want %v", h, k, rows, one, thin, want)
			}
			if !slices.Equal(gram, outer) {
				t.Errorf("%d rows: %v, want %v", k, gram, outer)
			}
		}
	}
}

// A symmetric matrix has noise of variance σ² on its diagonal and of half that beside it.
func TestAddFrobenius(t *testing.T) {
	const d, draws, sigma = 3, 4000, 0.7
	s := New(rand.NewChaCha8([32]byte{9}))
	var on, beside float64
	for range draws {
		m := mat.NewSymDense(d, nil)
		s.SymmetricNormals(d).AddFrobenius(m, sigma)
		for i := range d {
			on += m.At(i, i) * m.At(i, i) / (d * draws)
			for j := range i {
				beside += m.At(i, j) * m.At(j, i) / (d * (d - 1) / 2 * draws)
			}
		}
	}
	// Six standard deviations of a mean of 12,000 squares.
	const off = 6 * 0.013
	if a, b := on/(sigma*sigma), 2*beside/(sigma*sigma); !(math.Abs(a-1) <= off) || !(math.Abs(b-1) <= off) {
		t.Errorf("variances of %.3f and %.3f of what they are to be", a, b)
	}
}

// A step that is no power of two, or out of range, is refused.
func TestStepsOfTotals(t *testing.T) {
	for h, ok := range map[float64]bool{1: true, 0x1p-900: true, 0x1p900: true, 0x1p-901: false, 0x1p901: false,
		3: false, -1: false, 0: false, math.Inf(1): false, math.NaN(): false} {
		func() {
			defer func() {
				if refused := recover() != nil; refused == ok {
					t.Errorf("a step of %g is refused: %v", h, refused)
				}
			}()
			NewTotal(2, h)
		}()
	}
}

// Sums beyond what float64 has exactly are cut to ±2⁵³ steps, and those within are what they are.
func TestTotalsAreCut(t *testing.T) {
	const most = 1 << 53
	for _, h := range []float64{1, 0x1p-40, 0x1p300} {
		for count, want := range map[int64]float64{0: 0, -7: -7, most - 1: most - 1, most: most, most + 1: most,
			1 - most: 1 - most, -most: -most, -most - 1: -most, math.MaxInt64: most, math.MinInt64: -most} {
			sum, got := NewTotal(1, h), make([]float64, 1)
			sum.Counts()[0] = count
			if sum.Write(got); got[0] != want*h {
				t.Errorf("%d steps of %v are %v, want %v", count, h, got[0], want*h)
			}
		}
	}
}
