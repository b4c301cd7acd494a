package ledger

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// share charges a share as a Gaussian mechanism that costs what it may.
func share(t *testing.T, b *Budget, fraction float64) Part {
	t.Helper()
	part := must.Get(b.Share(fraction))
	if err := b.Charge(Entry{Epsilon: part.Epsilon, Delta: part.Delta, Mu: part.Mu, Shared: true}); err != nil {
		t.Fatalf("share of %v: %v", fraction, err)
	}
	return part
}

// gaussianEntry is a Gaussian mechanism calibrated for what is allowed.
func gaussianEntry(p Part) Entry {
	mu, _ := privacy.MuOf(p.Epsilon, p.Delta)
	return Entry{Epsilon: p.Epsilon, Delta: p.Delta, Mu: mu}
}

func state(t *testing.T, b *Budget) State {
	t.Helper()
	return must.Get(b.State())
}

// A hundred equal shares are the budget: the exact profile of all of them, which adds μ², is (ε, δ) to a ten-thousandth
// of ε. One more is refused.
func TestSharesAreTheBudget(t *testing.T) {
	for _, k := range []int{1, 3, 10, 100} {
		b := open(t, config(""))
		for range k {
			share(t, b, 1/float64(k))
		}
		s := state(t, b)
		if s.Rule != Squares || s.SpentEpsilon > 1 || s.SpentEpsilon < 0.9999 || s.Used < 0.999999 || s.Used > 1 {
			t.Errorf("%d shares: %+v", k, s)
		}
		var over *OverspentError
		if err := b.Charge(Entry{Epsilon: 0.001, Delta: 1e-5, Mu: 1e-4}); !errors.As(err, &over) {
			t.Errorf("after all shares: %v", err)
		}
	}
}

// Ten equal fits have ε ≈ 0.28 each, a hundred 0.081 (target figures of the theory); an eighth less from a budget that
// began with an ε.
func TestWhatShareBuys(t *testing.T) {
	b, begun := open(t, config("")), open(t, config(""))
	must.Do(begun.Charge(gaussianEntry(begun.Spend(0.1))))
	for fraction, want := range map[float64][2]float64{0.1: {0.2845, 0.306}, 0.01: {0.0809, 0.1103}} {
		part, err := b.Share(fraction)
		other, _ := begun.Share(fraction)
		if err != nil || !(math.Abs(part.Epsilon/want[0]-1) <= 0.002) || part.Delta != 1e-5 {
			t.Errorf("a share of %v is %+v, %v, want about %v", fraction, part, err, want[0])
		}
		if r := other.Mu / part.Mu; !(math.Abs(r-0.883) <= 0.002) || !(math.Abs(other.Delta/fraction-9e-6) <= 1e-15) {
			t.Errorf("after Spend a share of %v is %+v, %v of μ", fraction, other, r)
		}
	}
	// δ goes with the share of ε, whatever that is, and one release may have 2⁻¹² of the 2⁻²⁰ of δ that are kept.
	twice := config("")
	twice.Epsilon = 2
	b = open(t, twice)
	mu, _ := privacy.MuOf(2, 1e-5)
	if p := must.Get(b.Share(0.1)); p.Delta != 1e-5 || p.Tail != 1e-5*0x1p-32 ||
		!(math.Abs(p.Mu/mu/math.Sqrt(0.1)-1) <= 1e-5) {
		t.Errorf("a tenth of ε = 2 is %+v", p)
	}
	must.Do(b.Charge(gaussianEntry(b.Spend(0.1))))
	if p := must.Get(b.Share(0.1)); !(math.Abs(p.Delta-9e-7) <= 1e-15) || !(math.Abs(p.Tail/1e-6/0x1p-32-1) <= 1e-9) {
		t.Errorf("a tenth of ε = 2 after Spend is %+v", p)
	}
	if p := b.Spend(1); !(math.Abs(p.Delta-4.5e-6) <= 1e-15) || !(math.Abs(p.Tail/1e-6/0x1p-32-1) <= 1e-9) {
		t.Errorf("half of ε = 2 is %+v", p)
	}
	for _, f := range []float64{0, -1, 1.01, math.NaN()} {
		if _, err := b.Share(f); err == nil {
			t.Errorf("a share of %v is taken", f)
		}
	}
}

// Parts whose ε are the budget's always go through, whatever is known of the releases; if they are Gaussian, many more
// do.
func TestSpendsAddUpAtMost(t *testing.T) {
	budgets(t, func(t *testing.T, c Config) {
		b := open(t, c)
		for range 2 {
			p := b.Spend(0.5)
			if p.Delta != 4.5e-6 {
				t.Errorf("half of ε has δ = %v", p.Delta)
			}
			must.Do(b.Charge(Entry{Epsilon: p.Epsilon, Delta: p.Delta}))
		}
		s := state(t, b)
		if s.Rule != Either || s.SpentEpsilon != 1 || s.SpentDelta != 9e-6 || s.RemainingEpsilon != 0 || s.Used != 1 {
			t.Errorf("two halves: %+v", s)
		}
		if err := b.Check(Entry{Epsilon: 1e-9, Mu: 1e-9}); err == nil {
			t.Error("more than the budget is taken")
		}
	})
	b, n := open(t, config("")), 0
	for b.Charge(gaussianEntry(b.Spend(0.1))) == nil {
		n++
	}
	if n != 74 {
		t.Errorf("%d Gaussian releases of a tenth", n)
	}
	// Dear ones among them may have what the sums have left, and no more.
	b = open(t, config(""))
	for range 5 {
		must.Do(b.Charge(gaussianEntry(b.Spend(0.1))))
	}
	if err := b.Check(Entry{Epsilon: 0.501, Delta: 4.5e-6, Mu: 0.3}); err == nil {
		t.Error("more than either has left is taken")
	}
	if err := b.Charge(Entry{Epsilon: 0.5, Delta: 4.5e-6, Mu: 0.3}); err != nil {
		t.Error(err)
	}
}

// What is said of all releases is the exact profile of Σμ² and the slacks, or the sums; and what is said to be left can
// be had.
func TestSpentAndLeftAreTrue(t *testing.T) {
	for _, first := range []Entry{{Epsilon: 0.5, Delta: 4e-6, Mu: 0.13, Slack: 1e-13},
		{Epsilon: 0.4, Delta: 1e-5, Mu: 0.11, Slack: 1e-13, Shared: true}} {
		b := open(t, config(""))
		square, slack := 0.0, 0.0
		for i, e := range []Entry{first, {Epsilon: 0.4, Delta: 1e-6, Mu: 0.1, Slack: 1e-13},
			{Epsilon: 0.1, Delta: 1e-6, Mu: 0.02}, {Epsilon: 0.5, Delta: 2e-6, Mu: 0.11}} {
			must.Do(b.Charge(e))
			square, slack = square+e.Mu*e.Mu, slack+e.Slack
			s := state(t, b)
			if i == 0 {
				if s.SpentEpsilon != first.Epsilon || s.SpentDelta != first.Delta {
					t.Errorf("one release is %+v", s)
				}
				continue
			}
			p := privacy.GaussianProfile(math.Sqrt(square), privacy.AddRemove)
			if d := math.Exp(p.LogDeltaLower(privacy.Remove, s.SpentEpsilon)) + slack; d > s.SpentDelta*(1+1e-9) ||
				d < 0.99*s.SpentDelta {
				t.Errorf("after %d: said ε = %v, δ = %v, where δ = %v", i, s.SpentEpsilon, s.SpentDelta, d)
			}
			one := gaussianEntry(Part{Epsilon: s.RemainingEpsilon, Delta: s.RemainingDelta})
			if err := b.Check(one); err != nil {
				t.Errorf("after %d: what is left is refused: %v", i, err)
			}
			if one.Mu *= 1.001; b.Check(one) == nil && one.Epsilon > 1-s.SpentEpsilon {
				t.Errorf("after %d: a thousandth more than what is left is taken", i)
			}
		}
	}
}

// Where the δ of the sums are used up, and their ε is not, what is left is what the squares have.
func TestLeftWithoutSums(t *testing.T) {
	b := open(t, config(""))
	for range 2 {
		must.Do(b.Charge(Entry{Epsilon: 0.1, Delta: 8e-6, Mu: 0.15}))
	}
	s := state(t, b)
	left := Part{Epsilon: s.RemainingEpsilon, Delta: s.RemainingDelta}
	if err := b.Check(gaussianEntry(left)); err != nil || !(left.Epsilon > 0 && left.Epsilon < 0.5 && left.Delta > 0) {
		t.Errorf("said to be left: %+v (%v)", left, err)
	}
}

// A release that is paid for by its square and says more than the budget's ε has spent no more than the budget.
func TestSpentIsWithinTheBudget(t *testing.T) {
	b := open(t, config(""))
	e := gaussianEntry(Part{Epsilon: 1.2, Delta: 1e-9})
	e.Shared = true
	must.Do(b.Charge(e))
	s := state(t, b)
	p := privacy.GaussianProfile(e.Mu, privacy.AddRemove)
	if d := privacy.DeltaUpper(p, s.SpentEpsilon); s.SpentEpsilon > 1 || s.SpentDelta != 1e-5 || d > 1e-5 {
		t.Errorf("ε = %v and δ = %v were spent of (1, 1e-5); at that ε δ is %v", s.SpentEpsilon, s.SpentDelta, d)
	}
}

// The first entry decides how δ is divided, as docs/theory/ledger.md says, case by case.
func TestTheFirstEntryDecides(t *testing.T) {
	known := func(epsilon, delta float64) Entry { return gaussianEntry(Part{Epsilon: epsilon, Delta: delta}) }
	for name, c := range map[string]struct {
		first Entry
		want  Rule
	}{
		"a share":                              {Entry{Epsilon: 0.1, Delta: 1e-6, Mu: 0.03, Shared: true}, Squares},
		"nine tenths of δ, no μ":               {Entry{Epsilon: 1, Delta: 9e-6}, Either},
		"more, within a tenth by squares":      {known(0.5, 9.5e-6), Either},
		"more, within all by squares":          {known(0.95, 9.5e-6), Squares},
		"more, no μ":                           {Entry{Epsilon: 0.95, Delta: 9.5e-6}, Sums},
		"more, of a μ that no squares have":    {Entry{Epsilon: 0.95, Delta: 9.5e-6, Mu: 0.5}, Sums},
		"nine tenths of δ, dearer than its ε":  {Entry{Epsilon: 0.95, Delta: 9e-6, Mu: 0.5}, Either},
		"next to nothing, without δ and its μ": {Entry{Epsilon: 1e-3}, Either},
	} {
		b := open(t, config(""))
		if err := b.Charge(c.first); err != nil {
			t.Fatal(name, err)
		}
		if got := state(t, b).Rule; got != c.want {
			t.Errorf("%s: rule %q, want %q", name, got, c.want)
		}
	}
}

// One release of which no more is known may have it all, and nothing beside it.
func TestTheWholeBudget(t *testing.T) {
	b := open(t, config(""))
	if p := b.Spend(1); p.Epsilon != 1 || p.Delta != 1e-5 {
		t.Errorf("all of the budget is %+v", p)
	}
	if err := b.Check(Entry{Epsilon: 1.001, Delta: 1e-5}); err == nil {
		t.Error("more than the budget is taken")
	}
	must.Do(b.Charge(Entry{Epsilon: 1, Delta: 1e-5}))
	s := state(t, b)
	if s.SpentEpsilon != 1 || s.SpentDelta != 1e-5 || s.RemainingEpsilon != 0 || s.Used != 1 {
		t.Errorf("%+v", s)
	}
	if err := b.Check(Entry{Epsilon: 0.001, Delta: 0, Mu: 1e-6}); err == nil {
		t.Error("something is left of the whole")
	}
	if err := open(t, config("")).Check(Entry{Epsilon: 0.1, Delta: 1.1e-5, Mu: 0.1}); err == nil {
		t.Error("a release of more than the budget's δ is taken")
	}
	shared := open(t, config(""))
	share(t, shared, 0.01)
	if err := shared.Check(Entry{Epsilon: 0.1, Delta: 1e-6}); err == nil {
		t.Error("an entry without μ goes through a budget that is shared")
	}
	if err := shared.Check(Entry{Epsilon: 0.1, Delta: 1e-5, Mu: 0.01, Slack: 2e-11}); err == nil {
		t.Error("more slack than is kept is taken")
	}
}

// Without δ there are only sums.
func TestWithoutDelta(t *testing.T) {
	c := config("")
	c.Delta = 0
	b := open(t, c)
	if p, err := b.Share(0.1); err != nil || p != (Part{Epsilon: 0.1}) {
		t.Errorf("%+v, %v", p, err)
	}
	for range 10 {
		must.Do(b.Charge(Entry{Epsilon: 0.1, Mu: 0.13}))
	}
	if s := state(t, b); s.Rule != Sums || s.SpentEpsilon != 1 || b.Check(Entry{Epsilon: 1e-9, Mu: 1e-9}) == nil {
		t.Errorf("%+v", s)
	}
}

// A file goes on by the rule with which it was begun; one of an earlier form by sums, or by squares if it says so.
func TestFilesGoOnAsTheyBegan(t *testing.T) {
	write := func(rule, entries string) Config {
		c := config(filepath.Join(t.TempDir(), "ledger.json"))
		text := `{"name": "` + c.Name + `", "epsilon": 1, "delta": 0.00001, "adjacency": 1,` + rule + ` "entries": ` +
			entries + `}`
		must.Do(os.WriteFile(c.Path, []byte(text), 0o600))
		return c
	}
	const entry = `[{"label": "a", "mechanism": "m", "epsilon": 0.5, "delta": 0.000005, "simulated": false}]`
	const shared = `[{"label": "a", "mechanism": "m", "epsilon": 0.5, "delta": 0.00001, "mu": 0.2, "simulated": false}]`
	for _, c := range []struct {
		rule, entries string
		want          Rule
		delta         float64 // of Spend(0.5)
	}{
		{"", "null", Undecided, 4.5e-6},
		{`"rule": "gaussian",`, "null", Undecided, 4.5e-6},
		{"", entry, Sums, 5e-6},
		{`"rule": "gaussian",`, shared, Squares, 1e-5},
		{`"rule": "gaussian",`, entry, Sums, 5e-6}, // of which no μ is known: it took all
		{`"rule": "either",`, entry, Either, 4.5e-6},
	} {
		b := open(t, write(c.rule, c.entries))
		if s := state(t, b); s.Rule != c.want {
			t.Errorf("%s%s: rule %q, want %q", c.rule, c.entries, s.Rule, c.want)
		}
		if p := b.Spend(0.5); p.Delta != c.delta {
			t.Errorf("%s%s: Spend(0.5) has δ = %v, want %v", c.rule, c.entries, p.Delta, c.delta)
		}
	}
	for name, c := range map[string]Config{"another rule": write(`"rule": "magic",`, entry),
		"a negative cost": write("", strings.Replace(shared, "0.2", "-0.2", 1)),
		"no partition":    write("", strings.Replace(entry, `"label"`, `"group": "x", "label"`, 1))} {
		if _, err := Open(c); err == nil {
			t.Errorf("%s is read", name)
		}
	}
	// What is written is read again, with its rule.
	c := config(filepath.Join(t.TempDir(), "ledger.json"))
	share(t, open(t, c), 0.5)
	b, err := anew(c)
	if err != nil || state(t, b).Rule != Squares {
		t.Errorf("%v, %v", state(t, b), err)
	}
}

// An additive budget adds ε and δ whatever the noise is, has all of δ for that from the beginning, and cannot become
// another.
func TestAdditive(t *testing.T) {
	budgets(t, func(t *testing.T, c Config) {
		c.Epsilon, c.Additive = 1.5, true
		b := open(t, c)
		for _, e := range []float64{0.05, 0.05, 1, 0.4} {
			p := b.Spend(e)
			if want := c.Delta * e / 1.5; p.Tail != 0 || p.Squares || p.Delta > want || p.Delta < want*(1-1e-15) {
				t.Errorf("ε = %v buys %+v, want δ = %v", e, p, want)
			}
			must.Do(b.Charge(Entry{Epsilon: e, Delta: p.Delta, Mu: 0.1}))
		}
		s, err := b.State()
		dear := account{Config: c, rule: Sums} // of a release that takes a part of ε and all of δ
		if used := dear.used([]Entry{{Epsilon: 0.3, Delta: c.Delta}}); used != 1 {
			t.Errorf("all of δ is %v of a budget", used)
		}
		if err != nil || s.Rule != Sums || s.SpentEpsilon > 1.5 || s.RemainingEpsilon != 0 || s.Used != 1 {
			t.Errorf("state %+v, %v", s, err)
		}
		if err := b.Charge(Entry{Epsilon: 0.01, Mu: 0.001}); err == nil {
			t.Error("more is spent than there is")
		}
		c.Additive = false
		for i, state := range []func(Config) (*Budget, error){Open, anew} { // anew forgets what was kept in memory
			if _, err := state(c); err == nil && (i == 0 || c.Path != "") {
				t.Errorf("%d: it became another", i)
			} else if err != nil && !strings.Contains(err.Error(), "additive") {
				t.Error(err)
			}
		}
	})
}
