package sgd

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Descent is DP-SGD: from θ = 0, T times,
//
//	B: each record with probability q, independently,
//	g = (Σ_{i∈B} clip_C(f′(xᵢᵀθ; yᵢ)·xᵢ) + N(0, σ²C²I))/(q·n₀) + (λ/n₀)θ,
//	θ ← Update(θ, g),
//
// clip_C scaling a vector that is longer than C down to it. A θ with a coordinate beyond 1e100 starts again from zero.
// The noise is on the sum. g estimates the gradient of the mean objective J/n₀, J = Σf + (λ/2)‖θ‖².
//
// Under add/remove-one the number of records is private. So the sum is divided by the expected size q·n₀ of a batch of
// a data set of n₀ records, not by the size of the batch or by q·n; n₀ is a public planning number, and q is stated,
// not computed as 256/n from the records. If n is not n₀, the learning rate is off by the factor n/n₀, and the
// guarantee is what it is.
//
// Every parameter is chosen without looking at the records. Choosing the learning rate by looking at results costs
// privacy: see Tuner.
type Descent struct {
	// Loss is f; its slope need not be bounded, as gradients are clipped.
	Loss loss.Loss
	// Clip is C, the largest norm of one record's gradient, from 1e-100 to 1e100.
	Clip float64
	// Rate is q in (0, 1].
	Rate float64
	// Steps is T.
	Steps int
	// NoiseMultiplier is σ.
	NoiseMultiplier float64
	// PlannedRecords is n₀ > 0.
	PlannedRecords float64
	// Lambda is λ ≥ 0 of the sum objective.
	Lambda float64
	// Update is the rule, with its learning rate.
	Update Update
	// Average releases the mean of the last so many iterates; zero or one releases the last.
	Average int
}

// Cost returns what one run costs.
func (d Descent) Cost() Cost {
	return Cost{Rate: d.Rate, NoiseMultiplier: d.NoiseMultiplier, Steps: d.Steps}
}

// Validate returns a *privacy.ParamError if a parameter is out of range.
func (d Descent) Validate() error {
	if err := cmp.Or(privacy.Within(d.Loss != nil && !math.IsNaN(d.Loss.Smoothness()), "Loss", d.Loss,
		"a loss whose parameters are in range"),
		privacy.Positive("Clip", d.Clip), privacy.Positive("Rate", d.Rate),
		privacy.Positive("PlannedRecords", d.PlannedRecords), privacy.NotNegative("Lambda", d.Lambda),
		d.Cost().Validate(),
		// C/‖x‖ must not underflow, and the sum over the records not overflow.
		mechanism.Scales{{"Clip", d.Clip}, {"NoiseMultiplier × Clip", d.sigma()}}.Check(),
		privacy.Within(d.Update != nil, "Update", nil, rules)); err != nil {
		return err
	}
	return cmp.Or(d.Update.validate(), privacy.Within(d.Average >= 0 && d.Average <= d.Steps, "Average", d.Average,
		"a number of iterates from 0 to Steps"))
}

// String describes the mechanism with its parameters.
func (d Descent) String() string {
	s := fmt.Sprintf("DP-SGD (%s loss, C = %.5g, q = %.4g, T = %d, σ = %.5g, n₀ = %.6g",
		d.Loss.Name(), d.Clip, d.Rate, d.Steps, d.NoiseMultiplier, d.PlannedRecords)
	if d.Rate == 1 {
		s = fmt.Sprintf("%s (%s loss, C = %.5g, T = %d, σ = %.5g", d.name(), d.Loss.Name(), d.Clip, d.Steps,
			d.NoiseMultiplier)
	}
	if d.Lambda > 0 {
		s += fmt.Sprintf(", λ = %.4g", d.Lambda)
	}
	if d.Average > 1 {
		s += fmt.Sprintf(", mean of the last %d iterates", d.Average)
	}
	if d.Update != nil {
		s += ", " + d.Update.String()
	}
	return s + ")"
}

// Describe implements mechanism.Mechanism.
func (d Descent) Describe() mechanism.Description {
	assumptions := []string{
		mechanism.Chosen("all parameters, the planned number of records among them,"),
		fmt.Sprintf("the %s loss accepts every label that could be in the data (%s)", d.Loss.Name(), d.Loss.Labels()),
	}
	source := "Bassily, Smith, Thakurta 2014, with all records in each step"
	if d.Rate < 1 {
		assumptions = append(assumptions, "which records are in a batch stays secret")
		source = "Abadi et al. 2016, Algorithm 1, with Poisson samples; the comparison of rkw23, section 5"
	}
	return mechanism.Description{
		Name: d.name(), Source: source, Adjacency: privacy.AddRemove, Bound: d.Cost().Bound(), Lambda: d.Lambda,
		Assumptions: append(assumptions, mechanism.ExactNoise, mechanism.Unseen),
	}
}

// name says whether there are samples.
func (d Descent) name() string {
	if d.Rate == 1 {
		return "noisy gradient descent"
	}
	return "DP-SGD"
}

// Event implements mechanism.Mechanism; it is a Cost.
func (d Descent) Event() (privacy.Event, error) { return d.Cost(), d.Validate() }

// Feasible implements mechanism.Mechanism: nothing can fail.
func (d Descent) Feasible(int, int) error { return nil }

// Check implements mechanism.Mechanism.
func (d Descent) Check(rows matrix.Rows, labels []float64) error {
	p := erm.Problem{Rows: rows, Labels: labels, Loss: d.Loss, Lambda: 1}
	if err := p.Validate(); err != nil {
		return err
	}
	if a, ok := d.Update.(Adaptive); ok {
		_, features := rows.Dims()
		return a.fits(features)
	}
	return nil
}

// Run implements mechanism.Mechanism. It draws samples and noise.
func (d Descent) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	r, err := mechanism.Begin(d, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	r.Coefficients = d.descend(newRecords(rows, labels, d.Clip), noise.Exact(src), settings.Value().Workers)
	r.NoiseScale = d.NoiseMultiplier * d.Clip
	return r, nil
}

// sigma is the scale of the noise in each step, the product rounded up.
func (d Descent) sigma() float64 { return d.NoiseMultiplier * d.Clip * (1 + 0x1p-50) }

// descend runs the T steps on checked records.
func (d Descent) descend(r *records, draw *exact.Sampler, workers int) []float64 {
	mean := d.Rate * float64(r.n)
	size := min(r.n, int(mean+12*math.Sqrt(mean)+64))
	b := newBatch(r, d.Loss, size, workers)
	index := make([]int, 0, size)
	theta, g := make([]float64, r.d), make([]float64, r.d)
	update := d.Update.start(r.d)
	var average []float64
	if d.Average > 1 {
		average = make([]float64, r.d)
	}
	sigma := d.sigma()
	grid, xi := exact.Grid(sigma), draw.Normals(r.d)
	scale, ridge := 1/(d.Rate*d.PlannedRecords), d.Lambda/d.PlannedRecords
	for t := range d.Steps {
		index = draw.Subset(index[:0], d.Rate, r.n)
		if t > 0 {
			xi.Redraw()
		}
		b.sum(g, theta, index)
		xi.AddRounded(g, sigma, grid)
		for j := range g {
			g[j] = g[j]*scale + ridge*theta[j]
		}
		update.step(theta, g)
		if runaway(theta) {
			clear(theta)
		}
		if average != nil && t >= d.Steps-d.Average {
			floats.Add(average, theta)
		}
	}
	if average != nil {
		floats.Scale(1/float64(d.Average), average)
		return average
	}
	return theta
}

// runaway reports coefficients that have run off, with a learning rate that is far too large. They start again from
// zero, which only looks at what has paid for its noise: with them margins would overflow, or be no numbers, in one
// order of summation and not in another, and which order it is depends on all records.
func runaway(theta []float64) bool {
	for _, v := range theta {
		if !(math.Abs(v) <= 1e100) {
			return true
		}
	}
	return false
}
