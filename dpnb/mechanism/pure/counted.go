package pure

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Counted counts the records with Laplace noise, of scale 1/ε₁, and calibrates objective perturbation for that number
// with what is left of Config.Epsilon: for data of which nobody has planned how many there are. Add/remove-one alone:
// under replace-one the number is public. Which parameters come out depends on the count, and that is paid for.
type Counted struct {
	// Config of the fit; its Records are zero.
	Config
	// Share is the part ε₁/ε of the count, in (0, 1).
	Share float64
}

// share returns ε₁.
func (m Counted) share() float64 { return m.Share * m.Epsilon * (1 - 0x1p-44) }

// after returns the fit for a number of records.
func (m Counted) after(records int) (Objective, error) {
	c := m.Config
	c.Records, c.Epsilon = min(max(records, 1), MostRecords), m.Epsilon-m.share()*(1+0x1p-45)
	return c.Calibrate()
}

// Validate implements mechanism.Mechanism. Whatever the count is, the fit is calibrated and a release of MostRecords is
// proved to be made: what they ask of the number changes once with it.
func (m Counted) Validate() error {
	if err := cmp.Or(privacy.Within(m.Share > 0 && m.Share < 1, "Share", m.Share, "a part of ε in (0, 1)"),
		privacy.Within(m.Records == 0, "Records", m.Records, "0: they are counted"),
		mechanism.OnlyAddRemove(m.Adjacency, "a count of the records is")); err != nil {
		return err
	}
	for n := 1; n <= MostRecords; n *= 2 {
		fit, err := m.after(n)
		if err != nil {
			return err
		}
		if err := fit.Feasible(m.Features, MostRecords); err != nil {
			return err
		}
	}
	return (mechanism.Scales{{"Share, times ε,", m.share()}}).Check()
}

// Event implements mechanism.Mechanism: the two parts add up to Epsilon at most.
func (m Counted) Event() (privacy.Event, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return privacy.Pure(m.Epsilon, privacy.AddRemove), nil
}

// Describe implements mechanism.Mechanism. What differs between two counts was chosen from the count.
func (m Counted) Describe() mechanism.Description {
	few, _ := m.after(1)
	many, _ := m.after(MostRecords)
	var counted []string
	for _, p := range []struct {
		name      string
		few, many float64
	}{{"C", few.Clip, many.Clip}, {"Λ", few.Lambda, many.Lambda}, {"τ", few.Tolerance, many.Tolerance},
		{"β", few.Scale, many.Scale}, {"the output noise", few.OutputScale, many.OutputScale},
		{"the stretch", few.Stretch, many.Stretch}} {
		if p.few != p.many {
			counted = append(counted, p.name)
		}
	}
	d := many.Describe()
	d.Also, d.Lambda, d.Assumptions = "a noisy count of the records", 0, many.assumptions(m.Adjacency, counted...)
	return d
}

// String describes the mechanism with its parameters.
func (m Counted) String() string {
	return fmt.Sprintf("a count of the records with Laplace noise of scale %.5g, then objective perturbation with "+
		"pure ε (%s loss, ε = %s in all)", 1/m.share(), m.Loss.Name(), privacy.FormatUp(m.Epsilon, 5))
}

// Feasible implements mechanism.Mechanism: Validate has seen to it.
func (m Counted) Feasible(features, records int) error { return nil }

// Check implements mechanism.Mechanism: it looks at shapes alone.
func (m Counted) Check(rows matrix.Rows, labels []float64) error {
	fit, err := m.after(1000)
	if err != nil {
		return err
	}
	return fit.Check(rows, labels)
}

// Run implements mechanism.Mechanism. Fitted of the release is the objective perturbation that was run.
func (m Counted) Run(
	rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings,
) (*mechanism.Release, error) {
	r, err := mechanism.Begin(m, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	n, _ := rows.Dims()
	count := mechanism.Laplace.Count(n, 1/m.share(), src)
	counted := int(math.RoundToEven(min(max(count, 1), MostRecords)))
	fit, err := m.after(counted)
	if err != nil {
		return nil, err
	}
	s, err := fit.Run(rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	r.Coefficients, r.Tolerance, r.NoiseScale, r.Fitted = s.Coefficients, s.Tolerance, s.NoiseScale, fit
	r.Mechanism = fmt.Sprintf("%s: %d counted, %v", r.Mechanism, counted, fit)
	return r, nil
}
