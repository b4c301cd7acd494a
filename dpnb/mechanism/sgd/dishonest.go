package sgd

import (
	"errors"
	"fmt"

	"github.com/dpnb/notebooks/dpnb/internal/permit"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// lazily is a cost whose profile is worked out when it is first asked for a value: that of a tuned run takes seconds.
type lazily struct{ Cost }

// Profile implements privacy.Event. Errors: as Cost.Validate; what else goes wrong, and has not been seen to, is a
// profile that promises nothing.
func (c lazily) Profile(adj privacy.Adjacency) (privacy.Profile, error) {
	if err := errors.Join(c.Validate(), adj.Validate()); err != nil {
		return nil, err
	}
	return privacy.Lazy(adj, func() (privacy.Profile, error) { return c.Cost.Profile(adj) }), nil
}

// Dishonest is the best of a grid by a score, with a noise that was calibrated for one run: what is often reported, and
// is not private at the ε that it is reported at. It exists for comparison.
type Dishonest struct {
	// Release has the best run. Its guarantee is that of what was done: every run of the grid composed, and none at all
	// if the score read the training records without noise.
	*mechanism.Release
	// Update and Score are those of the best run.
	Update Update
	Score  float64
	// OneRun is the cost that is customarily quoted. IT DOES NOT COVER the choice of the best run.
	OneRun Cost
	// Runs is the size of the grid.
	Runs int
}

// Warning returns what must be printed wherever the result is.
func (d *Dishonest) Warning() string {
	w := fmt.Sprintf("DISHONEST: the learning rate was chosen by looking at the results of %d runs, and the noise "+
		"pays for one. The ε of one run DOES NOT HOLD for this result.", d.Runs)
	if s := d.Release.Warning(); s != "" {
		w += " " + s
	}
	return w
}

// RunDishonestly runs every rule of the grid once and returns the best by the score. Base's noise is that of one run:
// calibrate OneRun.
//
// Errors: *privacy.ParamError, *matrix.DataError, before anything is drawn.
func (t Tuner) RunDishonestly(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*Dishonest, error) {
	if src == nil {
		return nil, mechanism.ErrNoSource
	}
	reads := false // the training records without noise
	if s, ok := t.Score.(Training); ok && s.Sigma == 0 {
		reads = true
	}
	checked := t
	checked.MeanRuns = 1 // not read
	if reads {
		checked.Score = Training{Sigma: 1}
	}
	if err := mechanism.Check(checked, rows, labels); err != nil {
		return nil, err
	}
	cost := t.Base.Cost()
	profile, err := composedRuns(checked.Cost(), len(t.Grid))
	if reads {
		profile, err = privacy.NonPrivate{}.Profile(privacy.AddRemove)
	}
	if err != nil {
		return nil, err
	}
	choices := make([]int, len(t.Grid))
	for i := range choices {
		choices[i] = i
	}
	best, err := t.best(rows, labels, choices, src, settings.Value().Workers)
	if err != nil {
		return nil, err
	}
	out := &Dishonest{Update: t.Grid[best.rule], Score: best.score, OneRun: cost, Runs: len(t.Grid)}
	base := t.Base
	base.Update = out.Update
	d := base.Describe()
	d.Bound = fmt.Sprintf("%d runs composed; the guarantee of one run does not hold", out.Runs)
	if reads {
		d.Bound = "none: the score reads the training records without noise"
	}
	out.Release = &mechanism.Release{
		Coefficients: best.theta, NoiseScale: base.NoiseMultiplier * base.Clip,
		Mechanism: fmt.Sprintf("best of %d runs by %s: %s", out.Runs, t.Score, base),
		Guarantee: mechanism.Guarantee{
			Adjacency: d.Adjacency, Profile: profile, Bound: d.Bound,
			Assumptions: append([]string{"NO GUARANTEE OF A SINGLE RUN COVERS THIS: the best of several was chosen " +
				"by " +
				"looking"}, d.Assumptions...),
		},
	}
	out.Stamp(permit.New(), src)
	return out, nil
}

// composedRuns is the profile of so many runs with their scores.
func composedRuns(c Cost, runs int) (privacy.Profile, error) {
	p, err := c.composition(privacy.AddRemove, runs, nil)
	if err != nil {
		return nil, err
	}
	return p.Profile(), nil
}
