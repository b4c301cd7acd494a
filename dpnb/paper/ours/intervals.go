package ours

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/sim"
	"github.com/dpnb/notebooks/dpnb/sim/population"
)

// study is a population, a number of records and a budget at which the coverage of intervals is measured.
type study struct {
	n, d    int
	epsilon float64
	loss    loss.Loss
}

func (s study) String() string {
	return fmt.Sprintf("%s, n = %d, d = %d, ε = %g", s.loss.Name(), s.n, s.d, s.epsilon)
}

// kinds of intervals that are compared. The last one ignores the noise: it is what a reader of a statistics book would
// do with the private curvature.
var intervalKinds = []string{"release alone", "minimiser", "minimiser, linearised", "population",
	"population, linearised", "naive"}

const naiveKind = 5

// coverage of one kind in one study.
type coverage struct {
	study study
	kind  int
	// covered of trials, one coefficient of each repetition.
	covered, trials int
	// all is the share of all coefficients that are covered, below and above those that the interval misses on either
	// side; width their mean width where it is finite, finite how many are; ideal is
	// the mean width that would do if nothing had to be allowed for but the noise (and the sampling), at the true
	// curvature.
	all, below, above, width, finite, ideal float64
}

// population draws records: rows of norm one, features of unequal spread, and labels that follow the model of the loss
// at theta.
func (s study) population(rng *noise.Seeded) (x *matrix.Dense, y, theta []float64) {
	x, y, theta = matrix.NewDense(s.n, s.d, nil), make([]float64, s.n), make([]float64, s.d)
	for j := range theta {
		theta[j] = []float64{1.5, -1}[j%2]
	}
	rng.Gaussian(x.Data, 1)
	_, logistic := s.loss.(loss.Logistic)
	for i := range y {
		row := x.Data[i*s.d : (i+1)*s.d]
		for j := range row {
			row[j] /= math.Sqrt(1 + float64(j)/2)
		}
		floats.Scale((1-1e-15)/floats.Norm(row, 2), row)
		t := floats.Dot(row, theta)
		switch {
		case !logistic:
			y[i] = t + 0.5*rng.NormFloat64()/math.Sqrt(rng.ExpFloat64())
		default:
			y[i] = measure.Sign(rng.Float64() < measure.Sigmoid(t))
		}
	}
	return x, y, theta
}

// measure repeats the study and returns for each level the coverage of every kind that the loss allows. The draws and
// the fits are the same at every level.
func (s study) measure(ctx context.Context, levels []float64, reps int, narrow [naiveKind + 1]float64,
	root *noise.Seeded) (at [][]coverage) {
	_, logistic := s.loss.(loss.Logistic)
	share := interval.Share{Curvature: 0.2}
	if !logistic {
		share.Scores = 0.1
	}
	fit, curv := measure.Must2(interval.Calibrate(objpert.Config{Loss: s.loss, RowNorm: 1, Epsilon: s.epsilon,
		Delta: 1e-5, Adjacency: privacy.AddRemove}, share))
	var quantiles []quantile
	for _, level := range levels {
		quantiles = append(quantiles, quantile{level, math.Sqrt2 * math.Erfinv(level), ballQuantile(level, s.d)})
	}
	results := measure.Must(sim.Trials(ctx, reps, 0, root, func(_, k int, src *noise.Seeded) ([][]coverage, error) {
		return s.once(k, fit, curv, quantiles, narrow, src), nil
	}))
	for l := range levels {
		at = append(at, s.sum(results, l))
	}
	return at
}

// sum adds up the coverage of the repetitions at one level.
func (s study) sum(results [][][]coverage, level int) []coverage {
	total, reps := make([]coverage, len(results[0][level])), len(results)
	for _, r := range results {
		for i, c := range r[level] {
			t := &total[i]
			t.study, t.kind = s, c.kind
			t.covered, t.trials = t.covered+c.covered, t.trials+c.trials
			t.all += c.all / float64(reps)
			t.below += c.below / float64(reps)
			t.above += c.above / float64(reps)
			t.width += c.width
			t.finite += c.finite
			t.ideal += c.ideal
		}
	}
	for i := range total {
		total[i].width /= total[i].finite
		total[i].ideal /= total[i].finite
		total[i].finite /= float64(reps * s.d)
	}
	return total
}

// quantile is a level with the quantiles that intervals of it have: z of |N|, and ball of ½(|N₁| + ‖N‖).
type quantile struct{ level, z, ball float64 }

// once draws records and noise once, and returns the coverage at each of the levels. The coefficient that counts as a
// trial goes round. Each kind of interval is made so many times as wide.
func (s study) once(k int, fit objpert.Objective, curv interval.Curvature, levels []quantile,
	narrow [naiveKind + 1]float64, rng *noise.Seeded) (at [][]coverage) {
	x, y, theta := s.population(rng)
	r, mo := measure.Must2(curv.Release(x, y, rng, &mechanism.Settings{Workers: 1}))
	plain := measure.Must(erm.Minimize(&erm.Problem{Rows: x, Labels: y, Loss: s.loss, Lambda: fit.Lambda},
		&erm.Settings{Workers: 1}))
	ideal := idealWidths(fit, x, y, r.Coefficients)
	for _, q := range levels {
		at = append(at, s.cover(k, fit, q, narrow, r.Coefficients, mo, plain.Theta, theta, ideal))
	}
	return at
}

// cover returns the coverage of every kind of interval about what was released, of the minimiser and of theta.
func (s study) cover(k int, fit objpert.Objective, q quantile, narrow [naiveKind + 1]float64, released []float64,
	mo *interval.Moments, minimiser, theta []float64, ideal [naiveKind + 1][]float64) (out []coverage) {
	_, logistic := s.loss.(loss.Logistic)
	for kind := range intervalKinds {
		if (kind == 1 || kind == 3) && !logistic {
			continue
		}
		var at *interval.Intervals
		target, wide := theta, q.z
		settings := interval.Settings{Level: q.level, Linearise: kind == 2 || kind == 4}
		switch kind {
		case 0:
			wide = q.ball
			target, at = minimiser, measure.Must(interval.FromRelease(fit, released, q.level))
		case 1, 2:
			target, at = minimiser, measure.Must(interval.Minimiser(fit, released, mo, settings))
		case 3, 4:
			at = measure.Must(interval.Population(fit, released, mo, settings))
		case naiveKind:
			at = &interval.Intervals{Level: q.level}
			for j, t := range released {
				half := wide * ideal[kind][j] / 2
				at.Lower, at.Upper = append(at.Lower, t-half), append(at.Upper, t+half)
			}
		}
		c := coverage{kind: kind, trials: 1}
		for j, t := range target {
			middle, half := (at.Lower[j]+at.Upper[j])/2, (at.Upper[j]-at.Lower[j])/2
			switch off := t - middle; {
			case math.IsInf(half, 1) || math.Abs(off) <= narrow[kind]*half:
				c.all += 1 / float64(s.d)
				if j == k%s.d {
					c.covered = 1
				}
			case off < 0:
				c.below += 1 / float64(s.d)
			default:
				c.above += 1 / float64(s.d)
			}
			if !math.IsInf(half, 1) {
				c.width += 2 * narrow[kind] * half
				c.finite++
				c.ideal += wide * ideal[kind][j]
			}
		}
		out = append(out, c)
	}
	return out
}

// idealWidths are those of each kind if nothing had to be allowed for but the noise and, for the population, the
// sampling, as multiples of a level's quantile: of the release alone that of ½(|N₁| + ‖N‖)σ/λ in place of |N|, of the
// minimiser 2zσ‖H⁻¹eⱼ‖, H = M + λI, of the population 2z√(M⁻¹(σ²I + M)M⁻¹)ⱼⱼ. The naive intervals θ̃ ± z·√(H⁻¹)ⱼⱼ
// forget the noise, and leak besides.
func idealWidths(fit objpert.Objective, x *matrix.Dense, y, theta []float64) (widths [naiveKind + 1][]float64) {
	mo := measure.Must(interval.PublicCurvature(fit, x, y, theta, float64(x.N)))
	h := mat.NewSymDense(len(theta), nil)
	h.CopySym(mo.Hessian)
	for j := range theta {
		h.SetSym(j, j, h.At(j, j)+fit.Lambda)
	}
	var inverse, middle, population mat.Dense
	measure.Try(inverse.Inverse(h))
	measure.Try(middle.Inverse(mo.Hessian))
	population.Mul(&middle, &middle)
	population.Scale(fit.Sigma*fit.Sigma, &population)
	population.Add(&population, &middle)
	for j := range theta {
		minimiser, sampled := 2*fit.Sigma*mat.Norm(inverse.ColView(j), 2), 2*math.Sqrt(population.At(j, j))
		for kind, w := range []float64{2 * fit.Sigma / fit.Lambda, minimiser, minimiser, sampled, sampled,
			2 * math.Sqrt(inverse.At(j, j))} {
			widths[kind] = append(widths[kind], w)
		}
	}
	return widths
}

// ballQuantile is the quantile of ½(|N₁| + ‖N‖) in d dimensions: ∫φ(x)P(χ²_{d−1} ≤ 4t(t − |x|)).
func ballQuantile(level float64, d int) float64 {
	_, t := univariate.Bisect(func(t float64) bool {
		return 2*measure.Integral(func(x float64) float64 {
			return measure.Phi(x) * mathext.GammaIncReg(float64(d-1)/2, 2*t*(t-x))
		}, 0, t, 40) >= level
	}, 0, 10+math.Sqrt(float64(d)), univariate.Arithmetic, 1e-9)
	return t
}

// quickStudies and fullStudies are where coverage is measured.
var (
	quickStudies = []study{{300, 2, 0.5, loss.Logistic{}}, {2000, 2, 8, loss.Logistic{}}}
	fullStudies  = []study{
		{500, 2, 0.5, loss.Logistic{}}, {500, 2, 8, loss.Logistic{}}, {500, 20, 0.5, loss.Logistic{}},
		{2000, 5, 1, loss.Logistic{}}, {5000, 10, 8, loss.Logistic{}}, {5000, 20, 2, loss.Logistic{}},
		{20_000, 10, 0.5, loss.Logistic{}}, {20_000, 2, 1, loss.Logistic{}}, {20_000, 20, 8, loss.Logistic{}},
		{5000, 5, 4, loss.Huber{Threshold: 1}}, {20_000, 10, 8, loss.Huber{Threshold: 1}}}
)

// narrower makes intervals of a kind so many times as wide.
func narrower(kind int, by float64) [naiveKind + 1]float64 {
	all := [naiveKind + 1]float64{1, 1, 1, 1, 1, 1}
	all[kind] = by
	return all
}

func intervalsCover(run measure.Run, narrow [naiveKind + 1]float64) claim.Outcome {
	const level = 0.9
	studies := measure.Sized(run.Size, quickStudies, fullStudies)
	reps := measure.Sized(run.Size, 150, 500)
	levels := measure.Sized(run.Size, []float64{level}, []float64{0.5, level, 0.95})
	root := noise.NewSeeded(61)
	lowest, narrowest := slices.Repeat([]float64{1}, len(intervalKinds)), slices.Repeat([]float64{math.Inf(1)},
		len(intervalKinds))
	var notes []string
	good, naiveFails := true, false
	for i, s := range studies {
		for l, results := range s.measure(run, levels, reps, narrow, root.Stream(i)) {
			at, line := levels[l], []string{}
			for _, c := range results {
				if c.kind != naiveKind && c.finite > 0.5 { // few that are finite are so by luck, and narrow by it
					narrowest[c.kind] = math.Min(narrowest[c.kind], c.width/c.ideal)
					good = good && c.width >= c.ideal
				}
				lowest[c.kind] = math.Min(lowest[c.kind], float64(c.covered)/float64(c.trials)-at)
				enough := audit.ClopperPearson(c.covered, c.trials, 1-2e-3).Upper >= at
				if c.kind == naiveKind {
					naiveFails = naiveFails || !enough
				} else if !enough {
					good = false
				}
				width := "infinite"
				if c.finite > 0 {
					width = fmt.Sprintf("%.3g", c.width)
					if c.finite < 1 {
						width += fmt.Sprintf(" (%.0f %% finite)", 100*c.finite)
					}
				}
				line = append(line, fmt.Sprintf("%s %.1f %% (%.1f, %.1f) / %s", intervalKinds[c.kind], 100*c.all,
					100*c.below, 100*c.above, width))
			}
			notes = append(notes, fmt.Sprintf("%v at %g: %s", s, at, strings.Join(line, ", ")))
		}
	}
	measured := []string{}
	for kind, l := range lowest {
		text := fmt.Sprintf("%s %+.3f", intervalKinds[kind], l)
		if !math.IsInf(narrowest[kind], 1) {
			text += fmt.Sprintf(" (width × %.2f)", narrowest[kind])
		}
		measured = append(measured, text)
	}
	return claim.Decide("lowest coverage of a coefficient, less the level (and width over what is asked for): "+
		strings.Join(measured, ", "), fmt.Sprintf("levels %v, %d repetitions each", levels, reps), good &&
		naiveFails).InFull(run.Size, notes)
}

// CoverageFigure draws how often intervals cover against how often they say, for logistic regression on n records of d
// features at ε, over so many draws of records and noise: those from the release alone, which mean the noise-free
// minimiser, and for the coefficients of the population those with a curvature that is paid for (linearised) and those
// of a textbook, which forget the noise.
//
// Errors: those of the fits.
func CoverageFigure(n, d int, epsilon float64, draws int, seed uint64) (_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	s := study{n, d, epsilon, loss.Logistic{}}
	levels := []float64{0.5, 0.7, 0.8, 0.9, 0.95, 0.99}
	covered := map[int][]float64{}
	for _, results := range s.measure(context.Background(), levels, draws, narrower(0, 1), noise.NewSeeded(seed)) {
		for _, c := range results {
			covered[c.kind] = append(covered[c.kind], c.all)
		}
	}
	f := figure.New(fmt.Sprintf("How often intervals cover: n = %d, d = %d, ε = %g, %d draws", n, d, epsilon, draws),
		"stated", "measured").Percent().PercentX()
	f.Dashed("stated", levels, levels, figure.Gray)
	for _, c := range []struct {
		kind  int
		name  string
		color figure.Color
	}{{0, "release alone", figure.Green}, {4, "curvature paid for", figure.Blue},
		{naiveKind, "textbook, noise forgotten", figure.Orange}} {
		f.Line(c.name, levels, covered[c.kind], c.color).Dots("", levels, covered[c.kind], c.color)
	}
	return f, nil
}

// IntervalsTable fits logistic regression to a sample at ε, a share of the budget spent on the curvature, and returns
// what was released beside the truth, with the intervals from the release alone and those of the population.
//
// Errors: those of the fit.
func IntervalsTable(s *population.Sample, epsilon, delta, share, level float64, seed uint64) (_ *display.Item,
	err error) {
	defer measure.Catch(&err)
	fit, curvature := measure.Must2(interval.Calibrate(objpert.Config{Loss: loss.Logistic{}, RowNorm: 1,
		Epsilon: epsilon, Delta: delta, Adjacency: privacy.AddRemove}, interval.Share{Curvature: share}))
	r, moments := measure.Must2(curvature.Release(s.Rows, s.Labels, noise.NewSeeded(seed), nil))
	alone := measure.Must(interval.FromRelease(fit, r.Coefficients, level))
	paid := measure.Must(interval.Population(fit, r.Coefficients, moments, interval.Settings{Level: level,
		Linearise: true}))
	t := &display.Item{Title: fmt.Sprintf("Intervals of %g %%, (ε = %g, δ = %g) in all", 100*level, epsilon, delta),
		Header: []string{"truth", "released", "release alone, from", "to", "curvature paid for, from", "to"}}
	for j, truth := range s.Signal {
		t.Rowf("%.3f | %.3f | %.3f | %.3f | %.3f | %.3f", truth, r.Coefficients[j], alone.Lower[j], alone.Upper[j],
			paid.Lower[j], paid.Upper[j])
	}
	return t, nil
}
