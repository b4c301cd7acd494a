package pure

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Config asks for a mechanism of pure ε. None of it may depend on the records.
type Config struct {
	Loss    loss.Convex
	Epsilon float64
	// Adjacency of ε.
	Adjacency privacy.Adjacency
	// Features is d, Records the planned number n₀.
	Features, Records int
	// Radius is R > 0, Centre w₀; nil is the origin.
	Radius float64
	Centre []float64
	// Moment k > 1 and MomentBound G: E sup_w ‖∇f‖^k ≤ G^k. G may be zero for a loss of bounded slope; k is used by
	// WorstCase alone, and zero means 2.
	Moment, MomentBound float64
	// TypicalNorm ν and TypicalResidual r: half of the records have ‖x‖ ≤ ν, and half a residual |y − ⟨x,w⟩| ≤ r at the
	// minimiser, about: public guesses. With both Calibrate takes a larger Λ, which keeps the noise where the loss
	// bends most, and stretches what it holds back; r wrong by a factor of two costs what that gains, one that is right
	// has an excess risk less by a tenth to a third. Zero does neither.
	TypicalNorm, TypicalResidual float64
	// LeastNorm is the smallest ‖x‖ there can be, 1 with an intercept: what C is where no MomentBound is given, times
	// the largest slope of the loss.
	LeastNorm float64
	// Directions as Problem has it.
	Directions bool
	// WorstCase takes C and Λ of the utility theorem (dpnb-pure-utility) in place of those that did best in
	// experiments: it guards against a bias that few data have.
	WorstCase bool
	// Clip fixes C, Lambda fixes Λ, Tolerance τ; zero has them chosen.
	Clip, Lambda, Tolerance float64
}

// tolerance is τ/C, unless no arithmetic here is as exact.
const tolerance = 1e-6

// farthest is the τ/C of a block beyond which it has no use: a hundredth more noise.
const farthest = 0.01

// outputShare is the part of ε that hides the solver's error.
const outputShare = 0.01

func (c *Config) validate() error {
	given := func(x float64) bool { return x >= 0 && !math.IsInf(x, 1) } // or 0
	typical := [2]float64{c.TypicalNorm, c.TypicalResidual}
	return cmp.Or(
		privacy.Within(c.Epsilon >= 1e-9 && c.Epsilon <= 1e6, "Epsilon", c.Epsilon, "a number from 1e-9 to 1e6"),
		privacy.Within(c.Features >= 1, "Features", c.Features, "at least 1"),
		privacy.Within(c.Records >= 1 && c.Records <= MostRecords, "Records", c.Records,
			fmt.Sprintf("the planned number of records, from 1 to %d", MostRecords)),
		privacy.Within(c.Radius > 0 && given(c.Radius), "Radius", c.Radius, "a positive finite number: the ball of "+
			"coefficients over which to minimise; a set without a projection is none"),
		privacy.Within(c.Moment == 0 || c.Moment > 1 && c.Moment <= 1e3, "Moment", c.Moment,
			"k > 1: with fewer moments nothing bounds the bias"),
		privacy.Within(given(c.MomentBound), "MomentBound", c.MomentBound,
			"a positive finite number, or 0 if it is not known"),
		privacy.Within(given(c.Clip) && given(c.Lambda) && given(c.Tolerance), "Clip, Lambda or Tolerance",
			[3]float64{c.Clip, c.Lambda, c.Tolerance}, "positive finite numbers, or 0 to have them chosen"),
		privacy.Within(given(c.TypicalNorm) && given(c.TypicalResidual), "TypicalNorm or TypicalResidual", typical,
			"positive finite numbers, or 0 if nothing is thought of them"),
		privacy.Within((c.TypicalNorm > 0) == (c.TypicalResidual > 0) && !(c.WorstCase && c.TypicalNorm > 0),
			"TypicalNorm and TypicalResidual", typical,
			"both or none, and none with WorstCase: one alone says nothing of how much the sum of losses bends"),
		privacy.Within(!c.WorstCase || c.MomentBound != 0 && (c.Moment == 0 || c.Moment >= 2), "MomentBound",
			c.MomentBound, "a bound G on a moment k ≥ 2 of the gradients' norms: WorstCase is made of it"),
		privacy.Within(c.Clip != 0 || c.MomentBound != 0 || c.LeastNorm > 0, "MomentBound", c.MomentBound,
			"a bound G on a moment of the gradients' norms, or LeastNorm > 0"), c.Adjacency.Validate())
}

// moved is how many records' parts a neighbour's differ by: 1 under add/remove, 2 under replace-one.
func (c *Config) moved() float64 {
	if c.Adjacency == privacy.ReplaceOne {
		return 2
	}
	return 1
}

// clip returns C: G/4, or the smallest gradient that a record can have away from its kink.
func (c *Config) clip() (float64, error) {
	switch k := c.moment(); {
	case c.Clip != 0:
		return c.Clip, nil
	case c.WorstCase:
		ratio := float64(c.Records) * c.Epsilon / (c.moved() * float64(c.Features))
		return (k - 1) / k * c.MomentBound * math.Pow(ratio, 1/k), nil
	case c.MomentBound != 0:
		return c.MomentBound / 4, nil
	}
	slope := c.Loss.Lipschitz()
	if math.IsInf(slope, 1) {
		return 0, &privacy.ParamError{Name: "MomentBound", Value: c.MomentBound,
			Want: fmt.Sprintf("a bound G: the slope of the %s loss has none; a public guess of ‖x‖ times the residual "+
				"will do", c.Loss.Name())}
	}
	return c.LeastNorm * slope, nil
}

func (c *Config) moment() float64 { return cmp.Or(c.Moment, 2) }

// problem returns what does not depend on the noise.
func (c *Config) problem() (Problem, error) {
	if c.Loss == nil || !loss.Extendable(c.Loss) {
		p := Problem{Loss: c.Loss}
		return p, p.validate(nil)
	}
	if err := c.validate(); err != nil {
		return Problem{}, err
	}
	clip, err := c.clip()
	p := Problem{Loss: c.Loss, Directions: c.Directions, Clip: clip, Radius: c.Radius, Centre: c.Centre,
		Lambda: c.Lambda, Tolerance: c.Tolerance, Records: c.Records}
	return p, err
}

// ridge returns Λ: as the utility theorem has it, or the default,
//
//	Λ = (C/R)√(n₀/(2ε))·max(1, 10d^{3/2}/(n₀ε)),
//
// with ε for add/remove-one, which is half of that for replace-one. Its root makes the second term of dpnb-pure-utility
// about as large as what is lost by sampling; the maximum keeps a fit of too few records near w₀.
func (c *Config) ridge(clip float64) float64 {
	n, d, eps := float64(c.Records), float64(c.Features), c.Epsilon/c.moved()
	if c.WorstCase {
		e0 := eps
		tau := loss.FreeBend(1, max(1/e0, 1.0/8), 1).Bias(1)
		return c.MomentBound / (2 * c.Radius) * math.Sqrt(8*n*(2+tau))
	}
	ridge := clip / c.Radius * math.Sqrt(n/(2*eps)) * max(1, 10*d*math.Sqrt(d)/(n*eps))
	if c.TypicalNorm > 0 {
		ridge *= larger
	}
	return ridge
}

// larger is the factor of Λ where something makes up for what it holds back.
const larger = 2.2

// stretch returns what makes up for the ridge: a function of public numbers. Where slopes are cut at C, a sum of n₀
// losses of records of length ν in no direction above others bends by about
//
//	H = 0.4·n₀Cν/(d·r)
//
// along each axis, as residuals within r of 0 are half of them and have a density of about 0.27/r there. The ridge
// takes coefficients to H/(H + Λ) of them, on top of which there is noise of norm d·C/(εH), one in N of the
// coefficients of norm R/2 that are thought of: the best multiple of w* + noise is 1/(1 + N²). 0 for none.
func (c *Config) stretch(clip, lambda float64) float64 {
	if c.TypicalNorm == 0 {
		return 0
	}
	d := float64(c.Features)
	bends := 0.4 * float64(c.Records) * clip * c.TypicalNorm / (d * c.TypicalResidual)
	noise := c.moved() * d * clip / (c.Epsilon * bends) / (c.Radius / 2)
	return (1 + lambda/bends) / (1 + noise*noise)
}

// Calibrate returns objective perturbation with ε at most Epsilon: 99 % of it for the noise of the objective, the rest
// for what hides the solver's error.
//
// Errors: *privacy.ParamError; an error that wraps privacy.ErrUnsupported for a loss that has no extension.
func (c Config) Calibrate() (Objective, error) {
	p, err := c.problem()
	if err != nil {
		return Objective{}, err
	}
	p.Lambda = cmp.Or(p.Lambda, c.ridge(p.Clip))
	eps := math.Nextafter(c.Epsilon, 0) * (1 - 0x1p-44)
	m := Objective{Problem: p, Adjacency: c.Adjacency, Scale: c.moved() * p.Clip / ((1 - outputShare) * eps),
		Stretch: c.stretch(p.Clip, p.Lambda)}
	m.settle(m.least(c.Features))
	m.OutputScale = 2 * m.Tolerance / m.Lambda / (outputShare * eps)
	return m, m.Validate()
}

// CalibrateOutput returns output perturbation with ε at most Epsilon. The default of Λ is that which makes noise, about
// dC/(Λε), and what the ridge holds back, about ΛR²/2 in a sum over n₀ records of slope C, cost the same.
//
// Errors: as Calibrate.
func (c Config) CalibrateOutput() (Output, error) {
	p, err := c.problem()
	if err != nil {
		return Output{}, err
	}
	p.Lambda = cmp.Or(p.Lambda,
		p.Clip/p.Radius*math.Sqrt(2*float64(c.Records)*c.moved()*float64(c.Features)/c.Epsilon))
	m := Output{Problem: p, Scale: 1, Adjacency: c.Adjacency}
	m.settle(m.least(c.Features))
	m.Scale = m.Sensitivity() / (math.Nextafter(c.Epsilon, 0) * (1 - 0x1p-44))
	return m, m.Validate()
}

// PhasesConfig says how Phases are cut, beside what Config says.
type PhasesConfig struct {
	Config
	// Count T, Blocks J and Ratio of the ridges; zero means 3, 1 and 4.
	Count, Blocks int
	Ratio         float64
	Double        bool
	Constants     Constants
}

// Calibrate returns localisation with ε at most Epsilon. Λ of the first phase is that of one output perturbation of its
// blocks; C with WorstCase is the paper's G(mε/d)^{1/k}, by the planned size m of a block, in every phase.
//
// Errors: as Config.Calibrate.
func (c PhasesConfig) Calibrate() (Phases, error) {
	m := Phases{Problem: Problem{Records: c.Records}, Epsilon: c.Epsilon, Adjacency: c.Adjacency,
		Count: cmp.Or(c.Count, 3), Blocks: max(c.Blocks, 1), Ratio: cmp.Or(c.Ratio, 4), Double: c.Double,
		Constants: c.Constants}
	block := c.Config
	if block.Records = m.planned(1); block.Records < 1 {
		block.Records = 1 // Validate refuses it, and says why
	}
	if c.WorstCase {
		m.ClipRatio = math.Exp2(-1 / c.moment())
		if c.Clip == 0 && c.MomentBound > 0 {
			block.Clip = c.MomentBound * math.Pow(float64(block.Records)*c.Epsilon/float64(max(c.Features, 1)),
				1/c.moment())
		}
	}
	one, err := block.CalibrateOutput()
	m.Problem = one.Problem
	m.Records = c.Records
	if err != nil {
		return m, err
	}
	if c.Tolerance != 0 {
		m.settle(m.least(c.Features))
	} else if least := 2 * m.least(c.Features)(MostRecords); least <= farthest*m.Clip {
		m.Tolerance = max(m.Tolerance, least) // else Feasible says what helps
	}
	return m, m.Validate()
}
