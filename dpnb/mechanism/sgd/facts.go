package sgd

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// The rule by which a descent on centred rows follows from facts: docs/theory/quantiles.md#dpnb-quantiles-centred.
const (
	// farPerDirection and farPerSignal are r² for each direction and for each n̂μ.
	farPerDirection, farPerSignal = 9, 0.4
	// ridgeOfDirections is λ in units of the noise's variance in the mean gradient, for each direction and record, and
	// roughOfRidge the weight of second differences in ridges.
	ridgeOfDirections, roughOfRidge = 3, 8
	// calmed is the power of the signal by which steps are shorter, at every level.
	calmed = 0.6
)

// WithGaussian implements mechanism.WithGaussians: all steps are Gaussian mechanisms, and μ² adds up.
func (q Quantiles) WithGaussian(mu float64) (privacy.Profile, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	return q.Cost().beside(mu)
}

// For implements mechanism.Informed. With D directions steps are those of r = √(9D + 0.4nμ) within 2r, and there is a
// ridge of 3D/n of the noise's variance: rows have norm 1 and labels twice the unit as their spread.
func (q Quantiles) For(f mechanism.Facts) (mechanism.Mechanism, float64) {
	r := math.Sqrt(farPerDirection*f.Directions + farPerSignal*f.Records*f.Mu)
	q.Update.Radius, q.Update.Ball = r, 2*r
	q.Update.Ridge, q.Update.Curves = ridgeOfDirections*f.Directions/f.Records, f.Curves
	return q, 1
}

// WithGaussian implements mechanism.WithGaussians.
func (c Curvature) WithGaussian(mu float64) (privacy.Profile, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return c.Cost().beside(mu)
}

// For implements mechanism.Informed.
func (c Curvature) For(f mechanism.Facts) (mechanism.Mechanism, float64) {
	m, stretch := c.Fit.For(f)
	c.Fit, c.Nowhere = m.(Quantiles), f.Nowhere
	return c, stretch
}

// beside returns the profile of T steps with all records together with Gaussian mechanisms of μ in all, rounded up.
func (c Cost) beside(mu float64) (privacy.Profile, error) {
	own := math.Sqrt(float64(c.Steps)) / c.NoiseMultiplier
	return privacy.GaussianProfile(math.Hypot(own, mu)*(1+0x1p-48), privacy.AddRemove), nil
}

// damp moves θ by the implicit step of the ridge and of the penalties on second differences after one by g: to the
// solution of (I + AP)θ′ = θ, A the sizes of the steps for g = 1, a matrix or, if whole is nil, size(j) on its
// diagonal. It looks at no record, and is stable whatever A is.
func (s *adaptive) damp(theta []float64, whole mat.Matrix, size func(j int) float64) {
	if s.Ridge == 0 {
		return
	}
	last := len(theta) - 1
	lambda := s.Ridge * s.Noise * s.Noise / float64(s.Steps)
	if whole != nil {
		p := mat.NewSymDense(last+1, nil)
		for j := range last {
			p.SetSym(j, j, lambda)
		}
		for _, c := range s.Curves {
			c.Roughen(p, roughOfRidge*lambda)
		}
		relax(theta, whole, p)
		return
	}
	for _, j := range matrix.Outside(s.Curves, last) {
		theta[j] /= 1 + size(j)*lambda
	}
	for _, c := range s.Curves {
		p, a := mat.NewSymDense(c.Len, nil), mat.NewDiagDense(c.Len, nil)
		for j := range c.Len {
			p.SetSym(j, j, lambda)
			a.SetDiag(j, size(c.First+j))
		}
		matrix.Span{Len: c.Len}.Roughen(p, roughOfRidge*lambda)
		relax(theta[c.First:c.First+c.Len], a, p)
	}
}

// relax replaces θ by the solution of (I + AP)θ′ = θ; A and P are positive semidefinite, so that there is one.
func relax(theta []float64, a, p mat.Matrix) {
	d := len(theta)
	var m mat.Dense
	m.Mul(a, p)
	for j := range d {
		m.Set(j, j, m.At(j, j)+1)
	}
	solved := mat.NewVecDense(d, nil)
	var lu mat.LU
	lu.Factorize(&m)
	// A condition that is bad is an error too, of a solution that is as good as any step.
	_ = lu.SolveVecTo(solved, false, mat.NewVecDense(d, theta))
	if !runaway(solved.RawVector().Data) {
		copy(theta, solved.RawVector().Data)
	}
}
