package account

import (
	"errors"
	"math"
	"reflect"

	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/pld"
)

// Entry is a line of the ledger.
type Entry struct {
	Event privacy.Event
	Count int
}

// maxRuns bounds the count of an entry, so that it is exact as a float, and two can be added on every machine.
const maxRuns = min(1<<52, math.MaxInt/2)

// PLD composes events by privacy-loss distributions: every event that has a profile, with upper and lower bounds.
// Events say nothing of how often they were run; that is Compose's k. The composition is adaptive: what is run may
// depend on what came before, as long as each event's own guarantee holds.
type PLD struct {
	adj      privacy.Adjacency
	settings *pld.Settings
	entries  []Entry
	profiles []privacy.Profile
	where    map[privacy.Event]int // the entry of an event, for those that can be compared
	self     *PLD                  // where it is, from its first entry on: what is entered in a copy would be in both
}

// NewPLD returns an accountant with nothing on its books. settings may be nil.
//
// Errors: *privacy.ParamError for an invalid adjacency.
func NewPLD(adj privacy.Adjacency, settings *pld.Settings) (*PLD, error) {
	if err := adj.Validate(); err != nil {
		return nil, err
	}
	return &PLD{adj: adj, settings: settings}, nil
}

// Compose adds k ≥ 0 runs of e. On error nothing has changed.
//
// Errors: *privacy.ParamError; privacy.ErrUnsupported for an event without a profile; privacy.ErrAdjacency.
func (a *PLD) Compose(e privacy.Event, k int) error {
	if e == nil {
		return &privacy.ParamError{Name: "event", Value: nil, Want: "an event"}
	}
	if k < 0 || k > maxRuns {
		return &privacy.ParamError{Name: "k", Value: k, Want: "a count from 0 to 2⁵²"}
	}
	if a.self != nil && a.self != a {
		return errors.New("account: this is a copy of an accountant that has entries; enter all of them in a new one")
	}
	p, err := e.Profile(a.adj)
	if err != nil {
		return err
	}
	if k == 0 {
		return nil
	}
	a.self = a
	if reflect.ValueOf(e).Comparable() {
		if i, ok := a.where[e]; ok {
			if a.entries[i].Count+k > maxRuns {
				return &privacy.ParamError{Name: "k", Value: k, Want: "a total count up to 2⁵²"}
			}
			a.entries[i].Count += k
			return nil
		}
		if a.where == nil {
			a.where = map[privacy.Event]int{}
		}
		a.where[e] = len(a.entries)
	}
	a.entries = append(a.entries, Entry{e, k})
	a.profiles = append(a.profiles, p)
	return nil
}

// Ledger returns what was composed, in order, equal events joined.
func (a *PLD) Ledger() []Entry { return append([]Entry(nil), a.entries...) }

// composition returns nil if nothing was composed.
func (a *PLD) composition() (*pld.Composition, error) {
	if len(a.entries) == 0 {
		return nil, nil
	}
	var cs []pld.Component
	for i, p := range a.profiles {
		cs = append(cs, pld.Component{Profile: p, Count: a.entries[i].Count})
	}
	return pld.New(cs, a.settings)
}

// EpsilonBounds returns both bounds of ε at delta and how they were obtained.
//
// Errors: *privacy.ParamError unless 0 < δ < 1.
func (a *PLD) EpsilonBounds(delta float64) (pld.Bounds, error) {
	if err := privacy.Fraction("Delta", delta); err != nil {
		return pld.Bounds{}, err
	}
	c, err := a.composition()
	if err != nil || c == nil {
		return pld.Bounds{Method: pld.Closed}, err
	}
	return c.EpsilonBounds(delta)
}

// LogDeltaBounds returns both bounds of ln δ at eps and how they were obtained.
//
// Errors: *privacy.ParamError unless eps is finite and ≥ 0.
func (a *PLD) LogDeltaBounds(eps float64) (pld.Bounds, error) {
	if err := privacy.NotNegative("Epsilon", eps); err != nil {
		return pld.Bounds{}, err
	}
	c, err := a.composition()
	if err != nil || c == nil {
		return pld.Bounds{Lower: math.Inf(-1), Upper: math.Inf(-1), Method: pld.Closed}, err
	}
	return c.DeltaBounds(eps)
}
