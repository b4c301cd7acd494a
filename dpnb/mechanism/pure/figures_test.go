package pure

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func TestFiguresStay(t *testing.T) {
	plain := Config{Loss: loss.Logistic{}, Epsilon: 1, Adjacency: privacy.AddRemove, Features: 5, Records: 5000,
		Radius:    10,
		LeastNorm: 1}
	changed := func(change func(*Config)) Config {
		c := plain
		change(&c)
		return c
	}
	configs := []Config{plain, changed(func(c *Config) { c.Adjacency = privacy.ReplaceOne }),
		changed(func(c *Config) { c.Loss, c.MomentBound = loss.Squared{}, 3 }),
		changed(func(c *Config) { c.Loss, c.MomentBound, c.WorstCase, c.Moment = loss.Squared{}, 3, true, 4 }),
		changed(func(c *Config) { c.Loss, c.Directions, c.Records = loss.LeastAbsolute{}, true, 40 }),
		changed(func(c *Config) { c.TypicalNorm, c.TypicalResidual, c.Centre = 0.5, 2, []float64{1, 2, 0, 0, -1} }),
		changed(func(c *Config) { c.Clip, c.Lambda, c.Tolerance = 0.4, 2, 1e-3 }),
		changed(func(c *Config) { c.Loss, c.Epsilon, c.Features = loss.Softplus{Width: 1}, 0.02, 300 }),
		changed(func(c *Config) { c.Loss = loss.Pinball{Tau: 0.3} }), changed(func(c *Config) { c.Epsilon = 0 }),
		changed(func(c *Config) { c.Loss = loss.Squared{} }), changed(func(c *Config) { c.WorstCase = true }),
		changed(func(c *Config) { c.Radius = 0 }), changed(func(c *Config) { c.TypicalNorm = 1 }),
		changed(func(c *Config) { c.Moment = 1 }), changed(func(c *Config) { c.Records = MostRecords + 1 })}
	facts := mechanism.Facts{Records: 900, Mu: 0.7, Directions: 4, Features: 5, Bias: 0.5}
	x, y := matrix.NewDense(60, 5, nil), make([]float64, 60)
	for i := range y {
		for j := range 5 {
			x.Data[5*i+j] = math.Sin(float64(7*i + 3*j*j))
		}
		y[i] = math.Copysign(1, math.Cos(float64(i)))
	}
	golden.Figures(t, "testdata/figures.txt", 1e-9, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		problem := func(p *Problem, least float64) {
			put("its problem", p.Clip, p.Radius, p.Lambda, p.Tolerance, p.Records, p.Most, p.limit(), p.reach(),
				p.target(),
				least)
		}
		for i, c := range configs {
			m, err := c.Calibrate()
			put(fmt.Sprint("objective ", i), err, m.Scale, m.OutputScale, m.Stretch)
			if err == nil {
				bend := m.bend()
				problem(&m.Problem, m.least(c.Features)(1000))
				put("its cost", m.Epsilon(), m.blur(c.Features, 1000), m.Feasible(c.Features, 1000), bend.Smoothness(),
					bend.Bias(0.7), m.shift(bend, 0.5), m.shift(bend, 50))
				m.Cosh = 0.7
				put("by ln cosh", m.Epsilon(), m.bend().Smoothness())
				if m.Clip < math.Inf(1) && !math.IsInf(m.Loss.Lipschitz(), 1) {
					m.Cosh = 0
					of, stretch := m.For(facts)
					put("informed", of, stretch)
				}
			}
			if i == 0 {
				p := &m.Problem
				put("rounded", golden.Rounded(p.reach(), p.Tolerance/p.Lambda), golden.Rounded(p.target(), p.reach()),
					golden.Rounded(m.Scale, 1/0.99), golden.Rounded(m.Epsilon(), 1), golden.Rounded(Counted{Config: c,
						Share: 0.1}.share(), 0.1))
			}
			o, err := c.CalibrateOutput()
			if put(fmt.Sprint("output ", i), err, o.Scale); err == nil {
				problem(&o.Problem, o.least(c.Features)(1000))
				put("its sensitivity", o.Sensitivity(), o.Feasible(c.Features, 10))
			}
			counted := Counted{Config: c, Share: 0.1}
			if counted.Records = 0; i < 3 {
				few, many := must.Get(counted.after(-3)), must.Get(counted.after(1e6))
				put("counted", counted.share(), few.Scale, few.Lambda, many.Scale, many.Lambda, counted.Validate())
			}
			for k, of := range []PhasesConfig{{Config: c}, {Config: c, Count: 4, Blocks: 2, Ratio: 2, Double: true},
				{Config: c, Constants: Printed}, {Config: c, Count: 41}, {Config: c, Ratio: 0.5}, {Config: c,
					Count: 9, Blocks: 99}} {
				m, err := of.Calibrate()
				if put(fmt.Sprint("phases ", i, k), err, m.ClipRatio); err != nil {
					continue
				}
				problem(&m.Problem, m.least(c.Features)(1000))
				last := m.within(nil, m.Count)
				put("the last", last.Lambda, last.Clip, last.Tolerance, m.scale(last), m.localRadius(last, 5),
					m.planned(1),
					m.planned(m.Count), m.most(2, 1000), m.hardest(2).Radius, m.hardest(2).Centre, m.stages())
			}
		}
		for _, adjacency := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
			for _, constants := range []Constants{Exact, Printed} {
				m := Phases{Count: 3, Blocks: 2, Adjacency: adjacency, Constants: constants}
				put("blocks", m.blocks(25, exact.New(noise.NewSeeded(3))))
			}
		}
		w := []float64{3, 4}
		project(w, []float64{0, 1}, 2)
		put("central", w, central([][]float64{{0, 9}, {1, 1}, {1, 2}, {0, 1}}))
	})
	golden.Figures(t, "testdata/solved.txt", 1e-6, func(say func(name string, values ...float64)) {
		hard := func(m mechanism.Mechanism, err error) mechanism.Mechanism {
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		for i, c := range []Config{configs[0], configs[1], configs[5], configs[6], configs[8]} {
			c.Epsilon, c.Records, c.Tolerance = 50, 60, 1e-10
			counted := Counted{Config: c, Share: 0.1}
			counted.Records, counted.Tolerance = 0, 0
			all := []mechanism.Mechanism{hard(c.Calibrate()), hard(c.CalibrateOutput()),
				hard(PhasesConfig{Config: c, Count: 2, Double: i%2 == 0, Blocks: 3}.Calibrate())}
			if i == 0 {
				all = append(all, counted)
			}
			for k, m := range all {
				r := must.Get(m.Run(x, y, noise.NewSeeded(2), &mechanism.Settings{Workers: 1}))
				if k == 3 { // whose tolerance is for however many records
					r.Coefficients = nil
				}
				say(fmt.Sprint(i, " ", k), append(r.Coefficients, r.NoiseScale, r.Tolerance)...)
			}
		}
	})
}
