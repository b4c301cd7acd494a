package learn

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// bestOf is the best of a Poisson number of fits by a noisy score on the records: a run draws one of Fits evenly, runs
// it, and adds N(0, ScoreSigma²) to the score of what it released. Published is the coefficients of the run of the
// largest score, and which of Fits it was.
//
// Each of Fits is Mu-GDP but for Slack (asGaussian), so that a run is μ-GDP but for Slack, μ² = Mu² + ScoreSigma⁻²;
// the best of them is what SelectionPoissonProfile says of that, but for MeanRuns·Slack.
//
// Proof: docs/theory/learners.md, section 10.
type bestOf struct {
	Fits                 []mechanism.Mechanism
	Mu, Slack            float64
	MeanRuns, ScoreSigma float64
	// Chosen is the place of the fit that was released, −1 before there is one; Won is it with what it has chosen
	// itself, nil if none was drawn.
	Chosen int
	Won    mechanism.Mechanism

	choices []tuneChoice `json:"-"` // none in a model that was loaded
}

// String describes the mechanism.
func (b bestOf) String() string {
	return fmt.Sprintf("best of Poisson(%.4g) fits, each one of %d drawn evenly, by a score with noise of %.4g",
		b.MeanRuns, len(b.Fits), b.ScoreSigma)
}

// Describe implements mechanism.Mechanism. The guarantee rests on what any of the fits rests on, whichever was
// released.
func (b bestOf) Describe() mechanism.Description {
	d := b.Fits[0].Describe()
	d.Source += "; the selection by Papernot and Steinke 2022, and docs/theory/sgd.md, section 4"
	d.Also, d.Lambda, d.Assumptions = "chosen among several", 0, nil
	if b.Won != nil {
		d.Lambda = b.Won.Describe().Lambda
	}
	var bounds []string
	add := func(to *[]string, texts ...string) {
		for _, text := range texts {
			if !slices.Contains(*to, text) {
				*to = append(*to, text)
			}
		}
	}
	for _, m := range b.Fits {
		own := m.Describe()
		add(&bounds, own.Bound)
		add(&d.Assumptions, own.Assumptions...)
	}
	add(&d.Assumptions, "how many fits there were, and what the others were, stays secret")
	d.Bound = "the best of a Poisson number of runs (docs/theory/sgd.md, section 4), each bounded by: " +
		strings.Join(bounds, "; or ")
	return d
}

// Validate implements mechanism.Mechanism.
func (b bestOf) Validate() error {
	if len(b.Fits) == 0 {
		return &privacy.ParamError{Name: "Fits", Value: 0, Want: "at least one"}
	}
	for _, m := range b.Fits {
		if err := m.Validate(); err != nil {
			return err
		}
	}
	return mechanism.Scales{{"MeanRuns", b.MeanRuns}, {"ScoreSigma", b.ScoreSigma}, {"Mu", b.Mu},
		{"Slack", b.Slack}}.Check()
}

// Event implements mechanism.Mechanism.
func (b bestOf) Event() (privacy.Event, error) {
	p, err := b.profile()
	return mechanism.Known(b, p, err)
}

func (b bestOf) profile() (privacy.Profile, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	run := math.Hypot(b.Mu, 1/b.ScoreSigma) * (1 + 0x1p-50)
	p, err := privacy.SelectionPoissonProfile(privacy.GaussianProfile(run, privacy.AddRemove), b.MeanRuns)
	if err != nil {
		return nil, err
	}
	return butFor{p, b.MeanRuns * b.Slack * (1 + 0x1p-50)}, nil
}

// butFor is a profile but for a probability: δ(ε) + slack.
type butFor struct {
	privacy.Profile
	slack float64
}

// LogDeltaUpper implements privacy.Profile.
func (p butFor) LogDeltaUpper(d privacy.Direction, eps float64) float64 {
	delta := privacy.ExpUp(p.Profile.LogDeltaUpper(d, eps)) + p.slack
	return math.Min(0, math.Log(delta)+1e-14)
}

// Feasible implements mechanism.Mechanism.
func (b bestOf) Feasible(_, records int) error {
	for i, m := range b.Fits {
		if i < len(b.choices) {
			if err := m.Feasible(b.choices[i].design.Width(), records); err != nil {
				return err
			}
		}
	}
	return nil
}

// Check implements mechanism.Mechanism, for the records of every choice.
func (b bestOf) Check(matrix.Rows, []float64) error {
	if err := b.Validate(); err != nil {
		return err
	}
	if len(b.choices) != len(b.Fits) {
		return errors.New("dpnb: a choice that was loaded cannot be made again")
	}
	for i, m := range b.Fits {
		if err := m.Check(b.choices[i].design.Rows, b.choices[i].design.Labels); err != nil {
			return err
		}
	}
	return nil
}

// Run implements mechanism.Mechanism. Fitted in the release says which fit was chosen.
func (b bestOf) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	out, err := mechanism.Begin(b, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	draw := noise.Exact(src)
	var best *mechanism.Release
	top := math.Inf(-1)
	for range draw.Poisson(b.MeanRuns) {
		i := draw.Below(len(b.Fits))
		d := b.choices[i].design
		r, err := b.Fits[i].Run(d.Rows, d.Labels, src, settings)
		if err != nil {
			return nil, err
		}
		score := []float64{0}
		z := noise.Exact(src).Normals(1)
		score[0] = b.choices[i].score(r.Coefficients, r.Also)
		z.AddRounded(score, b.ScoreSigma, exact.Grid(b.ScoreSigma))
		if best == nil || score[0] > top {
			best, top, b.Chosen, b.Won = r, score[0], i, r.Fitted
		}
	}
	if best == nil { // no fit: zeros of the first choice
		c := b.choices[0]
		k := 1
		if c.design.Target.Task == frame.ManyClasses {
			k = len(c.design.Target.Classes)
		}
		b.Chosen = 0
		best = &mechanism.Release{Coefficients: make([]float64, k*c.design.Width()),
			Mechanism: "none, as none was drawn"}
	}
	out.Coefficients, out.Tolerance, out.NoiseScale = best.Coefficients, best.Tolerance, best.NoiseScale
	if bought, ok := best.Also.(*geometry.Bought); ok {
		out.Also = bought
	}
	out.Mechanism, out.Fitted = fmt.Sprintf("%v; chosen: %s", b, best.Mechanism), b
	return out, nil
}
