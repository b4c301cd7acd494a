package audit

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func TestFiguresOfScoresStay(t *testing.T) {
	testscale.Slow(t)
	golden.Figures(t, "testdata/scores.txt", 1e-7, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		laws := func(name string, p, q []float64) {
			const more = 1e-12 // beside which what is lost to rounding is nothing
			put(name, len(p), floats.Sum(p), floats.Sum(q), more+HockeyStick(p, q, 0.2), more+HockeyStick(q, p, 0.2),
				more+HockeyStick(p, q, 1), Renyi(p, q, 1.5), Renyi(q, p, 4))
		}
		s := Scalar{Loss: loss.Logistic{}, X: []float64{1, -0.5, 0.3}, Y: []float64{1, 1, -1}, ExtraX: -1, ExtraY: 1,
			Lambda: 0.3, Sigma: 1.5, Tilt: 0.7, Weights: []float64{1, 2, 0.5}}
		bent := s
		bent.Loss, bent.Weights, bent.Regulariser = loss.Huber{Threshold: 0.5}, nil, math.Atan
		for k, s := range []*Scalar{&s, &bent} {
			p, q := s.Cells(300)
			laws(fmt.Sprint("cells ", k), p, q)
			p, q = s.CellsAt([]float64{-3, -1, 0, 0.5, 2})
			put(fmt.Sprint("at ", k), p, q, s.DeltaLower(privacy.Remove, 0.3), s.DeltaLower(privacy.Add, 0.3))
			for _, solver := range []Solver{PushedApart, Marked} {
				a := Approximate{Scalar: *s, Tolerance: 0.05, OutputSigma: 0.2, Solver: solver}
				p, q = a.Cells(60)
				laws(fmt.Sprint("approximate ", k, " ", int(solver)), p, q)
			}
		}
		p, q := Radial{Dimension: 5, Slope: 1, Smoothness: 0.5, Lambda: 0.4, Sigma: 2}.Cells(200)
		laws("radial", p, q)
		p, q = (&Softmax{X: []float64{1, -0.5}, Y: []int{0, 2}, ExtraX: 0.7, ExtraY: 1, Lambda: 0.3, Sigma: 1.5,
			Weights: []float64{3, 2}, Tilt: [2]float64{0.5, -1}}).Cells(40)
		laws("three classes", p, q)
		forms := Forms{Loss: loss.Logistic{}, Rows: [][2]float64{{1, 0.2}, {-0.3, 0.8}}, Labels: []float64{1, -1},
			Ridges: [2]float64{0.5, 2}, Turn: 0.4, Sigma: 1.5}
		put("forms", forms.Delta(privacy.Remove, 0.1, 60), forms.Delta(privacy.Add, 0.4, 60))
		line := Scalar{Loss: loss.Logistic{}, ExtraX: 1, ExtraY: 1, Lambda: 0.5, Sigma: 2}
		other := Scalar{Loss: loss.Huber{Threshold: 1}, ExtraX: -0.5, ExtraY: 0.3, Lambda: 1, Sigma: 1}
		put("lines", ProductDelta([]Scalar{line}, privacy.Remove, 0.1, 300),
			ProductDelta([]Scalar{line, other}, privacy.Add, 0.2, 300))
		nb := &Neighbours{Loss: loss.PseudoHuber{Threshold: 0.5}, Rows: matrix.NewDense(2, 2, []float64{1, 0.2, -0.4,
			0.7}), Labels: []float64{1, -0.5}, Extra: []float64{0.6, -0.6}, ExtraLabel: 1, Lambda: 0.3, Sigma: 1.2}
		for k, shrinkage := range [][]float64{nil, {0.5, 0}} {
			nb.Shrinkage = shrinkage
			ratio, parts, err := nb.Decompose(noise.NewSeeded(4))
			put(fmt.Sprint("neighbours ", k), ratio, parts, err)
			for _, at := range [][]float64{{0, 0}, {0.4, -2}} {
				ratio, err := nb.logRatio(at)
				put(fmt.Sprint("at ", k, at), ratio, err)
			}
		}
		for d := 2; d < 5; d++ {
			c := pair(d, d+5, loss.PseudoHuber{Threshold: 0.1}, 4)
			theta := make([]float64, d)
			for j := range theta {
				theta[j] = c.Anchor[j] - 0.3*c.Tilt[j] + 0.1*float64(j)
			}
			l, err := c.LossAt(theta)
			back, _ := c.Swap().LossAt(theta)
			put(fmt.Sprint("curvature ", d), l, back, err)
		}
		put("interval", ClopperPearson(3, 50, 0.95), ClopperPearson(0, 50, 0.9), ClopperPearson(50, 50, 0.9),
			DeltaOfLosses([]float64{0.3, -1, 2, 0.1, 5}, 0.2, 0.9, noise.NewSeeded(1)))
		sides := [2][][]float64{}
		for k := range sides {
			src := noise.NewSeeded(uint64(k))
			for range 200 {
				x := []float64{src.NormFloat64() + float64(k), src.NormFloat64() * float64(1+k), 3, 0.2}
				sides[k] = append(sides[k], append(x, x[0]*x[1]))
			}
		}
		for _, s := range learn(sides[0], sides[1]) {
			put("score by "+s.name, s.of(sides[0][0]), s.of(sides[1][7]), s.of([]float64{9, -40, 3, 1, 2}))
		}
		claim := privacy.GaussianProfile(1, privacy.AddRemove)
		var in, out []float64
		for k := range 400 {
			in, out = append(in, sides[k%2][k/2][0]), append(out, sides[1-k%2][k/2][1])
		}
		curve, err := Attack(in, out, 0.9, claim)
		put("attack", curve, err, Allowed(claim, []float64{0, 1e-3, 0.1, 0.5, 1}))
		for _, right := range []int{50, 60, 75} {
			put(fmt.Sprint("of one run ", right), OneRunBound(100, 80, right, 0.5, 1e-5),
				must.Get(judge("", claim, 100, 80, right, Options{Level: 0.95, Delta: 1e-5})))
		}
		for k, d := range []Domain{{RowNorm: 2, Features: 3, Labels: []float64{-1, 1}}, {Lower: []float64{0, -1},
			Upper: []float64{1, 3}, Labels: []float64{0}}, {RowNorm: 1, Features: 1, Labels: []float64{0, 1},
			Rows: 2}} {
			for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
				pairs, err := d.Pairs(adj)
				put(fmt.Sprint("domain ", k, adj), d.extremes(), d.opposite(d.extremes()[0]), len(pairs), err)
				var sizes [2]int
				for _, p := range pairs {
					with, without := must.Get(p.With.records()), must.Get(p.Without.records())
					sizes[0], sizes[1] = sizes[0]+len(with), sizes[1]+len(without)
				}
				last := pairs[len(pairs)-1]
				put(fmt.Sprint("its pairs ", k, adj), sizes, must.Get(last.With.records())[0],
					must.Get(last.Without.records())[0])
			}
		}
		put("bits", Preimages(0.7, 0.1, 1.5), Preimages(3, 0, 1), factors(1.25, 1.5), lastBits(0.7, 0.1), success(2))
		f := search(0.5, 1.3, 0.4, 1e-3, privacy.Remove)
		rng := noise.NewSeeded(6)
		c := f.start(3, rng)
		put("found", f.evaluate(c).Ratio, f.evaluate(f.step(c, rng, 0.4)).Exact)
	})
}
