// Package ledger keeps privacy budgets: what may be spent, what was spent on
// what, and a refusal of anything beyond, before any noise is drawn.
package ledger

import (
	"fmt"
	"math"
	"math/big"
	"os"
	"strconv"
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
	// Path is the file that keeps the ledger; empty keeps it as long as the process
	// lasts.
	Path string `json:"-"`
}

// Entry is one release that was paid for.
type Entry struct {
	// Label is the user's name for the release, Mechanism what made it.
	Label     string  `json:"label"`
	Mechanism string  `json:"mechanism"`
	Epsilon   float64 `json:"epsilon"`
	Delta     float64 `json:"delta"`
	// Simulated says that the noise came from a seed, so that the release
	// protects nobody.
	Simulated bool `json:"simulated"`
}

// Budget is a ledger with a limit. It is safe for concurrent use, also by
// several processes if it is kept in a file.
//
// Spending is additive: Σεᵢ ≤ ε and Σδᵢ ≤ δ (basic composition). That holds
// for releases chosen one after the other with knowledge of the earlier ones,
// and makes the order of the entries irrelevant. Sums are taken in exact
// decimal arithmetic, so that ten times 0.1 is 1.
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
	return fmt.Sprintf("ledger: budget %q has ε = %s, δ = %s left and was asked for ε = %s, δ = %s: refused, nothing was drawn and nothing spent; "+
		"ask for less, or stop here: what was released stays released",
		e.Name, privacy.FormatDown(e.RemainingEpsilon, 6), privacy.FormatDown(e.RemainingDelta, 6),
		privacy.FormatUp(e.AskedEpsilon, 6), privacy.FormatUp(e.AskedDelta, 6))
}

// Check reports whether an entry of this size could be charged, without
// charging it: nil, a *privacy.ParamError or an *OverspentError.
func (b *Budget) Check(epsilon, delta float64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.locked(func() error { return b.covers(epsilon, delta) })
}

func (b *Budget) covers(epsilon, delta float64) error {
	if !(epsilon > 0) || epsilon > 1e6 {
		return &privacy.ParamError{Name: "Epsilon", Value: epsilon, Want: "a number in (0, 1e6]"}
	}
	if !(delta >= 0 && delta < 1) {
		return &privacy.ParamError{Name: "Delta", Value: delta, Want: "a number in [0, 1)"}
	}
	eps, del := b.spent()
	eps.Add(eps, decimal(epsilon))
	del.Add(del, decimal(delta))
	if eps.Cmp(decimal(b.config.Epsilon)) > 0 || del.Cmp(decimal(b.config.Delta)) > 0 {
		re, rd := b.remaining()
		return &OverspentError{b.config.Name, epsilon, delta, re, rd}
	}
	return nil
}

// Charge enters a release, before its noise is drawn. There are no refunds: a
// release that fails after its noise was drawn has been paid for, because
// trying again until it succeeds would be a choice that looks at the noise.
//
// Errors: as Check; the ledger is then unchanged.
func (b *Budget) Charge(e Entry) error {
	// What is kept is what a file can keep.
	e.Label, e.Mechanism = strings.ToValidUTF8(e.Label, "�"), strings.ToValidUTF8(e.Mechanism, "�")
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.locked(func() error {
		if err := b.covers(e.Epsilon, e.Delta); err != nil {
			return err
		}
		return b.store(append(append([]Entry(nil), b.entries...), e))
	})
}

// spent returns Σεᵢ and Σδᵢ exactly.
func (b *Budget) spent() (eps, delta *big.Rat) {
	eps, delta = new(big.Rat), new(big.Rat)
	for _, e := range b.entries {
		eps.Add(eps, decimal(e.Epsilon))
		delta.Add(delta, decimal(e.Delta))
	}
	return eps, delta
}

func (b *Budget) remaining() (epsilon, delta float64) {
	eps, del := b.spent()
	epsilon, _ = eps.Sub(decimal(b.config.Epsilon), eps).Float64()
	delta, _ = del.Sub(decimal(b.config.Delta), del).Float64()
	return epsilon, delta
}

// decimal returns the shortest decimal that x is the float64 of: the number
// that a person typed.
func decimal(x float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'e', -1, 64))
	if !ok {
		panic("ledger: not a finite number")
	}
	return r
}

// Share returns the part of δ that belongs to the part ε of the budget's ε, as
// the largest float64 whose decimal is no more than δ·ε/ε_total: shares of a
// whole never add up to more than the whole.
func (b *Budget) Share(epsilon float64) float64 {
	if !(epsilon > 0) || epsilon > 1e6 {
		return 0
	}
	exact := decimal(b.config.Delta)
	exact.Mul(exact, decimal(epsilon)).Quo(exact, decimal(b.config.Epsilon))
	share, _ := exact.Float64()
	for share > 0 && decimal(share).Cmp(exact) > 0 {
		share = math.Nextafter(share, 0)
	}
	return share
}

// State is a snapshot of a budget.
type State struct {
	Config
	Entries                          []Entry
	SpentEpsilon, SpentDelta         float64
	RemainingEpsilon, RemainingDelta float64
}

// State returns what was spent on what and what is left.
func (b *Budget) State() (State, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var s State
	err := b.locked(func() error {
		s = State{Config: b.config, Entries: append([]Entry(nil), b.entries...)}
		eps, delta := b.spent()
		s.SpentEpsilon, _ = eps.Float64()
		s.SpentDelta, _ = delta.Float64()
		s.RemainingEpsilon, s.RemainingDelta = b.remaining()
		return nil
	})
	return s, err
}

// Config returns what the budget was opened with.
func (b *Budget) Config() Config { return b.config }
