package ours

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// certificates lists what is claimed of the solver's certificate.
func certificates() claim.Checks {
	return claim.Checks{
		"dpnb/certificate": claim.Times(certificateHolds),
	}
}

const certificateBits = 300

// huberGradient returns Σf′(xᵢᵀθ; yᵢ)xᵢ + λθ + b for Huber's loss, T = 1, in 300 bits.
func huberGradient(p *erm.Problem, theta []float64) []*big.Float {
	exact := func(v float64) *big.Float { return new(big.Float).SetPrec(certificateBits).SetFloat64(v) }
	n, d := p.Rows.Dims()
	g, row := make([]*big.Float, d), make([]float64, d)
	for j := range g {
		g[j] = new(big.Float).Mul(exact(p.Lambda), exact(theta[j]))
		if p.Linear != nil {
			g[j].Add(g[j], exact(p.Linear[j]))
		}
	}
	for i := range n {
		p.Rows.Row(row, i)
		slope := exact(-p.Labels[i])
		for j, v := range row {
			slope.Add(slope, new(big.Float).Mul(exact(v), exact(theta[j])))
		}
		if slope.Cmp(exact(1)) > 0 {
			slope = exact(1)
		} else if slope.Cmp(exact(-1)) < 0 {
			slope = exact(-1)
		}
		for j, v := range row {
			g[j].Add(g[j], new(big.Float).Mul(slope, exact(v)))
		}
	}
	return g
}

// bigDistance returns ‖a − b‖.
func bigDistance(a []*big.Float, b []float64) float64 {
	sum := new(big.Float).SetPrec(certificateBits)
	for j, v := range a {
		e := new(big.Float).SetPrec(certificateBits).SetFloat64(b[j])
		e.Sub(v, e)
		sum.Add(sum, e.Mul(e, e))
	}
	r, _ := sum.Sqrt(sum).Float64()
	return r
}

// certificateHolds compares the solver's bound times a factor with errors found in 300 bits, and with its formula where
// θ is so long that the part for margins is all of it but a millionth.
func certificateHolds(factor float64) claim.Check {
	return measure.Check(func(ctx context.Context, size claim.Size) claim.Outcome {
		const n, d = 30, 10
		draws := measure.Sized(size, 20, 400)
		var worst, without, tight, stated float64
		for k := range draws {
			measure.Try(ctx.Err())
			src := noise.NewSeeded(61 + uint64(k))
			rows, theta := matrix.NewDense(n, d, nil), make([]float64, d)
			src.Gaussian(rows.Data, 1)
			src.Gaussian(theta, 1e8)
			p := &erm.Problem{Rows: rows, Labels: make([]float64, n), Loss: loss.Huber{Threshold: 1}, Lambda: 0.5}
			src.Gaussian(p.Labels, 0.3)
			plain := erm.Problem{Rows: rows, Labels: p.Labels, Loss: p.Loss}
			for i := range n { // margins of the order of the threshold
				r := rows.Data[i*d : (i+1)*d]
				floats.AddScaled(r, -floats.Dot(r, theta)/floats.Dot(theta, theta), theta)
			}
			e := measure.Must(erm.NewEvaluator(&plain, 1))
			g := make([]float64, d)
			_, bound := e.Gradient(g, theta)
			bound *= factor
			off := bigDistance(huberGradient(&plain, theta), g)
			margins := 1.01 * n * e.MaxNorm() * e.MaxNorm() * (d + 1) * 0x1p-53 * floats.Norm(theta, 2)
			worst = math.Max(worst, off/bound)
			without = math.Max(without, off/math.Abs(bound-margins))
			stated = math.Max(stated, math.Abs(bound/margins-1))

			p.Linear = make([]float64, d)
			src.Gaussian(p.Linear, 3)
			sol, err := erm.Minimize(p, &erm.Settings{Tolerance: 2e-14, Workers: 1, Persist: true})
			if err != nil && !errors.Is(err, erm.ErrTolerance) {
				measure.Try(err)
			}
			if err != nil {
				tight = math.Inf(1)
				continue
			}
			// θ is rounded to float64, which moves the gradient by up to M·u‖θ‖.
			moved := (p.Lambda + n*e.MaxNorm()*e.MaxNorm()) * 0x1p-53 * floats.Norm(sol.Theta, 2)
			tight = math.Max(tight, bigDistance(huberGradient(p, sol.Theta), make([]float64,
				d))/(factor*sol.Certificate.Bound()+moved))
		}
		ok := worst <= 1 && tight <= 1 && without > 1
		return claim.Decide(fmt.Sprintf("largest error over the bound: %.2g in float64, %.2g beyond; without the "+
			"part for margins: %.2g; the bound over that part less 1: %s", worst, tight, without, claim.Roughly(stated,
			1e-6)), "at most 1, above 1 for the control; 1e-6", ok, "an error is larger than its bound, or the bound "+
			"is another one, or the search is too weak to tell").As(stated < 1e-6).Reaching(math.Max(worst, tight))
	})
}
