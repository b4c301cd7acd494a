package dtz24

import (
	"context"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/sim"
	"github.com/dpnb/notebooks/dpnb/sim/population"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

// Prediction is one measure of a simulated setting beside its prediction.
type Prediction struct {
	Measure   population.Measure
	Predicted float64
	Simulated sim.Summary
}

// StandardErrors is how many standard errors the simulation is off (sim.Summary.Sigmas).
func (p Prediction) StandardErrors() float64 {
	return p.Simulated.Sigmas(p.Predicted)
}

// Kind is a model with an estimator: the kinds of the grid of settings.
type Kind int

// Kinds of settings.
const (
	// RobustObjective is objective perturbation with the Huber loss at L = ½, where many residuals are cut, a tenth of
	// the noise outliers at 3 and β⋆ the mixed example of dtz24, times ¼.
	RobustObjective Kind = iota
	// LogisticObjective is objective perturbation with the logistic loss, κ = 1.5.
	LogisticObjective
	// RobustOutput is output perturbation with the Huber loss at L = 1 and uniform noise.
	RobustOutput
	// LogisticDescent is six noisy steps on the logistic loss with labels as drawn.
	LogisticDescent
	kinds int = iota
)

// String returns the name.
func (k Kind) String() string {
	return [...]string{"objective perturbation, Huber", "objective perturbation, logistic",
		"output perturbation, Huber", "noisy descent, logistic"}[k]
}

// Setting is one point of the grid of universality.
type Setting struct {
	Kind   Kind
	Design population.Design
	// Records n and Features d.
	Records, Features int
}

// String says which it is.
func (s Setting) String() string {
	return fmt.Sprintf("%s, %s rows, %d×%d", s.Kind, s.Design, s.Records, s.Features)
}

// Grid returns the settings of every kind with every design and d/n in {¼, ½, 1, 2}: 80.
func Grid(records int) []Setting {
	var out []Setting
	for kind := range Kind(kinds) {
		for _, design := range population.Designs {
			for _, quarter := range []int{1, 2, 4, 8} {
				out = append(out, Setting{kind, design, records, records * quarter / 4})
			}
		}
	}
	return out
}

const (
	gridMixed = 0.25 // scale of the mixed signal
	gridKappa = 1.5
	gridSteps = 6
	gridTest  = 300 // new records in each repetition
)

// Run simulates the setting and predicts it.
func (s Setting) Run(ctx context.Context, repetitions int, seed uint64) (_ []Prediction, err error) {
	defer measure.Catch(&err)
	m := measure.Must(s.model())
	records := 0
	if s.Kind == LogisticObjective {
		records = gridTest
	}
	r, err := population.Simulation{Population: m.population, Estimator: m.estimator, Repetitions: repetitions,
		Seed: seed, TestRecords: records}.Run(ctx)
	if err != nil {
		return nil, fmt.Errorf("experiment: %s: %w", s, err)
	}
	out := make([]Prediction, 0, len(m.predicted))
	for _, p := range m.predicted {
		p.Simulated = r.Of(-1, p.Measure)
		out = append(out, p)
	}
	return out, nil
}

// model is a setting ready to be simulated, with what is predicted of it.
type model struct {
	population population.Population
	estimator  population.Estimator
	predicted  []Prediction
	// What a coordinate of the estimate looks like.
	point proportional.FixedPoint
	prior proportional.Law
}

func (s Setting) model() (_ model, err error) {
	defer measure.Catch(&err)
	aspect := float64(s.Features) / float64(s.Records)
	m := model{population: population.Population{Records: s.Records, Features: s.Features, Design: s.Design}}
	add := func(k population.Measure, v float64) {
		m.predicted = append(m.predicted, Prediction{Measure: k, Predicted: v})
	}
	var prior proportional.Law
	var p proportional.FixedPoint
	switch s.Kind {
	case RobustObjective, RobustOutput:
		const lambda, nu = 0.2, 0.3
		prior = mixedLaw(gridMixed)
		m.population.Signal = population.Mixed(gridMixed)
		r := proportional.Regression{AspectRatio: aspect, Lambda: lambda, Kappa: math.Sqrt(prior.SecondMoment())}
		if s.Kind == RobustObjective {
			r.Loss, r.Nu, r.Noise = loss.Huber{Threshold: 0.5}, nu, contaminated
			m.population.Noise = population.Contaminated(0.1, 0.3, 3)
			m.estimator = population.ObjectivePerturbation{Loss: r.Loss, Lambda: lambda, Nu: nu}
		} else {
			r.Loss, r.Noise = loss.Huber{Threshold: 1}, proportional.Uniform(-1, 1)
			m.population.Noise = population.UniformNoise(-1, 1)
			m.estimator = population.OutputPerturbation{Loss: r.Loss, Lambda: lambda, Nu: nu}
		}
		p = measure.Must(r.Solve(nil))
		if s.Kind == RobustObjective {
			add(population.SlopeSquare, r.SlopeMoment(p, 2))
		} else {
			p = p.WithOutputNoise(nu)
		}
	case LogisticObjective:
		const lambda, nu = 0.2, 0.2
		c := proportional.Classification{Loss: loss.Logistic{}, Link: proportional.LogisticLink{}, AspectRatio: aspect,
			Lambda: lambda, Nu: nu, Kappa: gridKappa}
		m.estimator = population.ObjectivePerturbation{Loss: c.Loss, Lambda: lambda, Nu: nu}
		p = measure.Must(c.Solve(nil))
		add(population.ProbabilityGap, c.TrainingMoment(p, probabilityGap))
		add(population.TestError, c.Quality(p).Error)
	case LogisticDescent:
		g := proportional.Descent{Loss: loss.Logistic{}, Link: proportional.LogisticLink{}, AspectRatio: aspect,
			Step: aspect / (1 + aspect), Steps: gridSteps, Lambda: 0.1, Nu: 0.3, Kappa: gridKappa}
		m.estimator = population.NoisyDescent{Slopes: population.SlopesOf(g.Loss), Step: g.Step, Steps: g.Steps,
			Lambda: g.Lambda, Nu: g.Nu}
		t := measure.Must(g.Trajectory(&proportional.DescentSettings{Points: 4093}))
		p = t[len(t)-1].FixedPoint
	default:
		return m, fmt.Errorf("experiment: Kind = %d is none", int(s.Kind))
	}
	if m.population.Signal == nil {
		prior = proportional.Normal(0, gridKappa)
		m.population.Signal = population.Normal(0, gridKappa)
		m.population.Prob = population.Logistic
	}
	m.point, m.prior = p, prior
	add(population.MSE, p.MSE())
	add(population.Overlap, p.Overlap())
	add(population.Variance, p.Variance())
	add(population.L1, p.LpError(prior, 1))
	add(population.SignalCorrelation, p.SignalCorrelation())
	if s.Kind != LogisticDescent {
		add(population.NoiseCorrelation, p.NoiseCorrelation())
		add(population.NoiseOverlap, p.OnXi)
	}
	return m, nil
}

// Gap is how far simulations of one size are from the limit.
type Gap struct {
	Records, Features int
	// Mean is the mean of MSE − limit with its standard error, Single the root mean square of it, relative to the
	// limit: what one fit may be off by.
	Mean   sim.Summary
	Single float64
}

// Gaps simulates a kind of setting at several n with d = n·aspect.
func Gaps(ctx context.Context, kind Kind, design population.Design, aspect float64, records []int, repetitions int,
	seed uint64) (_ []Gap, err error) {
	defer measure.Catch(&err)
	var out []Gap
	for _, n := range records {
		s := Setting{kind, design, n, max(1, int(math.Round(aspect*float64(n))))}
		m := measure.Must(s.model())
		if s.Kind == LogisticObjective || s.Kind == LogisticDescent {
			m.population.Signal = population.OnSphere(gridKappa) // ‖β⋆‖ has no gap of its own
		}
		r, err := population.Simulation{Population: m.population, Estimator: m.estimator, Repetitions: repetitions,
			Seed: seed + uint64(n)}.Run(ctx)
		if err != nil {
			return nil, fmt.Errorf("experiment: %s: %w", s, err)
		}
		var limit float64
		for _, p := range m.predicted {
			if p.Measure == population.MSE {
				limit = p.Predicted
			}
		}
		each, square := r.Each(-1, population.MSE), 0.0
		for k, v := range each {
			each[k] = v/limit - 1
			square += each[k] * each[k]
		}
		out = append(out, Gap{n, s.Features, sim.Summarize(each), math.Sqrt(square / float64(len(each)))})
	}
	return out, nil
}

// Rate returns the slope of log y over log x by least squares: y ≈ c·x^rate.
func Rate(x, y []float64) float64 {
	var sx, sy, sxx, sxy float64
	for i := range x {
		a, b := math.Log(x[i]), math.Log(y[i])
		sx, sy, sxx, sxy = sx+a, sy+b, sxx+a*a, sxy+a*b
	}
	n := float64(len(x))
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}
