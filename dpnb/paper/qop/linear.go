package qop

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/constrained"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// clippedLinear is the check of qop/mech5.1 with σ, and the level of clipping, times a factor in the laws.
func clippedLinear(run measure.Run, sigma, level float64) claim.Outcome {
	const clip = 2.0
	cfg := constrained.Config{Loss: loss.ClippedAt(loss.Squared{}, clip, 1), RowNorm: 1, Dimension: 1, Epsilon: 0.5,
		Delta: 0.01, Adjacency: privacy.AddRemove}
	m := measure.Must(constrained.Calibrate(cfg))
	p := measure.Must(m.Profile())
	var worst, plain float64
	for _, eps := range []float64{0.1, 0.5, 0.8} {
		claimed := [2]float64{math.Exp(p.LogDeltaUpper(privacy.Remove, eps)),
			math.Exp(p.LogDeltaUpper(privacy.Add, eps))}
		gaussian := measure.GaussianDelta(clip/m.Sigma, eps)
		for _, y := range []float64{-1, 0.5, 1, 2, 3, 10, 100} {
			s := audit.Scalar{Loss: loss.ClippedAt(loss.Squared{}, clip*level, 1), ExtraX: 1, ExtraY: y,
				Lambda: m.Lambda, Sigma: sigma * m.Sigma}
			without, with := s.Cells(2000)
			worst = math.Max(worst, math.Max(audit.HockeyStick(with, without, eps)/claimed[0],
				audit.HockeyStick(without, with, eps)/claimed[1]))
			s.Lambda *= 1e4 // so that curvature costs nothing
			without, with = s.Cells(2000)
			plain = math.Max(plain, measure.Stick(without, with, eps)/gaussian)
		}
	}
	cfg.Dimension = 40
	m = measure.Must(constrained.Calibrate(cfg))
	far := measure.Must(shownNoise(m, sigma, run.Runs(100)))
	return claim.Decide(fmt.Sprintf("largest exact δ: %.3f of the accountant's, %.4f of the Gaussian mechanism's "+
		"at "+
		"the large Δ; the variance of a is off by %+.1f standard errors", worst, plain, far),
		"1; 0.99 … 1.001; 4.5", worst <= 1 && plain > 0.99 && plain < 1.001 && math.Abs(far) < 4.5,
		"a δ is above the accountant's, or gradients are clipped elsewhere, or other noise is "+
			"added").Reaching(worst)
}

// shownNoise is by how many standard errors the variance of the noise a that releases show differs from that of σ times
// factor.
func shownNoise(m constrained.Objective, factor float64, runs int) (_ float64, err error) {
	defer measure.Catch(&err)
	src := noise.NewSeeded(64)
	const n, d = 10, 40
	rows, labels, _ := interpolating(n, d, src.Stream(0))
	var square float64
	t, slope := make([]float64, n), make([]float64, n)
	for k := range runs {
		r := measure.Must(m.Run(rows, labels, src.Stream(k+1), nil))
		a := append([]float64(nil), r.Coefficients...)
		floats.Scale(-m.Lambda, a)
		rows.Margins(t, r.Coefficients, 0, n)
		m.Loss.ValueSlope(slope, t, labels)
		floats.Scale(-1, slope)
		rows.AddScaled(a, slope, 0, n)
		square += floats.Dot(a, a)
	}
	count := float64(runs * d)
	return (square/(count*factor*factor*m.Sigma*m.Sigma) - 1) / math.Sqrt(2/count), nil
}
