package sgd

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/pld"
)

// Accounting is how to bound the privacy loss.
type Accounting int

const (
	// Sharpest takes the privacy-loss distribution wherever there is a proof for it. The zero value.
	Sharpest Accounting = iota
	// Renyi uses Rényi curves alone, as rkw23 does, for comparison.
	Renyi
)

// Cost is the privacy cost of DP-SGD, tuned or not: what it depends on and nothing else. It is an event
// (privacy.RDPEvent), to be composed with others.
type Cost struct {
	// Rate is q, NoiseMultiplier is σ, Steps is T.
	Rate, NoiseMultiplier float64
	Steps                 int
	// ScoreMultiplier is the noise of each run's score in units of the score's sensitivity; zero is a score that does
	// not read the training records.
	ScoreMultiplier float64
	// MeanRuns is the mean μ of the Poisson number of runs of which the best is released; zero is one run.
	MeanRuns float64
	// Accounting is how to bound.
	Accounting Accounting
}

// maxSteps bounds T, so that counts are exact, and twice as many can be counted on every machine.
const maxSteps = min(1<<40, math.MaxInt/2)

// Validate returns a *privacy.ParamError if a field is out of range.
func (c Cost) Validate() error {
	return cmp.Or(
		privacy.Within(c.Steps >= 1 && c.Steps <= maxSteps, "Steps", c.Steps, "a number of steps from 1 to 2⁴⁰"),
		privacy.Positive("NoiseMultiplier", c.NoiseMultiplier),
		privacy.NotNegative("ScoreMultiplier", c.ScoreMultiplier),
		privacy.Within(c.MeanRuns >= 0 && c.MeanRuns <= 1e6, "MeanRuns", c.MeanRuns, "a number from 0 to 1e6"),
		privacy.Within(c.Accounting == Sharpest || c.Accounting == Renyi, "Accounting", int(c.Accounting),
			"Sharpest or Renyi"), c.Step().Validate())
}

// Step is the event of one step, the noise and the sensitivity in units of C. To compose a run with other events give
// an accountant Steps of these: that is faster and no looser than composing the run by its profile.
func (c Cost) Step() privacy.SubsampledGaussian {
	return privacy.SubsampledGaussian{Sigma: c.NoiseMultiplier, Sensitivity: 1, Rate: c.Rate}
}

func (c Cost) score() privacy.Gaussian {
	return privacy.Gaussian{Sigma: c.ScoreMultiplier, Sensitivity: 1}
}

// String describes the event.
func (c Cost) String() string {
	s := fmt.Sprintf("DP-SGD(T=%d, q=%.6g, σ=%.6g", c.Steps, c.Rate, c.NoiseMultiplier)
	if c.ScoreMultiplier != 0 {
		s += fmt.Sprintf(", score noise %.6g", c.ScoreMultiplier)
	}
	if c.MeanRuns > 0 {
		s += fmt.Sprintf(", best of Poisson(%.6g) runs", c.MeanRuns)
	}
	return s + ")"
}

// Bound names the theorems behind Profile.
func (c Cost) Bound() string {
	if c.Rate == 1 && c.MeanRuns == 0 && c.Accounting == Sharpest {
		return "T-fold composition of the Gaussian mechanism, exact"
	}
	steps := "T-fold composition of the Poisson-subsampled Gaussian mechanism, "
	if c.Accounting == Renyi {
		steps += "Rényi curve (Mironov, Talwar, Zhang 2019)"
	} else {
		steps += "certified privacy-loss distribution"
	}
	switch {
	case c.MeanRuns == 0:
		return steps
	case c.Accounting == Renyi:
		return steps + "; selection by docs/theory/sgd.md, section 4 (after Papernot and Steinke 2022, Theorem 6)"
	}
	return steps + "; selection by the smaller of two bounds of docs/theory/sgd.md, section 4"
}

// run is one run of c, with its score.
func (c Cost) run() Cost {
	c.MeanRuns = 0
	return c
}

// Profile implements privacy.Event. Every evaluation of the composition takes milliseconds, of a tuned one up to
// seconds.
//
// Bound: upper in both directions.
// Errors: *privacy.ParamError; with Renyi, an error that wraps privacy.ErrUnsupported under replace-one.
func (c Cost) Profile(adj privacy.Adjacency) (privacy.Profile, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Accounting == Renyi {
		curve, err := c.RDP(adj)
		if err != nil {
			return nil, err
		}
		return curve.Profile(), nil
	}
	if c.MeanRuns == 0 {
		one, err := c.composition(adj, 1, nil)
		if err != nil {
			return nil, err
		}
		return one.Profile(), nil
	}
	one, err := c.cheaply(adj)
	if err != nil {
		return nil, err
	}
	p, err := privacy.SelectionPoissonProfile(privacy.Interpolated(one, 32), c.MeanRuns)
	if err != nil || adj != privacy.AddRemove {
		return p, err
	}
	curve, err := c.RDP(adj)
	if err != nil {
		return nil, err
	}
	return smaller{p, curve.Profile()}, nil
}

// composition is so many runs with their scores.
func (c Cost) composition(adj privacy.Adjacency, runs int, s *pld.Settings) (*pld.Composition, error) {
	if err := privacy.Within(c.Steps <= math.MaxInt/(runs+1), "Steps", c.Steps, "fewer steps"); err != nil {
		return nil, err
	}
	p, err := c.Step().Profile(adj)
	if err != nil {
		return nil, err
	}
	parts := []pld.Component{{Profile: p, Count: c.Steps * runs}}
	if c.ScoreMultiplier > 0 {
		g, err := c.score().Profile(adj)
		if err != nil {
			return nil, err
		}
		parts = append(parts, pld.Component{Profile: g, Count: runs})
	}
	return pld.New(parts, s)
}

// RDP implements privacy.RDPEvent: T times the curve of a step, with the score's, and for a tuned run that of
// privacy.SelectionPoisson, in which δ̂ is that of the privacy-loss distribution, or of the curve with Renyi.
//
// Errors: *privacy.ParamError; one that wraps privacy.ErrUnsupported under replace-one.
func (c Cost) RDP(adj privacy.Adjacency) (privacy.RDPCurve, error) {
	if err := c.Validate(); err != nil {
		return privacy.RDPCurve{}, err
	}
	if c.MeanRuns > 0 {
		return privacy.SelectionPoisson{Base: selectable{c.run()}, Mean: c.MeanRuns}.RDP(adj)
	}
	step, err := c.Step().RDP(adj)
	if err != nil {
		return privacy.RDPCurve{}, err
	}
	if c.ScoreMultiplier == 0 {
		return privacy.ComposeRDP([]int{c.Steps}, step)
	}
	score, err := c.score().RDP(adj)
	if err != nil {
		return privacy.RDPCurve{}, err
	}
	return privacy.ComposeRDP([]int{c.Steps, 1}, step, score)
}

// Epsilon returns an upper bound on ε at δ under add/remove-one. For a tuned run it is that of the Rényi curve, which
// takes a fifth of a second, not ten; the profile is a little sharper where ε is large.
//
// Errors: *privacy.ParamError.
func (c Cost) Epsilon(delta float64) (float64, error) {
	if err := c.Validate(); err != nil {
		return 0, err
	}
	if c.MeanRuns > 0 || c.Accounting == Renyi {
		curve, err := c.RDP(privacy.AddRemove)
		if err != nil {
			return 0, err
		}
		return curve.EpsilonUpper(delta)
	}
	p, err := c.composition(privacy.AddRemove, 1, nil)
	if err != nil {
		return 0, err
	}
	b, err := p.EpsilonBounds(delta)
	return b.Upper, err
}

// satisfies reports whether c is proved to satisfy (ε, δ).
func (c Cost) satisfies(eps, delta float64) (bool, error) {
	got, err := c.Epsilon(delta)
	return err == nil && got <= eps, err
}
