package exact

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// The frequencies of −6 … 6 and of what is beyond are those of (1−q)/(1+q)·q^|x|, by χ² of 13 degrees of freedom: above
// 47 with probability 1e-5. Of 200,000 draws a scale that is off by a fiftieth is seen.
func TestGeometrics(t *testing.T) {
	testscale.Slow(t)
	const n, most = 200_000, 47.0
	statistic := func(x []float64, scale float64) (chi float64) {
		q := math.Exp(-1 / scale)
		seen, rest := map[float64]float64{}, float64(len(x))
		for _, v := range x {
			seen[v]++
		}
		left := 1.0
		for k := -6.0; k <= 6; k++ {
			p := (1 - q) / (1 + q) * math.Pow(q, math.Abs(k))
			chi += (seen[k] - p*n) * (seen[k] - p*n) / (p * n)
			left -= p
			rest -= seen[k]
		}
		return chi + (rest-left*n)*(rest-left*n)/(left*n)
	}
	for _, scale := range []float64{0.7, 1, 2.5, 3.999} {
		for _, width := range []uint{7, 64} {
			s := &Sampler{bits: rand.NewChaCha8([32]byte{byte(width)}), width: width}
			x := make([]float64, n)
			s.Geometrics(x, scale)
			if chi := statistic(x, scale); chi > most {
				t.Errorf("scale %v, digits of %d bits: χ² = %.1f > %v", scale, width, chi, most)
			}
			if chi := statistic(x, scale*1.02); chi < most {
				t.Errorf("scale %v: 1.02 of it goes unnoticed (χ² = %.1f)", scale, chi)
			}
		}
	}
	for _, scale := range []float64{0, math.NaN(), 0x1p41, 0x1p-21} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a scale of %v is accepted", scale)
				}
			}()
			New(rand.NewChaCha8([32]byte{})).Geometrics(make([]float64, 1), scale)
		}()
	}
}
