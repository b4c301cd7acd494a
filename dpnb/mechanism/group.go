package mechanism

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Group is a mechanism for data in which a person has up to Rows records, and the guarantee is for adding or removing a
// person with all of them. What is μ-GDP for one record is Rows·μ-GDP for so many, and pure ε is Rows·ε; the profile of
// any other is that of so many steps of one record (privacy.GroupProfile).
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
	return privacy.Within(rows >= 1 && rows <= mostRowsOfAPerson, "rows of a person", rows,
		"at least 1, at most 10,000")
}

// Choice is a way to choose a mechanism for (ε, δ), by public numbers alone.
type Choice func(epsilon, delta float64) (Mechanism, error)

// ForPeople returns a choice of mechanisms for people with up to so many rows, choose being one for a row each: of the
// μ of (ε, δ), or of ε where δ = 0, a row may have the part 1/rows, or somewhat less of μ where a mechanism is only
// nearly Gaussian.
//
// Errors, of what it returns: those of choose; one that wraps privacy.ErrUnsupported where none was found.
func ForPeople(rows int, choose Choice) Choice {
	if rows <= 1 {
		return choose
	}
	return func(epsilon, delta float64) (Mechanism, error) {
		if err := CheckRows(rows); err != nil {
			return nil, err
		}
		k := float64(rows)
		pure := func() (Mechanism, error) {
			g, p, _, err := group(rows, choose, epsilon/k*(1-1e-12), 0)
			if err == nil && !(reached(p, epsilon) <= delta) {
				err = tooMuch(g, epsilon, delta)
			}
			return g, err
		}
		if delta == 0 {
			return pure()
		}
		mu, err := privacy.MuOf(epsilon, delta)
		if err != nil {
			return nil, err
		}
		m, err := nearlyGaussian(rows, epsilon, delta, mu, choose)
		if m == nil {
			if m, e := exactly(rows, epsilon, delta, mu, choose); e == nil {
				return m, nil
			}
			if m, e := pure(); e == nil { // what takes no δ
				return m, nil
			}
		}
		return m, err
	}
}

// exactly chooses what is a Gaussian mechanism of μ/rows for a row, or pure.
func exactly(rows int, epsilon, delta, mu float64, choose Choice) (Mechanism, error) {
	// (ε, δ) of a Gaussian mechanism of μ/k, at whatever δ, is calibrated to be μ/k again.
	of, alone, small := privacy.GaussianProfile(mu/float64(rows)*(1-1e-9), privacy.AddRemove), 0.0, delta
	for ; alone == 0; small /= 16 {
		var err error
		if alone, err = privacy.EpsilonUpper(of, small); err != nil {
			return nil, err
		}
	}
	g, p, nearly, err := group(rows, choose, alone, 16*small)
	if err == nil && (nearly || !(reached(p, epsilon) <= delta)) {
		err = tooMuch(g, epsilon, delta)
	}
	return g, err
}

// nearlyGaussian chooses for (ε, δ), of which μ is the Gaussian mechanism's, what has about as much for a row as a
// Gaussian mechanism of some μ/rows: less of it until a person has what was asked for, and more while there is room.
// It returns nothing where exactly has the answer.
func nearlyGaussian(rows int, epsilon, delta, mu float64, choose Choice) (best Mechanism, err error) {
	k := float64(rows)
	// Of equal rows (ε/k, δ′) is (ε, δ) for k, δ′(e^ε − 1)/(e^{ε/k} − 1) = δ: there a row's profile matters.
	small := delta / k
	if epsilon > 0 {
		small = delta * math.Exp(epsilon/k-epsilon) * math.Expm1(-epsilon/k) / math.Expm1(-epsilon)
	}
	const enough = 0.005
	var g Group
	for tries, share := 0.0, 1.0; tries < 8; tries++ {
		of, err := privacy.EpsilonUpper(privacy.GaussianProfile(mu/k*share, privacy.AddRemove), small)
		if err != nil {
			return nil, err
		}
		var p privacy.Profile
		var nearly bool
		if g, p, nearly, err = group(rows, choose, of, small); err != nil || !nearly {
			return nil, err
		}
		has := reached(p, epsilon)
		if has <= delta {
			best = g
		}
		seen, err := privacy.MuOf(epsilon, math.Min(has, 0.5))
		if err != nil || best != nil && seen > (1-enough)*mu {
			return best, err
		}
		share *= mu / seen * (1 - enough/4*(1+tries))
	}
	if best == nil {
		err = tooMuch(g, epsilon, delta)
	}
	return best, err
}

// group chooses for (ε, δ) of a row, and returns the profile of a person, too, and whether it is not a Gaussian
// mechanism's nor pure, of which nothing is lost for several rows.
func group(rows int, choose Choice, epsilon, delta float64) (g Group, p privacy.Profile, nearly bool, err error) {
	m, err := choose(epsilon, delta)
	if err != nil {
		return g, nil, false, fmt.Errorf("for each of a person's rows, of which up to %d count: %w", rows, err)
	}
	g = Group{Of: m, Rows: rows}
	event, err := g.Event()
	if err != nil {
		return g, nil, false, err
	}
	if p, err = event.Profile(privacy.AddRemove); err != nil {
		return g, nil, false, err
	}
	_, pure := event.(privacy.Approx)
	_, _, gaussian := privacy.GaussianMu(p)
	return g, p, !pure && !gaussian, nil
}

// reached returns an upper bound on δ(ε).
func reached(p privacy.Profile, epsilon float64) float64 {
	return privacy.ExpUp(privacy.QuickLogDeltaUpper(p, epsilon))
}

func tooMuch(g Group, epsilon, delta float64) error {
	return fmt.Errorf("%w: %s could not be made (%g, %g)-private for people with %d rows: keep one row of each "+
		"person, %s", privacy.ErrUnsupported, g.Of.Describe().Name, epsilon, delta, g.Rows,
		wording.Setting{Field: "RowsOfAPerson", Value: "1", Go: "PerPerson(column, 1)"})
}

// Validate implements Mechanism.
func (g Group) Validate() error {
	_, err := g.Event()
	return err
}

// Event implements Mechanism.
//
// Errors: as that of Of; one that wraps privacy.ErrUnsupported unless that of Of is under add/remove-one.
func (g Group) Event() (privacy.Event, error) {
	p, err := ofARow(g.Of, g.Rows, "several rows of a person are")
	if err != nil {
		return nil, err
	}
	// What is not pure at the largest ε that is searched is so at none, and needs no search.
	if math.IsInf(privacy.QuickLogDeltaUpper(p, 1<<29), -1) {
		if eps, err := privacy.EpsilonUpper(p, 0); err == nil && !math.IsInf(eps, 1) {
			return privacy.Pure(float64(g.Rows)*eps*(1+0x1p-50), privacy.AddRemove), nil
		}
	}
	p, err = privacy.GroupProfile(p, g.Rows)
	return Known(g, p, err)
}

// ofARow returns the profile of a mechanism that is to count for so many rows, which must be one under add/remove-one:
// that alone is known of what is named.
func ofARow(of Mechanism, rows int, named string) (privacy.Profile, error) {
	if err := cmp.Or(privacy.Within(of != nil, "Of", nil, "a mechanism"), CheckRows(rows)); err != nil {
		return nil, err
	}
	if err := of.Validate(); err != nil {
		return nil, err
	}
	if err := OnlyAddRemove(of.Describe().Adjacency, named); err != nil {
		return nil, err
	}
	p, err := Profile(of)
	if err != nil {
		return nil, err
	}
	if err := OnlyAddRemove(p.Adjacency(), named); err != nil { // an event of another program may answer for another
		return nil, err
	}
	return p, nil
}

// Describe implements Mechanism.
func (g Group) Describe() Description {
	d := g.Of.Describe()
	d.Bound += fmt.Sprintf("; for a person with up to %d rows μ, or ε, is %[1]d times that of a row, or the profile "+
		"that of %[1]d steps (docs/theory/statistics.md)", g.Rows)
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
