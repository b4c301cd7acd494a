package ledger

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

func gaussian(path string) Config {
	c := config(path)
	c.Rule = AsGaussians
	return c
}

// A hundred equal shares are the budget: the exact profile of all of them, which adds
// μ², is (ε, δ), and 2 % more of ε is not needed. A hundred and first is refused.
func TestSharesAreTheBudget(t *testing.T) {
	for _, k := range []int{1, 3, 10, 100} {
		b := open(t, gaussian(""))
		for range k {
			part, err := b.Share(1 / float64(k))
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Charge(Entry{Epsilon: part.Epsilon, Delta: part.Delta, Mu: part.Mu}); err != nil {
				t.Fatalf("share of 1/%d: %v", k, err)
			}
		}
		s, err := b.State()
		if err != nil {
			t.Fatal(err)
		}
		if s.SpentEpsilon > 1 || s.SpentEpsilon < 0.9999 || s.Used < 0.999999 || s.Used > 1 {
			t.Errorf("%d shares: %+v", k, s)
		}
		var over *OverspentError
		if err := b.Charge(Entry{Epsilon: 0.001, Delta: 1e-5, Mu: 1e-4}); !errors.As(err, &over) {
			t.Errorf("after all shares: %v", err)
		}
	}
}

// Ten equal fits have ε ≈ 0.28 each, a hundred 0.081 (target figures of the theory).
func TestWhatShareBuys(t *testing.T) {
	b := open(t, gaussian(""))
	for fraction, want := range map[float64]float64{0.1: 0.28, 0.01: 0.081} {
		part, err := b.Share(fraction)
		if err != nil || math.Abs(part.Epsilon-want) > 0.006 {
			t.Errorf("a share of %v is ε = %v, %v, want about %v", fraction, part.Epsilon, err, want)
		}
	}
	for _, f := range []float64{0, -1, 1.01, math.NaN()} {
		if _, err := b.Share(f); err == nil {
			t.Errorf("a share of %v is taken", f)
		}
	}
}

// What all releases are together is the exact profile of Σμ² and the slacks, never less.
func TestSpentIsTrue(t *testing.T) {
	b := open(t, gaussian(""))
	mus := []float64{0.05, 0.1, 0.02, 0.12}
	square, slack := 0.0, 0.0
	for i, mu := range mus {
		if err := b.Charge(Entry{Epsilon: 1, Delta: 1e-5, Mu: mu, Slack: 1e-13}); err != nil {
			t.Fatal(err)
		}
		square, slack = square+mu*mu, slack+1e-13
		s, _ := b.State()
		if i == 0 {
			if s.SpentEpsilon != 1 || s.SpentDelta != 1e-5 {
				t.Errorf("one release is %+v", s)
			}
			continue
		}
		p := privacy.GaussianProfile(math.Sqrt(square), privacy.AddRemove)
		if d := math.Exp(p.LogDeltaLower(privacy.Remove, s.SpentEpsilon)) + slack; d > 1e-5*(1+1e-9) || d < 0.99e-5 {
			t.Errorf("after μ = %v: said ε = %v, where δ = %v", mu, s.SpentEpsilon, d)
		}
		left, _ := privacy.MuOf(s.RemainingEpsilon, s.RemainingDelta)
		if err := b.Check(Entry{Epsilon: s.RemainingEpsilon, Delta: s.RemainingDelta,
			Mu: left * (1 - 1e-6)}); err != nil {
			t.Errorf("what is left is refused: %v", err)
		}
		if err := b.Check(Entry{Epsilon: s.RemainingEpsilon, Delta: s.RemainingDelta, Mu: left * 1.001}); err == nil {
			t.Error("a thousandth more than what is left is taken")
		}
	}
}

// One release of which no more is known may have it all, and nothing beside it.
func TestTheWholeBudget(t *testing.T) {
	b := open(t, gaussian(""))
	if err := b.Check(Entry{Epsilon: 1.001, Delta: 1e-5}); err == nil {
		t.Error("more than the budget is taken")
	}
	if err := b.Charge(Entry{Epsilon: 1, Delta: 1e-5}); err != nil {
		t.Fatal(err)
	}
	s, _ := b.State()
	if s.SpentEpsilon != 1 || s.SpentDelta != 1e-5 || s.RemainingEpsilon != 0 || s.Used != 1 {
		t.Errorf("%+v", s)
	}
	if err := b.Check(Entry{Epsilon: 0.001, Delta: 0, Mu: 1e-6}); err == nil {
		t.Error("something is left of the whole")
	}
	// One release that says a larger δ of itself does not raise what the budget says.
	larger := open(t, gaussian(""))
	if err := larger.Charge(Entry{Epsilon: 0.1, Delta: 0.1, Mu: 0.1}); err != nil {
		t.Fatal(err)
	}
	if s, _ := larger.State(); s.SpentDelta != 1e-5 || !(s.SpentEpsilon > 0.1 && s.SpentEpsilon < 1) {
		t.Errorf("%+v", s)
	}
	other := open(t, gaussian(""))
	if err := other.Charge(Entry{Epsilon: 0.1, Delta: 1e-5, Mu: 0.01}); err != nil {
		t.Fatal(err)
	}
	if err := other.Check(Entry{Epsilon: 0.1, Delta: 1e-6}); err == nil {
		t.Error("an entry without μ goes through a budget that is begun")
	}
	if err := other.Check(Entry{Epsilon: 0.1, Delta: 1e-5, Mu: 0.01, Slack: 2e-11}); err == nil {
		t.Error("more slack than is kept is taken")
	}
}

// A file goes on by the rule with which it was begun.
func TestFileKeepsItsRule(t *testing.T) {
	old := config(filepath.Join(t.TempDir(), "ledger.json"))
	if err := open(t, old).Charge(Entry{Epsilon: 0.75, Delta: 1e-6}); err != nil {
		t.Fatal(err)
	}
	c := old
	c.Rule = AsGaussians
	b, err := anew(c)
	if err != nil {
		t.Fatal(err)
	}
	if b.Config().Rule != Added || b.Check(Entry{Epsilon: 0.3, Delta: 1e-6, Mu: 1e-3}) == nil {
		t.Error("a ledger that adds ε became one that adds μ²")
	}
	if p := b.Spend(0.25); p.Delta != 2.5e-6 {
		t.Errorf("a part of it: %+v", p)
	}

	c = gaussian(filepath.Join(t.TempDir(), "ledger.json"))
	if err := open(t, c).Charge(Entry{Epsilon: 0.5, Delta: 1e-5, Mu: 0.1}); err != nil {
		t.Fatal(err)
	}
	c.Rule = Added
	if b, err = anew(c); err != nil || b.Config().Rule != AsGaussians {
		t.Errorf("rule %q, %v", b.Config().Rule, err)
	}
	text, err := os.ReadFile(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	spoilt := append([]byte(nil), text...)
	for i := range spoilt {
		if string(spoilt[i:min(i+4, len(spoilt))]) == "0.1\n" || string(spoilt[i:min(i+4, len(spoilt))]) == "0.1," {
			copy(spoilt[i:], "-.1")
		}
	}
	if err := os.WriteFile(c.Path, spoilt, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := anew(c); err == nil {
		t.Error("a changed digit is read")
	}
}

func TestRuleIsChecked(t *testing.T) {
	c := gaussian("")
	c.Delta = 0
	if _, err := Open(c); err == nil {
		t.Error("a budget without δ composes as Gaussians")
	}
	c = config("")
	c.Rule = "magic"
	if _, err := Open(c); err == nil {
		t.Error("an unknown rule is taken")
	}
}
