package multiclass

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func TestFiguresStay(t *testing.T) {
	golden.Figures(t, "testdata/figures.txt", 1e-9, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		profile := func(name string, p privacy.Profile, err error) {
			if err != nil {
				put(name, err)
				return
			}
			for _, eps := range []float64{-1, 0, 0.4, 3, 31, math.Inf(1), math.Inf(-1)} {
				put(fmt.Sprint(name, " ", eps), p.LogDeltaUpper(privacy.Remove, eps), p.LogDeltaUpper(privacy.Add, eps))
			}
		}
		facts := []mechanism.Facts{{Records: 4000, Mu: 0.8, Directions: 9, Bias: 0.5, Features: 10},
			{Records: 90, Mu: 0.8, Directions: 9, Bias: 0.5, Features: 10, BaseRate: 0.2,
				Curves: []matrix.Span{{First: 1, Len: 4}}}}
		for _, classes := range []int{1, 2, 3, 9, 1 << 20, 1<<20 + 1} {
			for _, at := range [][2]float64{{0.3, 2.5}, {0.6, 9}, {40, 0.8}} {
				m := Softmax{Classes: classes, RowNorm: 1.1, Lambda: at[0], Sigma: at[1], Tolerance: 1e-3,
					OutputSigma: 0.1}
				name := fmt.Sprint("softmax ", classes, at)
				put(name, m.Validate(), m.Lipschitz(), m.Smoothness(), m.Gaussian(), m.Part(0.02, 0.1), m.mu())
				p, err := m.Profile()
				profile(name, p, err)
				if p, err = m.WithGaussian(0.3); err == nil {
					put(name+" with", p.LogDeltaUpper(privacy.Remove, 1))
					put(name+" feasible", m.Feasible(3, 0), m.Feasible(3, 100))
				}
				for _, f := range facts {
					of, stretch := m.For(f)
					put(name+" informed", of, stretch)
				}
			}
		}
		for _, classes := range []int{3, 9} {
			p := newVertexProfile(classes, 1.1, 0.5, 3, 0.02)
			put("vertex", p, newVertexProfile(classes, 1.1, 50, 3, 0.02), newVertexProfile(classes, 1.1, 0.5, 1e-3, 0))
			for _, eps := range []float64{-31, -1, 0, 0.2, 1, 4, 31} {
				put(fmt.Sprint("vertex at ", eps), p.turned(eps), p.crowding(eps, 1.2, 0.6), p.crowding(eps, 0.3, 2.5),
					p.log(privacy.Remove, eps), p.log(privacy.Add, eps), p.meanExcess(eps, 1.2, 0.6))
			}
		}
		noisy := Softmax{Classes: 4, RowNorm: 1, Lambda: 3, Sigma: 4, Tolerance: 1e-3, OutputSigma: 0.1}
		more, _ := noisy.For(facts[1])
		edge := newVertexProfile(3, 1, 0.5, 3, 0)
		own := Config{Reserved: 0.2}
		apart := 1.0
		own.apart(&apart)
		put("rounded", golden.Rounded(part(0.4, 0.02, 0.3), math.Sqrt(0.02/0.7)*0.4),
			golden.Rounded(more.(Softmax).OutputSigma, 0.1*3/more.(Softmax).Lambda), golden.Rounded(edge.a,
				math.Sqrt2/3),
			golden.Rounded(edge.kappa, 2-0.25*2.0/9), golden.Rounded(apart, own.share()/objpert.OutputShare),
			golden.Rounded(noisy.mu(), 2e-3/0.3), golden.Rounded(widened(-2), -2))
		put("plain", widened(math.Inf(-1)), widened(-1e3)+1e3, gaussian(0.4, 0.3), normal.Survival(1.3),
			part(0.4, 0.02, 0.3))
		two := Softmax{Classes: 4, RowNorm: 1, Lambda: 3, Sigma: 4, Tolerance: 1e-3, OutputSigma: 0.1, Bound: RankK}
		p := must.Get(two.Profile())
		put("rank", p.LogDeltaUpper(privacy.Remove, 0.7), p.LogDeltaUpper(privacy.Add, 0.7))
		two.Bound = 7
		put("no bound", two.Validate())
		gauss := privacy.GaussianProfile(0.5, privacy.AddRemove)
		for _, mu := range []float64{1e-4, 0.02, 0.5} {
			profile(fmt.Sprint("shifted ", mu), shifted{gauss, mu}, nil)
		}
		softplus := loss.Softplus{Width: 0.5}
		for _, classes := range []int{1, 2, 5} {
			for _, lambda := range []float64{0.2, 30} {
				one := objpert.Objective{Loss: softplus, RowNorm: 1.1, Lambda: lambda, Sigma: 3, Tolerance: 1e-3,
					OutputSigma: 0.05}
				m := OneVsRest{Classes: classes, Binary: one}
				name := fmt.Sprint("one-vs-rest ", classes, " ", lambda)
				put(name, m.Validate(), m.Part(0.02, 0.1), m.Gaussian(), m.Feasible(3, 0))
				for _, f := range facts {
					of, stretch := m.For(f)
					put(name+" informed", of, stretch)
				}
				if lambda < 1 {
					continue // a composition, which is dear
				}
				p, err := m.Profile()
				profile(name, p, err)
				if p, err = m.WithGaussian(0.3); err == nil {
					put(name+" with", p.LogDeltaUpper(privacy.Remove, 1))
				}
			}
		}
		for _, c := range []Config{{Epsilon: 1}, {Epsilon: 0.05}, {Epsilon: 8}, {Epsilon: 1, Reserved: 0.2}, {},
			{Epsilon: 1, NoiseFactor: 1.5}, {Epsilon: 1, Lambda: 0.4}, {Epsilon: 1, Lambda: 50, Tolerance: 1e-4},
			{Epsilon: 1001}, {Epsilon: 1, NoiseFactor: 0.9}, {Epsilon: 1, Reserved: 1}, {Epsilon: 1, Lambda: -1},
			{Epsilon: 1, Adjacency: privacy.ReplaceOne}} {
			for _, classes := range []int{2, 4} {
				c.Classes, c.RowNorm, c.Delta = classes, 1, 1e-6
				if c.Adjacency == 0 {
					c.Adjacency = privacy.AddRemove
				}
				m, err := CalibrateSoftmax(c, Vertex)
				put(fmt.Sprintf("softmax for %+v", c), err, m)
				if c.Lambda > 0 && c.Lambda < 1 || c.NoiseFactor > 0 {
					continue // a composition
				}
				of, err := CalibrateOneVsRest(c, loss.Logistic{})
				put(fmt.Sprintf("one-vs-rest for %+v", c), err, of)
			}
		}
	})
	golden.Figures(t, "testdata/solved.txt", 1e-6, func(say func(name string, values ...float64)) {
		rng := noise.NewSeeded(5)
		x, y, z := matrix.NewDense(60, 3, nil), make([]float64, 60), make([]float64, 60)
		for i := range y {
			for j := range 3 {
				x.Data[3*i+j] = 0.5 * rng.Float64()
			}
			y[i], z[i] = float64(i%4), math.Copysign(1, rng.Float64()-0.5)
		}
		signs(z, y, 2)
		say("signs", z...)
		soft := Softmax{Classes: 4, RowNorm: 1, Lambda: 1, Sigma: 3, Tolerance: 1e-9, OutputSigma: 0.01}
		rough := soft
		rough.Penalty = objpert.Penalty{Shrinkage: 0.5}.Smoothing([]matrix.Span{{First: 0, Len: 3}}, 2)
		for i, m := range []mechanism.Mechanism{soft, rough, OneVsRest{Classes: 4, Binary: objpert.Objective{
			Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1, Sigma: 3, Tolerance: 1e-9, OutputSigma: 0.01}}} {
			r, err := m.Run(x, y, noise.NewSeeded(9), nil)
			if err != nil {
				t.Fatal(i, err)
			}
			say(fmt.Sprint(i), append(r.Coefficients, r.Tolerance, r.NoiseScale)...)
		}
	})
}
