package heavytail

import (
	"context"
	"math"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// Exponent fits ln y = a + s·ln x by least squares, each mean with its standard error, and returns s with its own.
func Exponent(x []float64, y []sim.Summary) (slope, deviation float64) {
	var weight, meanX, meanY, square, cross float64
	w := make([]float64, len(x))
	for i, v := range y {
		w[i] = math.Pow(v.Mean/v.StdErr, 2)
		weight += w[i]
		meanX, meanY = meanX+w[i]*math.Log(x[i]), meanY+w[i]*math.Log(v.Mean)
	}
	meanX, meanY = meanX/weight, meanY/weight
	for i, v := range y {
		u := math.Log(x[i]) - meanX
		square, cross = square+w[i]*u*u, cross+w[i]*u*(math.Log(v.Mean)-meanY)
	}
	return cross / square, 1 / math.Sqrt(square)
}

// HardCell is the mean excess risk, G_k = 1, D = 2, of objective perturbation with C and Λ of the utility theorem on
// linear losses from HardPrivate with ζ = 1/(4e), so that a share p = d ln 2/(nε) of the records says anything at all,
// and G₂ = p^{1/2−1/k}.
func HardCell(k float64, d, n int, eps float64, fits int, seed uint64) (_ sim.Summary, err error) {
	defer measure.Catch(&err)
	nu := make([]float64, d)
	nu[0] = 1
	h := HardPrivate(nu, n, eps, 1, k, 0.25/math.E)
	m := measure.Must(pure.Config{Loss: loss.Affine{}, Epsilon: eps, Adjacency: privacy.ReplaceOne, Features: d,
		Records: n, Radius: 1, Moment: min(k, 1e3), MomentBound: 1, WorstCase: true,
		Lambda: math.Pow(h.P, 0.5-1/k) * math.Sqrt(2*float64(n)*(2+2/eps))}.Calibrate())
	ones := make([]float64, n)
	for i := range ones {
		ones[i] = 1
	}
	risks := measure.Must(sim.Trials(context.Background(), fits, 0, noise.NewSeeded(seed),
		func(_, _ int, src *noise.Seeded) (float64, error) {
			r := measure.Must(m.Run(h.Sample(n, src), ones, src, nil))
			return h.Excess(r.Coefficients, 1), nil
		}))
	return sim.Summarize(risks), nil
}
