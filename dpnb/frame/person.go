package frame

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
)

// PerPerson returns t with at most so many rows of each person, whose name or number is in a
// column: the same text is the same person. Rows without one are left out, each by itself.
//
// Which rows of a person stay depends on that person's rows alone: those with the smallest
// hashes of all that is in them. So the rows of others are the same with that person in the
// table and without, and the choice is as good as random, and the same in every run. Of rows
// that are equal in every text it does not matter which stay. The rows keep their order.
//
// Errors: *InputError for a column that is not there, or rows < 1.
// Proof: docs/theory/statistics.md.
func (t *Table) PerPerson(column string, rows int) (*Table, error) {
	c, err := t.Column(column)
	if err != nil {
		return nil, err
	}
	if rows < 1 {
		return nil, inputErrorf("PerPerson(%q, %d): a person keeps at least 1 row", column, rows)
	}
	hashes := make([]uint64, t.rows)
	const block = 1024
	parallel.Each((t.rows+block-1)/block, 0, func(b int) {
		var buffer []byte
		for i := b * block; i < min(t.rows, (b+1)*block); i++ {
			buffer = buffer[:0]
			buffer = append(append(buffer, trim(c.Text(i))...), 0)
			for j := range t.columns {
				text := t.columns[j].Text(i)
				buffer = binary.AppendUvarint(buffer, uint64(len(text)))
				buffer = append(buffer, text...)
			}
			sum := sha256.Sum256(buffer)
			hashes[i] = binary.LittleEndian.Uint64(sum[:])
		}
	})
	of := map[string][]int{}
	for i := range t.rows {
		if who := trim(c.Text(i)); who != "" {
			of[who] = append(of[who], i)
		}
	}
	kept := make([]bool, t.rows)
	for _, own := range of {
		slices.SortStableFunc(own, func(a, b int) int {
			switch {
			case hashes[a] < hashes[b]:
				return -1
			case hashes[a] > hashes[b]:
				return 1
			}
			return 0
		})
		for _, i := range own[:min(rows, len(own))] {
			kept[i] = true
		}
	}
	return t.Filter(func(i int) bool { return kept[i] }), nil
}
