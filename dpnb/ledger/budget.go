// Package ledger keeps privacy budgets: what may be spent, what was spent on what, and a refusal of anything beyond,
// before any noise is drawn.
package ledger

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Config of a budget. Every field but Additive and Path is required.
type Config struct {
	// Name tells budgets of different data apart: a process has one budget of a name.
	Name string `json:"name"`
	// Epsilon > 0 and 0 ≤ Delta < 1 are what may be spent in all.
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	// Adjacency of every guarantee that the budget pays for.
	Adjacency privacy.Adjacency `json:"adjacency"`
	// Additive has releases add up by ε and δ alone, which anybody can follow and which covers fewer (Sums).
	Additive bool `json:"additive,omitempty"`
	// Path is the file that keeps the ledger; empty keeps it as long as the process lasts.
	Path string `json:"-"`
}

// Entry is one release that was paid for.
type Entry struct {
	// Label is the user's name for the release, Mechanism what made it.
	Label     string `json:"label"`
	Mechanism string `json:"mechanism"`
	// Epsilon and Delta are what the release is alone.
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	// Mu and Slack are what it costs by the squares: it is μ-GDP but for a probability of Slack (privacy.AsGaussian). A
	// Mu of zero says that only (ε, δ) is known: it is then the sums that have to cover it, and all that is beside it.
	Mu    float64 `json:"mu,omitempty"`
	Slack float64 `json:"slack,omitempty"`
	// Once is a name that a budget is charged for once at most, whatever happens to what was released; empty for none.
	Once string `json:"once,omitempty"`
	// Shared says that a share of μ² was asked for (Budget.Share).
	Shared bool `json:"shared,omitempty"`
	// Unit is what one neighbour has more than the other, in words, empty for one row: a person with so many rows of
	// theirs. All entries of a budget have the same (UnitError).
	Unit string `json:"unit,omitempty"`
	// Partition and Group say that the release reads only the records of one group of a partition, empty if it reads
	// all. A partition is a rule, fixed without the data, that names one group for every possible record by what stands
	// in it, not by its place and not by other records; the same name always means the same rule. Releases on different
	// groups then cost the largest, not the sum. So do they where one row of each person counts (UnitOf of 1), which
	// has to be chosen before the groups are made, by the rows of that person alone; of several rows they add up. Under
	// replace-one the release has to keep to what it costs also where a record is added to the group or taken from it.
	Partition string `json:"partition,omitempty"`
	Group     string `json:"group,omitempty"`
	// Simulated says that the noise came from a seed, so that the release protects nobody.
	Simulated bool `json:"simulated"`
}

// Budget is a ledger with a limit. It is safe for concurrent use, also by several processes if it is kept in a file.
//
// Releases may be chosen one after the other with knowledge of the earlier ones. Sums are exact, so that ten times 0.1
// is 1.
// Proof: docs/theory/ledger.md.
type Budget struct {
	mu      sync.Mutex
	config  Config
	rule    Rule
	entries []Entry
	// begun says that the file has been there; onDisk is which one was read last.
	begun  bool
	onDisk os.FileInfo
}

// OverspentError refuses a release that the budget does not cover.
type OverspentError struct {
	Name                             string
	AskedEpsilon, AskedDelta         float64
	RemainingEpsilon, RemainingDelta float64
}

// Error implements error.
func (e *OverspentError) Error() string {
	dear := ""
	if e.AskedEpsilon <= e.RemainingEpsilon && e.AskedDelta <= e.RemainingDelta {
		dear = ", which costs more than a Gaussian mechanism of this ε"
	}
	return fmt.Sprintf("ledger: budget %q has ε = %s, δ = %s left, and this release needs ε = %s, δ = %s%s: refused; "+
		"nothing was drawn and nothing spent. Ask for less, or stop here: what was released stays released",
		e.Name, privacy.FormatDown(e.RemainingEpsilon, 6), privacy.FormatDown(e.RemainingDelta, 6),
		privacy.FormatUp(e.AskedEpsilon, 6), privacy.FormatUp(e.AskedDelta, 6), dear)
}

// Check reports whether entries could be charged, without charging them: nil, a *privacy.ParamError, a *UnitError or an
// *OverspentError.
func (b *Budget) Check(entries ...Entry) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.locked(func() error { _, err := b.with(entries); return err })
}

// Charge enters releases, all of them or none, before their noise is drawn. There are no refunds: a release that fails
// after its noise was drawn has been paid for, because trying again until it succeeds would be a choice that looks at
// the noise.
//
// Errors: as Check; *RepeatedError; the ledger is then unchanged.
func (b *Budget) Charge(entries ...Entry) error {
	entries = slices.Clone(entries)
	for i := range entries {
		// What is kept is what a file can keep. Groups that become one add up; partitions would be charged as one, and
		// are refused.
		e := &entries[i]
		for _, text := range []*string{&e.Label, &e.Mechanism, &e.Once, &e.Unit, &e.Group} {
			*text = strings.ToValidUTF8(*text, "�")
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.locked(func() error {
		if err := b.repeated(entries); err != nil {
			return err
		}
		rule, err := b.with(entries)
		if err != nil || len(entries) == 0 {
			return err
		}
		return b.store(rule, slices.Concat(b.entries, entries))
	})
}

func (e Entry) validate() error {
	switch {
	case !(e.Epsilon > 0) || e.Epsilon > 1e6:
		return &privacy.ParamError{Name: "Epsilon", Value: e.Epsilon, Want: "a number in (0, 1e6]"}
	case !(e.Delta >= 0 && e.Delta < 1):
		return &privacy.ParamError{Name: "Delta", Value: e.Delta, Want: "a number in [0, 1)"}
	case !(e.Mu >= 0) || e.Mu > 1e6:
		return &privacy.ParamError{Name: "Mu", Value: e.Mu, Want: "a number in [0, 1e6]"}
	case !(e.Slack >= 0 && e.Slack < 1):
		return &privacy.ParamError{Name: "Slack", Value: e.Slack, Want: "a number in [0, 1)"}
	case !utf8.ValidString(e.Partition):
		return &privacy.ParamError{Name: "Partition", Value: strconv.Quote(e.Partition), Want: "a name in UTF-8"}
	case e.Partition == "" && e.Group != "":
		return &privacy.ParamError{Name: "Partition", Value: `""`, Want: "the name of the rule that makes the groups"}
	}
	return nil
}

// with returns the rule under which further entries are covered. The caller has loaded.
func (b *Budget) with(entries []Entry) (Rule, error) {
	for _, e := range entries {
		if err := e.validate(); err != nil {
			return "", err
		}
	}
	if err := b.sameUnit(slices.Concat(b.entries, entries)); err != nil {
		return "", err
	}
	a := b.config.account(b.rule)
	enough := !slices.ContainsFunc(entries, func(e Entry) bool { return e.Delta > a.Delta })
	if len(b.entries) == 0 {
		a.rule = a.decide(entries)
	}
	if !enough || !a.covers(slices.Concat(b.entries, entries)) {
		asked := a.tally(entries)
		re, rd := b.config.account(b.rule).left(b.entries)
		return "", &OverspentError{b.config.Name, up(asked.epsilon), up(asked.delta), re, rd}
	}
	return a.rule, nil
}

// State is a snapshot of a budget.
type State struct {
	Config
	// Rule by which releases add up.
	Rule    Rule
	Entries []Entry
	// SpentEpsilon and SpentDelta are what all releases so far are together, as a statement about what they cost: one
	// point of a curve (DeltaUpper) of which every other holds as well.
	SpentEpsilon, SpentDelta float64
	// RemainingEpsilon and RemainingDelta are what one further release can be, if it is Gaussian; rounded down.
	RemainingEpsilon, RemainingDelta float64
	// Used is the part of the budget that is spent; rounded up.
	Used float64
}

// State returns what was spent on what and what is left.
func (b *Budget) State() (State, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var s State
	err := b.locked(func() error { s = b.config.account(b.rule).state(b.entries); return nil })
	return s, err
}

// After returns what State would be after a charge, without charging. Errors: as Check.
func (b *Budget) After(entries ...Entry) (State, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var s State
	err := b.locked(func() error {
		rule, err := b.with(entries)
		if err == nil {
			s = b.config.account(rule).state(slices.Concat(b.entries, entries))
		}
		return err
	})
	return s, err
}

func (a account) state(entries []Entry) State {
	s := State{Config: a.Config, Rule: a.rule, Entries: slices.Clone(entries), Used: a.used(entries)}
	s.SpentEpsilon, s.SpentDelta = a.spent(entries)
	s.RemainingEpsilon, s.RemainingDelta = a.left(entries)
	return s
}

// DeltaUpper returns the δ at ε ≥ 0 of all releases so far together, rounded up: the curve of which SpentEpsilon and
// SpentDelta are a point.
func (s State) DeltaUpper(epsilon float64) float64 {
	t := s.tally(s.Entries)
	delta := 1.0
	if decimal(epsilon).Cmp(t.epsilon) >= 0 {
		delta = math.Min(delta, up(t.delta))
	}
	if !t.unknown {
		mu, _ := t.square.Float64()
		p := privacy.GaussianProfile(math.Sqrt(mu)*(1+4e-16), s.Adjacency)
		delta = math.Min(delta, (privacy.DeltaUpper(p, epsilon)+up(t.slack))*(1+4e-16))
	}
	return delta
}

// Config returns what the budget was opened with.
func (b *Budget) Config() Config {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.config
}

// account returns the budget with its rule, as far as its file can be read: a charge looks again.
func (b *Budget) account() account {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.locked(func() error { return nil })
	return b.config.account(b.rule)
}
