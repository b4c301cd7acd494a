package population

import (
	"context"
	"math"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Entries have mean 0 and variance 1/d, within 5 standard errors; the third and fourth moments are those of the law.
func TestDesignsHaveTheirMoments(t *testing.T) {
	const d, n = 50, 4000
	for design, want := range map[Design][2]float64{
		Rademacher: {0, 1}, Gaussian: {0, 3}, Uniform: {0, 1.8}, Sparse: {0, 4}, Skewed: {1.5, 3.25},
		Elliptical: {0, 3 * (0.1*0.1 + 1.9*1.9) / 2},
	} {
		x := make([]float64, n*d)
		design.fill(noise.NewSeeded(7), x, d)
		for power, moment := range []float64{0, 1, want[0], want[1]} {
			each := make([]float64, n) // by row: entries of elliptical rows depend
			for i := range each {
				for _, v := range x[i*d : (i+1)*d] {
					each[i] += math.Pow(v*math.Sqrt(d), float64(power+1)) / d
				}
			}
			mean, sd := stat.MeanStdDev(each, nil)
			if se := sd / math.Sqrt(n); !(math.Abs(mean-moment) <= 5*se+1e-12) {
				t.Errorf("%s: moment %d is %v ± %v, want %v", design, power+1, mean, se, moment)
			}
		}
	}
}

func TestDraws(t *testing.T) {
	r := noise.NewSeeded(3)
	x := make([]float64, 100_000)
	square := func() (s float64) {
		for _, v := range x {
			s += v * v / float64(len(x))
		}
		return s
	}
	for name, c := range map[string]struct {
		draw         Draw
		square, mean float64
	}{
		"normal": {Normal(2, 3), 13, 2}, "sphere": {OnSphere(1.5), 2.25, 0}, "mixed": {Mixed(0.5), 15. / 4, -0.3},
		"contaminated": {Contaminated(0.1, 0.3, 3), 0.9*0.09 + 0.9, 0.3}, "uniform": {UniformNoise(-1, 3), 1 + 16./12,
			1},
	} {
		c.draw(r, x)
		if got := square(); !(math.Abs(got/c.square-1) <= 0.02) {
			t.Errorf("%s: second moment %v, want %v", name, got, c.square)
		}
		if got := stat.Mean(x, nil); !(math.Abs(got-c.mean) <= 0.05) {
			t.Errorf("%s: mean %v, want %v", name, got, c.mean)
		}
	}
	// What is fixed stays.
	a, b := make([]float64, 50), make([]float64, 50)
	Mixed(1)(r, a)
	Mixed(1)(r, b)
	if !reflect.DeepEqual(a[:25], make([]float64, 25)) || !reflect.DeepEqual(a[35:], b[35:]) || a[30] == b[30] {
		t.Error("half of the mixed signal is 0, a fifth random, the rest fixed")
	}
}

func logisticSimulation() Simulation {
	return Simulation{Population: Population{Records: 40, Features: 20, Design: Rademacher, Signal: Normal(0, 1),
		Prob: Logistic},
		Estimator: ObjectivePerturbation{Loss: loss.Logistic{}, Lambda: 0.5, Nu: 0.3}, Repetitions: 50, Seed: 4,
		TestRecords: 100, Edges: []float64{-1, 0, 1}}
}

func TestSimulationDoesNotDependOnWorkersOrOnWhatIsAppended(t *testing.T) {
	s := logisticSimulation()
	run := func() *Result {
		return must.Get(s.Run(context.Background()))
	}
	s.Workers = 1
	one := run()
	s.Workers = 3
	if got := run(); !reflect.DeepEqual(got, one) {
		t.Error("three workers give another result than one")
	}
	s.Repetitions = 60
	for m := range Measure(measures) {
		if got := run().Each(0, m)[:50]; !reflect.DeepEqual(got, one.Each(0, m)) {
			t.Errorf("%s of the first repetitions changed with their number", m)
		}
	}
	s.Seed++
	if run().Each(0, MSE)[0] == one.Each(0, MSE)[0] {
		t.Error("another seed gives the same numbers")
	}
}

// Measures of one fit against their definitions.
func TestMeasures(t *testing.T) {
	beta, signal, xi := []float64{1, 2, -1}, []float64{1, 0, -2}, []float64{0.5, -1, 1}
	var v values
	v.measure(beta, signal, xi)
	alpha := 3.0 / 5
	variance := (math.Pow(1-alpha, 2) + 4 + math.Pow(-1+2*alpha, 2)) / 3
	want := map[Measure]float64{MSE: 5. / 3, Overlap: 1, Variance: variance, SignalCorrelation: 3 / math.Sqrt(30),
		NoiseOverlap:     -2.5 / 3,
		NoiseCorrelation: -2.5 / math.Sqrt(6*2.25), L1: 1}
	for m, w := range want {
		if !(math.Abs(v[m]-w) <= 1e-14) {
			t.Errorf("%s = %v, want %v", m, v[m], w)
		}
	}
	var nowhere values
	nowhere.measure(beta, make([]float64, 3), make([]float64, 3))
	if a, b := nowhere[SignalCorrelation], nowhere[NoiseCorrelation]; a != 0 || b != 0 || nowhere[Variance] != 2 {
		t.Errorf("correlations of %v and %v with nothing, a variance of %v", a, b, nowhere[Variance])
	}
	cells := shares([]float64{-1, 0, 1, 2}, []float64{-1, 0.5, 1, 1.5, 2, -3, 0})
	if want := []float64{1. / 7, 2. / 7, 2. / 7}; !(math.Abs(cells[0]-want[0])+math.Abs(cells[1]-want[1])+math.Abs(
		cells[2]-want[2]) <= 1e-14) {
		t.Errorf("shares %v, want %v", cells, want)
	}
	for m := range Measure(measures) {
		if m.String() == "" {
			t.Error("a measure has no name")
		}
	}
}

// Where theory needs no limit: with a huge ridge β̂ = −νξ/λ, after output noise alone ⟨β̂, ξ⟩/d = ν, the error of the
// zero classifier is ½, and descent without records' gradients is a sum of noise.
func TestEstimatorsInTheirLimits(t *testing.T) {
	ctx := context.Background()
	s := logisticSimulation()
	s.Repetitions = 400
	s.Estimator = ObjectivePerturbation{Loss: loss.Logistic{}, Lambda: 1e6, Nu: 2e6}
	r := must.Get(s.Run(ctx))
	check := func(name string, m Measure, want float64) {
		t.Helper()
		if got := r.Of(-1, m); !(math.Abs(got.Mean-want) <= 4*got.StdErr+1e-4) {
			t.Errorf("%s: %v ± %v, want %v", name, got.Mean, got.StdErr, want)
		}
	}
	check("objective: overlap with ξ", NoiseOverlap, -2)
	check("objective: error", MSE, 5)
	check("objective: test error", TestError, 0.5)
	h := r.Histogram()
	if p := math.Erf(0.5/math.Sqrt2) / 2; !(math.Abs(h[0].Mean-p) <= 5*h[0].StdErr) ||
		!(math.Abs(h[1].Mean-p) <= 5*h[1].StdErr) {
		t.Errorf("histogram %v, want %v each", h, p)
	}
	s.Estimator = OutputPerturbation{Loss: loss.Logistic{}, Lambda: 1e6, Nu: 0.5}
	r = must.Get(s.Run(ctx))
	check("output: overlap with ξ", NoiseOverlap, 0.5)
	check("output: correlation", NoiseCorrelation, 1)
	s.Estimator = NoisyDescent{Slopes: func(dst, _, _ []float64) { clear(dst) }, Step: 0.5, Steps: 3, Nu: 0.4,
		Lambda: 1}
	r = must.Get(s.Run(ctx))
	if r.Iterates() != 4 || r.Of(0, MSE).Mean == 0 {
		t.Errorf("%d iterates, the first with error %v", r.Iterates(), r.Of(0, MSE))
	}
	check("descent: variance of the noise", Variance, (1+0.25+0.0625)*0.04*19/20)
}

// E of a cut normal variable against a sum over a fine grid.
func TestCutMean(t *testing.T) {
	for _, c := range [][3]float64{{0.3, 0.2, 10}, {0.3, 0.5, 0.6}, {-9.9, 0.2, 10}, {20, 0.2, 10}, {0.5, 0, 0.2},
		{0.1, 3, 0.5}} {
		var want, mass float64
		for i := -4000; i <= 4000; i++ {
			z := float64(i) / 400
			w := math.Exp(-z * z / 2)
			want += w * math.Max(-c[2], math.Min(c[2], c[0]+c[1]*z))
			mass += w
		}
		if got := cutMean(c[0], c[1], c[2]); !(math.Abs(got-want/mass) <= 1e-6) {
			t.Errorf("cutMean%v = %v, want %v", c, got, want/mass)
		}
	}
}

func TestSimulationRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*Simulation){
		"records":   func(s *Simulation) { s.Records = 0 },
		"design":    func(s *Simulation) { s.Design = 0 },
		"signal":    func(s *Simulation) { s.Signal = nil },
		"both":      func(s *Simulation) { s.Noise = Normal(0, 1) },
		"estimator": func(s *Simulation) { s.Estimator = nil },
		"loss":      func(s *Simulation) { s.Estimator = ObjectivePerturbation{Lambda: 1} },
		"lambda":    func(s *Simulation) { s.Estimator = OutputPerturbation{Loss: loss.Logistic{}} },
		"nu": func(s *Simulation) {
			s.Estimator = OutputPerturbation{Loss: loss.Logistic{}, Lambda: 1,
				Nu: -1}
		},
		"slopes":      func(s *Simulation) { s.Estimator = NoisyDescent{Step: 1, Steps: 1} },
		"step":        func(s *Simulation) { s.Estimator = NoisyDescent{Slopes: ExpectedLogistic, Steps: 1} },
		"repetitions": func(s *Simulation) { s.Repetitions = 1 },
		"edges":       func(s *Simulation) { s.Edges = []float64{1, 0} },
		"test":        func(s *Simulation) { s.Prob, s.Noise = nil, Normal(0, 1) },
		"diverges": func(s *Simulation) {
			s.TestRecords = 0
			s.Estimator = NoisyDescent{Slopes: SlopesOf(loss.Squared{}), Step: 1e6, Steps: 100}
		},
	} {
		s := logisticSimulation()
		spoil(&s)
		if r, err := s.Run(context.Background()); err == nil || r != nil {
			t.Errorf("%s: accepted", name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := logisticSimulation().Run(ctx); err == nil {
		t.Error("a run that is cancelled goes on")
	}
}

// A correlation is one at any scale, and 0 where there is nothing to correlate.
func TestCorrelationsHaveNoScale(t *testing.T) {
	signal, xi := []float64{0.3, -0.4, 0}, []float64{1e-3, 0, 1e-3}
	for _, scale := range []float64{1e-6, 1e-2, 1, 1e5} {
		beta := []float64{0.4 * scale, -0.3 * scale, 0}
		var v values
		v.measure(beta, signal, xi)
		if !(math.Abs(v[SignalCorrelation]-0.96) <= 1e-14) || !(math.Abs(v[NoiseCorrelation]-0.8/math.Sqrt2) <= 1e-14) {
			t.Errorf("at scale %g: %v and %v", scale, v[SignalCorrelation], v[NoiseCorrelation])
		}
	}
	var v values
	if v.measure(make([]float64, 3), signal, xi); v[SignalCorrelation] != 0 || v[NoiseCorrelation] != 0 {
		t.Errorf("of nothing: %v", v)
	}
}
