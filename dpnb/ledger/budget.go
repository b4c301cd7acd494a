// Package ledger keeps privacy budgets: what may be spent, what was spent on
// what, and a refusal of anything beyond, before any noise is drawn.
package ledger

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Config of a budget. Every field but Path is required.
type Config struct {
	// Name tells budgets of different data apart: a process has one budget of a name.
	Name string `json:"name"`
	// Epsilon > 0 and 0 ≤ Delta < 1 are what may be spent in all.
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	// Adjacency of every guarantee that the budget pays for.
	Adjacency privacy.Adjacency `json:"adjacency"`
	// Rule by which releases add up; the zero one adds ε and δ. A file keeps the rule
	// with which it was begun, whatever is asked for later.
	Rule Rule `json:"rule,omitempty"`
	// Path is the file that keeps the ledger; empty keeps it as long as the process
	// lasts.
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
	// Mu and Slack are what it costs under the rule AsGaussians: it is μ-GDP but for a
	// probability of Slack (privacy.AsGaussian). A Mu of zero says that only (ε, δ) is
	// known: such a release takes the whole budget.
	Mu    float64 `json:"mu,omitempty"`
	Slack float64 `json:"slack,omitempty"`
	// Once is a name that a budget is charged for once at most, whatever happens to what was
	// released; empty for none.
	Once string `json:"once,omitempty"`
	// Simulated says that the noise came from a seed, so that the release
	// protects nobody.
	Simulated bool `json:"simulated"`
}

// Budget is a ledger with a limit. It is safe for concurrent use, also by
// several processes if it is kept in a file.
//
// Releases may be chosen one after the other with knowledge of the earlier ones, and the
// order of the entries makes no difference. Sums are exact, so that ten times 0.1 is 1.
// Proof of both rules: docs/theory/ledger.md.
type Budget struct {
	mu      sync.Mutex
	config  Config
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
	return fmt.Sprintf("ledger: budget %q has ε = %s, δ = %s left and was asked for ε = %s, δ = %s: refused, nothing "+
		"was drawn and nothing spent; "+
		"ask for less, or stop here: what was released stays released",
		e.Name, privacy.FormatDown(e.RemainingEpsilon, 6), privacy.FormatDown(e.RemainingDelta, 6),
		privacy.FormatUp(e.AskedEpsilon, 6), privacy.FormatUp(e.AskedDelta, 6))
}

// Check reports whether an entry could be charged, without charging it: nil, a
// *privacy.ParamError or an *OverspentError.
func (b *Budget) Check(e Entry) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.locked(func() error { return b.covers(e) })
}

// Charge enters a release, before its noise is drawn. There are no refunds: a
// release that fails after its noise was drawn has been paid for, because
// trying again until it succeeds would be a choice that looks at the noise.
//
// Errors: as Check; *RepeatedError; the ledger is then unchanged.
func (b *Budget) Charge(e Entry) error {
	// What is kept is what a file can keep.
	e.Label, e.Mechanism = strings.ToValidUTF8(e.Label, "�"), strings.ToValidUTF8(e.Mechanism, "�")
	e.Once = strings.ToValidUTF8(e.Once, "�")
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.locked(func() error {
		if err := b.repeated(e); err != nil {
			return err
		}
		if err := b.covers(e); err != nil {
			return err
		}
		return b.store(append(append([]Entry(nil), b.entries...), e))
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
	}
	return nil
}

func (b *Budget) covers(e Entry) error {
	if err := e.validate(); err != nil {
		return err
	}
	if !b.rule().covers(append(b.entries[:len(b.entries):len(b.entries)], e)) {
		re, rd := b.rule().left(b.entries)
		return &OverspentError{b.config.Name, e.Epsilon, e.Delta, re, rd}
	}
	return nil
}

// State is a snapshot of a budget.
type State struct {
	Config
	Entries []Entry
	// SpentEpsilon and SpentDelta are what all releases so far are together. Under
	// AsGaussians δ is the budget's as soon as there is one: another point of the same
	// curve is as true.
	SpentEpsilon, SpentDelta float64
	// RemainingEpsilon and RemainingDelta are what one further release can be.
	RemainingEpsilon, RemainingDelta float64
	// Used is the part of the budget that is spent: of ε, or of μ² under AsGaussians.
	Used float64
}

// State returns what was spent on what and what is left.
func (b *Budget) State() (State, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var s State
	err := b.locked(func() error {
		s = State{Config: b.config, Entries: append([]Entry(nil), b.entries...)}
		r := b.rule()
		s.SpentEpsilon, s.SpentDelta = r.spent(b.entries)
		s.RemainingEpsilon, s.RemainingDelta = r.left(b.entries)
		s.Used = r.used(b.entries)
		return nil
	})
	return s, err
}

// Part returns the part of the budget that entry i takes.
func (s State) Part(i int) float64 {
	b := Budget{config: s.Config}
	return b.rule().used(s.Entries[i : i+1])
}

// Config returns what the budget was opened with.
func (b *Budget) Config() Config {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.config
}

// rule returns the rule of the budget with its limits.
func (b *Budget) rule() rule {
	if b.config.Rule == AsGaussians {
		return b.config.gaussian()
	}
	return sums{b.config}
}
