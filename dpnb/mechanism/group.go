package mechanism

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Group is a mechanism for data in which a person has up to Rows records, and the guarantee is for adding or removing a
// person with all of them. What is μ-GDP for one record is Rows·μ-GDP for so many, and pure ε is Rows·ε; of other
// mechanisms nothing is claimed.
//
// Source: Dong, Roth, Su 2022, arXiv:1905.02383, Theorem 2.14. Proof: docs/theory/statistics.md.
type Group struct {
	Of   Mechanism
	Rows int
}

// mostRowsOfAPerson keeps kμ and kε apart from numbers that no accountant takes.
const mostRowsOfAPerson = 10_000

// CheckRows returns a *privacy.ParamError for a bound on a person's rows that is out of range.
func CheckRows(rows int) error {
	if rows < 1 || rows > mostRowsOfAPerson {
		return &privacy.ParamError{Name: "rows of a person", Value: rows, Want: "at least 1, at most 10,000"}
	}
	return nil
}

// Choice is a way to choose a mechanism for (ε, δ), by public numbers alone.
type Choice func(epsilon, delta float64) (Mechanism, error)

// ErrSeveral is wrapped by what refuses people with several rows, because what a mechanism costs one of them is not
// known.
var ErrSeveral = fmt.Errorf("%w for people with several rows", privacy.ErrUnsupported)

// ForPeople returns a choice of mechanisms for people with up to so many rows, choose being one for a row each: of the
// μ of (ε, δ), or of ε where δ = 0, a row may have the part 1/rows.
//
// Errors, of what it returns: those of choose; one that wraps ErrSeveral where neither is known to add up.
func ForPeople(rows int, choose Choice) Choice {
	if rows <= 1 {
		return choose
	}
	return func(epsilon, delta float64) (Mechanism, error) {
		if err := CheckRows(rows); err != nil {
			return nil, err
		}
		k := float64(rows)
		pure := func() (Mechanism, error) { return group(rows, epsilon, delta, choose, epsilon/k*(1-1e-12), 0) }
		if delta == 0 {
			return pure()
		}
		mu, err := privacy.MuOf(epsilon, delta)
		if err != nil {
			return nil, err
		}
		// (ε, δ) of a Gaussian mechanism of μ/k, at whatever δ, is calibrated to be μ/k again.
		of, alone, small := privacy.GaussianProfile(mu/k*(1-1e-9), privacy.AddRemove), 0.0, delta
		for ; alone == 0; small /= 16 {
			if alone, err = privacy.EpsilonUpper(of, small); err != nil {
				return nil, err
			}
		}
		m, err := group(rows, epsilon, delta, choose, alone, 16*small)
		if err != nil {
			if p, e := pure(); e == nil { // what takes no δ
				return p, nil
			}
		}
		return m, err
	}
}

// group chooses for (ε, δ) of a row, and sees to it that a person has what was asked for.
func group(rows int, epsilon, delta float64, choose Choice, ofRow, deltaOfRow float64) (Mechanism, error) {
	m, err := choose(ofRow, deltaOfRow)
	if err != nil {
		return nil, err
	}
	g := Group{Of: m, Rows: rows}
	p, err := Profile(g)
	if err != nil {
		return nil, err
	}
	if d := privacy.DeltaUpper(p, epsilon); !(d <= delta) {
		return nil, fmt.Errorf("%w: %s could not be made (%g, %g)-private for people with %d: keep one row of "+
			"each person", ErrSeveral, m.Describe().Name, epsilon, delta, rows)
	}
	return g, nil
}

// Validate implements Mechanism.
func (g Group) Validate() error {
	if g.Of == nil {
		return &privacy.ParamError{Name: "Of", Value: nil, Want: "a mechanism"}
	}
	if err := CheckRows(g.Rows); err != nil {
		return err
	}
	_, err := g.Event()
	return err
}

// Event implements Mechanism.
//
// Errors: as that of Of; one that wraps ErrSeveral unless Of is a Gaussian mechanism or pure, under
// add/remove-one.
func (g Group) Event() (privacy.Event, error) {
	if g.Of == nil {
		return nil, &privacy.ParamError{Name: "Of", Value: nil, Want: "a mechanism"}
	}
	if err := CheckRows(g.Rows); err != nil {
		return nil, err
	}
	if err := g.Of.Validate(); err != nil {
		return nil, err
	}
	p, err := Profile(g.Of)
	if err != nil {
		return nil, err
	}
	if err := OnlyAddRemove(p.Adjacency(), "several rows of a person are"); err != nil {
		return nil, err
	}
	k := float64(g.Rows)
	if _, mu, ok := privacy.GaussianMu(p); ok {
		return Known(g, privacy.GaussianProfile(k*mu*(1+0x1p-50), privacy.AddRemove), nil)
	}
	// What is not pure at the largest ε that is searched is so at none, and is refused at once and not after thirty.
	if math.IsInf(privacy.LogDeltaUpper(p, 1<<29), -1) {
		if eps, err := privacy.EpsilonUpper(p, 0); err == nil && !math.IsInf(eps, 1) {
			return privacy.Pure(k*eps*(1+0x1p-50), privacy.AddRemove), nil
		}
	}
	return nil, fmt.Errorf("%w: %s is neither a Gaussian mechanism nor pure, and what it costs a person with %d rows "+
		"is not known: keep one row of each person, %s", ErrSeveral, g.Of.Describe().Name, g.Rows,
		wording.Setting{Field: "RowsOfAPerson", Value: "1", Go: "PerPerson(column, 1)"})
}

// Describe implements Mechanism.
func (g Group) Describe() Description {
	d := g.Of.Describe()
	d.Bound += fmt.Sprintf("; for a person with up to %d rows μ, or ε, is %[1]d times that of a row "+
		"(docs/theory/statistics.md)", g.Rows)
	d.Assumptions = append([]string{fmt.Sprintf("every person has at most %d rows, and which of theirs these are "+
		"depends on their own rows alone", g.Rows)}, d.Assumptions...)
	return d
}

// String describes the mechanism with its parameters.
func (g Group) String() string { return fmt.Sprintf("%v, for people with up to %d rows", g.Of, g.Rows) }

// Feasible implements Mechanism.
func (g Group) Feasible(features, records int) error { return g.Of.Feasible(features, records) }

// Check implements Mechanism. Who the rows are of is the caller's to see to.
func (g Group) Check(rows matrix.Rows, labels []float64) error {
	if err := g.Validate(); err != nil {
		return err
	}
	return g.Of.Check(rows, labels)
}

// Run implements Mechanism. Fitted of the release is what Of has released with; its cost is that of Guarantee.
func (g Group) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *Settings) (*Release, error) {
	return rerun(g, g.Of, g.Rows, rows, labels, src, settings)
}

// rerun runs of, and states the guarantee of the mechanism that wraps it.
func rerun(m, of Mechanism, ofAPerson int, rows matrix.Rows, labels []float64, src noise.Source, settings *Settings) (
	*Release, error) {
	whole, err := Begin(m, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	r, err := of.Run(rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	r.Guarantee, r.Mechanism = whole.Guarantee, whole.Mechanism
	r.Guarantee.Rows = ofAPerson
	return r, nil
}
