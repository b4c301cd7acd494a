package mechanism_test

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/additive"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/constrained"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/convolution"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/mechanism/qop"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/mechanism/ssp"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// drawn is a mechanism on records where one of its noises is all that a release shows: what it draws is read off and
// held against what its parameters, of which the cost is computed, say.
type drawn struct {
	name string
	m    mechanism.Mechanism
	// n records of d features, each the first unit vector with the label; also, if it is not nil, is a second label
	// with which the same noise is drawn for the same records.
	n, d  int
	label float64
	// column, if it is not nil, are the n records of one feature.
	column []float64
	also   []float64
	// read returns numbers that have the mean 1, in releases with label and, in order, with also.
	read func(r []*mechanism.Release) []float64
	// deviation of each of these numbers.
	deviation float64
	// seen is by how much the mean of a noise that is a tenth too small is below 1.
	seen float64
}

// squares returns the squares of x over their variance: of normal noise each has a deviation of √2.
func squares(x []float64, deviation float64) (all []float64) {
	for _, v := range x {
		all = append(all, v*v/(deviation*deviation))
	}
	return all
}

// absolutes returns |x|/scale: of Laplace noise each has a deviation of 1.
func absolutes(x []float64, scale float64) (all []float64) {
	for _, v := range x {
		all = append(all, math.Abs(v)/scale)
	}
	return all
}

// normal and laplace read the coefficients, isotropic their norm.
func (c drawn) normal(deviation float64) drawn {
	c.read = func(r []*mechanism.Release) []float64 { return squares(r[0].Coefficients, deviation) }
	c.deviation, c.seen = math.Sqrt2, 0.19
	return c
}

func (c drawn) laplace(scale float64) drawn {
	c.read = func(r []*mechanism.Release) []float64 { return absolutes(r[0].Coefficients, scale) }
	c.deviation, c.seen = 1, 0.1
	return c
}

func (c drawn) isotropic(scale func(r *mechanism.Release) float64) drawn {
	c.read = func(r []*mechanism.Release) []float64 {
		return []float64{floats.Norm(r[0].Coefficients, 2) / (float64(c.d) * scale(r[0]))}
	}
	c.deviation, c.seen = 1/math.Sqrt(float64(c.d)), 0.1
	return c
}

// reading reads what a function says, of normal noise.
func (c drawn) reading(read func(r []*mechanism.Release) []float64) drawn {
	c.read, c.deviation, c.seen = read, math.Sqrt2, 0.19
	return c
}

func fixed(scale float64) func(*mechanism.Release) float64 {
	return func(*mechanism.Release) float64 { return scale }
}

// surely is by how many standard errors a mean may be off: seven in a million sound ones are further. One that is a
// tenth too small is off by detected more, and so is missed by less than one in a hundred.
const surely, detected = 4.5, 2.5

// needed is how many numbers it takes.
func (c drawn) needed() int { return int(math.Pow((surely+detected)*c.deviation/c.seen, 2)) }

// check draws and returns an error if the mean is off by more than surely standard errors.
func (c drawn) check(seed uint64) error {
	x, labels := matrix.NewDense(c.n, c.d, nil), make([]float64, c.n)
	for i := range c.n {
		x.Data[i*c.d] = 1
	}
	copy(x.Data, c.column)
	var sum float64
	count, from := 0, noise.NewSeeded(seed)
	for count < c.needed() {
		of := from.Uint64() >> 1
		var all []*mechanism.Release
		for _, y := range append([]float64{c.label}, c.also...) {
			for i := range labels {
				labels[i] = y
			}
			r, err := c.m.Run(x, labels, noise.NewSeeded(of), nil)
			if err != nil {
				return err
			}
			all = append(all, r)
		}
		values := c.read(all)
		sum += floats.Sum(values)
		count += len(values)
	}
	mean, most := sum/float64(count), surely*c.deviation/math.Sqrt(float64(count))
	if !(math.Abs(mean-1) <= most) {
		return fmt.Errorf("the mean of %d is %.4f of what the parameters say, want 1 ± %.4f", count, mean, most)
	}
	return nil
}

// draws returns every noise of every mechanism, where it can be seen by itself.
func draws(t testing.TB) (all []drawn) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const d = 16
	none := func(name string, m mechanism.Mechanism) drawn { return drawn{name: name, m: m, d: d} }
	enter := func(c ...drawn) { all = append(all, c...) }

	// Without records θ = −b/λ + z: the tilt and the output noise are seen where the other is small.
	tilt := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 2, Sigma: 3, Tolerance: 1e-6,
		OutputSigma: 1e-4}
	out := tilt
	out.Sigma, out.OutputSigma = 1e-3, 1
	enter(none("objective, tilt", tilt).normal(1.5), none("objective, output", out).normal(1))
	shrunk := out.Shrunk(50, false)
	enter(none("objective, output, shrunk", shrunk).normal(1.0 * 2 / 50))

	for _, scores := range []bool{false, true} {
		curvature := none(fmt.Sprintf("curvature, scores: %v", scores),
			interval.Curvature{Fit: tilt, Sigma: 2, ScoreSigma: 5})
		enter(curvature.reading(func(r []*mechanism.Release) (all []float64) {
			m, sigma := r[0].Also.(*interval.Moments).Hessian, 2.0
			if scores {
				m, sigma = r[0].Also.(*interval.Moments).Scores, 5.0
			}
			for i := range d {
				all = append(all, squares([]float64{m.At(i, i)}, sigma)...)
				for j := range i {
					all = append(all, squares([]float64{m.At(i, j)}, sigma/math.Sqrt2)...)
				}
			}
			return all
		}))
	}

	enter(none("output", objpert.Output{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1, Tolerance: 1e-6,
		Sigma: 2}).normal(2))
	enter(none("output, pure", objpert.Output{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1, Tolerance: 1e-6,
		Scale: 2}).isotropic(fixed(2)))
	linear := constrained.Objective{Objective: tilt, Dimension: d, Adjacency: privacy.AddRemove, Epsilon: 100,
		Delta: 0.5}
	enter(none("linear, tilt", linear).normal(1.5))
	linear.Objective = out
	linear.Objective.Sigma, linear.Objective.Tolerance, linear.Objective.OutputSigma = 0.01, 1e-8, 1
	linear.Epsilon = 1e4
	enter(none("linear, output", linear).normal(1))

	soft := multiclass.Softmax{Classes: 3, RowNorm: 1, Lambda: 2, Sigma: 3, Tolerance: 1e-6, OutputSigma: 1e-4}
	enter(none("softmax, tilt", soft).normal(1.5 * math.Sqrt(2.0/3)))
	soft.Sigma, soft.OutputSigma = 1e-3, 1
	enter(none("softmax, output", soft).normal(math.Sqrt(2.0 / 3)))
	rest := multiclass.OneVsRest{Classes: 3, Binary: tilt}
	enter(none("one-vs-rest", rest).reading(func(r []*mechanism.Release) (all []float64) {
		// The fits have noise of their own: differences have twice its variance.
		a := append([]float64(nil), r[0].Coefficients[:d]...)
		floats.Sub(a, r[0].Coefficients[d:2*d])
		return squares(a, 1.5*math.Sqrt2)
	}))

	convolved := convolution.COP{Loss: convolution.Loss{Form: loss.Absolute(smoothing.Logistic{}, 0.5), Forms: 1,
		Norm: 1},
		Lambda: 2, Sigma: 3, Tolerance: 1e-6, OutputSigma: 1e-4, Account: convolution.ByRank}
	enter(none("convolved, tilt", convolved).normal(1.5))
	convolved.Sigma, convolved.OutputSigma = 1e-3, 1
	enter(none("convolved, output", convolved).normal(1))

	// One coefficient θ = y/(1 + σ²W), W of law χ²_m; y is so large that the output noise is nothing beside it.
	bent := qop.Config{Loss: loss.Squared{}, RowNorm: 1, Epsilon: 1, Delta: 1e-3, Adjacency: privacy.AddRemove,
		Interpolation: qop.AssumeInterpolation([]float64{0}, 0), HiddenDimension: 24, Accuracy: 1e-4}
	bend, err := qop.Calibrate(bent)
	must(err)
	bent.Interpolation = qop.AssumeInterpolation(make([]float64, d), 0)
	bend16, err := qop.Calibrate(bent)
	must(err)
	enter(drawn{name: "quadratic, matrix", m: bend, n: 1, d: 1, label: 1e6, deviation: math.Sqrt(2.0 / 24), seen: 0.1,
		read: func(r []*mechanism.Release) []float64 {
			return []float64{(1e6/r[0].Coefficients[0] - 1) / (bend.Sigma2 * 24)}
		}})
	enter(none("quadratic, output", bend16).normal(bend16.OutputSigma))

	// Least squares of one column of n ones: θ = (Σy + z)/(n + E + ridge).
	moments := ssp.AdaSSP{RowNorm: 1, LabelBound: 1, SigmaEigen: 1e-4, SigmaGram: 1e-4, SigmaCross: 1, Failure: 0.05}
	enter(drawn{name: "AdaSSP, Xᵀy", m: moments, n: 8, d: 1}.normal(1.0 / 8))
	moments.SigmaGram, moments.SigmaCross = 1, 1e-4
	enter(drawn{name: "AdaSSP, XᵀX", m: moments, n: 64, d: 1, label: 1}.reading(
		func(r []*mechanism.Release) []float64 { return squares([]float64{64/r[0].Coefficients[0] - 64}, 1) }))
	// Its ridge is B − ν + c, ν = n + N(0, σ₁²): between 0 and B for almost every draw.
	moments.SigmaEigen, moments.SigmaGram, moments.Failure = 0.1, 0.05, 1e-300
	eigen := drawn{name: "AdaSSP, eigenvalue", m: moments, n: 5, d: 1, label: 1}.reading(
		func(r []*mechanism.Release) []float64 {
			b, c := moments.NoiseNorm(1), moments.SigmaEigen*math.Sqrt(2*math.Log(1/moments.Failure))
			return squares([]float64{5/r[0].Coefficients[0] - 5 - (b - (5 - c))}, math.Hypot(0.1, 0.05))
		})
	eigen.seen *= 0.8 // the rest is of XᵀX
	enter(eigen)

	// Without labels a round of the boosted form moves θ by c·z/(n + E + ridge).
	rounds := ssp.Boosted{AdaSSP: moments, Clip: 0.5, Rounds: 1}
	rounds.SigmaEigen, rounds.SigmaGram, rounds.SigmaCross, rounds.Failure = 1e-4, 1e-4, 1, 0.05
	enter(drawn{name: "boosted AdaSSP, first round", m: rounds, n: 8, d: 1}.normal(0.5 / 8))
	rounds.Rounds = 2 // the second one is half of −θ₁ and of its own: (z₁ + z₂)/2 while nothing is clipped
	rounds.Clip, rounds.SigmaCross = 1, 0.5
	enter(drawn{name: "boosted AdaSSP, second round", m: rounds, n: 64, d: 1}.normal(0.5 / 64 / math.Sqrt2))

	// Of no records all fits are 0: κ is known, and so is how often κ + N > τ. Here t = 4, A_8 is the deepest, and
	// δe^{ηg/2} ≥ 1 for g ≥ 2, so that κ = 2; τ = 2 is the least with q^{τ+1} ≤ δ(1 + q).
	deep := none("TukeyEM, test", ssp.TukeyEM{RowNorm: 1, LabelBound: 1, Features: 1, Models: 16, TestScale: 0.5,
		Eta: 9, Delta: 0.01})
	passes := math.Exp(-2) / (1 + math.Exp(-2))
	deep.d, deep.deviation, deep.seen = 1, math.Sqrt((1-passes)/passes), 0.18
	deep.read = func(r []*mechanism.Release) []float64 {
		if r[0].Also.(*ssp.Tested).Passed {
			return []float64{1 / passes}
		}
		return []float64{0}
	}
	enter(deep)

	// With labels 0 and 1: θ₀ = z/(n + E + ridge), θ₁ = (n + z)/(n + E + ridge).
	for _, law := range []ssp.Noise{ssp.Gaussian, ssp.Laplace} {
		const n = 64.0
		m := ssp.Functional{RowNorm: 1, LabelBound: 1, Features: 1, Noise: law, Scale: 1}
		read := func(r []*mechanism.Release) (z, e float64) {
			dev := 1 / math.Sqrt2
			if law == ssp.Laplace {
				dev = math.Sqrt2
			}
			step := r[1].Coefficients[0] - r[0].Coefficients[0]
			return n * r[0].Coefficients[0] / step, n/step - n - 4*dev
		}
		c := drawn{name: fmt.Sprintf("functional %d", law), m: m, n: n, d: 1, also: []float64{1}}
		cross := func(r []*mechanism.Release) []float64 { z, _ := read(r); return squares([]float64{z}, 1) }
		gram := func(r []*mechanism.Release) []float64 { _, e := read(r); return squares([]float64{e}, 1) }
		if law == ssp.Gaussian {
			enter(c.reading(cross), c.reading(gram))
			continue
		}
		c.deviation, c.seen = 1, 0.1
		other := c
		c.read = func(r []*mechanism.Release) []float64 { z, _ := read(r); return absolutes([]float64{z}, 1) }
		other.read = func(r []*mechanism.Release) []float64 { _, e := read(r); return absolutes([]float64{e}, 2) }
		enter(c, other)
	}

	// Of no records the four steps of each column of one cell add up. Of n with the label 1 the first step is n over
	// the count, of two columns.
	ebm := additive.Boosting{Cells: additive.Cells{Bins: 1}, Clip: 2, Leaves: 1, Rounds: 4, LearningRate: 0.5,
		CountSigma: 1e-4, SumSigma: 1.5}
	for j := range d {
		ebm.Columns = append(ebm.Columns, additive.Column{First: j, Len: 1})
	}
	enter(none("DP-EBM, sums", ebm).normal(0.5 * 2 * 1.5 * 2))
	ebm.Columns = []additive.Column{{First: 0, Len: 1}, {First: 0, Len: 1}}
	ebm.Clip, ebm.Rounds, ebm.LearningRate, ebm.CountSigma, ebm.SumSigma = 1, 1, 1, 2, 1e-6
	enter(drawn{name: "DP-EBM, counts", m: ebm, n: 1000, d: 1, label: 1}.reading(
		func(r []*mechanism.Release) []float64 {
			return squares([]float64{1000/r[0].Coefficients[0] - 1000}, 2*math.Sqrt2)
		}))

	// Four steps of size 1 from zero: the noises add up. Then samples of one record each in two.
	steps := sgd.Descent{Loss: loss.Squared{}, Clip: 2, Rate: 1, Steps: 4, NoiseMultiplier: 1.5, PlannedRecords: 1,
		Update: sgd.Plain{LearningRate: 1}}
	enter(none("noisy gradient descent", steps).normal(6))
	steps.Rate, steps.Steps, steps.NoiseMultiplier = 0.5, 1, 1e-6
	enter(drawn{name: "samples", m: steps, n: 1000, d: 1, label: 100, deviation: math.Sqrt(1.0 / 1000), seen: 0.05,
		read: func(r []*mechanism.Release) []float64 { return []float64{r[0].Coefficients[0] / 2000} }})
	tuner := sgd.Tuner{Base: steps, Grid: []sgd.Update{sgd.Plain{LearningRate: 1}}, MeanRuns: 0.3,
		Score: sgd.Training{Sigma: 4}}
	tuner.Base.Update, tuner.Base.NoiseMultiplier = nil, 1
	enter(none("score", tuner).reading(func(r []*mechanism.Release) []float64 {
		// The square of the larger one of two has the mean 1 as well, and three are rare.
		if s := r[0].Also.(*sgd.Selected); s.Update != nil {
			return squares([]float64{s.Score}, 4)
		}
		return nil
	}))

	// Of pure ε: the tilt and the output noise, each where the other is small.
	long := pure.Config{Loss: loss.LeastAbsolute{}, Epsilon: 1, Adjacency: privacy.AddRemove, Features: d,
		Records: 1000, Radius: 1e5, LeastNorm: 1, Lambda: 1, Tolerance: 1e-5}
	objective, err := long.Calibrate()
	must(err)
	enter(none("objective, any length, tilt", objective).isotropic(fixed(objective.Scale)))
	objective.Scale, objective.OutputScale = 1e-2, 100
	enter(none("objective, any length, output", objective).isotropic(fixed(100)))
	output, err := long.CalibrateOutput()
	must(err)
	enter(none("output, any length", output).isotropic(fixed(output.Scale)))
	for _, double := range []bool{false, true} {
		c := pure.PhasesConfig{Config: long, Count: 1, Blocks: 1, Double: double}
		if double { // its second ball is then so large that nothing is brought back to it
			c.Constants = pure.Printed
		}
		phases, err := c.Calibrate()
		must(err)
		enter(none(fmt.Sprintf("phases, double: %v", double), phases).isotropic(
			func(r *mechanism.Release) float64 { return r.NoiseScale / math.Sqrt(d+1) }))
	}

	// Statistics of no records; keys that many have.
	columns := make([]statistic.Number, d)
	for j := range columns {
		columns[j] = statistic.Number{Lower: -1, Upper: 1}
	}
	sums := func(law statistic.Law) statistic.Sums {
		return statistic.Sums{Of: statistic.Means{Of: columns, For: law}, Law: law, Scale: 3}
	}
	cells := statistic.Cells{{Levels: 64}}
	const q = 0.9
	enter(none("sums", sums(statistic.Gaussian)).normal(3), none("sums, pure", sums(statistic.Laplace)).laplace(3),
		none("histogram", statistic.Histogram{Of: cells, Sigma: 3}).normal(3),
		none("histogram, pure", statistic.Histogram{Of: cells, Scale: -1 / math.Log(q)}).laplace(2*q/(1-q*q)))
	enter(drawn{name: "quantiles, count", m: statistic.Quantiles{Of: columns[0], Levels: []float64{0.5}, Eta: 2}, d: 1,
		deviation: 1, seen: 0.1, read: func(r []*mechanism.Release) []float64 {
			return absolutes(r[0].Coefficients[:1], 2)
		}})
	// Records that are spread evenly, between bounds without round numbers: of n records as many as an exponential
	// mechanism says are between a level and where it is found.
	const low, n, eta = 2e9, 1000, 1.0
	even := make([]float64, n)
	for i := range even {
		even[i] = low + (float64(i)+0.5)/n
	}
	enter(drawn{name: "quantiles", m: statistic.Quantiles{Of: statistic.Number{Lower: low, Upper: low + 1},
		Levels: []float64{0.25, 0.5, 0.75}, Eta: eta}, n: n, d: 1, column: even, deviation: 1.1, seen: 0.1,
		read: func(r []*mechanism.Release) (all []float64) {
			rank := []float64{0}
			for _, v := range r[0].Coefficients[1:] { // gap, level, gap, level, gap, level, gap
				rank = append(rank, math.Round((v-low)*n))
			}
			rank = append(rank, n)
			// The middle first, the other levels halfway to the ends, the gaps between what was found.
			for _, at := range [][3]int{{0, 4, 8}, {0, 2, 4}, {4, 6, 8}, {0, 1, 2}, {2, 3, 4}, {4, 5, 6}, {6, 7, 8}} {
				kappa := eta
				if at[1]%2 == 1 {
					kappa = eta / 4
				}
				target, q := 0.5*(rank[at[0]]+rank[at[2]]), math.Exp(-kappa)
				mean := 2 * q / (1 - q*q)
				if target != math.Round(target) {
					mean = 0.5 + q/(1-q)
				}
				all = append(all, math.Abs(rank[at[1]]-target)/mean)
			}
			return all
		}})
	for _, m := range []statistic.Selection{{Keys: 1, Sigma: 2, Threshold: 8}, {Keys: 1, Scale: -1 / math.Log(q),
		Threshold: 200}} {
		c := drawn{name: m.String(), m: m, n: 1000, d: 1, label: 3}
		read := func(r []*mechanism.Release) []float64 {
			return []float64{r[0].Also.(*statistic.Selected).Counts[0] - 1000}
		}
		if m.Sigma > 0 {
			enter(c.reading(func(r []*mechanism.Release) []float64 { return squares(read(r), 2) }))
			continue
		}
		c.deviation, c.seen = 1, 0.1
		c.read = func(r []*mechanism.Release) []float64 { return absolutes(read(r), 2*q/(1-q*q)) }
		enter(c)
	}
	return all
}

// Every noise has the size that the parameters say, of which the cost is computed: one that is a tenth too small is
// seen, and a sound one is flagged with a probability of 7e-6 at most, or as far as a normal law is near.
func TestNoiseIsWhatTheParametersSay(t *testing.T) {
	for _, c := range draws(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := c.check(1); err != nil {
				t.Error(err)
			}
		})
	}
}

// Of a thousand seeds none, or one, is flagged.
func TestNoiseIsSeldomFlagged(t *testing.T) {
	testscale.SkipUnlessFull(t)
	for _, c := range draws(t) {
		t.Run(c.name, func(t *testing.T) {
			flagged := 0
			for seed := range uint64(1000) {
				if c.check(seed) != nil {
					flagged++
				}
			}
			if flagged > 1 {
				t.Errorf("%d of 1000 sound runs are flagged", flagged)
			}
		})
	}
}
