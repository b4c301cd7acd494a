package sgd

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func TestFiguresStay(t *testing.T) {
	rng := noise.NewSeeded(3)
	x, y := matrix.NewDense(300, 6, nil), make([]float64, 300)
	for i := range y {
		for j := range 6 {
			if x.Data[6*i+j] = 1.4 * (rng.Float64() - 0.4); i%3 == 0 && j > 0 {
				x.Data[6*i+j] = 0 // thin
			}
		}
		y[i] = math.Copysign(1, rng.Float64()-0.3)
	}
	curves := []matrix.Span{{First: 0, Len: 4}}
	rules := []Update{Plain{0.3}, Momentum{0.2, 0.8}, Adam{LearningRate: 0.1}, Adam{0.1, 0.8, 0.99, 1e-3},
		Steady(2, 1, 0.5, 6, 20), Projected{Plain{5}, 0.7}, Adaptive{Radius: 2, Steps: 9, Noise: 0.4},
		Adaptive{Radius: 2, Ball: 1, Steps: 9, Noise: 0.4, Level: 0.2, Ridge: 0.3, Curves: curves},
		Adaptive{Radius: 2, Steps: 9, Noise: 0.4, Shrink: []float64{0, 0.1, 0.2, 0, 0, 1}, Ridge: 0.3, Curves: curves},
		Adaptive{Radius: 2, Steps: 9, Noise: 0.4}.For(3), Adaptive{Radius: 2, Steps: 9, Level: 0.1}.For(0.5),
		Adaptive{Radius: 2, Steps: 9}.For(9), Adaptive{Radius: 2, Steps: 1}, Adaptive{Radius: -1, Steps: 3}}
	q := Quantiles{Levels: []float64{0.1, 0.5, 0.8}, RowNorm: 1, Steps: 12, NoiseMultiplier: 20,
		Update: Adaptive{Radius: 3, Steps: 12}}
	c := q.WithCurvature(0.2, Reference{First: 0, Count: 2, Sum: 5})
	golden.Figures(t, "testdata/figures.txt", 1e-9, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		for i, u := range rules {
			name := fmt.Sprint(i, " ", u)
			put(name, u.validate())
			if s, ok := u.(Scheduled); ok {
				put("its schedule", s.Spread(0), s.Spread(3), s.Spread(8), s.Weight(0), s.Weight(4), s.Weight(8),
					s.Within())
			}
			if a, ok := u.(Adaptive); ok {
				put("its fits", a.fits(6), a.fits(4), a.average())
			}
			if u.validate() != nil {
				continue
			}
			theta, step := make([]float64, 6), Stepper(u, 6)
			for k := range 9 {
				g := make([]float64, 6)
				for j := range g {
					g[j] = 0.3*math.Sin(float64(3*k+j)) + 0.4*theta[j] + 0.2
				}
				step(theta, g)
			}
			put("its steps", theta)
		}
		for _, w := range [][2]float64{{-1, 2}, {100, 3}, {1e4, 0.5}} {
			put("signal", Signal(w[0], w[1], 50, 7))
		}
		for _, cost := range []Cost{
			{Rate: 1, NoiseMultiplier: 5, Steps: 20}, {Rate: 1, NoiseMultiplier: 5, Steps: 20, ScoreMultiplier: 9},
			{Rate: 0.1, NoiseMultiplier: 2, Steps: 20, Accounting: Renyi},
			{Rate: 0.1, NoiseMultiplier: 2, Steps: 20, ScoreMultiplier: 9, Accounting: Renyi},
			{Rate: 0.1, NoiseMultiplier: 2, Steps: 20, MeanRuns: 15, Accounting: Renyi},
			{Steps: maxSteps + 1, Rate: 1, NoiseMultiplier: 1}, {Rate: 1, NoiseMultiplier: 0, Steps: 1},
			{Rate: 1.1, NoiseMultiplier: 1, Steps: 1}, {Rate: 1, NoiseMultiplier: 1, Steps: 1, MeanRuns: 1e7}} {
			eps, err := cost.Epsilon(1e-5)
			put(cost.String()+cost.Bound(), eps, err)
			if err != nil {
				continue
			}
			p := must.Get(cost.Profile(privacy.AddRemove))
			put("its profile", p.LogDeltaUpper(privacy.Remove, 0.5),
				must.Get(cost.beside(0.4)).LogDeltaUpper(privacy.Add, 1))
			for _, eps := range []float64{0.3, 2} {
				if cost.MeanRuns == 0 || eps > 1 {
					found, err := cost.CalibrateNoise(eps, 1e-5)
					put(fmt.Sprint("calibrated for ", eps), found.NoiseMultiplier, err)
				}
			}
		}
		for _, runs := range []float64{0.1, 0.9} {
			put("mean runs", must.Get(MeanRunsFor(0, runs)), must.Get(MeanRunsFor(10, runs)),
				must.Get(MeanRunsFor(1e5, runs)))
		}
		put("clamped", clamped{privacy.GaussianProfile(1, privacy.AddRemove)}.LogDeltaUpper(privacy.Add, 9),
			clipped(2, 1), clipped(-2, 1), clipped(0.5, 1), clipped(math.NaN(), 1), runaway([]float64{1e100}),
			runaway([]float64{1.1e100}))
		for _, levels := range [][]float64{{0.5}, {0.1, 0.9}, {0.1, 0.5, 0.8}, {0.5, 0.5}, {1e-7}, {0.2, 0.1}, nil} {
			err := ValidLevels(levels)
			if put(fmt.Sprint("levels ", levels), err); err == nil {
				put("their noise", jointNoise(levels).gap, must.Get(LevelCovariance(levels)).RawSymmetric().Data)
			}
		}
		for _, records := range []float64{0, 50, 1e5} {
			q := q
			q.Records = records
			u := q.rule(1, q.shape(6), 6)
			put(fmt.Sprint("rule for ", records), u, q.sigma(), q.sigmaAt(u, 0), q.sigmaAt(u, 11), q.Validate())
		}
		pooled := []float64{3, 1, 2, 2, 5, 4, 4, 9}
		Pool(pooled)
		put("pooled", pooled, vertex([]float64{1, 2, 3}, 1, 3, 1.5), vertex([]float64{1, 2, 3}, 1, 3, 9))
		for _, share := range []float64{0.05, 0.3} {
			c := q.WithCurvature(share)
			count, gram, near := c.scales()
			put(fmt.Sprint("with curvature ", share), count, gram, near, c.Cost().NoiseMultiplier,
				c.Fit.NoiseMultiplier,
				must.Get(c.WithGaussian(0.3)).LogDeltaUpper(privacy.Add, 1))
			k := q.WithCount(share)
			put("with a count", k.sigma(), k.Fit.NoiseMultiplier, k.Cost().NoiseMultiplier, k.at(3).Records,
				k.at(1e6).Records)
		}
		k, steps := q.WithCount(0.1), math.Sqrt(12)
		ranges := c.Fit.NoiseMultiplier * math.Sqrt(1-c.Share)
		put("rounded", golden.Rounded(q.sigma(), 20), golden.Rounded(c.Fit.NoiseMultiplier, 20/math.Sqrt(0.8)),
			golden.Rounded(k.Fit.NoiseMultiplier, 20/math.Sqrt(0.9)), golden.Rounded(c.Cost().NoiseMultiplier, ranges),
			golden.Rounded(k.sigma(), k.Fit.NoiseMultiplier/(steps*math.Sqrt(0.1/0.9))),
			golden.Rounded(c.mu(0.1), math.Sqrt(0.1*0.2/0.8)*steps/c.Fit.NoiseMultiplier),
			golden.Rounded(q.sigmaAt(q.Update, 0), q.sigma()*q.Update.Spread(0)),
			golden.Rounded(rules[9].(Scheduled).Spread(3), 1), golden.Rounded(Descent{NoiseMultiplier: 3,
				Clip: 0.7}.sigma(), 2.1))
		f := mechanism.Facts{Records: 900, Mu: 0.7, Directions: 11, Curves: curves, Features: 6}
		m, stretch := q.For(f)
		put("informed", m.(Quantiles).Update, stretch)
		put("share", share(0.5, 1e3, 0), share(0.1, 1e3, 0), share(0.5, 1e9, 0.01), share(0.9, 1e3, 5), share(0.5, 3,
			0))
		put("crps", crps(1, 0), crps(0.5, 2), crps(-0.5, 2))
		put("window", window([]float64{3, 5, 9, 30, 2, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 4}, 9), window(make([]float64,
			cells), 5))
		r := newRecords(x, y, 0.7)
		put("records", r.clipped, r.lost, r.step, r.entries, r.largest[:6])
		index := make([]int, 0, 200)
		for i := range 200 {
			index = append(index, i)
		}
		theta, sum := []float64{0.1, -0.2, 0.3, 0, 0.5, -0.1}, make([]float64, 6)
		for _, l := range []loss.Loss{loss.Logistic{}, loss.Huber{Threshold: 0.3}} {
			b := newBatch(r, l, 200, 1)
			b.sum(sum, theta, index)
			put("sum", sum, b.block, b.chunk)
		}
		s := newSuffixes(r, 3, 1)
		s.sum(slices.Concat(theta, theta, theta))
		put("suffixes", s.totals, r.counts(theta, 1), square(r.outers(theta, []float64{0.7}, 0.7, 1)[0]), right(x, y,
			theta))
		grid := LearningRates(0.1, 10, 3, func(eta float64) Update { return Plain{eta} })
		put("rates", grid)
	})
	golden.Figures(t, "testdata/fits.txt", 1e-6, func(say func(name string, values ...float64)) {
		all := map[string]mechanism.Mechanism{"quantiles": q, "curvature": c, "counted": q.WithCount(0.1)}
		for _, name := range []string{"quantiles", "curvature", "counted"} {
			say(name, must.Get(all[name].Run(x, y, noise.NewSeeded(1),
				&mechanism.Settings{Workers: 1})).Coefficients...)
		}
		weak := q
		weak.Records = 200
		say("weak", must.Get(weak.Run(x, y, noise.NewSeeded(1), nil)).Coefficients...)
		for i, u := range rules[:5] {
			d := Descent{Loss: loss.Logistic{}, Clip: 0.7, Rate: 0.3, Steps: 20, NoiseMultiplier: 2,
				PlannedRecords: 300,
				Lambda:         3, Update: u, Average: 3 * (i % 3)}
			say(d.String(), must.Get(d.Run(x, y, noise.NewSeeded(1), nil)).Coefficients...)
		}
		big := c
		big.Fit.NoiseMultiplier, big.Fit.Update.Radius = 0.02, 2
		r := must.Get(big.Run(x, y, noise.NewSeeded(2), &mechanism.Settings{Workers: 1}))
		moments := r.Also.(*Moments)
		say("moments", golden.Numbers(moments)...)
		for i := range moments.Width { // as of targets that are spread, and of many more records
			moments.Tied[i], moments.Width[i] = false, 0.6
			moments.Density[i] = 0.4
		}
		for _, population := range []bool{false, true} {
			for k, scale := range []float64{1, 300} {
				far := *moments.CloneAlso().(*Moments)
				for _, v := range [][]float64{far.Gram, far.Near} {
					for j := range v {
						v[j] *= scale
					}
				}
				far.Records *= scale
				for _, forms := range [][][]float64{nil, {{1, -1, 0, 0, 0, 0.5}}} {
					a, err := big.Around(&far, 0.9, population, forms)
					say(fmt.Sprint("around ", population, k, len(forms)), golden.Numbers(a, err)...)
				}
			}
		}
	})
}
