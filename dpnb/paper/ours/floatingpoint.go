package ours

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// floatingPoint lists this project's claims about what the machine returns, rounding included (docs/theory/release.md).
func floatingPoint() claim.Checks {
	return claim.Checks{
		"dpnb/exact-normal":  claim.Against(exactNormal(1, 91), exactNormal(1.03, 91)),
		"dpnb/exact-release": claim.Against(exactRelease(1, 92), exactRelease(1.1, 92)),
		"dpnb/low-bits":      claim.Times(func(factor float64) claim.Check { return lowBits(factor, 93) }),
	}
}

// exactNormal draws with a scale that is factor times what is expected.
func exactNormal(factor float64, seed uint64) claim.Check {
	return func(_ context.Context, size claim.Size) (claim.Outcome, error) {
		draws := measure.Sized(size, 200_000, 1_000_000)
		u := make([]float64, draws)
		noise.Exact(noise.NewSeeded(seed)).Near(u, 1)
		const cells = 256
		var count [cells]float64
		for i, v := range u {
			u[i] = 0.5 * math.Erfc(-v*factor/math.Sqrt2)
			count[min(cells-1, int(u[i]*cells))]++
		}
		var square float64
		want := float64(draws) / cells
		for _, c := range count {
			square += (c - want) * (c - want) / want
		}
		z := (square - (cells - 1)) / math.Sqrt(2*(cells-1))
		ks := measure.Kolmogorov(u)
		return claim.Decide(fmt.Sprintf("√n·KS = %.2f, χ² off by %.1f standard deviations, %d draws", ks, z, draws),
			"2.7; 5.5", ks < 2.7 && math.Abs(z) < 5.5, "the variates are not normal"), nil
	}
}

// exactRelease holds the release against its law at factor times its σ.
func exactRelease(factor float64, seed uint64) claim.Check {
	return func(ctx context.Context, size claim.Size) (claim.Outcome, error) {
		runs := measure.Sized(size, 4000, 40_000)
		x, y := []float64{1, -0.5, 0.8, 1, -1}, []float64{1, 1, -1, 1, -1}
		rows := matrix.NewDense(5, 1, x)
		m := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 0.5, Sigma: 2, Tolerance: 1e-8,
			OutputSigma: 1e-6}
		grid := exact.Grid(m.OutputSigma)
		root := noise.NewSeeded(seed)
		u, off, square := make([]float64, runs), 0, 0.0
		for i := range u {
			if i%1000 == 0 && ctx.Err() != nil {
				return claim.Outcome{}, ctx.Err()
			}
			r := measure.Must(m.Run(rows, y, root.Stream(i), &mechanism.Settings{Workers: 1}))
			theta := r.Coefficients[0]
			if k := theta / grid; k != math.Trunc(k) {
				off++
			}
			gradient := m.Lambda * theta
			for j, v := range x {
				gradient -= y[j] * v / (1 + math.Exp(y[j]*v*theta))
			}
			z := gradient / (factor * m.Sigma)
			square += z * z
			u[i] = 0.5 * math.Erfc(-z/math.Sqrt2)
		}
		ks := measure.Kolmogorov(u)
		z := (square/float64(runs) - 1) / math.Sqrt(2/float64(runs))
		return claim.Decide(fmt.Sprintf("√n·KS = %.2f, variance off by %.1f standard errors, %d of %d off the grid",
			ks, z, off, runs), "2.7; 5.5; 0",
			ks < 2.7 && math.Abs(z) < 5.5 && off == 0, "the release does not have the law of the proof"), nil
	}
}

// lowBits attacks releases, of which a share are as they should be and the others float64 sums.
func lowBits(share float64, seed uint64) claim.Check {
	return measure.Check(func(ctx context.Context, size claim.Size) claim.Outcome {
		shapes := measure.Sized(size, [][2]int{{200, 20}}, [][2]int{{500, 20}, {2000, 109}})
		var worst, planted float64
		planted = 1
		var bad []string
		for _, shape := range shapes {
			cases := measure.Must(audit.LowBitsCases(shape[0], shape[1], 0.1))
			for _, c := range cases {
				attack := c.Attack
				if exact, broken := attack.Release, c.Broken; broken != nil {
					attack.Release = func(with bool, src *noise.Seeded) ([]float64, error) {
						if src.Stream(math.MaxInt32).Float64() < share {
							return exact(with, src)
						}
						return broken(with, src)
					}
				}
				found := measure.Must(attack.Run(ctx, 300, noise.NewSeeded(seed)))
				if found.Broken() {
					bad = append(bad, c.Name)
				}
				worst = math.Max(worst, math.Max(found.Preimages, found.LastBits)-found.Allowed)
				if c.Broken == nil {
					continue
				}
				attack.Release = c.Broken
				found = measure.Must(attack.Run(ctx, 300, noise.NewSeeded(seed+1)))
				planted = math.Min(planted, found.Preimages)
			}
		}
		return claim.Decide(fmt.Sprintf("right in at most %.1f %% more than is allowed; float64 sums named in %.1f %% "+
			"or more", 100*worst, 100*planted), "14.4 %; at least 90 %",
			len(bad) == 0 && planted > 0.9, "told apart: "+strings.Join(bad, ", "))
	})
}
