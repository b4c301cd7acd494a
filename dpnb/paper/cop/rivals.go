package cop

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/experiment"
	"github.com/dpnb/notebooks/dpnb/sim"
)

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

// adaptiveSteps is the default of dpnb.Quantile, and countShare the part of μ² that it counts the records with.
const (
	adaptiveSteps = 192
	countShare    = 0.01
)

// FrontDoor is how dpnb.Median with a Radius fits where nothing is said of the number of records: it counts them with
// noise, and descends by the rule for so many (sgd.Adaptive.For) within ‖θ‖ ≤ R_θ.
func FrontDoor() Arm {
	multiplier := noiseMultiplier(func(int) sgd.Cost { return sgd.Cost{Rate: 1, Steps: adaptiveSteps} })
	return Arm{Name: "front door", Fit: func(r *Records, eps, delta float64, src *noise.Seeded) ([]float64, error) {
		z, err := multiplier(experiment.Key{Epsilon: eps, Delta: delta})
		if err != nil {
			return nil, err
		}
		// The count has its own stream, so that the steps draw what those of other arms draw.
		count := []float64{0}
		deviation := z / math.Sqrt(adaptiveSteps*countShare)
		src.Stream(0).Gaussian(count, deviation)
		z /= math.Sqrt(1 - countShare)
		records := math.Max(deviation, float64(r.N)+count[0])
		rule := sgd.Adaptive{Radius: r.Radius(), Steps: adaptiveSteps, Noise: z * r.Slope()}.
			For(sgd.Signal(records, z, adaptiveSteps, r.Dimension))
		at := func(k int) float64 { return z * r.Slope() * rule.Spread(k) }
		return r.descend(rule, adaptiveSteps, rule.Weight, at, src), nil
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
