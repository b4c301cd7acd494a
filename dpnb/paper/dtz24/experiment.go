package dtz24

import (
	"context"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/sim"
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
	// DTZ24Gamma is γ of Figure 2.
	Gamma = 3
	// DTZ24Threshold is L, DTZ24Kappa κ, DTZ24Noise the standard deviation of ε⋆, and DTZ24Entries n·d.
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

func dtz24Lambdas(regression bool) []float64 {
	if regression {
		return HuberLambdas
	}
	return LogisticLambdas
}

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

// dtz24Shares are the abscissas of dots: equidistant in (0, 1).
func dtz24Shares(dots int) []float64 {
	out := make([]float64, dots)
	for i := range out {
		out[i] = float64(i+1) / float64(dots+1)
	}
	return out
}

// seriesOf is a family of curves: a prediction for any aspect ratio, and a simulation of any shape. Both give one
// number for each curve of each panel.
type seriesOf struct {
	panels  []Panel // with names of curves
	predict func(aspect float64) ([][]float64, error)
	run     func(ctx context.Context, n, d int) ([][]sim.Summary, error)
}

// draw fills in the panels.
func (s seriesOf) draw(ctx context.Context, scale Scale) ([]Panel, error) {
	for _, share := range figure.Span(0.03, 0.97, scale.Curve-1) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v, err := s.predict((1 - share) / share)
		if err != nil {
			return nil, fmt.Errorf("experiment: d/n = %g: %w", (1-share)/share, err)
		}
		for p := range s.panels {
			for c := range s.panels[p].Curves {
				g := &s.panels[p].Curves[c].Theory
				g.X, g.Y = append(g.X, share), append(g.Y, v[p][c])
			}
		}
	}
	for _, share := range dtz24Shares(scale.Dots) {
		n, d := shape(share)
		aspect := float64(d) / float64(n)
		v, err := s.predict(aspect)
		if err != nil {
			return nil, fmt.Errorf("experiment: d/n = %g: %w", aspect, err)
		}
		simulated, err := s.run(ctx, n, d)
		if err != nil {
			return nil, fmt.Errorf("experiment: %d×%d: %w", n, d, err)
		}
		for p := range s.panels {
			for c := range s.panels[p].Curves {
				curve := &s.panels[p].Curves[c]
				curve.Dots = append(curve.Dots, Dot{Records: n, Features: d, Share: float64(n) / float64(n+d),
					Predicted: v[p][c], Simulated: simulated[p][c]})
			}
		}
	}
	return s.panels, nil
}

func newPanel(title, quantity string, nu float64, curves []string) Panel {
	p := Panel{Title: title, Quantity: quantity, Nu: nu, Curves: make([]Curve, len(curves))}
	for c, name := range curves {
		p.Curves[c].Name, p.Curves[c].Theory.Name = name, name
	}
	return p
}
