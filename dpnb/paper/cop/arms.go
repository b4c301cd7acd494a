package cop

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/experiment"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// constants are what C-OP is run with: the noise σ of b and the ridge λ of the sum over the
// records, which is 2n times cop's, as its ridge is λ‖θ‖² on the mean.
type constants struct{ sigma, lambda, width float64 }

// printed are the constants of Theorem 3.2, Lemma 3.3 and step 1 of Algorithm 1 of cop, for
// h = 0 and a loss of which C is the bound on the slopes:
//
//	σ² = C²(8 ln(1/δ) + 8ε)/ε²,  λ = 2n√(4C²/n + dσ²/n²)/R_θ,  µ = 2(m + 1)C/(ελ).
//
// They are run for comparison: nobody has proved (ε, δ) for them (docs/errata.md, cop-11, cop-12).
func (r *Records) printed(eps, delta float64) constants {
	slope := r.Slope()
	c := constants{sigma: slope * math.Sqrt(8*math.Log(1/delta)+8*eps) / eps}
	c.lambda = r.printedRidge(c.sigma)
	c.width = 2 * (forms + 1) * slope / (eps * c.lambda)
	return c
}

// printedRidge is the λ of Lemma 3.3 at noise σ.
func (r *Records) printedRidge(sigma float64) float64 {
	n, slope := float64(r.N), r.Slope()
	return 2 * math.Sqrt(4*slope*slope*n+float64(r.Dimension)*sigma*sigma) / r.Radius()
}

// corrected are constants with the ridge of Lemma 3.3 that do satisfy (ε, δ): half of ε for
// the determinant, (1 + s/λ)^m = e^{ε/2}, which sets the curvature s in θ, and σ for that by
// the bound of rank m. curvature is that of the smoothed loss in the residuals at width 1.
func (r *Records) corrected(curvature, eps, delta float64) (c constants, err error) {
	ratio := math.Expm1(eps / (2 * forms))
	unit, err := ranked(experiment.Key{RowNorm: ratio, Epsilon: eps, Delta: delta})
	if err != nil {
		return c, err
	}
	c.sigma = unit * r.Slope()
	c.lambda = r.printedRidge(c.sigma)
	c.width = curvature * r.Norm() * r.Norm() / (ratio * c.lambda)
	return c, nil
}

// ranked is the noise for slopes of 1 and s/λ = RowNorm by the bound of rank m.
var ranked = experiment.Remembered(func(k experiment.Key) (float64, error) {
	return privacy.Calibrate(func(sigma float64) (bool, error) {
		p, err := objective.RankK{Rank: forms, Smoothness: k.RowNorm, Slope: 1, Lambda: 1, Sigma: sigma}.Profile(privacy.AddRemove)
		if err != nil {
			return false, err
		}
		return privacy.DeltaUpper(p, k.Epsilon) <= k.Delta, nil
	}, 1e-4)
})

// perturb returns the minimiser of the smoothed loss with ridge and noise, found to a
// gradient that moves it by at most 1e-7.
func (r *Records) perturb(smooth Smooth, c constants, centre []float64, src *noise.Seeded) ([]float64, error) {
	o := tilted{Records: r, Smooth: smooth, Lambda: c.lambda, Linear: make([]float64, r.Dimension), Centre: centre}
	src.Gaussian(o.Linear, c.sigma)
	theta := make([]float64, r.Dimension)
	copy(theta, centre)
	_, err := o.minimise(theta, 1e-7*c.lambda)
	return theta, err
}

// Printed is C-OP with the constants of the paper and its Gaussian kernel. It has no proof.
func Printed() Arm {
	return Arm{Name: "C-OP, printed", Fit: func(r *Records, eps, delta float64, src *noise.Seeded) ([]float64, error) {
		c := r.printed(eps, delta)
		return r.perturb(r.Loss.Blur(c.width), c, nil, src)
	}}
}

// Corrected is C-OP with the ridge of the paper, its Gaussian kernel, and noise and width
// that are proved.
func Corrected() Arm {
	return Arm{Name: "C-OP, corrected", Fit: func(r *Records, eps, delta float64, src *noise.Seeded) ([]float64, error) {
		c, err := r.corrected(r.Loss.Blurred(forms), eps, delta)
		if err != nil {
			return nil, err
		}
		return r.perturb(r.Loss.Blur(c.width), c, nil, src)
	}}
}

// Moreau is Corrected with the Moreau envelope in the place of the convolution: our reading
// of "Bassily et al. 2019, Algorithm 1", of which cop says no more.
func Moreau() Arm {
	return Arm{Name: "Moreau", Fit: func(r *Records, eps, delta float64, src *noise.Seeded) ([]float64, error) {
		c, err := r.corrected(1, eps, delta)
		if err != nil {
			return nil, err
		}
		return r.perturb(r.Loss.Envelope(c.width), c, nil, src)
	}}
}
