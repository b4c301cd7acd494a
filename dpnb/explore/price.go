package explore

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Price is what an answer of a given precision costs, computed from public numbers.
type Price struct {
	// Epsilon is the ε that is enough where releases add up by ε; no δ is spent.
	Epsilon float64
	// Mu is the μ that is enough where they add up as Gaussian mechanisms.
	Mu float64
	// Within is half the width of the interval that it buys.
	Within float64
	what   string
	share  string
	// bought says that it is of an allowance, and not of a precision.
	bought bool
}

// Planned says how many records are expected, from what is public: Price needs it, AUCOf counts scores in as many
// places as suit so many (without it for a quarter of those that the model was fitted to, and for as many), and the
// guarantee holds whatever the truth is.
func (q Query) Planned(records int) Query {
	if q.records = float64(records); records < 0 && q.err == nil {
		q.err = fmt.Errorf("dpnb: %s: want a number of records", wording.Setting{Field: "Planned",
			Value: strconv.Itoa(records), Go: fmt.Sprintf("Planned(%d)", records)})
	}
	return q
}

// BaseRate says what share of the records is expected to be of the positive class, from what is public: the precision
// of an AUC depends on it, and is that of two classes of the same size without it.
func (q Query) BaseRate(r float64) Query {
	if of, ok := q.question.(outcomes); !ok || of.of != ranking {
		q.err = fmt.Errorf("dpnb: %s is for the price of an AUC: leave it out", wording.Of("BaseRate"))
	} else if !(r > 0 && r < 1) {
		q.err = &privacy.ParamError{Name: "BaseRate", Value: r, Want: "a share between 0 and 1, for example 0.25"}
	}
	q.baseRate = r
	return q
}

// Price returns what it costs to know the answer to within ± within with the given confidence: a mean or a sum in the
// unit of the column, and a variance in its square, whatever the mean is; a quantile in shares of the records, 0.01 for
// a percentile. For groups it assumes that each has the Planned records. Nothing is spent and no record is read.
//
// Errors: as Of; no number of Planned records where it is needed; what no budget can buy.
func (q Query) Price(df learn.DataFrame, within, confidence float64) (*Price, error) {
	q = q.Confidence(confidence)
	p, err := q.planned(df)
	if err != nil {
		return nil, err
	}
	if !(within > 0) || math.IsInf(within, 1) {
		return nil, fmt.Errorf("dpnb: Price: within %v: want a positive number, half the width of the interval", within)
	}
	if m, err := forPeople(p, p.rows, false)(1, 0); err != nil {
		return nil, err
	} else if half, unit := p.precision(collector(m), q.records, q.settings); math.IsInf(half, 1) || math.IsNaN(half) {
		return nil, errPlanned()
	} else if unit == evenly && within >= 0.5 {
		return nil, fmt.Errorf("dpnb: to within ± %g of the records: want less than 0.5, which is all of the range",
			within)
	}
	least := func(delta float64, countsMu bool) (float64, mechanism.Mechanism, error) {
		var fault error
		at := func(epsilon float64) mechanism.Mechanism {
			m, err := forPeople(p, p.rows, countsMu)(epsilon, delta)
			if err != nil {
				fault = err
			}
			return m
		}
		enough := func(epsilon float64) bool {
			m := at(epsilon)
			if fault != nil {
				return true
			}
			half, _ := p.precision(collector(m), q.records, q.settings)
			return half <= within
		}
		const dearest = 100
		if !enough(dearest) {
			return 0, nil, fmt.Errorf("dpnb: no budget buys this to ± %g; ask for a wider interval, or plan for more "+
				"records", within)
		}
		if enough(1e-4) && fault == nil {
			return 1e-4, at(1e-4), nil
		}
		fault = nil
		_, epsilon := univariate.Bisect(enough, 1e-4, dearest, univariate.Geometric, 1e-6)
		return epsilon, at(epsilon), fault
	}
	price := &Price{Within: within}
	if price.Epsilon, _, err = least(0, false); err != nil {
		return nil, err
	}
	_, m, err := least(1e-6, true)
	if err != nil {
		return nil, err
	}
	if price.Mu, err = muOf(m); err != nil {
		return nil, err
	}
	_, unit := p.precision(collector(m), q.records, q.settings)
	price.what = "To know " + q.precisely(p, within, unit)
	if q.records > 0 {
		price.what += ","
	}
	return price, nil
}

// muOf is what a mechanism costs as a Gaussian one.
func muOf(m mechanism.Mechanism) (float64, error) {
	profile, err := mechanism.Profile(m)
	if err != nil {
		return 0, err
	}
	mu, _, err := privacy.AsGaussian(profile, 1e-12)
	return mu, err
}

// BuysNothing reports whether an allowance buys no more than is known without it (Within).
func (p *Price) BuysNothing() bool { return strings.HasPrefix(p.what, buysNothing) }

// precisely says what is known how well.
func (q Query) precisely(p *fitted, within float64, unit string) string {
	text := fmt.Sprintf("the %s to within ± %.4g %s with %s confidence", p.label(), within, unit, q.percent())
	about := ", for about %.0f records"
	if q.by != nil {
		text, about = text+" in each group", ", of about %.0f records each"
	}
	if q.records > 0 {
		text += fmt.Sprintf(about, q.records)
	}
	return text
}

// Within is Price the other way round: how precisely an allowance, such as budget.Share(0.05), buys the answer. Nothing
// is spent and no record is read.
//
// Errors: as Price; a simulation, which costs nothing.
func (q Query) Within(df learn.DataFrame, a learn.Allowance, confidence float64) (*Price, error) {
	q = q.Confidence(confidence)
	p, err := q.planned(df)
	if err != nil {
		return nil, err
	}
	price := &Price{bought: true}
	m, epsilon, mu, err := a.Priced(func(epsilon, delta float64, countsMu bool) (mechanism.Mechanism, error) {
		return forPeople(p, p.rows, countsMu)(epsilon, delta)
	})
	if err != nil {
		return nil, err
	}
	if mu == 0 { // there are sums alone, of pure releases
		if mu, err = muOf(m); err != nil {
			return nil, err
		}
	}
	var unit string
	price.Epsilon, price.Mu = epsilon, mu
	if price.Within, unit = p.precision(collector(m), q.records, q.settings); !(price.Within < math.Inf(1)) {
		return nil, errPlanned()
	}
	price.what = "This buys " + q.precisely(p, price.Within, unit) + "."
	if all := wholeOf(p.plan); price.Within >= all {
		price.what = fmt.Sprintf(buysNothing+"± %.4g is all of the range, and it would be %s.", all,
			q.precisely(p, price.Within, unit))
	}
	return price, nil
}

// wholeOf is half the width of all that is possible of what is asked, in the unit of its precision, and +Inf of what
// has no bounds: to know it no better is to know nothing.
func wholeOf(p plan) float64 {
	switch p := p.(type) {
	case groupsPlan:
		return wholeOf(p.plan)
	case lossPlan:
		return wholeOf(p.onePlan)
	case onePlan:
		if p.what == "mean" {
			return halfRange(p.number)
		}
	case momentsPlan:
		if p.of.Products { // of a correlation
			return 1
		}
	case outcomesPlan, quantilesPlan, describePlan:
		return 0.5
	}
	return math.Inf(1)
}

func errPlanned() error {
	return fmt.Errorf("dpnb: a price needs to know about how many records there will be, from what is public: %s",
		wording.Setting{Field: "Planned", Value: "10000", Go: "query.Planned(10000)"})
}

// In adds to the price which share of a budget it is, which Budget.Share spends.
func (p *Price) In(b *learn.Budget) *Price {
	if p == nil {
		return nil
	}
	priced := *p
	share, err := b.ShareOf(p.Epsilon, p.Mu)
	if priced.share = "That is a share of " + privacy.FormatUp(share, 3) + " of this budget."; err != nil {
		priced.share = err.Error()
	}
	return &priced
}

// Display says the price in a sentence.
func (p *Price) Display() display.Item {
	var it display.Item
	if p == nil {
		return display.Failed(errors.New("dpnb: no price: look at the err that came with it"))
	}
	format := "%s costs ε = %s of a budget without δ. In a budget with δ, where releases compose as Gaussian " +
		"mechanisms do, it costs μ = %s."
	if p.bought {
		format = "%s It is ε = %s by itself, and costs μ = %s in a budget with δ, where releases compose as Gaussian " +
			"mechanisms do."
	}
	it.Warning = mechanism.Guarantee{Epsilon: p.Epsilon}.Warning()
	it.Note(format, p.what, privacy.FormatUp(p.Epsilon, 2), privacy.FormatUp(p.Mu, 2))
	if p.share != "" {
		it.Note("%s", p.share)
	}
	return it
}
