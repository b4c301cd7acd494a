package dtz24

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
	"github.com/dpnb/notebooks/dpnb/sim/population"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

// PromiseTable says what the noise of Figures 3 to 5 promises: that of the Gaussian mechanism of sensitivity L, or L/λ
// for the output. Output perturbation is accounted for as just that; objective perturbation cannot cost less.
func PromiseTable() (_ display.Item, err error) {
	defer measure.Catch(&err)
	it := display.Item{Header: []string{"figure", "ε at δ = 1e-5"}}
	for _, r := range []struct {
		figure string
		l, nu  float64
	}{{"Figure 3, Huber, ν = 1/5", 10, 0.2}, {"Figure 4, logistic, ν = 1/5", 1, 0.2},
		{"Figure 5, Huber, ν = 1/2, λ = 1", 10, 0.5}, {"Figure 5, logistic, ν = 1/2, λ = 1", 1, 0.5}} {
		eps := measure.Must(privacy.EpsilonUpper(privacy.GaussianProfile(r.l/r.nu, privacy.AddRemove), 1e-5))
		it.Row(r.figure, privacy.FormatUp(eps, 3))
	}
	return it, nil
}

// Plan is a study that is planned, in public numbers: as dpnb.Study.
type Plan struct {
	Records, Features int
	Epsilon, Delta    float64
	Signal, Residual  float64
	task              proportional.Task
	value             func(proportional.Prediction) float64
	unit              string
}

// prepare says what is predicted: the share of wrong labels, or, where Residual > 0, the error of a prediction.
func (p *Plan) prepare() {
	p.task = proportional.Task{Loss: loss.Logistic{}, Link: proportional.LogisticLink{}, Kappa: p.Signal, Radius: 1,
		Goal: proportional.Misclassification}
	p.value = func(p proportional.Prediction) float64 { return 100 * p.Quality().Error }
	p.unit = "wrong on new records, percent"
	if r := p.Residual; r > 0 {
		p.task = proportional.Task{Loss: loss.Huber{Threshold: 1.345 * r}, Noise: proportional.Normal(0, r),
			Kappa: p.Signal, Radius: 1, Goal: proportional.SquaredError}
		p.value = func(p proportional.Prediction) float64 { return math.Sqrt(p.Point.MSE() + r*r) }
		p.unit = "error of a prediction"
	}
}

// CostFigure draws the predicted error of every mechanism with its best knobs over the number of records, at the plan's
// ε, and a table of how many records without privacy are worth as much as some with it.
func (p Plan) CostFigure() (_ *figure.Figure, _ display.Item, err error) {
	defer measure.Catch(&err)
	it := display.Item{Title: "Objective perturbation", Header: []string{"records", "are worth, without privacy"}}
	p.prepare()
	d := float64(p.Features)
	target := proportional.Target{Epsilon: p.Epsilon, Delta: p.Delta, Adjacency: privacy.AddRemove}
	n := figure.Geometric(min(3*d, 0.5*float64(p.Records)), max(1000*d, 16*float64(p.Records)), 24)
	ratios := figure.Values(n, func(n float64) float64 { return d / n })
	var curves [2][]float64
	for k, mechanism := range []proportional.Mechanism{proportional.Objective, proportional.Output} {
		cells := measure.Must(p.task.Frontier(mechanism, []proportional.Target{target}, ratios))
		for _, c := range cells[0] {
			curves[k] = append(curves[k], p.value(c))
		}
	}
	best := p.Residual
	var ordinary, few, descent []float64
	for i, r := range ratios {
		p.task.AspectRatio = r
		plain := measure.Must(p.task.NonPrivate())
		ordinary = append(ordinary, p.value(plain))
		if p.Residual == 0 {
			best = 100 * plain.Quality().BestError
		}
		if i%3 == 0 { // each takes longer than all the rest
			steps := measure.Must(p.task.Best(proportional.NoisyDescent, target, objective.DTZ24))
			few, descent = append(few, n[i]), append(descent, p.value(steps))
		}
	}
	f := figure.New(fmt.Sprintf("What %d features will cost at ε = %g, δ = %s", p.Features, p.Epsilon,
		figure.Number(p.Delta)), "records", p.unit).LogX()
	f.Line("output perturbation", n, curves[1], figure.Orange).Line("objective perturbation", n, curves[0], figure.Blue)
	f.Line("noisy descent", few, descent, figure.Purple).Line("without privacy", n, ordinary, figure.Gray)
	worst := max(curves[0][0], curves[1][0])
	f.Level("nobody can do better", n[0], n[len(n)-1], best, figure.Green).YRange(best-0.2*(worst-best), worst)
	for _, times := range []float64{1, 4, 16} {
		n0 := times * float64(p.Records)
		private, worth := at(n, curves[0], n0), n[0]
		for _, m := range figure.Geometric(n[0], n0, 2000) {
			if at(n, ordinary, m) >= private {
				worth = m
			}
		}
		unit := math.Pow(10, math.Floor(math.Log10(worth))-1) // two digits
		it.Row(fmt.Sprintf("%.0f", n0), fmt.Sprintf("%.0f", math.Round(worth/unit)*unit))
	}
	return f, it, nil
}

// at returns the value at x0 of a curve over rising x, on a logarithmic axis.
func at(x, y []float64, x0 float64) float64 {
	for i := 1; i < len(x); i++ {
		if x[i] >= x0 {
			w := math.Log(x0/x[i-1]) / math.Log(x[i]/x[i-1])
			return y[i-1] + w*(y[i]-y[i-1])
		}
	}
	return y[len(y)-1]
}

// RidgeFigure draws the relative squared error of objective perturbation over λ at four ε, d/n = 0.1, κ = 2, the best λ
// marked by a stroke: theory, and simulated fits of n = 500.
func RidgeFigure(repetitions int, seed uint64) (_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	task := proportional.Task{Loss: loss.Logistic{}, Link: proportional.LogisticLink{}, AspectRatio: 0.1, Kappa: 2,
		Radius: 1, Goal: proportional.SquaredError}
	f := figure.New("Which ridge? (d/n = 0.1, κ = 2, δ = 1e−5)", "ridge λ", "relative error²").
		LogX(0.1, 0.3, 1, 3, 10, 30, 100).LogY(0.1, 0.3, 1, 3)
	for k, e := range []float64{1, 2, 4, math.Inf(1)} {
		c := []figure.Color{figure.Purple, figure.Orange, figure.Blue, figure.Gray}[k]
		predict := func(lambda float64) (nu, mse float64, err error) {
			if math.IsInf(e, 1) {
				p, err := proportional.Classification{Loss: task.Loss, Link: task.Link, AspectRatio: task.AspectRatio,
					Lambda: lambda, Kappa: task.Kappa}.Solve(nil)
				return 0, p.MSE() / 4, err
			}
			target := proportional.Target{Epsilon: e, Delta: 1e-5, Adjacency: privacy.AddRemove}
			p, err := task.At(proportional.Objective, target, lambda, objective.DTZ24)
			return p.Nu, p.Point.MSE() / 4, err
		}
		var ridge, y, x, z []float64
		for _, l := range figure.Geometric(0.1, 100, 60) {
			if _, mse, err := predict(l); err == nil { // too small a ridge: no noise suffices
				ridge, y = append(ridge, l), append(y, mse)
			}
		}
		name := fmt.Sprintf("ε = %g", e)
		if math.IsInf(e, 1) {
			name = "no privacy"
		}
		best := slices.Index(y, slices.Min(y))
		f.Line("", ridge, y, c).Note(name, []float64{0.72, 0.27, 0.1, 0.1}[k], []float64{3, 3, 1.1, 0.13}[k], c)
		f.Whiskers(ridge[best:best+1], []float64{y[best] / 1.15}, []float64{y[best] * 1.15}, c)
		f.Alt += fmt.Sprintf("%s: least at λ = %.2g, %.2g. ", name, ridge[best], y[best])
		for _, l := range []float64{0.2, 0.5, 1, 2, 5, 20} {
			nu, _, err := predict(l)
			if err != nil {
				continue
			}
			r := simulated(context.Background(), classified(500, 50, 2),
				population.ObjectivePerturbation{Loss: task.Loss, Lambda: l, Nu: nu}, repetitions, seed)
			x, z = append(x, l), append(z, r.Of(0, population.MSE).Mean/4)
		}
		f.Dots("", x, z, c)
	}
	return f.YRange(0.1, 5), nil
}

// PathFigure draws the relative squared error of every iterate of noisy descent on the logistic loss, n = 400, d = 100,
// κ = 2, with the range that holds nine of ten runs: theory, and simulated means.
func PathFigure(repetitions int, seed uint64) (_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	const steps = 20
	f := figure.New("The path of noisy descent (n = 400, d = 100)", "steps", "relative squared error")
	for k, nu := range []float64{0, 0.5, 1, 2} {
		c := []figure.Color{figure.Gray, figure.Blue, figure.Green, figure.Orange}[k]
		path := measure.Must(proportional.Descent{Loss: loss.Logistic{}, Link: proportional.LogisticLink{},
			AspectRatio: 0.25, Step: 0.3, Steps: steps, Nu: nu, Kappa: 2}.Trajectory(nil))
		r := simulated(context.Background(), classified(400, 100, 2), population.NoisyDescent{
			Slopes: population.SlopesOf(loss.Logistic{}), Step: 0.3, Steps: steps, Nu: nu}, repetitions, seed)
		var t, theory, lo, hi, dots []float64
		for i, m := range path {
			each := slices.Sorted(slices.Values(r.Each(i, population.MSE)))
			t, theory = append(t, float64(i)), append(theory, m.MSE()/4)
			dots = append(dots, r.Of(i, population.MSE).Mean/4)
			lo, hi = append(lo, each[len(each)/20]/4), append(hi, each[len(each)-1-len(each)/20]/4)
		}
		f.Band(t, lo, hi, c).Line(fmt.Sprintf("ν = %g", nu), t, theory, c).Dots("", t, dots, c)
		best := slices.Index(theory, slices.Min(theory))
		f.Alt += fmt.Sprintf("ν = %g: from %.2g down to %.2g after %d steps, then up to %.2g. ", nu, theory[0],
			theory[best], best, theory[steps])
	}
	return f.YRange(0, 1.3).XRange(0, steps), nil
}

// StepsFigure draws the predicted share of wrong labels of noisy descent over the number of steps at four ε, each with
// the best of six step sizes: d/n = 0.02, κ = 2.
func StepsFigure() (_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	task := proportional.Task{Loss: loss.Logistic{}, Link: proportional.LogisticLink{}, AspectRatio: 0.02, Kappa: 2,
		Radius: 1, Goal: proportional.Misclassification}
	f := figure.New("How many steps? (logistic, d/n = 0.02, κ = 2, δ = 1e−5)", "steps T",
		"wrong on new records, percent").LogX(1, 2, 3, 5, 8, 12)
	for k, e := range []float64{1, 2, 4, 16} {
		var x, y []float64
		for _, steps := range []int{1, 2, 3, 4, 6, 8, 12} {
			least := math.Inf(1)
			for _, step := range []float64{0.0025, 0.005, 0.01, 0.02, 0.04, 0.08} {
				p := measure.Must(task.AtSteps(proportional.Target{Epsilon: e, Delta: 1e-5,
					Adjacency: privacy.AddRemove}, steps, step, &proportional.DescentSettings{Points: 1021}))
				least = min(least, 100*p.Quality().Error)
			}
			x, y = append(x, float64(steps)), append(y, least)
		}
		c := []figure.Color{figure.Orange, figure.Gold, figure.Green, figure.Blue}[k]
		f.Line(fmt.Sprintf("ε = %g", e), x, y, c)
	}
	return f, nil
}

// Figures holds the forecasts for growing numbers of the records against what came of them: which are wrong, and how
// far the coefficients are off; and a table, whose notes say by how much the forecasts are off.
func (w *Whitened) Figures(sizes []int, epsilon, delta float64, repetitions int, seed uint64) (
	_ []*figure.Figure, _ display.Item, err error) {
	defer measure.Catch(&err)
	it := display.Item{Header: []string{"records", "λ", "ν", "wrong: predicted", "Gaussian rows", "these rows",
		"squared error: predicted", "Gaussian rows", "these rows"}}
	var n []float64
	var theory, gauss, real, lo, hi [2][]float64 // of the error rate in percent, and of the squared error
	rate, ratio := 0.0, 0.0
	for _, k := range sizes {
		f := measure.Must(w.Forecast(context.Background(), k, epsilon, delta, repetitions, seed))
		n = append(n, float64(k))
		for q, v := range [2][]float64{{f.PredictedError, f.GaussianRows.Error.Mean, f.Real.Error.Mean},
			{f.PredictedMSE, f.GaussianRows.MSE.Mean, f.Real.MSE.Mean}} {
			unit := []float64{100, 1}[q]
			l, h := f.Real.Error.Interval()
			if q == 1 {
				l, h = f.Real.MSE.Interval()
			}
			theory[q], gauss[q], real[q] = append(theory[q], unit*v[0]), append(gauss[q], unit*v[1]),
				append(real[q], unit*v[2])
			lo[q], hi[q] = append(lo[q], unit*l), append(hi[q], unit*h)
		}
		i := len(n) - 1
		it.Rowf("%d | %.2f | %.2f | %.1f %% | %.1f %% | %.1f %% | %.2f | %.2f | %.2f", k, f.Lambda, f.Nu, theory[0][i],
			gauss[0][i], real[0][i], theory[1][i], gauss[1][i], real[1][i])
		rate, ratio = max(rate, math.Abs(real[0][i]-theory[0][i])), max(ratio, real[1][i]/theory[1][i])
	}
	it.Note("These rows: the error rate is off by up to %.1f percentage points, the squared error of the "+
		"coefficients by up to a factor of %.1f.", rate, ratio)
	it.Note("κ = %.2f; %.0f %% of the rows were cut; fourth moment of the features %.1f (3 if Gaussian).", w.Kappa,
		100*w.Clipped, w.Kurtosis)
	wrong := figure.New(w.Name+": which records are wrong", "records", "wrong on new records, percent").LogX(n...)
	off := figure.New(w.Name+": how far the coefficients are off", "records", "squared error").LogX(n...).
		LogY(0.01, 0.03, 0.1, 0.3, 1, 3, 10)
	for q, f := range []*figure.Figure{wrong, off} {
		f.Whiskers(n, lo[q], hi[q], figure.Orange).Line("theory", n, theory[q], figure.Blue)
		f.Dots("Gaussian rows", n, gauss[q], figure.Gray).Dots("these rows", n, real[q], figure.Orange)
	}
	return []*figure.Figure{wrong, off}, it, nil
}

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
