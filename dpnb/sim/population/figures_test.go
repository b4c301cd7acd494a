package population

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
)

func TestFiguresStay(t *testing.T) {
	golden.Figures(t, "testdata/figures.txt", 1e-7, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		for d := Rademacher; d <= Elliptical; d++ {
			x := make([]float64, 130)
			d.fill(noise.NewSeeded(7), x, 26)
			put(d.String(), x[:6], x[63:66], x[126:])
		}
		for i, draw := range []Draw{Normal(2, 3), OnSphere(1.5), Mixed(0.5), Contaminated(0.3, 0.3, 3),
			UniformNoise(-1, 3)} {
			x := make([]float64, 17)
			draw(noise.NewSeeded(3), x)
			put(fmt.Sprint("draw ", i), x)
		}
		for _, m := range [][3]float64{{0.3, 0, 1}, {2, 0, 1}, {-2, 0, 1}, {0.9, 0.2, 1}, {-3, 2, 0.5}} {
			put("cut", cutMean(m[0], m[1], m[2]))
		}
		slope := make([]float64, 2)
		ExpectedLogistic(slope, []float64{1, -2}, []float64{0.5, 0})
		put("slopes", slope, Logistic(0.3))
		ExpectedHuber(1, 0.5)(slope, []float64{1, -2}, []float64{0.5, 0})
		put("slopes", slope, shares([]float64{0, 1, 2}, []float64{-1, 0, 0.5, 1, 1.5, 2, 3}))
		var v values
		v.measure([]float64{1, -0.5, 2}, []float64{0.5, 1, 1.5}, []float64{1, 2, -1})
		put("measured", v)
		v = values{}
		v.measure([]float64{1, -0.5}, []float64{0, 0}, nil)
		put("measured without a signal", v)

		regression := Population{Records: 40, Features: 12, Design: Gaussian, Signal: Normal(0, 1), Noise: Normal(0,
			0.5)}
		classes := Population{Records: 40, Features: 60, Design: Skewed, Signal: OnSphere(1.3), Prob: Logistic}
		for i, p := range []Population{regression, classes, {}, {Records: 1, Features: 1, Design: 9}} {
			put(fmt.Sprint("population ", i), p.Validate())
		}
		logistic := ObjectivePerturbation{Loss: loss.Logistic{}, Lambda: 0.7, Nu: 0.4, Tolerance: 1e-11}
		huber := ObjectivePerturbation{Loss: loss.PseudoHuber{Threshold: 1}, Lambda: 0.7, Nu: 0.4, Tolerance: 1e-11}
		descent := NoisyDescent{Slopes: SlopesOf(loss.Logistic{}), Step: 0.3, Steps: 3, Lambda: 0.1, Nu: 0.2}
		put("refused", ObjectivePerturbation{}.validate(), ObjectivePerturbation{Loss: loss.Logistic{}}.validate(),
			OutputPerturbation(logistic).validate(), NoisyDescent{}.validate(), descent.validate(), descent.iterates())
		for i, s := range []Simulation{{Population: classes, Estimator: logistic, TestRecords: 70},
			{Population: classes, Estimator: OutputPerturbation(logistic)}, {Population: classes, Estimator: descent},
			{Population: regression, Estimator: huber, Edges: []float64{-1, 0, 1}},
			{Population: regression, Estimator: NoisyDescent{Slopes: ExpectedHuber(1, 0.3), Step: 0.3, Steps: 2}}} {
			s.Repetitions, s.Seed, s.Workers = 3, 5, 1
			r := must.Get(s.Run(context.Background()))
			for m := MSE; int(m) < measures; m++ {
				put(fmt.Sprint("simulation ", i, " ", m), r.Of(-1, m).Mean, r.Each(0, m))
			}
			put("its cells", r.AspectRatio, r.Iterates(), len(r.Histogram()), s.validate())
		}
		sample := classes.Draw(noise.NewSeeded(3), nil)
		linear := make([]float64, classes.Features)
		linear[3], linear[7] = 2, -1
		for _, p := range []erm.Problem{{Loss: loss.Logistic{}}, {Loss: loss.PseudoHuber{Threshold: 0.2},
			Linear: linear}} {
			p.Rows, p.Labels, p.Lambda = sample.Rows, sample.Labels, 0.3
			var s Solver
			beta := must.Get(s.Minimize(&p, 1e-9))
			put("solved", beta[:9])
			s.dual(&p, sample.Rows, 1e-9)
			put("by the dual", s.certified(&p, sample.Rows) <= 1e-8)
			for j := range s.beta {
				s.beta[j] = math.Sin(float64(j))
			}
			put("certified", s.certified(&p, sample.Rows))
			still := erm.Problem{Rows: matrix.NewDense(7, 3, nil), Labels: make([]float64, 7), Lambda: 2,
				Loss: loss.PseudoHuber{Threshold: 1}, Linear: []float64{-2, -4, 6}}
			at := Solver{beta: []float64{1, 2, -3}, grad: make([]float64, 3), t: make([]float64, 7),
				slope: make([]float64, 7)}
			put("rounding", at.certified(&still, still.Rows.(*matrix.Dense)))
			put("tolerance", logistic.tolerance(sample), ObjectivePerturbation{}.tolerance(sample))
		}
	})
}
