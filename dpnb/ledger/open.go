package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"unicode/utf8"

	"github.com/dpnb/notebooks/dpnb/internal/registry"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Open returns the budget of c.Name. A process has one budget of a name: the first call states it, and a later one
// gives the same with what was spent, from whatever goroutine. If c.Path is a file, the budget goes on from what the
// file says was spent, and the file is found by every name that leads to it: relative, through symbolic links, also
// through one that was made before the file. The first charge makes the file: until then another process may state
// another budget, and a Charge of what it has not stated is refused.
//
// What no program can see is a copy of the file, or its deletion between two runs: the file is to be kept like the
// data.
//
// Errors: *privacy.ParamError; an error if the budget of this name was stated with another ε, δ, adjacency or file; if
// the file holds another budget, is no regular file, has several names (hard links) or cannot be read (then nothing can
// be known of what was spent, so there is no budget).
func Open(c Config) (*Budget, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	if c.Path != "" {
		var err error
		if c.Path, err = resolve(c.Path); err != nil {
			return nil, fmt.Errorf("ledger: %w", err)
		}
	}
	return registry.Open(c.Name, func(b *Budget) error {
		if err := c.restates(b.config); err != nil {
			return err
		}
		_, err := b.State() // its file may have ceased to be readable
		return err
	}, func() (*Budget, error) {
		b := &Budget{config: c}
		return b, b.locked(func() error { return nil })
	})
}

// Stated returns what the file of a ledger says was stated.
//
// Errors: as the operating system's; an error if the file is no ledger.
func Stated(path string) (Config, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return Config{}, fmt.Errorf("ledger: there is none in %s: the first release that names it makes it", path)
	}
	if err != nil {
		return Config{}, fmt.Errorf("ledger: %w", err)
	}
	f, _, err := parse(text)
	if err != nil {
		return Config{}, fmt.Errorf("ledger: %s: %w", path, err)
	}
	f.Config.Path = path
	return f.Config, nil
}

func (c Config) validate() error {
	if err := cmp.Or(privacy.Within(c.Name != "" && utf8.ValidString(c.Name), "Name", strconv.Quote(c.Name),
		"a name for the budget, in UTF-8"),
		privacy.Within(c.Epsilon > 0 && c.Epsilon <= 1e6, "Epsilon", c.Epsilon, "a number in (0, 1e6]"),
		privacy.Within(c.Delta >= 0 && c.Delta < 1, "Delta", c.Delta, "a number in [0, 1)")); err != nil {
		return err
	}
	return c.Adjacency.Validate()
}

// named is what names a budget.
var named = wording.Setting{Field: "Budget", Go: `Named("…")`}

// restates reports in what c differs from the budget that was stated.
func (c Config) restates(stated Config) error {
	if c.Path != stated.Path {
		place := func(path string) string {
			if path == "" {
				return "in memory"
			}
			return "in " + path
		}
		return fmt.Errorf("ledger: budget %q is kept %s, not %s: a budget has one ledger, and cannot be changed "+
			"once it is stated; name another for other data (%s)",
			c.Name, place(stated.Path), place(c.Path), named)
	}
	if c != stated {
		return fmt.Errorf("ledger: budget %q was stated with %s, and now with %s: a budget cannot be changed once "+
			"it is stated; name another for other data (%s)", c.Name, stated.words(), c.words(), named)
	}
	return nil
}

// words are what was stated.
func (c Config) words() string {
	words := fmt.Sprintf("ε = %v, δ = %v, %v", c.Epsilon, c.Delta, c.Adjacency)
	if c.Additive {
		words += ", additive"
	}
	return words
}
