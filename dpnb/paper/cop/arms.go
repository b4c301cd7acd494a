package cop

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/convolution"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/experiment"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
	"github.com/dpnb/notebooks/dpnb/sim"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// constants are what C-OP is run with: the noise σ of b and the ridge λ of the sum over the records, which is 2n times
// cop's, as its ridge is λ‖θ‖² on the mean.
type constants struct{ sigma, lambda, width float64 }

// plan is what is publicly known of records: n, d, m, a bound on a record's gradient, R_θ.
type plan struct {
	n, dimension, forms, slope, radius float64
}

func (r *Records) plan() plan {
	return plan{float64(r.N), float64(r.Dimension), forms, r.Slope(), r.Radius()}
}

// printed are the constants of Theorem 3.2, Lemma 3.3 and step 1 of Algorithm 1 of cop, for h = 0 and a loss of which C
// is the bound on the slopes:
//
//	σ² = C²(8 ln(1/δ) + 8ε)/ε²,  λ = 2n√(4C²/n + dσ²/n²)/R_θ,  µ = 2(m + 1)C/(ελ).
//
// They are run for comparison: (ε, δ) does not hold (docs/errata.md, cop-11, cop-12; Leak).
func (p plan) printed(eps, delta float64) constants {
	c := constants{sigma: p.slope * math.Sqrt(8*math.Log(1/delta)+8*eps) / eps}
	c.lambda = p.ridge(c.sigma)
	c.width = 2 * (p.forms + 1) * p.slope / (eps * c.lambda)
	return c
}

// ridge is the λ of Lemma 3.3 at noise σ.
func (p plan) ridge(sigma float64) float64 {
	return 2 * math.Sqrt(4*p.slope*p.slope*p.n+p.dimension*sigma*sigma) / p.radius
}

// corrected are constants with the ridge of Lemma 3.3 that do satisfy (ε, δ): half of ε for the determinant, (1 +
// s/λ)^m = e^{ε/2}, which sets the curvature s in θ, and σ for that by the bound of rank m. curvature is that of the
// smoothed loss in the residuals at width 1.
func (r *Records) corrected(curvature, eps, delta float64) (c constants, err error) {
	ratio := math.Expm1(eps / (2 * forms))
	unit, err := ranked(experiment.Key{RowNorm: ratio, Epsilon: eps, Delta: delta})
	if err != nil {
		return c, err
	}
	c.sigma = unit * r.Slope()
	c.lambda = r.plan().ridge(c.sigma)
	c.width = curvature * r.Norm() * r.Norm() / (ratio * c.lambda)
	return c, nil
}

// ranked is the noise for slopes of 1 and s/λ = RowNorm by the bound of rank m.
var ranked = experiment.Remembered(func(k experiment.Key) (float64, error) {
	return privacy.Calibrate(func(sigma float64) (bool, error) {
		bound := objective.RankK{Rank: forms, Smoothness: k.RowNorm, Slope: 1, Lambda: 1, Sigma: sigma}
		p, err := bound.Profile(privacy.AddRemove)
		if err != nil {
			return false, err
		}
		return privacy.DeltaUpper(p, k.Epsilon) <= k.Delta, nil
	}, 1e-4)
})

// perturb returns the minimiser of the smoothed loss with ridge and noise, found to a gradient that moves it by at most
// 1e-7.
func (r *Records) perturb(smooth Smooth, c constants, src *noise.Seeded) ([]float64, error) {
	o := tilted{Records: r, Smooth: smooth, Lambda: c.lambda, Linear: make([]float64, r.Dimension)}
	src.Gaussian(o.Linear, c.sigma)
	theta := make([]float64, r.Dimension)
	_, err := o.minimise(theta, 1e-7*c.lambda)
	return theta, err
}

// smoothed is C-OP with a smoothing of the loss and what sets its constants.
func smoothed(name string, smooth func(Bent, float64) Smooth,
	set func(r *Records, eps, delta float64) (constants, error)) Arm {
	return Arm{Name: name, Fit: func(r *Records, eps, delta float64, src *noise.Seeded) ([]float64, error) {
		c, err := set(r, eps, delta)
		if err != nil {
			return nil, err
		}
		return r.perturb(smooth(r.Loss, c.width), c, src)
	}}
}

// Printed is C-OP with the constants of the paper and its Gaussian kernel. It has no proof.
func Printed() Arm { return printedWith(1) }

// printedWith is Printed with its ridge times a factor.
func printedWith(ridge float64) Arm {
	return smoothed("C-OP, printed", Bent.Blur, func(r *Records, eps, delta float64) (constants, error) {
		c := r.plan().printed(eps, delta)
		c.lambda *= ridge
		return c, nil
	})
}

// Corrected is C-OP with the ridge of the paper, its Gaussian kernel, and noise and width that are proved.
func Corrected() Arm {
	return smoothed("C-OP, corrected", Bent.Blur, func(r *Records, eps, delta float64) (constants, error) {
		return r.corrected(r.Loss.Blurred(forms), eps, delta)
	})
}

// Moreau is Corrected with the Moreau envelope in the place of the convolution: our reading of "Bassily et al. 2019,
// Algorithm 1", of which cop says no more.
func Moreau() Arm {
	return smoothed("Moreau", Bent.Envelope, func(r *Records, eps, delta float64) (constants, error) {
		return r.corrected(1, eps, delta)
	})
}

// config asks mechanism/objpert/convolution for a fit of these records: n, R_θ and the scale of the residuals, 1, are
// its public numbers.
func (r *Records) config(k smoothing.Kernel, eps, delta float64) convolution.Config {
	return convolution.Config{
		Loss:    convolution.Loss{Form: loss.Absolute(k, 0), Forms: forms, Norm: r.Norm() * (1 + 1e-12)},
		Epsilon: eps, Delta: delta, Adjacency: privacy.AddRemove,
		Planned: convolution.Planned{Records: r.N, Features: r.Dimension, Radius: r.Radius(), Residual: 1},
	}
}

// errKinked is the error of an arm that is for ‖y − Aθ‖₁ alone.
var errKinked = errors.New("cop: this arm is for the loss ‖y − Aθ‖₁")

// ruled is objective perturbation of ‖y − Aθ‖₁ with a kernel, with the noise, the ridge and the width that calibrate
// chooses from public numbers, and what it proves.
func ruled[M mechanism.Mechanism](name string, k smoothing.Kernel, calibrate func(convolution.Config) (M, error)) Arm {
	type key struct {
		Design
		n          int
		eps, delta float64
	}
	known := experiment.Remembered(func(at key) (M, error) {
		return calibrate((&Records{Design: at.Design, N: at.n}).config(k, at.eps, at.delta))
	})
	return Arm{Name: name, Fit: func(r *Records, eps, delta float64, src *noise.Seeded) (_ []float64, err error) {
		defer measure.Catch(&err)
		if r.Loss != (Medians{}) {
			return nil, errKinked
		}
		m := measure.Must(known(key{r.Design, r.N, eps, delta}))
		return measure.Released(m, &matrix.Dense{N: forms * r.N, D: r.Dimension, Data: r.A}, r.Y, src), nil
	}}
}

// Huber is objective perturbation with the uniform kernel, by the rule from public numbers.
func Huber() Arm { return ruled("Huber", smoothing.Uniform{}, convolution.Calibrate) }

// LogCosh is the same with the logistic kernel.
func LogCosh() Arm { return ruled("log cosh", smoothing.Logistic{}, convolution.Calibrate) }

// Compared are the arms of Figure 5 here: those of the paper, and what does better.
func Compared() []Arm {
	return []Arm{Printed(), Moreau(), LogCosh(), Recentred(), Descent(), NoisySGD(), AccountedSGD()}
}

// Recentred is LogCosh in two stages, the second ridge about what the first released.
func Recentred() Arm {
	return ruled("recentred", smoothing.Logistic{}, func(c convolution.Config) (convolution.Recentred, error) {
		return convolution.CalibrateRecentred(c, 2)
	})
}

// Arm is a way to fit the records of an experiment. Each is set from public numbers alone: n, d, Ā, R_θ, ε and δ, n
// being taken as public, as in the paper.
type Arm = sim.Mechanism[*Records]

// descentSteps is how often Descent reads the records.
const descentSteps = 100

// noiseMultiplier is that of so many steps at so large a rate, once for each setting.
func noiseMultiplier(cost func(n int) sgd.Cost) func(experiment.Key) (float64, error) {
	return experiment.Remembered(func(k experiment.Key) (float64, error) {
		c, err := cost(k.Records).CalibrateNoise(k.Epsilon, k.Delta)
		return c.NoiseMultiplier, err
	})
}

// descend returns the weighted mean of the iterates of so many steps, each by the sum of the gradients of the records
// and noise N(0, σₖ²I), put back into the ball.
func (r *Records) descend(rule sgd.Update, steps int, weight, sigma func(k int) float64, src *noise.Seeded) []float64 {
	theta, g, mean := make([]float64, r.Dimension), make([]float64, r.Dimension), make([]float64, r.Dimension)
	step := sgd.Stepper(rule, r.Dimension)
	for t := range steps {
		src.Gaussian(g, sigma(t))
		for i := range r.N {
			r.addGradient(g, theta, i)
		}
		step(theta, g)
		floats.AddScaled(mean, weight(t), theta)
	}
	if norm := floats.Norm(mean, 2); norm > r.Radius() {
		floats.Scale(r.Radius()/norm, mean)
	}
	return mean
}

// Descent is noisy gradient descent over all records: 100 steps of the fixed size sgd.Steady for gradients of half
// their largest norm, within ‖θ‖ ≤ R_θ, and the mean of the last 50.
func Descent() Arm {
	multiplier := noiseMultiplier(func(int) sgd.Cost { return sgd.Cost{Rate: 1, Steps: descentSteps} })
	return Arm{Name: "noisy descent", Fit: func(r *Records, eps, delta float64, src *noise.Seeded) ([]float64, error) {
		z, err := multiplier(experiment.Key{Epsilon: eps, Delta: delta})
		if err != nil {
			return nil, err
		}
		sigma := z * r.Slope()
		rule := sgd.Steady(r.Radius(), float64(r.N)*r.Slope()/2, sigma, r.Dimension, descentSteps)
		lastHalf := func(k int) float64 {
			if k < descentSteps/2 {
				return 0
			}
			return 2.0 / descentSteps
		}
		return r.descend(rule, descentSteps, lastHalf, func(int) float64 { return sigma }, src), nil
	}}
}

// NoisySGD is Algorithm 2 of Bassily, Feldman, Guzmán and Talwar 2020 as cop runs it: n² steps by one record each,
// drawn uniformly, with
//
//	σ² = 8L²ln(1/δ)/ε²,  η = R_θ/(L·max(n^{3/2}, n√(d ln(1/δ))/ε)),
//
// within ‖θ‖ ≤ R_θ, and the mean of all iterates. cop prints no constants; these are those of the source as we read it.
func NoisySGD() Arm {
	return Arm{Name: "Noisy-SGD", Fit: func(r *Records, eps, delta float64, src *noise.Seeded) ([]float64, error) {
		n, l := float64(r.N), math.Log(1/delta)
		sigma := r.Slope() * math.Sqrt(8*l) / eps
		eta := r.Radius() / (r.Slope() * math.Max(math.Pow(n, 1.5), n*math.Sqrt(float64(r.Dimension)*l)/eps))
		one := func(index []int) []int { return append(index, int(src.Uint64()%uint64(r.N))) }
		return r.wander(sgd.Projected{Update: sgd.Plain{LearningRate: eta}, Radius: r.Radius()}, one, sigma, src), nil
	}}
}

// AccountedSGD is Noisy-SGD with what this project can prove: each record is in a step with probability 1/n, the noise
// is calibrated by the certified composition of the n² steps, and the steps are of the size sgd.Steady.
func AccountedSGD() Arm {
	multiplier := noiseMultiplier(func(n int) sgd.Cost { return sgd.Cost{Rate: 1 / float64(n), Steps: n * n} })
	fit := func(r *Records, eps, delta float64, src *noise.Seeded) ([]float64, error) {
		z, err := multiplier(experiment.Key{Epsilon: eps, Delta: delta, Records: r.N})
		if err != nil {
			return nil, err
		}
		sigma := z * r.Slope()
		// The mean square of the sum over a sample is at most L²(1 + 1).
		rule := sgd.Steady(r.Radius(), math.Sqrt2*r.Slope(), sigma, r.Dimension, r.N*r.N)
		return r.wander(rule, func(index []int) []int { return r.sample(index, src) }, sigma, src), nil
	}
	return Arm{Name: "Noisy-SGD, accounted", Fit: fit}
}

// wander returns the mean of n² steps by the records that draw appends, with noise.
func (r *Records) wander(rule sgd.Update, draw func([]int) []int, sigma float64, src *noise.Seeded) []float64 {
	theta, g, mean := make([]float64, r.Dimension), make([]float64, r.Dimension), make([]float64, r.Dimension)
	step := sgd.Stepper(rule, r.Dimension)
	var index []int
	for range r.N * r.N {
		src.Gaussian(g, sigma)
		index = draw(index[:0])
		for _, i := range index {
			r.addGradient(g, theta, i)
		}
		step(theta, g)
		floats.Add(mean, theta)
	}
	floats.Scale(1/float64(r.N*r.N), mean)
	return mean
}

// sample appends each of the n records with probability 1/n: as many as the binomial law says, by its distribution
// function, and these without repetition.
func (r *Records) sample(index []int, src *noise.Seeded) []int {
	n := float64(r.N)
	p := math.Exp(n * math.Log1p(-1/n)) // P(no record)
	for u, k := src.Float64()-p, 0.0; u >= 0 && k < n; k++ {
		p *= (n - k) / ((k + 1) * (n - 1))
		u -= p
	draw:
		for {
			i := int(src.Uint64() % uint64(r.N))
			for _, other := range index {
				if i == other {
					continue draw
				}
			}
			index = append(index, i)
			break
		}
	}
	return index
}
