package ledger

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/registry"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

var stated atomic.Int64

// config is of a budget that no other test has stated.
func config(path string) Config {
	return Config{Name: fmt.Sprintf("test %d", stated.Add(1)), Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove,
		Path: path}
}

// anew opens a budget as another process would, which knows nothing of this one's.
func anew(c Config) (*Budget, error) {
	registry.Forget(c.Name)
	return Open(c)
}

func open(t *testing.T, c Config) *Budget {
	t.Helper()
	return must.Get(Open(c))
}

// budgets runs a test over a budget in memory and one in a file.
func budgets(t *testing.T, f func(t *testing.T, c Config)) {
	t.Run("memory", func(t *testing.T) { f(t, config("")) })
	t.Run("file", func(t *testing.T) { f(t, config(filepath.Join(t.TempDir(), "ledger.json"))) })
}

func TestTenTenthsAreOne(t *testing.T) {
	budgets(t, func(t *testing.T, c Config) {
		b := open(t, c)
		for i := range 10 {
			if err := b.Charge(Entry{Label: "a", Epsilon: 0.1, Delta: 9e-7}); err != nil {
				t.Fatalf("charge %d: %v", i, err)
			}
		}
		var over *OverspentError
		err := b.Charge(Entry{Epsilon: 1e-12, Delta: 0})
		if !errors.As(err, &over) || over.RemainingEpsilon != 0 || over.RemainingDelta != 0 {
			t.Errorf("err = %v", err)
		}
		s, err := b.State()
		if err != nil || len(s.Entries) != 10 || s.SpentEpsilon != 1 || s.SpentDelta != 9e-6 {
			t.Errorf("state %+v, %v", s, err)
		}
	})
}

func TestRefusalLeavesTheLedgerUnchanged(t *testing.T) {
	budgets(t, func(t *testing.T, c Config) {
		b := open(t, c)
		must.Do(b.Charge(Entry{Label: "first", Epsilon: 0.75, Delta: 5e-6}))
		before, _ := b.State()
		for _, e := range []Entry{
			{Epsilon: 0.5, Delta: 0}, {Epsilon: 0.1, Delta: 6e-6}, // too much
			{Epsilon: 0, Delta: 0}, {Epsilon: -1}, {Epsilon: math.NaN()}, {Epsilon: math.Inf(1)},
			{Epsilon: 0.1, Delta: -1e-9}, {Epsilon: 0.1, Delta: 1}, {Epsilon: 0.1, Delta: math.NaN()},
		} {
			if err := b.Charge(e); err == nil {
				t.Errorf("%+v is accepted", e)
			}
			if err := b.Check(e); err == nil {
				t.Errorf("%+v passes the check", e)
			}
		}
		// What is charged once is refused beside itself, too.
		once := Entry{Epsilon: 0.1, Once: "a"}
		if repeated := new(RepeatedError); !errors.As(b.Charge(once, once), &repeated) {
			t.Error("a name is charged twice at once")
		}
		after, _ := b.State()
		if len(after.Entries) != 1 || after.SpentEpsilon != before.SpentEpsilon ||
			after.RemainingDelta != before.RemainingDelta {
			t.Errorf("ledger changed from %+v to %+v", before, after)
		}
	})
}

func TestFileSurvivesAndCannotBeRestated(t *testing.T) {
	c := config(filepath.Join(t.TempDir(), "ledger.json"))
	must.Do(open(t, c).Charge(Entry{Label: "cell 1", Epsilon: 0.75}))
	again := must.Get(anew(c))
	if err := again.Charge(Entry{Label: "cell 2", Epsilon: 0.5}); err == nil {
		t.Error("a new process forgot what was spent")
	}
	richer := c
	richer.Epsilon = 10
	if _, err := anew(richer); err == nil || !strings.Contains(err.Error(), "cannot be changed") {
		t.Errorf("a budget was restated: %v", err)
	}
	// Another process deletes or spoils the file under a live budget.
	must.Do(os.WriteFile(c.Path, []byte("{"), 0o600))
	if err := again.Charge(Entry{Epsilon: 0.1}); err == nil {
		t.Error("a spoilt file is taken for an empty one")
	}
	if _, err := anew(c); err == nil {
		t.Error("a spoilt file is opened")
	}
	must.Do(os.Remove(c.Path))
	if err := again.Charge(Entry{Epsilon: 0.1}); err == nil {
		t.Error("a missing file is taken for an empty one")
	}
}

func TestConcurrentCharges(t *testing.T) {
	c := config(filepath.Join(t.TempDir(), "ledger.json"))
	var wg sync.WaitGroup
	var mu sync.Mutex
	ok := 0
	for range 8 {
		b := must.Get(anew(c))
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 5 {
				if b.Charge(Entry{Epsilon: 0.05}) == nil {
					mu.Lock()
					ok++
					mu.Unlock()
				}
			}
		}()
	}
	wg.Wait()
	if ok != 20 {
		t.Errorf("%d charges of 0.05 went through a budget of 1", ok)
	}
}

func TestConfigIsChecked(t *testing.T) {
	for name, spoil := range map[string]func(*Config){
		"bad name":      func(c *Config) { c.Name = "\xff" },
		"no name":       func(c *Config) { c.Name = "" },
		"ε = 0":         func(c *Config) { c.Epsilon = 0 },
		"ε < 0":         func(c *Config) { c.Epsilon = -1 },
		"ε = NaN":       func(c *Config) { c.Epsilon = math.NaN() },
		"ε = Inf":       func(c *Config) { c.Epsilon = math.Inf(1) },
		"δ = 1":         func(c *Config) { c.Delta = 1 },
		"δ < 0":         func(c *Config) { c.Delta = -1e-9 },
		"δ = NaN":       func(c *Config) { c.Delta = math.NaN() },
		"no adjacency":  func(c *Config) { c.Adjacency = 0 },
		"bad adjacency": func(c *Config) { c.Adjacency = 3 },
	} {
		c := config("")
		spoil(&c)
		var pe *privacy.ParamError
		if _, err := Open(c); !errors.As(err, &pe) {
			t.Errorf("%s: err = %v", name, err)
		}
	}
}
