package interval

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Population returns intervals for the coefficients θ⋆ = argmin E f of the population that the records were drawn from,
// with the curvature mo at the released coefficients theta. The shrinkage of the ridge is corrected for:
//
//	θ⋆ = θ̃ + M̄⁻¹(Λθ̃ + b + g),   g = Σ∇f at θ⋆, of covariance V,
//
// and the interval allows for b, for g and for what is not known of M̄. Where some direction of M does not stand out of
// its noise, nothing is known of θ⋆ but NormBound, and the intervals are infinite or [−NormBound, NormBound].
//
// V is mo.Scores if it is there; else V = M is taken, which is true if the model is (the logistic loss and labels that
// follow it).
//
// Coverage: at least Level, over records, labels and noise, in the limit of many records, g being normal. The change of
// the curvature on the way from θ̃ to θ⋆ is allowed for; with Linearise, that part of it which is due to the ridge,
// where the rate of change is known. Without Linearise it takes many records, or a NormBound, for an interval to be
// finite.
// Errors: as Minimiser; privacy.ErrUnsupported if the scores' covariance is needed and not known.
// Proof: docs/theory/intervals.md, section 5.
func Population(m objpert.Objective, theta []float64, mo *Moments, s Settings) (*Intervals, error) {
	p, err := newProblem(m, theta, mo, s, false)
	if err != nil {
		return nil, err
	}
	if _, ok := m.Loss.(loss.Logistic); !ok && mo.Scores == nil {
		return nil, fmt.Errorf("%w: the scores' covariance equals the curvature for no model of the %s loss: release "+
			"it too (ScoreSigma)", privacy.ErrUnsupported, m.Loss.Name())
	}
	gauss := p.alpha * (1 - 2*shareMatrix - shareOff - shareNorm - shareRemainder - shareScores)
	bound := s.NormBound
	if s.Forms != nil {
		bound = 0 // it is one on coefficients
	}
	scores, err := p.scores()
	if err != nil {
		return nil, err
	}
	// How far θ⋆ is: M̄(θ_b − θ⋆) = −(b + g + Λθ_b).
	norm := floats.Norm(theta, 2)
	force := math.Sqrt(float64(p.d)*m.Sigma*m.Sigma+scores.trace) + oneSided(shareNorm*p.alpha)*math.Sqrt(
		m.Sigma*m.Sigma+scores.top)
	force += floats.Norm(p.ridge(), 2) + m.Stiffest()*p.off
	least := math.Exp(-p.k*p.off) * math.Max(0, p.values[0]-p.slack)
	r := radius(0, least, p.k, force)
	if s.Linearise && least > 0 {
		r = p.shrinkage()
	} else if s.NormBound > 0 {
		r = math.Min(r, norm+p.off+s.NormBound)
	}
	half, centre := make([]float64, len(p.at)), append([]float64(nil), p.at...)
	if least <= 0 || math.IsInf(r, 1) {
		for j := range half {
			half[j] = math.Inf(1)
		}
	} else {
		p.population(r, gauss, scores, centre, half)
	}
	iv := newIntervals(s.Level, centre, half, bound)
	iv.Covers = populationCovers
	iv.Basis = p.basis("; " + scores.basis + "; the sum of the scores taken as normal")
	return iv, nil
}

// shrinkage returns about how far the ridge has moved the coefficients: ‖M⁻¹Λθ̃‖ with M̃ for M. It is asked for only
// where every eigenvalue of M̃ exceeds its noise.
func (p *problem) shrinkage() float64 {
	var sum float64
	ridge := p.ridge()
	for i, v := range p.values {
		var c float64
		for k, t := range ridge {
			c += p.vectors.At(k, i) * t
		}
		c /= v
		sum += c * c
	}
	return math.Sqrt(sum)
}

// ridge is pull in the basis.
func (p *problem) ridge() []float64 {
	r := p.pull()
	if p.s.Basis == nil {
		return r
	}
	var inside mat.VecDense
	inside.MulVec(p.s.Basis.T(), mat.NewVecDense(len(r), r))
	return inside.RawVector().Data
}

// pull returns the gradient of the penalty, Λθ̃ but for the centre.
func (p *problem) pull() []float64 {
	d := len(p.theta)
	r := p.m.Ridges(d)
	floats.Mul(r, p.theta)
	r[d-1] -= p.m.Lambda * p.m.Centre
	if q := p.m.Quadratic(d); q != nil {
		v := mat.NewVecDense(d, nil)
		v.MulVec(q, mat.NewVecDense(d, p.theta))
		floats.Add(r, v.RawVector().Data)
	}
	return r
}

// population fills centre and half, where θ⋆ is within r of θ_b.
func (p *problem) population(r, gauss float64, scores scoreCovariance, centre, half []float64) {
	m := p.m
	less, more := shrink(p.k*r), shrink(-p.k*r)
	end := math.Exp(p.k * p.off)
	low, high := p.curvatures(less/end, more*end) // M̄
	mean := p.inverse(0, low, high)
	far := math.Exp(p.k * (r + p.off))
	low, high = p.curvatures(1/far, far) // M(θ⋆)
	at := p.inverse(0, low, high)

	shift, spread := mean.linear(p.ridge())
	floats.Add(centre, shift)
	// M̄ lies between less·M(θ⋆) and more·M(θ⋆), which do not depend on b and g.
	middle, gap := 0.5*(1/less+1/more), 1/less-1/more
	weights := make([]float64, p.d)
	for i := range weights {
		weights[i] = m.Sigma*m.Sigma*at.high[i] + scores.relative(at.high[i])
	}
	squares := squaresQuantile(weights, shareRemainder*p.alpha)
	z := twoSided(gauss)
	for j := range half {
		sd := math.Hypot(m.Sigma*at.norm(j), scores.deviation(at, j))
		half[j] = spread[j] + middle*z*sd + 0.5*gap*math.Sqrt(at.upper(j)*squares) +
			p.off*(p.length[j]+m.Stiffest()*mean.norm(j))
	}
}

// scoreCovariance is what is known of V.
type scoreCovariance struct {
	// matrix bounds V from above; nil says V = M(θ⋆).
	matrix     *mat.SymDense
	top, trace float64
	basis      string
}

func (p *problem) scores() (scoreCovariance, error) {
	if p.mo.Scores == nil {
		c := scoreCovariance{basis: "a model that is true, so that the scores vary by the curvature"}
		for _, v := range p.values {
			v = math.Max(0, v+p.slack)
			c.top, c.trace = math.Max(c.top, v), c.trace+v
		}
		return c, nil
	}
	released := p.mo.Scores
	if p.s.Basis != nil {
		released = within(released, p.s.Basis)
	}
	values, vectors, ok := matrix.Eigen(released)
	if err := privacy.Within(ok, "Moments.Scores", "a matrix without eigenvalues", "finite entries"); err != nil {
		return scoreCovariance{}, err
	}
	slack := topEigenvalue(p.d, p.mo.ScoreSigma, shareScores*p.alpha)
	c := scoreCovariance{basis: "the covariance of the scores as it was released", matrix: mat.NewSymDense(p.d, nil)}
	for i, v := range values {
		v = math.Max(0, v+slack)
		c.top, c.trace = math.Max(c.top, v), c.trace+v
		c.matrix.SymRankOne(c.matrix, v, vectors.ColView(i))
	}
	return c, nil
}

// deviation returns a bound on √(eⱼᵀM⁻¹VM⁻¹eⱼ) for M⁻¹ in b.
func (c scoreCovariance) deviation(b bracket, j int) float64 {
	if c.matrix == nil {
		return math.Sqrt(b.upper(j))
	}
	return b.sandwich(j, c.matrix, c.top)
}

// relative returns a bound on an eigenvalue of M^{−1/2}VM^{−1/2} for 1/M up to inverse.
func (c scoreCovariance) relative(inverse float64) float64 {
	if c.matrix == nil {
		return 1
	}
	return c.top * inverse
}
