package learn

import (
	"cmp"
	"errors"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/ledger"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Pay chooses a mechanism for what a allows, by its (ε, δ), and spends what it costs, in the ledger under the label
// unless a has a name: for whatever is not a learner. choose must depend on public numbers alone. The caller then runs
// the mechanism with src, once. alone is the (ε, δ) of the release by itself. The last argument of choose says whether
// the ledger counts μ: then Gaussian noise is the cheapest, else whatever is best at (ε, δ). records are those on which
// the mechanism will run, a DataFrame or a Dataset. compute, unless nil, is called between the two, when it is known
// that the budget covers it: it reads what the mechanism adds noise to, so that a file that cannot be read costs
// nothing. Nothing of what it computes may be shown, also not by its error, which may say that the file cannot be read
// and where.
//
// Errors: those of choose, of compute and of the records; an allowance of a budget for another unit, for other records,
// that does not cover it, or that does not suit the source. The ledger is then unchanged.
func (a Allowance) Pay(
	src noise.Source, label string, records Records,
	choose func(epsilon, delta float64, countsMu bool) (mechanism.Mechanism, error),
	compute func(mechanism.Mechanism) error,
) (m mechanism.Mechanism, alone ledger.Part, err error) {
	a.label = cmp.Or(a.label, label)
	if err := a.reads(records); err != nil {
		return nil, alone, err
	}
	if err := a.check(src); err != nil {
		return nil, alone, err
	}
	m, price, err := a.chosen(choose)
	if err != nil {
		return nil, alone, err
	}
	if compute != nil {
		if !a.simulation && !a.charged() {
			err = a.budget.ledger.Check(price)
		}
		if err == nil {
			err = compute(m)
		}
		if err != nil {
			return nil, alone, err
		}
	}
	alone = ledger.Part{Epsilon: price.Epsilon, Delta: price.Delta}
	return m, alone, a.charge(price, m, m.Describe().Name, src)
}

// Priced returns what Pay would run, and its price: μ is 0 where releases add up by ε and δ alone. Nothing is spent.
func (a Allowance) Priced(choose func(epsilon, delta float64, countsMu bool) (mechanism.Mechanism, error)) (
	m mechanism.Mechanism, epsilon, mu float64, err error) {
	if a.simulation {
		return nil, 0, 0, errors.New("dpnb: a simulation costs nothing")
	}
	if err := cmp.Or(a.budget.Err(), a.err); err != nil {
		return nil, 0, 0, err
	}
	m, price, err := a.chosen(choose)
	return m, price.Epsilon, price.Mu, err
}

func (a Allowance) chosen(choose func(epsilon, delta float64, countsMu bool) (mechanism.Mechanism, error)) (
	mechanism.Mechanism, ledger.Entry, error) {
	countsMu := a.part.Squares && !a.whole()
	m, price, err := a.priced(func(epsilon, delta float64) (mechanism.Mechanism, error) {
		return choose(epsilon, delta, countsMu)
	})
	if err != nil {
		return nil, price, err
	}
	profile, err := mechanism.Profile(m)
	if err == nil && privacy.DeltaUpper(profile, price.Epsilon) == 0 {
		price.Delta = 0 // it is pure, and leaves δ to others
	}
	return m, price, err
}

// Known returns the records of df, to be scanned, and what is publicly known about them.
//
// Errors: df's own; no schema.
func (df DataFrame) Known() (frame.Scanner, *frame.Schema, error) {
	if err := df.Err(); err != nil {
		return nil, nil, err
	}
	if df.schema == nil {
		return nil, nil, errors.New("dpnb: no public schema: state the bounds and categories that are known without " +
			"the data (WithSchema)")
	}
	records := df.records
	if t, ok := records.(*frame.Table); ok {
		records = held(t)
	}
	return records, df.schema.Clone(), nil
}

// WithOrigin adds to an item about df where its records come from.
func (df DataFrame) WithOrigin(it display.Item) display.Item {
	if df.Err() != nil {
		return it
	}
	return withOrigin(df.records.Origin(), it)
}
