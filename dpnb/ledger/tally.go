package ledger

import (
	"math/big"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// tally is what releases cost together, exactly.
type tally struct {
	epsilon, delta, square, slack *big.Rat
	// unknown says that the μ of one of them is not known.
	unknown bool
}

func newTally() tally { return tally{new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat), false} }

func (t *tally) sums() [4]*big.Rat { return [...]*big.Rat{t.epsilon, t.delta, t.square, t.slack} }

func (t *tally) add(e Entry) {
	for i, x := range [...]*big.Rat{decimal(e.Epsilon), decimal(e.Delta), squared(e.Mu), exact(e.Slack)} {
		t.sums()[i].Add(t.sums()[i], x)
	}
	t.unknown = t.unknown || e.Mu == 0
}

// tally adds up what entries cost the record that they cost most. Entries of the whole data add up. Of the groups of a
// partition a record is in one, so that the largest cost of a group counts; under replace-one a record leaves one group
// and enters another, so that the two largest do. ε, δ, μ² and slack each have the largest of their own.
// Proof: docs/theory/ledger.md, section 7.
func (c Config) tally(entries []Entry) tally {
	all := newTally()
	partitions := map[string]map[string]*tally{}
	for _, e := range entries {
		if e.Partition == "" || several(e.Unit) { // a person's rows may be in several groups
			all.add(e)
			continue
		}
		groups := partitions[e.Partition]
		if groups == nil {
			groups = map[string]*tally{}
			partitions[e.Partition] = groups
		}
		if groups[e.Group] == nil {
			group := newTally()
			groups[e.Group] = &group
		}
		groups[e.Group].add(e)
	}
	for _, groups := range partitions {
		largest, second := newTally(), newTally()
		for _, g := range groups {
			all.unknown = all.unknown || g.unknown
			for i, x := range g.sums() {
				first, next := largest.sums()[i], second.sums()[i]
				switch {
				case x.Cmp(first) > 0:
					next.Set(first)
					first.Set(x)
				case x.Cmp(next) > 0:
					next.Set(x)
				}
			}
		}
		for i, x := range all.sums() {
			x.Add(x, largest.sums()[i])
			if c.Adjacency == privacy.ReplaceOne {
				x.Add(x, second.sums()[i])
			}
		}
	}
	return all
}
