package objpert

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

func TestFiguresStay(t *testing.T) {
	testscale.Slow(t)
	losses := []loss.Loss{loss.Logistic{}, loss.Huber{Threshold: 1.5}, loss.Softplus{Width: 0.5},
		loss.Softplus{Width: 1}, loss.Weighted{Of: loss.Softplus{Width: 1}}, loss.SmoothPinball{Tau: 0.3, Width: 0.2},
		loss.ClippedAt(loss.Poisson{MaxCount: 9}, 3, 1.1), loss.ClippedAt(loss.Squared{}, 0.7, 1.1),
		loss.PseudoHuber{Threshold: 2}, loss.Probit{}, loss.Squared{}, loss.Linear{}}
	bounds := []objective.Bound{0, objective.RKW23, objective.DTZ24, objective.Pointwise, objective.Integral,
		objective.Tight, 99}
	golden.Figures(t, "testdata/figures.txt", 1e-9, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		profile := func(name string, p privacy.Profile, err error) {
			if err != nil {
				put(name, err)
				return
			}
			for _, eps := range []float64{0, 0.3, 2} {
				put(fmt.Sprint(name, " ", eps), p.LogDeltaUpper(privacy.Remove, eps), p.LogDeltaUpper(privacy.Add, eps))
			}
		}
		for i, l := range losses {
			name := fmt.Sprint(i, " ", l.Name())
			m := Objective{Loss: l, RowNorm: 1.1, Lambda: 3, Sigma: 2.5, Tolerance: 1e-3, OutputSigma: 0.05,
				Centre: 0.4}
			put(name+" constants", m.Lipschitz(), m.Smoothness(), m.Gaussian(), m.exact(), m.Validate(), isMargin(l))
			if m.Validate() == nil {
				for _, plan := range []Planned{{Records: 50, Features: 3}, {Records: 5000, Features: 40, Margin: 1.3}} {
					put(name+" planned", plan.PredictedExcess(m), plan.BestLambda(m, 2), plan.Ridge(m, 2),
						plan.meanField(m), m.Suited(plan, true, 0), m.Suited(plan, false, 0))
				}
				p, err := m.Profile()
				profile(name, p, err)
				p, err = m.WithGaussian(0.2)
				profile(name+" with Gaussians", p, err)
			}
			clip, ok := clipOfCounts(l)
			put(name+" clip", clip, ok)
			for _, f := range []mechanism.Facts{{Records: 4000, Mu: 0.8, Directions: 9, Bias: 0.5, Features: 10},
				{Records: 90, Mu: 0.8, Directions: 9, Bias: 0.5, Features: 10, Typical: 2.5, BaseRate: 0.2,
					Curves: []matrix.Span{{First: 1, Len: 4}, {First: 5, Len: 3}}}} {
				of, stretch := m.For(f)
				put(name+" informed", of, stretch)
			}
			if isMargin(l) {
				put(name+" centre", CentreOf(l, 0.1), CentreOf(l, 0.97))
			}
		}
		for _, b := range bounds {
			for _, lambda := range []float64{0.2, 0.4, 40} {
				m := Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: lambda, Sigma: 1.4, Tolerance: 1e-3,
					OutputSigma: 0.1, Bound: b}
				name := fmt.Sprintf("bound %d at %g", b, lambda)
				put(name, m.Validate(), m.exact(), m.numerical())
				if m.numerical() && (b != objective.Pointwise || lambda != 0.2) { // dear
					continue
				}
				p, err := m.Alone()
				profile(name+" alone", p, err)
				p, err = m.Profile()
				profile(name, p, err)
			}
		}
		wide := Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 3, Sigma: 2.5, Tolerance: 1e-3, OutputSigma: 0.05}
		out := Output{Loss: wide.Loss, RowNorm: 1, Lambda: 3, Tolerance: 1e-3, Sigma: 1}
		put("rounded", golden.Rounded(OutputBeside(1e-3, 2, 0.1, 0), 0.1),
			golden.Rounded(wide.Part(0.05, 0.1), math.Sqrt(0.05/0.9)*wide.Lipschitz()/2.5),
			golden.Rounded(wide.Shrunk(7, false).OutputSigma, 0.05*3/7),
			golden.Rounded(out.Sensitivity(), (wide.Lipschitz()+2e-3)/3))
		put("beside", OutputBeside(1e-3, 2, 0.1, 0), OutputBeside(1e-3, 2, 0.1, 0.3))
		for _, c := range []Config{{Epsilon: 1}, {Epsilon: 0.01}, {Epsilon: 20}, {Epsilon: 1, Reserved: 0.1},
			{Epsilon: 1, Rule: SmallestLambda}, {Epsilon: 3, Rule: SmallestLambda, NoiseFactor: 2, Reserved: 0.2},
			{Epsilon: 1, Lambda: 0.5}, {Epsilon: 1, Lambda: 1e-4}, {Epsilon: 1, Lambda: 2, Tolerance: 1e-4},
			{Epsilon: 1, Planned: Planned{Records: 40, Features: 30}}, {Epsilon: 1, Bound: objective.DTZ24},
			{Epsilon: 1, Bound: objective.RKW23}, {Epsilon: 1, Bound: objective.DTZ24, Lambda: 1},
			{Epsilon: 1, Bound: objective.DTZ24, Planned: Planned{Records: 900, Features: 20}},
			{Epsilon: 1, Bound: objective.Pointwise, Lambda: 0.3}, {Epsilon: 1, NoiseFactor: 0.5}, {Epsilon: 1001},
			{Epsilon: 1, Reserved: 1}, {Epsilon: 1, Adjacency: privacy.ReplaceOne}, {Epsilon: 1, Clip: 0.4}} {
			c.Loss, c.RowNorm, c.Delta = loss.Logistic{}, 1, 1e-6
			if c.Adjacency == 0 {
				c.Adjacency = privacy.AddRemove
			}
			m, err := Calibrate(c)
			put(fmt.Sprintf("calibrated %+v", c), m.Lambda, m.Sigma, m.Tolerance, m.OutputSigma, m.Part(0.05, 0.1), err)
		}
		for _, delta := range []float64{0, 1e-6} {
			m, err := CalibrateOutput(OutputConfig{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 0.7, Epsilon: 0.5,
				Delta: delta, Clip: 0.8})
			put("output", m, m.Sensitivity(), err)
			for _, scale := range []float64{0, 1} {
				m.Scale = scale
				put("output refused", m.Validate())
			}
		}
		p := Penalty{Shrinkage: 0.3, Rough: []Roughness{{matrix.Span{First: 1, Len: 4}, 0.2}}}
		q := Objective{Lambda: 0.5, Penalty: p}
		put("penalty", p.Stiffest(0.5), p.Shrink(4), Penalty{}.Shrink(4), p.Quadratic(6).RawSymmetric().Data,
			q.Ridges(4), p.Check(4), p.Check(5), p.Validate(1), p.Validate(math.Inf(1)),
			Penalty{Shrinkage: -1}.Validate(1), len(p.Words(2)), len(Penalty{}.Words(2)))
		for _, intercept := range []bool{false, true} {
			lambda, r := p.Ridge(0.5, 2, intercept)
			same, kept := p.Ridge(0.5, 0.5, intercept)
			put("ridge", lambda, r, same, kept)
		}
		for _, c := range []float64{-1e30, -2, 1e30} {
			put("about", Objective{Lambda: 3, Tolerance: 1e-6}.about(c).Centre)
		}
		figuresOfCounts(put)
		figuresOfFeasibility(put)
	})
	golden.Figures(t, "testdata/solved.txt", 1e-6, func(say func(name string, values ...float64)) {
		rng := noise.NewSeeded(5)
		x, y := matrix.NewDense(60, 4, nil), make([]float64, 60)
		for i := range y {
			for j := range 4 {
				x.Data[4*i+j] = 0.4 * rng.Float64()
			}
			y[i] = 2*math.Round(rng.Float64()) - 1
		}
		fit := Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1, Sigma: 3, Tolerance: 1e-9, OutputSigma: 0.01}
		rough, held := fit, fit
		rough.Penalty, rough.Centre = Penalty{Shrinkage: 0.5}.Smoothing([]matrix.Span{{First: 0, Len: 3}}, 2), 1.5
		held.Held = []matrix.Direction{{First: 0, Weights: []float64{1, -1}}}
		out := Output{Loss: fit.Loss, RowNorm: 1, Lambda: 1, Tolerance: 1e-9, Sigma: 0.5}
		pure := out
		pure.Sigma, pure.Scale = 0, 0.4
		counted := must.Get(CalibrateCounted(Config{Loss: fit.Loss, RowNorm: 1, Epsilon: 1, Delta: 1e-6,
			Tolerance: 1e-9, Adjacency: privacy.AddRemove}, 0.1, true))
		for i, m := range []mechanism.Mechanism{fit, rough, held, out, pure, counted} {
			r, err := m.Run(x, y, noise.NewSeeded(9), nil)
			if err != nil {
				t.Fatal(i, err)
			}
			say(fmt.Sprint(i), append(r.Coefficients, r.Tolerance, r.NoiseScale)...)
		}
	})
}

func figuresOfCounts(put func(name string, values ...any)) {
	for _, share := range []float64{0, 0.02, 0.5} {
		m, err := CalibrateCounted(Config{Loss: loss.Logistic{}, RowNorm: 1, Epsilon: 1, Delta: 1e-6,
			Adjacency: privacy.AddRemove}, share, true)
		if put(fmt.Sprint("counted ", share), err, m.Count); err != nil {
			continue
		}
		p, _ := m.Profile()
		put("its profile", m.Count.Mu(), p.LogDeltaUpper(privacy.Remove, 0.5))
		for _, rate := range []float64{0, 0.3} {
			m.BaseRate = rate
			put("its fit", m.At(-5, 7), m.At(1e3, 7), m.At(1e12, 7))
		}
	}
	of := Count{Sigma: 20}
	put("planned", of.Planned(3.2, 5), of.Planned(33.2, 5), Count{Sigma: 0.1}.Planned(-2, 5))
}

func figuresOfFeasibility(put func(name string, values ...any)) {
	first := func(refused func(x float64) bool) float64 { // about the least x that is refused
		lo, hi := -60.0, 60.0
		for range 56 {
			if mid := (lo + hi) / 2; refused(math.Exp(mid)) {
				hi = mid
			} else {
				lo = mid
			}
		}
		return math.Exp(lo)
	}
	f := Feasibility{Lipschitz: 1e-7, Smoothness: 0.3, Lambda: 2, Sigma: 5, Tolerance: 1e-6, Features: 30,
		Coefficients: 60}
	for _, centred := range []int{0, 5} {
		for _, records := range []int{0, 10, 1e5} {
			f.Centred, f.Records = centred, records
			put(fmt.Sprint("feasible ", centred, records), first(func(x float64) bool {
				g := f
				g.Sigma = x
				return g.Validate() != nil
			}), first(func(x float64) bool {
				g := f
				g.Lambda = 1 / x
				return g.Validate() != nil
			}), first(func(x float64) bool {
				g := f
				g.Lambda, g.Lipschitz = 1/x, 1.2
				return g.Sure() != nil
			}))
		}
	}
	m := Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 3, Sigma: 2.5, Tolerance: 1e-3, OutputSigma: 0.05}
	put("feasibility", m.Feasibility(5, 7))
	for _, guess := range []float64{0.01, 4, 1e5} {
		calls := 0
		at := func(root float64) float64 {
			x, _ := crossing(1e-3, guess, func(x float64, roughly bool) (float64, error) {
				if calls++; roughly {
					return 0.05 + 1 - math.Pow(x/root, 1.5), nil
				}
				return 1 - math.Pow(x/root, 1.5), nil
			})
			return x
		}
		put("crossing", at(0.7), at(3e6), at(1e-5), calls)
	}
}
