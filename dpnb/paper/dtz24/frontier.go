package dtz24

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

// Frontier is the share of new records that objective perturbation of the logistic loss gets wrong, in percent, as the
// theory predicts it: with the best ridge everywhere, over a grid of ε and d/n.
type Frontier struct {
	// Signal is κ, Delta the δ of (ε, δ) under add/remove-one.
	Signal, Delta float64
	// Epsilons and Ratios, of d/n, rise.
	Epsilons, Ratios []float64
	// Wrong[i][j] is for Epsilons[i] and Ratios[j], Plain[j] without privacy; nobody can do better than Best.
	Wrong [][]float64
	Plain []float64
	Best  float64
}

// NewFrontier computes the frontier on a grid.
//
// Errors: those of proportional.Task.Frontier.
func NewFrontier(signal, delta float64, epsilons, ratios []float64) (_ *Frontier, err error) {
	defer measure.Catch(&err)
	f := &Frontier{Signal: signal, Delta: delta, Epsilons: epsilons, Ratios: ratios}
	task := proportional.Task{Loss: loss.Logistic{}, Link: proportional.LogisticLink{}, Kappa: signal, Radius: 1,
		Goal: proportional.Misclassification}
	var targets []proportional.Target
	for _, e := range epsilons {
		targets = append(targets, proportional.Target{Epsilon: e, Delta: delta, Adjacency: privacy.AddRemove})
	}
	wrong := func(p proportional.Prediction) float64 { return 100 * p.Quality().Error }
	f.Wrong = make([][]float64, len(epsilons))
	for i, row := range measure.Must(task.Frontier(proportional.Objective, targets, ratios)) {
		for _, p := range row {
			f.Wrong[i] = append(f.Wrong[i], wrong(p))
		}
	}
	for _, task.AspectRatio = range ratios {
		plain := measure.Must(task.NonPrivate())
		f.Plain, f.Best = append(f.Plain, wrong(plain)), 100*plain.Quality().BestError
	}
	return f, nil
}

// Figure draws one ε of the grid, the nearest to epsilon, over d/n. What privacy costs is shaded, and a stroke stands
// where that becomes a percentage point.
func (f *Frontier) Figure(epsilon float64) *figure.Figure {
	i := 0
	for k, e := range f.Epsilons {
		if math.Abs(e-epsilon) < math.Abs(f.Epsilons[i]-epsilon) {
			i = k
		}
	}
	private, last := f.Wrong[i], f.Ratios[len(f.Ratios)-1]
	g := figure.New(fmt.Sprintf("What ε = %g costs (κ = %g, δ = %s)", f.Epsilons[i], f.Signal, figure.Number(f.Delta)),
		"features per record d/n", "wrong on new records, percent").LogX(0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1).
		YRange(f.Best-2, 50)
	g.Band(f.Ratios, f.Plain, private, figure.Orange).Line("private", f.Ratios, private, figure.Orange).
		Line("without privacy", f.Ratios, f.Plain, figure.Gray).
		Level("nobody can do better", f.Ratios[0], last, f.Best, figure.Green)
	if r := f.point(i); !math.IsNaN(r) {
		plain := at(f.Ratios, f.Plain, r)
		g.Whiskers([]float64{r}, []float64{plain}, []float64{plain + 1}, figure.Ink)
		g.Note(fmt.Sprintf("stroke: one point, at %.2g records for each feature", 1/r), f.Ratios[0]*1.1, 47.5,
			figure.Ink)
	}
	return g
}

// point returns the least d/n at which privacy costs a percentage point at Epsilons[i], NaN if that is not on the grid.
// Between two ratios the logarithm of the cost is taken to be linear in that of d/n.
func (f *Frontier) point(i int) float64 {
	cost := func(j int) float64 { return f.Wrong[i][j] - f.Plain[j] }
	for j := 1; j < len(f.Ratios); j++ {
		if before, after := cost(j-1), cost(j); 0 < before && before < 1 && after >= 1 {
			return f.Ratios[j-1] * math.Pow(f.Ratios[j]/f.Ratios[j-1], math.Log(before)/math.Log(before/after))
		}
	}
	return math.NaN()
}

// Map draws all of the grid, with contours at round percentages.
func (f *Frontier) Map() *figure.Figure {
	eps, ratios, least := f.Epsilons, f.Ratios, 100.0
	for i := range eps {
		least = min(least, slices.Min(f.Wrong[i]))
	}
	var levels []float64 // round numbers above the smallest
	for _, level := range []float64{2.5, 5, 7.5, 10, 12.5, 15, 17.5, 20, 22.5, 25, 30, 35, 40, 45} {
		if level > least+0.1 {
			levels = append(levels, level)
		}
	}
	g := figure.New(fmt.Sprintf("Private logistic regression, κ = %g: wrong on new records", f.Signal),
		"features per record d/n", "ε").LogX(0.001, 0.01, 0.1, 1).LogY(0.1, 0.3, 1, 3, 10)
	g.Heat(ratios, eps, f.Wrong).ColorBar("percent").Contours(ratios, eps, f.Wrong, levels, figure.Ink)
	for k, level := range levels { // its name, just right of where the contour crosses a row
		for try := range eps {
			i := ((3+k)*len(eps)/8 - try + 2*len(eps)) % len(eps)
			j := slices.IndexFunc(f.Wrong[i], func(v float64) bool { return v > level })
			if j <= 0 || ratios[j] > 0.4 { // or it would end outside
				continue
			}
			g.Note(fmt.Sprintf("%g %%", level), ratios[j]*0.9, eps[i], figure.Ink)
			break
		}
	}
	g.Alt = fmt.Sprintf("A map that rises to the lower right: from %.1f %% where records abound and ε is large "+
		"to %.1f %% where both are scarce; its contours are steep at the upper left and diagonal at the lower right",
		least, f.Wrong[0][len(ratios)-1])
	return g
}
