package account

import (
	"errors"
	"math"
	"reflect"

	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/pld"
)

// Accountant composes events. Events say nothing of how often they were run; that is Compose's k. The composition is
// adaptive: what is run may depend on what came before, as long as each event's own guarantee holds.
type Accountant interface {
	// Adjacency of every figure that the accountant gives.
	Adjacency() privacy.Adjacency
	// Compose adds k ≥ 0 runs of e. On error nothing has changed.
	//
	// Errors: *privacy.ParamError; privacy.ErrUnsupported for an event that this accountant cannot bound;
	// privacy.ErrAdjacency.
	Compose(e privacy.Event, k int) error
	// Ledger returns what was composed, in order, equal events joined.
	Ledger() []Entry
	// EpsilonUpper returns an upper bound on ε at delta; +Inf if there is none.
	EpsilonUpper(delta float64) (float64, error)
	// EpsilonLower returns a lower bound on the exact ε at delta of the composed profiles, 0 where nothing is known.
	EpsilonLower(delta float64) (float64, error)
	// LogDeltaUpper returns an upper bound on ln δ at eps.
	LogDeltaUpper(eps float64) (float64, error)
	// LogDeltaLower returns a lower bound on ln δ at eps, −Inf where nothing is known.
	LogDeltaLower(eps float64) (float64, error)
	// Method says in words how the last kind of bound is obtained.
	Method() string
}

// Entry is a line of the ledger.
type Entry struct {
	Event privacy.Event
	Count int
}

// maxRuns bounds the count of an entry, so that it is exact as a float, and two can be added on every machine.
const maxRuns = min(1<<52, math.MaxInt/2)

// ledger is what all accountants share. T is what an accountant keeps of an event to compose it.
type ledger[T any] struct {
	adj     privacy.Adjacency
	entries []Entry
	parts   []T
	where   map[privacy.Event]int // the entry of an event, for those that can be compared
	self    *ledger[T]            // where it is, from its first entry on: what is entered in a copy would be in both
	accept  func(privacy.Event) (T, error)
}

func (l *ledger[T]) Adjacency() privacy.Adjacency { return l.adj }

// Compose implements Accountant, for all of them.
func (l *ledger[T]) Compose(e privacy.Event, k int) error {
	if e == nil {
		return &privacy.ParamError{Name: "event", Value: nil, Want: "an event"}
	}
	if k < 0 || k > maxRuns {
		return &privacy.ParamError{Name: "k", Value: k, Want: "a count from 0 to 2⁵²"}
	}
	if l.self != nil && l.self != l {
		return errors.New("account: this is a copy of an accountant that has entries; enter all of them in a new one")
	}
	part, err := l.accept(e)
	if err != nil {
		return err
	}
	if k == 0 {
		return nil
	}
	l.self = l
	if reflect.ValueOf(e).Comparable() {
		if i, ok := l.where[e]; ok {
			if l.entries[i].Count+k > maxRuns {
				return &privacy.ParamError{Name: "k", Value: k, Want: "a total count up to 2⁵²"}
			}
			l.entries[i].Count += k
			return nil
		}
		if l.where == nil {
			l.where = map[privacy.Event]int{}
		}
		l.where[e] = len(l.entries)
	}
	l.entries = append(l.entries, Entry{e, k})
	l.parts = append(l.parts, part)
	return nil
}

// Ledger implements Accountant.
func (l *ledger[T]) Ledger() []Entry { return append([]Entry(nil), l.entries...) }

func (l *ledger[T]) counts() []int {
	counts := make([]int, len(l.entries))
	for i, e := range l.entries {
		counts[i] = e.Count
	}
	return counts
}

// PLD is the accountant by privacy-loss distributions: every event that has a profile, upper and lower bounds.
type PLD struct {
	ledger[privacy.Profile]
	settings *pld.Settings
	method   pld.Method
}

// NewPLD returns an accountant with nothing on its books. settings may be nil.
//
// Errors: *privacy.ParamError for an invalid adjacency.
func NewPLD(adj privacy.Adjacency, settings *pld.Settings) (*PLD, error) {
	if err := adj.Validate(); err != nil {
		return nil, err
	}
	a := &PLD{settings: settings, method: pld.Exact}
	a.adj = adj
	a.accept = func(e privacy.Event) (privacy.Profile, error) { return e.Profile(adj) }
	return a, nil
}

// composition returns nil if nothing was composed.
func (a *PLD) composition() (*pld.Composition, error) {
	if len(a.parts) == 0 {
		return nil, nil
	}
	var cs []pld.Component
	for i, p := range a.parts {
		cs = append(cs, pld.Component{Profile: p, Count: a.entries[i].Count})
	}
	return pld.New(cs, a.settings)
}

// EpsilonBounds returns both bounds of ε at delta and how they were obtained.
//
// Errors: *privacy.ParamError unless 0 < δ < 1.
func (a *PLD) EpsilonBounds(delta float64) (pld.Bounds, error) {
	if !(delta > 0 && delta < 1) {
		return pld.Bounds{}, &privacy.ParamError{Name: "Delta", Value: delta, Want: "a number in (0, 1)"}
	}
	c, err := a.composition()
	if err != nil || c == nil {
		return pld.Bounds{Method: pld.Exact}, err
	}
	b, err := c.EpsilonBounds(delta)
	a.method = b.Method
	return b, err
}

// LogDeltaBounds returns both bounds of ln δ at eps and how they were obtained.
//
// Errors: *privacy.ParamError unless eps is finite and ≥ 0.
func (a *PLD) LogDeltaBounds(eps float64) (pld.Bounds, error) {
	b, err := nothing(eps)
	if err != nil {
		return b, err
	}
	c, err := a.composition()
	if err != nil || c == nil {
		return b, err
	}
	b, err = c.DeltaBounds(eps)
	a.method = b.Method
	return b, err
}

// EpsilonUpper implements Accountant.
func (a *PLD) EpsilonUpper(delta float64) (float64, error) {
	b, err := a.EpsilonBounds(delta)
	return b.Upper, err
}

// EpsilonLower implements Accountant.
func (a *PLD) EpsilonLower(delta float64) (float64, error) {
	b, err := a.EpsilonBounds(delta)
	return b.Lower, err
}

// LogDeltaUpper implements Accountant.
func (a *PLD) LogDeltaUpper(eps float64) (float64, error) {
	b, err := a.LogDeltaBounds(eps)
	return b.Upper, err
}

// LogDeltaLower implements Accountant.
func (a *PLD) LogDeltaLower(eps float64) (float64, error) {
	b, err := a.LogDeltaBounds(eps)
	return b.Lower, err
}

// Method implements Accountant.
func (a *PLD) Method() string { return string(a.method) }
