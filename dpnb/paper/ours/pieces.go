package ours

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/convolution"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// pieces lists what is claimed of maxima of affine functions.
func pieces() claim.Checks {
	return claim.Checks{
		"dpnb/pieces": claim.Against(piecesAudited(1, 0, 83), piecesAudited(1.01, 0, 83), piecesAudited(1, 1, 83)),
	}
}

// pieceFunctions are a bowl, ‖x‖_∞ in the plane and three pieces on the line.
func pieceFunctions() (all []smoothing.Polyhedral) {
	bowl := measure.Must(smoothing.NewBowlPieces(2, 0.5))
	all = append(all, bowl)
	for _, f := range []struct {
		a [][]float64
		b []float64
	}{
		{[][]float64{{1, 0}, {-1, 0}, {0, 1}, {0, -1}}, make([]float64, 4)},
		{[][]float64{{-0.4}, {0.5}, {1}}, []float64{0, 0, -0.3}},
	} {
		p := measure.Must(smoothing.NewPolyhedral(f.a, f.b))
		all = append(all, p)
	}
	return all
}

// piecesAudited holds the profile of C-OP of pieces, at the noise factor·σ and with a part of the curvature left out,
// against exact divergences at σ.
func piecesAudited(factor, free float64, seed uint64) claim.Check {
	return measure.Check(func(ctx context.Context, size claim.Size) claim.Outcome {
		src := noise.NewSeeded(seed)
		functions := pieceFunctions()
		worst := map[privacy.Direction]float64{}
		for _, f := range functions {
			for _, eps := range []float64{0.3, 1} {
				for _, charge := range []float64{0, 0.3, 0.9} {
					measure.Try(ctx.Err())
					const w = 1.0
					sigma := 3.5 * f.Lipschitz() / eps
					rank := math.Min(float64(f.Dim()), float64(f.Pieces()-1))
					// About the λ at which that is charged.
					lambda := 2 * sigma * sigma / w
					if charge > 0 {
						lambda = f.Radius() * f.Radius() / (rank * w * math.Expm1(charge*eps/rank))
					}
					m := convolution.COP{Loss: convolution.Loss{Pieces: &smoothing.Entropic{Function: f, Width: w},
						Forms: f.Dim(), Norm: 1}, Lambda: lambda, Sigma: sigma * factor, Tolerance: 1e-12,
						OutputSigma: 1, Account: convolution.Entropic}
					if free > 0 {
						m.Lambda *= 1e6
					}
					p := measure.Must(mechanism.Profile(m))
					for _, d := range privacy.Directions {
						v := 0.0
						// The record's kinks among the answers, and far away from them.
						for _, start := range []float64{0, -3, -25} {
							_, found := climb(func(x []float64) float64 {
								return planarPieces(f, w, lambda, sigma, x).Delta(d, eps, 200)
							}, []float64{start, start, 0, 0, 0, 0}, 0.7, size.Runs(4), src)
							v = math.Max(v, found)
						}
						worst[d] = math.Max(worst[d], v/math.Exp(p.LogDeltaUpper(d, eps)))
					}
				}
			}
		}
		o := claim.Outcome{Measured: fmt.Sprintf("largest exact δ over the bound: %.4f when adding, %.4f when removing",
			worst[privacy.Add], worst[privacy.Remove]), Interval: "0.95 to 1.006", Verdict: claim.Fails}
		if a, r := worst[privacy.Add], worst[privacy.Remove]; math.Min(a, r) >= 0.95 && math.Max(a, r) <= 1.006 {
			o.Verdict = claim.Holds
		}
		return o
	})
}

// planarPieces is a record with A = diag(1, x₄ ∧ 1) turned by x₅ and labels x₀, x₁, among others of curvature x₂ in a
// direction x₃.
func planarPieces(f smoothing.Polyhedral, w, lambda, sigma float64, x []float64) audit.Forms {
	s := math.Min(1, math.Exp(x[4]))
	cos, sin := math.Cos(x[5]), math.Sin(x[5])
	rows := [2][2]float64{{cos, sin}, {-s * sin, s * cos}}
	soft := loss.Maximum{Temperature: w}
	form := audit.Forms{Labels: []float64{0}, Sigma: sigma, Ridges: [2]float64{lambda, lambda * (1 + math.Abs(x[2]))},
		Turn: x[3]}
	for p := range f.Pieces() {
		a, b := f.Piece(p)
		var v [2]float64
		for j, c := range a {
			floats.AddScaled(v[:], c, rows[j][:])
			b -= c * x[j] * (sigma/lambda + w)
		}
		form.Rows, soft.Offsets = append(form.Rows, v), append(soft.Offsets, []float64{b})
	}
	form.Joint = soft
	return form
}
