package learn

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/frame"
)

// Difference is how much larger the linear form of a model is for one category of a column than for another, all else
// equal, in the unit of the coefficients. It is computed from what was released and costs nothing. What both categories
// share of the noise cancels: an interval is not the sum of two. Show displays it.
type Difference struct {
	// Name is "column: against → category", Level that of the intervals.
	Name  string
	Level float64
	// Fit is for what the same fit would have been on these records without noise; Population for the population,
	// corrected for the ridge, nil without a CurvatureShare.
	Fit, Population *Span
	model           *Model
	why             error
}

// Span is an interval with its centre.
type Span struct{ Estimate, Lower, Upper float64 }

// Difference returns the difference of a category of a column from another, with intervals at a level such as 0.95. A
// missing value is the category "missing", where the schema allows it.
//
//	model.Difference("marital", "Divorced", "Married", 0.95)
//
// Errors: as Intervals; a column or categories that there are not; models of several classes or quantiles.
func (m *Model) Difference(column, category, against string, level float64) (*Difference, error) {
	if err := m.hasIntervals(); err != nil {
		return nil, err
	}
	if _, ok := m.ObjectivePerturbation(); !ok {
		return nil, fmt.Errorf("dpnb: there are no differences of a %s: they are for one linear form by objective "+
			"perturbation, as of SVM, Logistic, Linear, Huber and Poisson", m.title)
	}
	f, err := m.encoding.Contrast(meanRow(m.bought()), cutOf(m.encoding, m.bought()), column, category, against)
	if err != nil {
		return nil, err
	}
	d := &Difference{Name: f.Name, Level: level, model: m}
	one := func(kind coverage) (*Span, error) {
		iv, err := m.around([]frame.Effect{f}, level, kind)
		if err != nil {
			return nil, err
		}
		return &Span{iv.Estimate[0], iv.Lower[0], iv.Upper[0]}, nil
	}
	if d.Fit, err = one(ofFit); err != nil {
		return nil, err
	}
	d.Population, d.why = one(ofPopulation)
	return d, nil
}

// Display shows both intervals.
func (d *Difference) Display() display.Item {
	if d == nil {
		return display.Failed(errNoIntervals)
	}
	it := display.Item{Title: fmt.Sprintf("%s, in a private %s for %s, level %g", d.Name, d.model.title,
		d.model.target.Name, d.Level), Warning: d.model.warning(), Header: []string{"of", "estimate", "lower", "upper"}}
	factors := d.model.factorWords()
	if factors != "" {
		it.Header = append(it.Header, "factor")
	}
	for _, row := range []struct {
		of string
		s  *Span
	}{{"the same fit without noise", d.Fit}, {"the population", d.Population}} {
		if row.s != nil {
			cells := append([]string{row.of}, spanned(row.s.Estimate, row.s.Lower, row.s.Upper)...)
			if by, ok := d.model.factor(d.Name, row.s.Estimate, row.s.Lower, row.s.Upper); ok {
				cells = append(cells, by)
			}
			it.Row(cells...)
		}
	}
	it.Note("Coefficients: %s.", d.model.meaning())
	if factors != "" {
		it.Note("%s", factors)
	}
	if d.why != nil {
		it.Note("%v.", d.why)
	} else if said := d.model.ofScaledRows(); said != "" {
		it.Notes = append(it.Notes, said)
	}
	return it
}
