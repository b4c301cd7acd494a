package dtz24

import (
	"context"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/sim"
	"github.com/dpnb/notebooks/dpnb/sim/population"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

// Graph is one line of a plot.
type Graph struct {
	Name string
	X, Y []float64
}

// graphsOf returns a loss, its slope and its curvature at label y.
func graphsOf(l loss.Loss, y float64, names [3]string, x []float64) []Graph {
	out := make([]Graph, 3)
	for k := range out {
		out[k] = Graph{Name: names[k], X: x, Y: make([]float64, len(x))}
	}
	for i, t := range x {
		out[0].Y[i] = l.ValueSlope(out[1].Y[i:i+1], []float64{t}, []float64{y})
		l.Curvature(out[2].Y[i:i+1], []float64{t}, []float64{y})
	}
	return out
}

// Figure1 returns the graphs of H_L, H_L′ and H_L″ for L = 1: the Huber loss of the residual r on [−3, 3].
func Figure1() []Graph {
	return graphsOf(loss.Huber{Threshold: 1}, 0, [3]string{"H_L", "H_L′", "H_L″"}, figure.Span(-3, 3, 600))
}

// Figure2 returns the graphs of ρ(t) = log(1 + e^t), ρ′, ρ″ and prox_{γρ} for γ = 3 on [−6, 6]. ρ is the logistic loss
// at the label −1.
func Figure2() []Graph {
	x := figure.Span(-6, 6, 600)
	out := graphsOf(loss.Logistic{}, -1, [3]string{"ρ", "ρ′", "ρ″"}, x)
	p, slope, y := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
	for i := range y {
		y[i] = -1
	}
	proportional.Prox(p, slope, loss.Logistic{}, Gamma, x, y)
	return append(out, Graph{Name: "prox", X: x, Y: p})
}

// Settings of the simulations of dtz24: Figures 3 to 6.
const (
	// Gamma is γ of Figure 2.
	Gamma = 3
	// Threshold is L, Kappa κ, Noise the standard deviation of ε⋆, and Entries n·d.
	Threshold = 10
	Kappa     = 1
	Noise     = 0.2
	Entries   = 1000
)

// Ridges of the curves of Figures 3 to 5 and numbers of steps of those of Figure 6. The paper names them in its
// drawings alone, so these are ours. For the logistic loss a ridge of 0.01 would be too small for problems of this
// size: near the threshold of separability they are then off by half.
var (
	HuberLambdas    = []float64{0.01, 0.1, 1}
	LogisticLambdas = []float64{0.1, 0.3, 1}
	Steps           = []int{1, 2, 4, 8}
)

// Scale is how large an experiment is. Zero fields mean what the paper did.
type Scale struct {
	// Dots is the number of shapes n×d in each panel; zero means 19.
	Dots int
	// Repetitions of the simulation of each dot.
	Repetitions int
	// Curve is the number of points of each theoretical curve; zero means 60.
	Curve int
	// Workers is the number of goroutines; zero means one for each processor.
	Workers int
}

func (s Scale) filled(repetitions int) (Scale, error) {
	if s.Dots == 0 {
		s.Dots = 19
	}
	if s.Repetitions == 0 {
		s.Repetitions = repetitions
	}
	if s.Curve == 0 {
		s.Curve = 60
	}
	if s.Dots < 1 || s.Repetitions < 2 || s.Curve < 2 {
		return s, fmt.Errorf("experiment: Scale %+v, want at least one dot, two repetitions and two points of a curve",
			s)
	}
	return s, nil
}

// Dot is one simulated point with the prediction for its own d/n.
type Dot struct {
	Records, Features int
	// Share is n/(n + d), the abscissa.
	Share float64
	// Predicted by theory, and Simulated.
	Predicted float64
	Simulated sim.Summary
}

// Deviation is how far the simulation is from the prediction: absolutely, and in standard errors (sim.Summary.Sigmas).
func (d Dot) Deviation() (difference, standardErrors float64) {
	difference = d.Simulated.Mean - d.Predicted
	return difference, d.Simulated.Sigmas(d.Predicted)
}

// Off reports whether the simulation is farther than 4 standard errors from the prediction, and whether it is farther
// than 10 % of it. The first flags a difference that is not chance, however small; the second one that matters, however
// few the repetitions. Either is to be told.
func (d Dot) Off() (errors, percent bool) {
	difference, se := d.Deviation()
	return math.Abs(se) > 4, math.Abs(difference) > 0.1*d.Predicted
}

// Curve is a prediction with the simulation laid over it.
type Curve struct {
	// Name says what distinguishes the curve in its panel.
	Name string
	// Theory is drawn over n/(n + d).
	Theory Graph
	Dots   []Dot
}

// Panel is one plot of a figure.
type Panel struct {
	Title, Quantity string
	Nu              float64
	Curves          []Curve
}

// shape returns n and d with n·d ≈ 1,000 and n/(n + d) ≈ share.
func shape(share float64) (n, d int) {
	n = max(1, int(math.Round(math.Sqrt(Entries*share/(1-share)))))
	return n, max(1, int(math.Round(Entries/float64(n))))
}

// arm is one simulated fit of any shape and what is predicted of it, for one curve or several.
type arm struct {
	// seed gives every dot of every curve random numbers of its own.
	seed    int
	people  population.Population
	by      func(aspect float64) population.Estimator
	predict func(aspect float64) []float64
	// places are those of what is predicted.
	places []place
}

// place is a curve of a panel, and what of the fit it shows.
type place struct {
	panel, curve, iterate int
	of                    population.Measure
}

// draw fills in the panels: the curves, and dots at equidistant abscissas.
func draw(ctx context.Context, scale Scale, repetitions int, seed uint64, panels []Panel, arms []arm) []Panel {
	scale = measure.Must(scale.filled(repetitions))
	for _, a := range arms {
		for _, share := range figure.Span(0.03, 0.97, scale.Curve-1) {
			measure.Try(ctx.Err())
			for i, v := range a.predict((1 - share) / share) {
				g := &panels[a.places[i].panel].Curves[a.places[i].curve].Theory
				g.X, g.Y = append(g.X, share), append(g.Y, v)
			}
		}
		for i := range scale.Dots {
			n, d := shape(float64(i+1) / float64(scale.Dots+1))
			aspect := float64(d) / float64(n)
			a.people.Records, a.people.Features = n, d
			r := measure.Must(population.Simulation{Population: a.people, Estimator: a.by(aspect),
				Repetitions: scale.Repetitions, Seed: seed<<32 + uint64(n)<<8 + uint64(a.seed),
				Workers: scale.Workers}.Run(ctx))
			for i, v := range a.predict(aspect) {
				at := a.places[i]
				c := &panels[at.panel].Curves[at.curve]
				c.Dots = append(c.Dots, Dot{Records: n, Features: d, Share: float64(n) / float64(n+d), Predicted: v,
					Simulated: r.Of(at.iterate, at.of)})
			}
		}
	}
	return panels
}

func newPanel(title, quantity string, nu float64, curves []string) Panel {
	p := Panel{Title: title, Quantity: quantity, Nu: nu, Curves: make([]Curve, len(curves))}
	for c, name := range curves {
		p.Curves[c].Name, p.Curves[c].Theory.Name = name, name
	}
	return p
}
