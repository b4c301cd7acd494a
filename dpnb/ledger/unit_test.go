package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// A budget pays for releases of one unit: another is refused with the ledger unchanged, also in one batch and where
// another process reads the file.
func TestOneUnitOfABudget(t *testing.T) {
	units := []string{"", `person of up to 2 rows ("id")`, `person of up to 3 rows ("who")`, "household"}
	of := func(unit string) Entry { return Entry{Epsilon: 0.1, Delta: 9e-7, Unit: unit} }
	for _, first := range units {
		budgets(t, func(t *testing.T, c Config) {
			b := open(t, c)
			if err := b.Charge(of(units[0]), of(units[1])); err == nil || len(state(t, b).Entries) != 0 {
				t.Errorf("a batch of two units: %v", err)
			}
			for range 2 {
				must.Do(b.Charge(of(first)))
			}
			if c.Path != "" {
				b = must.Get(anew(c))
			}
			before := state(t, b)
			for _, unit := range units {
				_, after := b.After(of(unit))
				for what, err := range map[string]error{"check": b.Check(of(unit)), "after": after} {
					if wrong := new(UnitError); errors.As(err, &wrong) != (unit != first) {
						t.Errorf("%s: %q after %q: %v", what, unit, first, err)
					}
				}
				if unit == first {
					continue
				}
				if err := b.Charge(of(unit)); err == nil || !strings.Contains(err.Error(), "say PerPerson") {
					t.Errorf("%q after %q: %v", unit, first, err)
				}
			}
			if now := state(t, b); !reflect.DeepEqual(now, before) || len(now.Entries) != 2 {
				t.Errorf("%+v, before %+v", now, before)
			}
			if err := b.Charge(of(first)); err != nil {
				t.Error(err)
			}
		})
	}
}

// A person is protected as a whole by each release, however many of her rows it counts: they are of one unit.
func TestOnePersonOfManyRows(t *testing.T) {
	b := open(t, config(""))
	for rows := 1; rows <= 3; rows++ {
		must.Do(b.Charge(Entry{Epsilon: 0.1, Delta: 9e-7, Unit: UnitOf("id", rows)}))
	}
	entries := state(t, b).Entries
	if said := Protected(entries); !strings.HasPrefix(said, `person ("id"), of whom each release`) {
		t.Error(said)
	}
	if said := Protected(entries[:1]); said != `person of up to 1 row ("id")` {
		t.Error(said)
	}
	if b.Charge(Entry{Epsilon: 0.1, Unit: UnitOf("i", 1)}) == nil || b.Charge(Entry{Epsilon: 0.1}) == nil {
		t.Error("another column, or rows, after people")
	}
}

// A ledger that names no unit is of rows, and of rows no unit is written.
func TestUnitOfAnEarlierLedger(t *testing.T) {
	c := config(filepath.Join(t.TempDir(), "ledger.json"))
	b := open(t, c)
	must.Do(b.Charge(Entry{Epsilon: 0.1}))
	if text, err := os.ReadFile(b.Config().Path); err != nil || strings.Contains(string(text), "unit") {
		t.Errorf("%s (%v)", text, err)
	}
	if b.Charge(Entry{Epsilon: 0.1, Unit: "person"}) == nil || b.Charge(Entry{Epsilon: 0.1}) != nil {
		t.Error("not of rows")
	}
}

// A person with several rows is in several groups of a partition, and pays in each; one with a single row is in one.
func TestGroupsOfPeopleAddUp(t *testing.T) {
	for unit, want := range map[string]float64{"person": 1, UnitOf("id", 2): 1, UnitOf("id", 10): 1,
		UnitOf("id", 1): 0.5, UnitOf("1 row (", 2): 1, "": 0.5} {
		b := open(t, config(""))
		for _, group := range []string{"a", "b"} {
			must.Do(b.Charge(Entry{Epsilon: 0.5, Delta: 4.5e-6, Partition: "ward", Group: group, Unit: unit}))
		}
		more := b.Check(Entry{Epsilon: 0.1, Unit: unit})
		if s := state(t, b); s.SpentEpsilon != want || (more == nil) != (want < 1) {
			t.Errorf("%q: %v spent (%v)", unit, s.SpentEpsilon, more)
		}
	}
}
