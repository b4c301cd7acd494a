package measure

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/loss"
)

// KinkedSigma returns the σ, to a thousandth, from which on no exact δ(ε) of neighbours under add/remove-one lies above
// δ: objective perturbation in one dimension at the ridge λ, one record of Huber's loss with L = β = 1 or none. Its
// slope has to be steep and to bend where noise decides on δ, so that the label is where noise is as rare as δ. The
// exact δ are sums over cells and so from below.
func KinkedSigma(lambda, eps, delta float64) (least float64) {
	tail := math.Sqrt(2 * math.Log(1/delta))
	for _, before := range []float64{0.5, 1, 1.5} {
		enough := func(sigma float64) (bool, error) {
			s := audit.Scalar{Loss: loss.Huber{Threshold: 1}, ExtraX: 1, ExtraY: (tail - before) * sigma / lambda,
				Lambda: lambda, Sigma: sigma}
			without, with := s.Cells(6000)
			return Stick(with, without, eps) <= delta, nil
		}
		least = math.Max(least, Must(univariate.Smallest{Start: 1, Factor: 2, Most: math.Inf(1),
			Cut: univariate.Geometric, Tolerance: 1e-3}.Find(enough)))
	}
	return least
}
