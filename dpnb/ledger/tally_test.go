package ledger

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Groups of a partition cost the largest under add/remove-one and the two largest under replace-one, partitions add up,
// and entries of a group as well, in sums and squares.
func TestDisjointGroups(t *testing.T) {
	in := func(partition, group string, epsilon float64) Entry {
		return Entry{Epsilon: epsilon, Delta: epsilon / 2e5, Mu: epsilon / 4, Slack: epsilon * 1e-13,
			Partition: partition, Group: group}
	}
	entries := []Entry{in("", "", 0.125), in("sex", "f", 0.25), in("sex", "m", 0.125), in("sex", "m", 0.25),
		in("age", "old", 0.5), in("age", "young", 0.0625), in("age", "", 0.25)}
	for adjacency, want := range map[privacy.Adjacency][2]float64{
		privacy.AddRemove:  {0.125 + 0.375 + 0.5, (0.125*0.125 + 0.125*0.125 + 0.25*0.25 + 0.5*0.5) / 16},
		privacy.ReplaceOne: {0.125 + 0.375 + 0.25 + 0.5 + 0.25, (0.125*0.125*2 + 3*0.25*0.25 + 0.5*0.5) / 16},
	} {
		got := Config{Adjacency: adjacency}.tally(entries)
		eps, _ := got.epsilon.Float64()
		square, _ := got.square.Float64()
		if eps != want[0] || square != want[1] || got.unknown {
			t.Errorf("%v: ε = %v, μ² = %v, want %v", adjacency, eps, square, want)
		}
		delta, _ := got.delta.Float64()
		slack, _ := got.slack.Float64()
		if !(math.Abs(delta*2e5-want[0]) <= 1e-9) || !(math.Abs(slack*1e13-want[0]) <= 1e-9) {
			t.Errorf("%v: δ = %v and %v of slack are not in proportion to ε = %v", adjacency, delta, slack, eps)
		}
		reversed := make([]Entry, len(entries))
		for i, e := range entries {
			reversed[len(entries)-1-i] = e
		}
		if again := (Config{Adjacency: adjacency}).tally(reversed); again.epsilon.Cmp(got.epsilon) != 0 ||
			again.slack.Cmp(got.slack) != 0 {
			t.Errorf("%v: the order counts", adjacency)
		}
	}
	// Whatever is known beside it, what one of them costs is not; maps come in any order.
	not := func(partition, group string) Entry { return Entry{Epsilon: 0.1, Partition: partition, Group: group} }
	for _, entries := range [][]Entry{
		{in("", "", 0.1), not("sex", "f")}, {not("", ""), in("sex", "f", 0.1)},
		{not("sex", "f"), in("sex", "m", 0.1), in("sex", "d", 0.1), in("city", "Bern", 0.1), in("city", "Rome", 0.1)},
	} {
		for range 20 {
			if !(Config{}).tally(entries).unknown {
				t.Fatalf("an unknown μ is forgotten: %+v", entries)
			}
		}
	}
}

// With the probability of its slack a release may say everything: where its own ε and δ do not apply, δ is at least the
// slack, and the slacks of several add up.
func TestDeltaHasTheSlack(t *testing.T) {
	const slack = 1e-9
	e := Entry{Epsilon: 1, Delta: 1e-6, Mu: 0.1, Slack: slack}
	for n := 1; n <= 3; n++ {
		s := State{Config: Config{Adjacency: privacy.AddRemove}, Entries: slices.Repeat([]Entry{e}, n)}
		for _, epsilon := range []float64{0.5, 0.9, 0.999} {
			all := privacy.DeltaUpper(privacy.GaussianProfile(0.1*math.Sqrt(float64(n)), privacy.AddRemove), epsilon) +
				float64(n)*slack
			if delta := s.DeltaUpper(epsilon); delta < all || delta > 1.0001*all {
				t.Errorf("%d of them, δ(%v) = %v, want %v", n, epsilon, delta, all)
			}
		}
		s.Entries = slices.Repeat([]Entry{{Epsilon: 1, Delta: 1e-6}}, n) // μ is not known: at their own ε and no less
		at, before := s.DeltaUpper(float64(n)), s.DeltaUpper(math.Nextafter(float64(n), 0))
		if !(math.Abs(at/(1e-6*float64(n))-1) <= 1e-9) || before != 1 {
			t.Errorf("%d of them, δ(%d) = %v, and %v before", n, n, at, before)
		}
	}
}

// Each group may have the whole budget, together and one after the other, and then there is nothing left for the whole;
// a batch is charged as a whole or not at all.
func TestGroupsOfABudget(t *testing.T) {
	budgets(t, func(t *testing.T, c Config) {
		b := open(t, c)
		half := func(group string) Entry {
			return Entry{Epsilon: 0.5, Delta: 4.5e-6, Partition: "ward", Group: group}
		}
		must.Do(b.Charge(half("a"), half("b"), half("c")))
		if s := state(t, b); s.SpentEpsilon != 0.5 || s.SpentDelta != 4.5e-6 || s.RemainingEpsilon != 0.5 ||
			len(s.Entries) != 3 {
			t.Errorf("%+v", s)
		}
		if err := b.Charge(half("c"), half("a"), half("a")); err == nil {
			t.Error("a batch is taken of which one group has too much")
		}
		if s := state(t, b); len(s.Entries) != 3 {
			t.Errorf("a refused batch left %+v", s.Entries)
		}
		for _, g := range []string{"a", "b", "c", "d", "d"} {
			if err := b.Charge(half(g)); err != nil {
				t.Errorf("%s: %v", g, err)
			}
		}
		if err := b.Check(Entry{Epsilon: 0.001}); err == nil {
			t.Error("the whole has something left")
		}
		if err := b.Check(Entry{Epsilon: 0.001, Partition: "sex", Group: "a"}); err == nil {
			t.Error("another partition has something left")
		}
		if err := b.Check(half("d")); err == nil {
			t.Error("a group may have more than the budget")
		}
		if err := b.Check(Entry{Epsilon: 0.1, Group: "a"}); err == nil {
			t.Error("a group without a partition is taken")
		}
		if err := b.Charge(); err != nil || len(state(t, b).Entries) != 8 {
			t.Errorf("a charge of nothing: %v", err)
		}
	})
	c := config(filepath.Join(t.TempDir(), "ledger.json"))
	c.Adjacency = privacy.ReplaceOne
	b := open(t, c)
	one := Entry{Epsilon: 0.5, Delta: 4e-6, Partition: "ward", Group: "a"}
	other, third := one, one
	other.Group, third.Group = "b", "c"
	if err := b.Charge(one, other, third); err != nil {
		t.Error("under replace-one two groups are hit, not three:", err)
	}
	if err := b.Check(Entry{Epsilon: 0.001}); err == nil {
		t.Error("under replace-one only one group is counted")
	}
}
