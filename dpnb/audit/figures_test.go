package audit

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// replacesOne is a mechanism under replace-one, to whoever asks.
type replacesOne struct{ mechanism.Mechanism }

func (m replacesOne) Describe() mechanism.Description {
	d := m.Mechanism.Describe()
	d.Adjacency = privacy.ReplaceOne
	return d
}

func TestFiguresStay(t *testing.T) {
	golden.Figures(t, "testdata/figures.txt", 1e-7, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		cells := func(name string, without, with []float64) {
			put(name, without, with, Renyi(with, without, 2), Renyi(without, with, 5), HockeyStick(without, with, 0.3),
				HockeyStick(with, without, 0))
		}
		for _, d := range []int{1, 4, 30} {
			without, with := Radial{Dimension: d, Slope: 1, Smoothness: 0.5, Lambda: 2, Sigma: 3}.Cells(12)
			cells(fmt.Sprint("radial ", d), without, with)
			for _, ends := range [][2]float64{{0, 1}, {1, 3}, {7, 9}, {0, math.Inf(1)}, {6, math.Inf(1)}} {
				put("χ", chiMass(float64(d), ends[0], ends[1]))
			}
		}
		for i, s := range []Scalar{{Loss: loss.Logistic{}, X: []float64{1, -0.5}, Y: []float64{1, -1}, ExtraX: 1,
			ExtraY: -1,
			Lambda: 0.7, Sigma: 2}, {Loss: loss.Huber{Threshold: 1}, ExtraX: 2, ExtraY: 3, Lambda: 1, Sigma: 1.5,
			Tilt: 0.4},
			{Loss: loss.Logistic{}, X: []float64{1}, Y: []float64{1}, Weights: []float64{0.5}, ExtraX: -1, ExtraY: 1,
				Lambda: 2,
				Sigma:  1, Regulariser: func(theta float64) float64 { return 0.3 * math.Tanh(theta) }}} {
			name := fmt.Sprint("scalar ", i)
			without, with := s.Cells(10)
			cells(name, without, with)
			without, with = s.CellsAt([]float64{-1, 0, 0.5})
			cells(name, without, with)
			put(name, s.DeltaLower(privacy.Remove, 0.5), s.DeltaLower(privacy.Add, 0.1))
			for _, solver := range []Solver{PushedApart, Marked} {
				a := Approximate{Scalar: s, Tolerance: 0.2, OutputSigma: 0.3, Solver: solver}
				without, with = a.Cells(12)
				cells(name+" approximate", without, with)
			}
		}
		soft := Softmax{X: []float64{1, 0.6}, Y: []int{1, 0}, ExtraX: 1, ExtraY: 2, Lambda: 0.5, Sigma: 1,
			Weights: []float64{1,
				2, 1}, Tilt: [2]float64{0.1, -0.2}}
		without, with := soft.Cells(6)
		cells("softmax", without, with)
		put("plane", normalPlane([2]float64{0.3, -2}, 1.5))
		for i, f := range []Forms{{Loss: loss.Logistic{}, Rows: [][2]float64{{1, 0}, {0.3, 1}}, Labels: []float64{1,
			-1},
			Ridges: [2]float64{1, 2}, Turn: 0.4, Sigma: 1.5}, {Joint: loss.Softmax{Classes: 2}, Rows: [][2]float64{{1,
			0},
			{0, 1}}, Labels: []float64{1}, Ridges: [2]float64{1, 1}, Sigma: 2}} {
			for _, dir := range []privacy.Direction{privacy.Remove, privacy.Add} {
				put(fmt.Sprint("forms ", i), f.Delta(dir, 0.4, 24), f.Delta(dir, 0, 16))
			}
		}
		lines := []Scalar{{Loss: loss.Logistic{}, ExtraX: 1, ExtraY: 1, Lambda: 1, Sigma: 2},
			{Loss: loss.Logistic{}, ExtraX: 0.5, ExtraY: -1, Lambda: 2, Sigma: 1.5}}
		put("product", ProductDelta(lines, privacy.Remove, 0.2, 40), ProductDelta(lines[:1], privacy.Add, 0.1, 40))
		pureLaw := PureLaw{Loss: loss.Logistic{}, Bend: loss.FreeBend(1, 0.5, 2), Scale: 0.5, Lambda: 2}
		one, two := PureRecord{[]float64{1, 0}, 1, 1}, PureRecord{[]float64{0.6, 0.8}, 0.7, -1}
		put("pure", pureLaw.Worst(), pureLaw.LogRatio([]PureRecord{two, one}, one, []float64{0.3, -0.7}),
			pureLaw.LogRatio(nil, two, []float64{3, 1}))
		rows := matrix.NewDense(3, 2, []float64{1, 0.2, -0.4, 0.6, 0.1, -0.9})
		nb := Neighbours{Loss: loss.Logistic{}, Rows: rows, Labels: []float64{1, -1, 1}, Extra: []float64{0.6, 0.8},
			ExtraLabel: 1, Lambda: 0.8, Sigma: 1.3}
		shrunk := nb
		shrunk.Shrinkage = []float64{0.2, 0.5}
		for _, nb := range []Neighbours{nb, shrunk} {
			ratio, parts, err := nb.Decompose(noise.NewSeeded(3))
			put("neighbours", must.Get(nb.DeltaInterval(privacy.Remove, 0.2, 40, 0.9, noise.NewSeeded(1))),
				must.Get(nb.logRatio([]float64{0.3, -0.1})), ratio, parts, err, nb.ridges(2),
				must.Get(nb.draw(true, noise.NewSeeded(4))), must.Get(nb.privacyLoss(privacy.Add, noise.NewSeeded(5))))
		}
		c := &Curvature{Loss: loss.Logistic{}, Rows: rows, Labels: []float64{1, -1, 1}, First: Record{[]float64{1, 0},
			1},
			Second: Record{[]float64{0, 1}, -1}, Anchor: []float64{0.1, 0.2}, Tilt: []float64{0.3, -0.1}, Ridge: 1.5,
			Sigma2: 0.7, Freedom: 6}
		losses := must.Get(c.Losses(30, noise.NewSeeded(7)))
		drawn := must.Get(c.Draw(true, noise.NewSeeded(6)))
		put("curvature", drawn, must.Get(c.LossAt(drawn)),
			must.Get(c.Swap().LossAt(drawn)), must.Get(c.logDensity(false, drawn)), losses,
			DeltaOfLosses(losses, 0.05, 0.9, noise.NewSeeded(8)), meanDeterminant([]float64{0.5, 2, 3}, 7))
		for _, dir := range []privacy.Direction{privacy.Remove, privacy.Add} {
			put("its loss", must.Get(c.privacyLoss(dir, noise.NewSeeded(6))))
		}
		turned, angle := frame([]float64{1, 2, 2}, []float64{0, 1, -1})
		put("frame", turned.RawMatrix().Data, angle)
		for _, dir := range []privacy.Direction{privacy.Remove, privacy.Add} {
			put("shifted", must.Get(Losses(Shifted{1, 2}, dir, 5, 1, noise.NewSeeded(2))))
		}
		exact := must.Get(Exact(Shifted{1, 2}, &Options{Draws: 500, Level: 0.9, Delta: 1e-3, Workers: 1,
			Claim: privacy.GaussianProfile(0.5, privacy.AddRemove)}, noise.NewSeeded(9)))
		put("exact", exact)
		_, none := Losses(Shifted{1, 2}, privacy.Remove, 0, 1, noise.NewSeeded(2))
		_, less := nb.DeltaInterval(privacy.Remove, 0.2, 0, 0.9, noise.NewSeeded(1))
		_, sure := nb.DeltaInterval(privacy.Remove, 0.2, 5, 1, noise.NewSeeded(1))
		put("refused", none, less, sure)

		// Scores, cuts and bounds of what was drawn.
		draws := func(seed uint64, n, d int, shift float64) (all [][]float64) {
			rng := noise.NewSeeded(seed)
			for range n {
				x := make([]float64, d)
				for j := range x {
					x[j] = (1+0.3*shift*float64(j))*rng.NormFloat64() + shift
				}
				all = append(all, x)
			}
			return all
		}
		p, q := draws(1, 60, 2, 0.8), draws(2, 60, 2, 0)
		for _, sets := range [][2][][]float64{{p, q}, {draws(3, 40, 1, 2), draws(4, 40, 1, 0)}, {{{1}, {2}, {1}, {1}},
			{{2},
				{2}, {2}, {1}}}, {{{0, 1}, {0, 2}, {0, 3}}, {{0, 1}, {0, 1.5}, {0, 2}}}} {
			for k, s := range learn(sets[0], sets[1]) {
				put(fmt.Sprint("score ", k), s.of(sets[0][0]), s.of(sets[1][1]), s.of(make([]float64, len(sets[0][0]))))
			}
			put("separation", separation(sets[0], sets[1]))
		}
		put("certain", separation([][]float64{{1}, {1}, {1}, {1}}, [][]float64{{0}, {0}, {0}, {0}}),
			separation([][]float64{{1}, {1}, {1}, {1}}, [][]float64{{1}, {1}, {1}, {1}}))
		uneven := [][]float64{{1, math.NaN(), math.Inf(-1)}, {2}, {1e200, 3}}
		level(uneven)
		put("level", uneven)
		var ps, qs []float64
		for i := range p {
			ps, qs = append(ps, p[i][0]), append(qs, q[i][1])
		}
		claim := privacy.GaussianProfile(1, privacy.AddRemove)
		put("threshold", thresholdEpsilon(append(slices.Repeat(ps, 5), 9), slices.Repeat(qs, 5), 1e-3, 0.8),
			thresholdEpsilon(
				slices.Repeat(qs, 5), slices.Repeat(ps, 5), 0, 0.9), quantile(ps, 1, 0.2), quantile(ps, -1, 0.2),
			above(ps, -1, 0))
		put("attack", must.Get(Attack(ps, qs, 0.9, claim)), must.Get(Attack(ps, qs, 0.5, nil)), Allowed(claim,
			[]float64{0,
				0.1, 0.9, 1}))
		_, few := Attack(ps[:39], qs, 0.9, nil)
		_, wrong := Attack(ps, qs, 1, nil)
		put("refused", few, wrong)
		slices.Sort(ps)
		slices.Sort(qs)
		put("cuts", curveCuts(ps, qs), thresholds(ps, qs), exceeding(ps, ps[7]), exceeding([]float64{1, 2, 2, 3}, 2),
			share([]float64{1, 2, 2, 3}, 2.5), expected(0.2, 50, 100, 1), expected(0, 50, 1000, -1), expected(1, 50,
				10, 1))
		for _, claimed := range []float64{0.5, 3, math.Inf(1)} {
			for _, at := range []float64{0, 0.05, 0.5} {
				put("tangent", newTangents(claim, privacy.Remove, claimed).at(at))
			}
		}
		for _, k := range []int{0, 1, 7, 20} {
			put("binomial", ClopperPearson(k, 20, 0.95), binomialMass(float64(k), 20, 0.3))
			for _, eps := range []float64{0, 1} {
				put("one run", OneRunBound(40, 20, k, eps, 1e-3), OneRunBound(40, 20, k, eps, 0))
			}
			put("judged", must.Get(judge("m", claim, 40, 20, k, Options{Level: 0.9, Delta: 1e-3})))
		}
		for _, v := range [][3]float64{{1.25, 1, 0.5}, {0.1, 0.3, 0.7}, {3, 3, 1}, {1e10, 1, 3}} {
			put("low bits", Preimages(v[0], v[1], v[2]), factors(v[0]-v[1], v[2]), lastBits(v[0], v[1]),
				success(v[0]-v[1]),
				FloatSum(v[:1], v[2:], noise.NewSeeded(1)), GridNoise(v[:1], v[2:], noise.NewSeeded(1)))
		}
		for i, d := range []Domain{{RowNorm: 2, Features: 3, Labels: []float64{-1, 1}}, {RowNorm: 1, Features: 1,
			Labels: []float64{1}, Rows: 2}, {Lower: []float64{0, -1, 2, 3}, Upper: []float64{1, 1, 5, 4},
			Labels: []float64{
				0.5}}, {Features: 2}, {Labels: []float64{1}}} {
			for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne, 9} {
				pairs, err := d.Pairs(adj)
				put(fmt.Sprint("pairs ", i, " ", int(adj)), len(pairs), err)
				for k, pair := range pairs {
					if k%5 == 0 {
						put(pair.Name, must.Get(pair.With.records()), pair.With.Labels,
							must.Get(pair.Without.records()),
							pair.Without.Labels, pair.check(adj, rowsOf(nil)+d.Rows), pair.check(3-adj, 1))
					}
				}
			}
			put("opposite", d.extremes())
		}
		search := Search{Loss: loss.Logistic{}, Labels: []float64{-1, 1}, RowNorm: 1, Lambda: 1, Sigma: 2, Epsilon: 0.3,
			Direction: privacy.Remove, Claimed: 0.2, Steps: 6}
		put("search", must.Get(search.Run(context.Background(), noise.NewSeeded(1))))
		for _, claimed := range []float64{0, math.NaN()} {
			search.Claimed = claimed
			for _, search.Epsilon = range []float64{0.3, 50} { // where there is something to find, and nothing
				put("against no claim", search.evaluate(search.start(3, noise.NewSeeded(6))).Ratio)
			}
		}
		m := must.Get(objpert.Calibrate(objpert.Config{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 2, Tolerance: 1e-6,
			Epsilon: 1, Delta: 1e-3, Adjacency: privacy.AddRemove}))
		pairs := must.Get(Domain{RowNorm: 1, Features: 2, Labels: []float64{-1, 1}}.Pairs(privacy.AddRemove))
		o := &Options{Draws: 400, Level: 0.9, Delta: 1e-3, Workers: 1}
		put("audited", must.Get(Mechanism(context.Background(), m, pairs[0], o, noise.NewSeeded(3))))
		worst, err := Worst(context.Background(), m, pairs[:4], o, noise.NewSeeded(4))
		put("worst", worst.With.Labels, err)
		_, empty := Worst(context.Background(), m, nil, o, noise.NewSeeded(4))
		put("worst of none", empty)
		in := Data{Rows: matrix.NewDense(6, 2, []float64{1, 0, 0, 1, -1, 0, 0, -1, 0.6, 0.8, 0.8, 0.6}),
			Labels: []float64{1, 1, -1, -1, 1, -1}}
		for _, guesses := range []int{0, 4, 7} {
			once, err := OneRun{Mechanism: m, Canaries: in, Base: Data{Rows: matrix.NewDense(1, 2, []float64{0.5,
				0.5}), Labels: []float64{1}},
				Guesses: guesses,
				Score: func(r *mechanism.Release, x []float64, label float64) float64 {
					return label * mat.Dot(mat.NewVecDense(2, x), mat.NewVecDense(2, r.Coefficients))
				}}.Run(&Options{Level: 0.9, Delta: 1e-3}, noise.NewSeeded(5))
			if put("one run", err); err == nil {
				put("found", once)
			}
		}
		replacing := OneRun{Mechanism: replacesOne{m}, Canaries: in,
			Base: Data{Rows: matrix.NewDense(1, 2, []float64{0.5, 0.5}), Labels: []float64{1}}}
		tossed := []bool{true, false, false, true, true, false}
		for _, n := range []int{0, 5, 6, 7} {
			replacing.Instead = Data{Rows: matrix.NewDense(n, 2, draws(9, 1, 2*n, 0)[0]), Labels: make([]float64, n)}
			data, err := replacing.assembled(must.Get(in.records()), tossed)
			if put(fmt.Sprint("replaced ", n), err); err == nil {
				put("assembled", must.Get(data.records()))
			}
		}
		stopped := &Stopped{Mechanism: m, Rows: rows, Labels: []float64{1, -1, 1}, Extra: []float64{0, 1},
			ExtraLabel: 1,
			Pushed:     true}
		sample, err := stopped.Sample(true, 4, noise.NewSeeded(6))
		put("stopped", err, sample)
		for _, o := range []*Options{{Draws: -1}, {Level: 2}, {Delta: 1}, {Delta: -1}, nil, {Workers: 3, Level: 0.5}} {
			v, err := o.value()
			put("options", err, v.Draws, v.Level, v.Delta, v.Workers)
		}
	})
}
