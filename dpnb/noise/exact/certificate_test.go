package exact_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
)

// gradientNorm returns ‖∇J(θ)‖ of the pseudo-Huber loss of threshold 1 in 1,100 bits, some 330 decimal digits, b* being
// the noise in the objective.
func gradientNorm(rows *matrix.Dense, labels, theta []float64, lambda float64, b []*big.Float) float64 {
	const prec = 1100
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }
	product := number(0)
	g := make([]*big.Float, rows.D)
	for j := range g {
		g[j] = number(0).Mul(number(lambda), number(theta[j]))
		g[j].Add(g[j], b[j])
	}
	for i, y := range labels {
		row := rows.Data[i*rows.D : (i+1)*rows.D]
		r := number(-y)
		for j, v := range row {
			r.Add(r, product.Mul(number(v), number(theta[j])))
		}
		root := number(1)
		root.Sqrt(root.Add(root, product.Mul(r, r)))
		r.Quo(r, root)
		for j, v := range row {
			g[j].Add(g[j], product.Mul(number(v), r))
		}
	}
	sum := number(0)
	for _, v := range g {
		sum.Add(sum, product.Mul(v, v))
	}
	norm, _ := sum.Sqrt(sum).Float64()
	return norm
}

// What objective perturbation adds its output noise to is certified for the exact b*, whose further digits nobody has
// drawn: ‖∇J_{b*}(θ̃)‖ ≤ τ. A solver that has b rounded to 20 bits and leaves η_b out misses that; so does one with any
// number of bits whose last is worth τ.
func TestCertificateHoldsForExactNoise(t *testing.T) {
	const n, d, digits = 60, 7, 17
	rng := noise.NewSeeded(8)
	rows, labels := matrix.NewDense(n, d, nil), make([]float64, n)
	rng.Gaussian(rows.Data, 0.3)
	for i := range labels {
		row := rows.Data[i*d : (i+1)*d]
		var square float64
		for _, v := range row {
			square += v * v
		}
		for j := range row {
			row[j] /= math.Max(1, math.Sqrt(square)*1.001)
		}
		labels[i] = 2*rng.Float64() - 1
	}
	m := objpert.Objective{Loss: loss.PseudoHuber{Threshold: 1}, RowNorm: 1, Lambda: 2, Sigma: 9, OutputSigma: 0x1p-95}
	// The float64 with so many bits that are next to those of b.
	rounded := func(b []float64, bits int) []float64 {
		c := make([]float64, d)
		for j, v := range b {
			f, e := math.Frexp(v)
			c[j] = math.Ldexp(math.RoundToEven(math.Ldexp(f, bits)), e-bits)
		}
		return c
	}
	for _, tau := range []float64{1e-6, 1e-9, 2e-13} {
		m.Tolerance = tau
		missed := map[int]int{}
		const runs = 12
		for k := range uint64(runs) {
			src := func() *noise.Seeded { return noise.NewSeeded(100 + k) }
			wide := exact.WideNear(src(), noise.NewSeeded(1000+k), d, m.Sigma, digits, 1100)
			// The output noise is below the last place of the coefficients.
			r, err := m.Run(rows, labels, src(), &mechanism.Settings{Workers: 1})
			if err != nil {
				t.Fatal(tau, err)
			}
			if norm := gradientNorm(rows, labels, r.Coefficients, m.Lambda, wide); !(norm <= tau) {
				t.Errorf("τ = %g, run %d: ‖∇J_{b*}‖ = %g", tau, k, norm)
			}
			b := make([]float64, d)
			exact.New(src()).FillNormal(b, m.Sigma)
			for _, bits := range []int{20, 24, 28, 32, 36, 40, 44} {
				p := erm.Problem{Rows: rows, Labels: labels, Loss: m.Loss, Lambda: m.Lambda, Linear: rounded(b, bits)}
				sol := must.Get(erm.Minimize(&p, &erm.Settings{Tolerance: tau * (1 - 0x1p-50), Workers: 1,
					Persist: true}))
				if gradientNorm(rows, labels, sol.Theta, m.Lambda, wide) > tau {
					missed[bits]++
				}
			}
		}
		t.Logf("τ = %g: with so many bits of b and no η_b missed in so many of %d: %v", tau, runs, missed)
		if missed[20] < runs || tau < 1e-8 && missed[28] < runs || tau < 1e-12 && missed[40] < runs {
			t.Errorf("τ = %g: η_b left out is seen in %v of %d runs only", tau, missed, runs)
		}
	}
}
