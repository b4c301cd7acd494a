package ledger

import (
	"strings"
	"sync"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// A name is a budget, however often it is stated and by whom.
func TestOneBudgetOfAName(t *testing.T) {
	budgets(t, func(t *testing.T, c Config) {
		for k := range 3 {
			err := open(t, c).Charge(Entry{Epsilon: 0.5})
			if (err == nil) != (k < 2) {
				t.Errorf("half of the budget, time %d: %v", k+1, err)
			}
		}
		other := c
		other.Name += ", other data"
		if other.Path != "" {
			other.Path += ".other"
		}
		if err := open(t, other).Charge(Entry{Epsilon: 1}); err != nil {
			t.Errorf("a budget of another name: %v", err)
		}
		for what, change := range map[string]func(*Config){
			"ε":         func(c *Config) { c.Epsilon = 2 },
			"less ε":    func(c *Config) { c.Epsilon = 0.5 },
			"δ":         func(c *Config) { c.Delta = 1e-6 },
			"adjacency": func(c *Config) { c.Adjacency = privacy.ReplaceOne },
			"place":     func(c *Config) { c.Path = t.TempDir() + "/elsewhere.json" },
		} {
			restated := c
			change(&restated)
			if b, err := Open(restated); err == nil || b != nil || !strings.Contains(err.Error(), "cannot be changed") {
				t.Errorf("another %s: %v", what, err)
			}
		}
	})
}

// Goroutines that state the same budget spend from the same budget.
func TestOneBudgetForAllGoroutines(t *testing.T) {
	budgets(t, func(t *testing.T, c Config) {
		var wg sync.WaitGroup
		passed := make([]bool, 30)
		for k := range passed {
			wg.Go(func() {
				b, err := Open(c)
				if err != nil {
					t.Error(err)
					return
				}
				passed[k] = b.Charge(Entry{Epsilon: 0.05}) == nil
			})
		}
		wg.Wait()
		n := 0
		for _, ok := range passed {
			if ok {
				n++
			}
		}
		if n != 20 {
			t.Errorf("%d charges of 0.05 went through a budget of 1", n)
		}
	})
}

// What is written is what is read again, whatever bytes a label has.
func TestOddLabelsDoNotSpoilTheLedger(t *testing.T) {
	budgets(t, func(t *testing.T, c Config) {
		b := open(t, c)
		for range 2 {
			must.Do(b.Charge(Entry{Label: "a\xff\xfeb\x00\n\u2028<", Mechanism: "\xff", Epsilon: 0.1}))
		}
	})
}

// Two partitions whose names a file cannot tell apart are not charged as one.
func TestOddPartitionsAreRefused(t *testing.T) {
	budgets(t, func(t *testing.T, c Config) {
		b := open(t, c)
		for _, p := range []string{"ward\xfe", "ward\xff"} {
			e := Entry{Epsilon: c.Epsilon, Partition: p, Group: p}
			if b.Check(e) == nil || b.Charge(e) == nil {
				t.Errorf("%q is a partition", p)
			}
		}
	})
}
