package dtz24

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpnb/notebooks/dpnb/dataset"
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/experiment"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
	"github.com/dpnb/notebooks/dpnb/sim"
	"github.com/dpnb/notebooks/dpnb/sim/population"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

// Whitened is a data set made as like as can be to what the theory of the proportional regime assumes, by means of one
// half of its records, the public ones: both classes equally frequent, features centred and rotated to the leading
// principal components, each scaled to variance 1/d, rows clipped at norm Radius. Whatever says so is an experiment:
// with private records the public half has to come from elsewhere.
type Whitened struct {
	Name string
	// Features d, and Radius, the bound on the rows.
	Features int
	Radius   float64
	// Pool are the records to draw training sets from, Test those to measure on.
	Pool, Test *experiment.Records
	// Signal is what a fit with an intercept on the public half gives for β⋆, Kappa = ‖β⋆‖/√d, Intercept its intercept.
	Signal           []float64
	Kappa, Intercept float64
	// Clipped is the share of the rows of Pool that were longer than Radius, Kurtosis the mean over the features of E
	// x⁴/(E x²)² there: 3 for Gaussian ones.
	Clipped, Kurtosis float64
}

// WhitenedAdult returns the Adult data (or invented people, where they are not on this machine) whitened to d features
// with rows of norm at most radius ≥ 1.
func WhitenedAdult(d int, radius float64) (_ *Whitened, err error) {
	defer measure.Catch(&err)
	if d < 1 || !(radius >= 1) {
		return nil, fmt.Errorf("experiment: %d features with rows of norm at most %v, want at least one and a radius "+
			"≥ 1", d, radius)
	}
	train, test := measure.Must2(dataset.Adult())
	w := &Whitened{Name: experiment.Named("Adult", train) + ", whitened", Features: d, Radius: radius}
	settings := frame.DesignSettings{Label: "income", NoBias: true}
	all := measure.Must(frame.NewDesign(train, dataset.AdultSchema(), settings))
	unseen := measure.Must(frame.NewDesign(test, dataset.AdultSchema(), settings))
	kept := balanced(all.Labels, 1)
	half := len(kept) / 2
	in := all.Rows.(*matrix.Dense)
	public := in.Select(kept[:half])
	if d > min(public.D, public.N) {
		return nil, fmt.Errorf("experiment: %d features, the data have %d", d, public.D)
	}
	mean, axes := principal(public, d)
	for _, part := range []struct {
		rows   *matrix.Dense
		labels []float64
		index  []int
		to     **experiment.Records
	}{{in, all.Labels, kept[half:], &w.Pool},
		{unseen.Rows.(*matrix.Dense), unseen.Labels, balanced(unseen.Labels, 2), &w.Test}} {
		rows, long := whiten(part.rows.Select(part.index), mean, axes, radius)
		*part.to = &experiment.Records{Rows: rows, Labels: pick(part.labels, part.index), RowNorm: radius}
		if part.to == &w.Pool {
			w.Clipped = float64(long) / float64(rows.N)
			w.Kurtosis = kurtosis(rows)
		}
	}
	rows, _ := whiten(public, mean, axes, radius)
	w.learn(rows, pick(all.Labels, kept[:half]))
	return w, nil
}

// balanced returns the records of the rarer class and as many of the other, in an order drawn from the seed.
func balanced(labels []float64, seed uint64) []int {
	r := noise.NewSeeded(seed)
	var class [2][]int
	for _, i := range r.Perm(len(labels)) {
		k := 0
		if labels[i] > 0 {
			k = 1
		}
		class[k] = append(class[k], i)
	}
	n := min(len(class[0]), len(class[1]))
	out := slices.Concat(class[0][:n], class[1][:n])
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func pick(v []float64, index []int) []float64 {
	out := make([]float64, len(index))
	for k, i := range index {
		out[k] = v[i]
	}
	return out
}

// principal returns the mean and the d leading principal axes of the rows, as columns, each divided by its standard
// deviation times √d.
func principal(x *matrix.Dense, d int) (mean []float64, axes *mat.Dense) {
	var pc stat.PC
	measure.Ensure(pc.PrincipalComponents(mat.NewDense(x.N, x.D, x.Data), nil), "experiment: the covariance of the "+
		"public records has no decomposition")
	variance := pc.VarsTo(nil)
	var vectors mat.Dense
	pc.VectorsTo(&vectors)
	measure.Ensure(variance[d-1] > 1e-6*variance[0], "experiment: the public records span fewer than %d directions", d)
	axes = mat.DenseCopyOf(vectors.Slice(0, x.D, 0, d))
	for j := range d {
		c := 1 / math.Sqrt(variance[j]*float64(d))
		for i := range x.D {
			axes.Set(i, j, c*axes.At(i, j))
		}
	}
	mean = make([]float64, x.D)
	for i := range x.N {
		floats.AddScaled(mean, 1/float64(x.N), x.Data[i*x.D:(i+1)*x.D])
	}
	return mean, axes
}

// whiten returns the rows in the new axes, clipped, and how many were too long.
func whiten(x *matrix.Dense, mean []float64, axes *mat.Dense, radius float64) (rows *matrix.Dense, long int) {
	centred := mat.NewDense(x.N, x.D, slices.Clone(x.Data))
	for i := range x.N {
		floats.Sub(centred.RawRowView(i), mean)
	}
	var out mat.Dense
	out.Mul(centred, axes)
	rows = matrix.NewDense(x.N, out.RawMatrix().Cols, out.RawMatrix().Data)
	for i := range rows.N {
		row := rows.Data[i*rows.D : (i+1)*rows.D]
		if norm := floats.Norm(row, 2); norm > radius {
			floats.Scale(radius/norm, row)
			long++
		}
	}
	return rows, long
}

func kurtosis(x *matrix.Dense) float64 {
	var sum float64
	for j := range x.D {
		var two, four float64
		for i := range x.N {
			v := x.At(i, j)
			two += v * v
			four += v * v * v * v
		}
		sum += four * float64(x.N) / (two * two)
	}
	return sum / float64(x.D)
}

// learn fits the public half with an intercept.
func (w *Whitened) learn(x *matrix.Dense, labels []float64) {
	with := matrix.NewDense(x.N, x.D+1, nil)
	for i := range x.N {
		row := with.Data[i*with.D : (i+1)*with.D]
		copy(row, x.Data[i*x.D:(i+1)*x.D])
		row[x.D] = 1
	}
	sol := measure.Must(erm.Minimize(&erm.Problem{Rows: with, Labels: labels, Loss: loss.Logistic{}, Lambda: 0.01},
		&erm.Settings{Tolerance: 1e-5}))
	w.Signal, w.Intercept = sol.Theta[:x.D], sol.Theta[x.D]
	w.Kappa = floats.Norm(w.Signal, 2) / math.Sqrt(float64(x.D))
}

// shiftedLink is P(y = 1 | t) = 1/(1 + e^{−t−b}).
type shiftedLink struct{ by float64 }

func (s shiftedLink) Prob(t float64) float64  { return population.Logistic(t + s.by) }
func (s shiftedLink) Slope(t float64) float64 { return proportional.LogisticLink{}.Slope(t + s.by) }
func (s shiftedLink) Width() float64          { return math.Pi }
func (s shiftedLink) String() string          { return fmt.Sprintf("logistic shifted by %.3g", s.by) }

// Forecast is a prediction for private logistic regression by objective perturbation on whitened data beside what was
// measured, in three steps away from the theory's assumptions.
type Forecast struct {
	Records, Features int
	Epsilon           float64
	// Lambda and Nu were chosen by the prediction, for the smallest squared error.
	Lambda, Nu float64
	// PredictedError is the share of test records that are misclassified, PredictedMSE is ‖β̂ − β⋆‖²/d.
	PredictedError, PredictedMSE float64
	// GaussianRows has everything as the theory assumes, ModelLabels the rows of the data with labels drawn from the
	// model, Real the data as they are. The MSE of the last is about the β⋆ of the public half.
	GaussianRows, ModelLabels, Real Measured
}

// Measured is what fits came to.
type Measured struct{ Error, MSE sim.Summary }

// Forecast predicts and measures a fit to n records at (ε, δ), add/remove-one.
func (w *Whitened) Forecast(ctx context.Context, n int, epsilon, delta float64, repetitions int, seed uint64) (
	_ Forecast, err error) {
	defer measure.Catch(&err)
	pool, _ := w.Pool.Rows.Dims()
	if n < 1 || n > pool || repetitions < 2 {
		return Forecast{}, fmt.Errorf("experiment: %d records in %d repetitions, want 1 to %d and at least 2", n,
			repetitions, pool)
	}
	task := proportional.Task{Loss: loss.Logistic{}, AspectRatio: float64(w.Features) / float64(n), Kappa: w.Kappa,
		Link: shiftedLink{w.Intercept}, Radius: w.Radius, Goal: proportional.SquaredError}
	p := measure.Must(task.Best(proportional.Objective, proportional.Target{Epsilon: epsilon, Delta: delta,
		Adjacency: privacy.AddRemove}, objective.DTZ24))
	f := Forecast{Records: n, Features: w.Features, Epsilon: epsilon, Lambda: p.Lambda, Nu: p.Nu,
		PredictedError: p.Quality().Error, PredictedMSE: p.Point.MSE()}
	gauss := measure.Must(population.Simulation{Population: population.Population{Records: n, Features: w.Features,
		Design: population.Gaussian, Signal: population.OnSphere(w.Kappa), Prob: task.Link.Prob},
		Estimator:   population.ObjectivePerturbation{Loss: task.Loss, Lambda: p.Lambda, Nu: p.Nu},
		Repetitions: repetitions, Seed: seed, TestRecords: 1000}.Run(ctx))
	f.GaussianRows = Measured{gauss.Of(0, population.TestError), gauss.Of(0, population.MSE)}
	f.ModelLabels = w.measure(ctx, n, p, true, repetitions, seed)
	f.Real = w.measure(ctx, n, p, false, repetitions, seed)
	return f, nil
}

// measure fits samples of n of the pool's records.
func (w *Whitened) measure(ctx context.Context, n int, p proportional.Prediction, model bool, repetitions int,
	seed uint64) Measured {
	pool, test := w.Pool.Rows.(*matrix.Dense), w.Test.Rows.(*matrix.Dense)
	link := shiftedLink{w.Intercept}
	wrong, mse := make([]float64, repetitions), make([]float64, repetitions)
	root := noise.NewSeeded(seed).Stream(1)
	// The probability of a positive label, by the model or as it is.
	truth := make([]float64, test.N)
	test.Margins(truth, w.Signal, 0, test.N)
	for i, t := range truth {
		truth[i] = link.Prob(t)
		if !model {
			truth[i] = 0.5 + 0.5*w.Test.Labels[i]
		}
	}
	measure.Try(repeat(ctx, repetitions, func(k int, s *population.Solver) error {
		r := root.Stream(k)
		index := r.Perm(pool.N)[:n]
		rows, labels := pool.Select(index), pick(w.Pool.Labels, index)
		if model {
			rows.Margins(labels, w.Signal, 0, n)
			for i, t := range labels {
				labels[i] = measure.Sign(r.Float64() < link.Prob(t))
			}
		}
		linear := make([]float64, w.Features)
		r.Gaussian(linear, p.Nu)
		beta := measure.Must(s.Minimize(&erm.Problem{Rows: rows, Labels: labels, Loss: loss.Logistic{},
			Lambda: p.Lambda, Linear: linear}, 1e-6))
		scores := make([]float64, test.N)
		test.Margins(scores, beta, 0, test.N)
		for i, t := range scores {
			if t > 0 {
				wrong[k] += (1 - truth[i]) / float64(test.N)
			} else {
				wrong[k] += truth[i] / float64(test.N)
			}
		}
		for j, b := range beta {
			mse[k] += (b - w.Signal[j]) * (b - w.Signal[j]) / float64(w.Features)
		}
		return nil
	}))
	return Measured{sim.Summarize(wrong), sim.Summarize(mse)}
}
