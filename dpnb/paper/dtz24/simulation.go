package dtz24

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/sim"
	"github.com/dpnb/notebooks/dpnb/sim/population"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

func minimaxHolds(run measure.Run, factor float64) claim.Outcome {
	const seed = 2408
	factor *= 2
	draws, singular := measure.Sized(run.Size, 3000, 100_000), measure.Sized(run.Size, 2000, 20_000)
	excess, one, ratio := math.Inf(-1), math.Inf(-1), 0.0
	for k, dims := range [][2]int{{3, 2}, {2, 4}, {20, 10}} {
		o := measure.Must(NewMinimax(dims[0], dims[1], seed+uint64(k)).Draw(run, draws, seed+10+uint64(k)))
		for _, above := range []bool{false, true} {
			c := o.Compare(factor, above)
			excess = math.Max(excess, c.Excess)
			ratio = math.Max(ratio, c.Ratio)
			one = math.Max(one, o.Compare(1, above).Excess)
		}
	}
	o := measure.Must(SmallestSingular(run, 1000, singular, seed+20))
	c := o.Compare(factor, false)
	excess = math.Max(excess, c.Excess)
	o = measure.Must(TwoPoints(run, 10, singular, seed+30))
	control := o.Compare(factor, true).Excess
	return claim.Decide(fmt.Sprintf("largest excess over %g P: %s standard errors; P/P′ up to %.2f, for the singular "+
		"value %.1f; control with factor 1: %s; not convex: %s", factor, beyond(excess, 0), ratio, c.Ratio, beyond(one,
		4), beyond(control, 4)), "excess at most 4, controls above 4", excess <= 4 && one > 4 &&
		control > 4).Reaching(c.Ratio / factor)
}

// beyond prints a statistic as far as it says something: another machine rounds otherwise.
func beyond(x, limit float64) string {
	if x > limit {
		return fmt.Sprintf("above %g", limit)
	}
	if limit == 0 {
		return "none"
	}
	return fmt.Sprintf("%.1f", x)
}

// spoiled are the checks of a figure with one of so many graphs times a factor.
func spoiled(check func([]Graph) claim.Outcome, draw func() []Graph, count int) (all []func(measure.Run,
	float64) claim.Outcome) {
	for k := range count {
		all = append(all, func(_ measure.Run, factor float64) claim.Outcome {
			g := draw()
			floats.Scale(factor, g[k].Y)
			return check(g)
		})
	}
	return all
}

// graphsAre is the check that the second graph rises as the first is steep, and the third as the second, that proof
// says so of the others, and that each is its formula at every point; prox is checked by the equation that it solves,
// the residual being given by the last formula.
func graphsAre(graphs []Graph, proof func(graphs []Graph) bool, formulas ...func(x,
	y float64) (off float64)) claim.Outcome {
	var off float64
	measure.Ensure(len(graphs) == len(formulas), "claim: %d graphs, want %d", len(graphs), len(formulas))
	for k, g := range graphs {
		measure.Ensure(len(g.X) >= 100, "claim: %d points", len(g.X))
		for i, x := range g.X {
			off = math.Max(off, math.Abs(formulas[k](x, g.Y[i])))
		}
	}
	uneven := 0.0
	for k := range 2 {
		f, slope, miss, whole := graphs[k], graphs[k+1].Y, 0.0, 0.0
		for i := range f.X[1:] {
			step := f.Y[i+1] - f.Y[i]
			miss += math.Abs(step - (f.X[i+1]-f.X[i])*(slope[i]+slope[i+1])/2)
			whole += math.Abs(step)
		}
		uneven = math.Max(uneven, miss/whole)
	}
	return claim.Decide(fmt.Sprintf("increments off from the integrals of the slopes by at most %.2g of all; largest "+
		"distance from the formulas %s", uneven, claim.Roughly(off, 1e-12)),
		"0.6 %, which the jumps of H_L″ make; 1e-12", uneven < 0.006 && proof(graphs)).As(off < 1e-12)
}

// figure1 is Definition 3.1 at L = 1.
func figure1(graphs []Graph) claim.Outcome {
	return graphsAre(graphs, func(graphs []Graph) bool { // beyond L it rises at the rate L
		x, y := graphs[0].X, graphs[0].Y
		last := len(x) - 1
		return math.Abs((y[last]-y[last-100])/(x[last]-x[last-100])-1) < 1e-9
	},
		func(r, y float64) float64 { return y - math.Min(r*r/2, math.Abs(r)-0.5*math.Min(1, r*r)) },
		func(r, y float64) float64 { return y - math.Max(-1, math.Min(1, r)) },
		func(r, y float64) float64 {
			if math.Abs(math.Abs(r)-1) < 1e-9 { // the kink has no curvature of its own
				return 0
			}
			if math.Abs(r) < 1 {
				return y - 1
			}
			return y
		})
}

func figure2(graphs []Graph) claim.Outcome {
	slope := func(t float64) float64 { return 1 / (1 + math.Exp(-t)) }
	return graphsAre(graphs, func(graphs []Graph) bool { // no point a hundredth away is nearer to the minimum
		ok := true
		for i, t := range graphs[3].X {
			f := func(p float64) float64 { return Gamma*math.Log1p(math.Exp(p)) + (p-t)*(p-t)/2 }
			p := graphs[3].Y[i]
			ok = ok && f(p) <= f(p-0.01) && f(p) <= f(p+0.01)
		}
		return ok
	},
		func(t, y float64) float64 { return y - math.Log1p(math.Exp(t)) },
		func(t, y float64) float64 { return y - slope(t) },
		func(t, y float64) float64 { return y - slope(t)*(1-slope(t)) },
		func(t, p float64) float64 { return p + Gamma*slope(p) - t })
}

func figureAgrees(run measure.Run, number int, factor float64) claim.Outcome {
	scale := Scale{Dots: 7, Curve: 2}
	switch {
	case run.Size == claim.Full:
		scale = Scale{Curve: 2}
	case number == 4:
		scale.Repetitions = 120
	case number == 6:
		scale.Repetitions = 300
	}
	panels := measure.Must(figureOf(run, number, scale))
	// The dots where the step of Figure 6 contracts, and those where it does not.
	var inside, outside agreement
	eachDot(panels, func(_ Panel, _ Curve, d Dot) {
		d.Predicted *= factor
		if number == 6 && float64(d.Features)/float64(d.Records) < 0.49 {
			outside.add(d)
			return
		}
		inside.add(d)
	})
	if number != 6 {
		return claim.Decide(inside.String(), "none beyond both", inside.both == 0 && inside.dots > 0)
	}
	o := claim.Decide(fmt.Sprintf("where the step contracts %v; where it does not (d/n < 0.49) %v, the mean error %s",
		&inside, &outside, beyond(outside.largest, 10)), "none beyond both", inside.both == 0 && inside.dots > 0 &&
		outside.dots > 0)
	if outside.both > 0 {
		o = o.Corrected("only where the step contracts; where it does not, a dozen features are too few for the limit")
	}
	return o
}

// agreement counts the dots of a figure that are beyond 4 standard errors of the prediction, beyond 10 % of it, and
// beyond both.
type agreement struct {
	dots, errors, percent, both int
	// largest is the largest mean of the simulation.
	largest float64
}

// add counts a dot, and reports whether it is beyond both.
func (a *agreement) add(d Dot) bool {
	errors, percent := d.Off()
	a.dots++
	a.largest = math.Max(a.largest, d.Simulated.Mean)
	if errors {
		a.errors++
	}
	if percent {
		a.percent++
	}
	if errors && percent {
		a.both++
	}
	return errors && percent
}

// eachDot calls do for the dots of panels.
func eachDot(panels []Panel, do func(Panel, Curve, Dot)) {
	for _, p := range panels {
		for _, c := range p.Curves {
			for _, d := range c.Dots {
				do(p, c, d)
			}
		}
	}
}

func (a *agreement) String() string {
	return fmt.Sprintf("%d of %d dots are beyond 4 standard errors, %d beyond 10 %%, %d beyond both", a.errors,
		a.dots, a.percent, a.both)
}

func universal(run measure.Run, control population.Design, factor float64) claim.Outcome {
	const seed = 2407
	var settings []Setting
	repetitions, gapRepetitions, records := 20, 8000, []int{10, 20, 40}
	if run.Size == claim.Full {
		settings, repetitions = Grid(1000), 60
		gapRepetitions, records = 100_000, []int{10, 20, 40, 80}
	} else {
		for k, s := range Grid(320) { // each kind twice, each design
			if k%9 == 4 {
				s.Features = 100
				settings = append(settings, s)
			}
		}
	}
	var worst float64
	means := 0
	for k, s := range settings {
		p := measure.Must(s.Run(run, repetitions, seed+uint64(k)))
		for _, v := range p {
			v.Predicted *= factor
			worst = math.Max(worst, math.Abs(v.StandardErrors()))
			means++
		}
	}
	var off float64
	p := measure.Must(Setting{Kind: LogisticObjective, Design: control, Records: 400, Features: 100}.Run(run, 40, seed))
	for _, v := range p {
		off = math.Max(off, math.Abs(v.StandardErrors()))
	}
	var n, single, mean []float64
	for _, design := range []population.Design{population.Rademacher, population.Gaussian} {
		gaps := measure.Must(Gaps(run, LogisticDescent, design, 0.5, records, gapRepetitions, seed))
		for _, g := range gaps {
			n, single, mean = append(n, float64(g.Records)), append(single, g.Single), append(mean,
				math.Abs(g.Mean.Mean))
		}
	}
	slow, fast := measure.Exponent(n, single), measure.Exponent(n, mean)
	return claim.Decide(fmt.Sprintf("%d means of %d settings, the farthest %.1f standard errors off; one fit is off "+
		"by n^%.1f, the mean by n^%.1f; control off by %s", means, len(settings), worst, slow, fast, beyond(off, 6)),
		"at most 4; −0.75 … −0.4 and −1.3 … −0.7; above 6", worst <= 4 && slow > -0.75 && slow < -0.4 && fast > -1.3 &&
			fast < -0.7 && off > 6)
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
