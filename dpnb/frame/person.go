package frame

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
)

// whose says of a column that it tells whose row it is.
func whose(column string) wording.Setting {
	return wording.Setting{Field: "PerPerson", Value: column, Go: fmt.Sprintf("PerPerson(%q, rows)", column)}
}

// PerPerson returns t with at most so many rows of each person, whose name or number is in a column: the same text is
// the same person, in all files of a table of several; what a file has as a number is the text of its shortest decimal.
// Rows without one are left out, each by itself, and so are those with a number from 2⁵³ on: float64 does not tell it
// from the next one, and the rows of two people would be chosen as if they were one's. Such numbers are read as texts.
//
// Which rows of a person stay depends on that person's rows alone: those with the smallest hashes of all that is in
// them. So the rows of others are the same with that person in the table and without, and the choice is as good as
// random, and the same in every run, in memory or scanned. Of rows that are equal in every text it does not matter
// which stay. The rows keep their order.
//
// A table that is scanned is read once more, before the first row is handed on. That pass holds for each person her
// text, about 100 bytes, and 16 to 32 bytes for each of her rows that stay; after it there is one bit for each row of
// the table. With a limit on memory there are as many passes as keep people to a quarter of it.
//
// Errors: *InputError for a column that is not there, or rows < 1.
// Proof: docs/theory/statistics.md.
func PerPerson(t Scanner, column string, rows int) (Scanner, error) {
	if !slices.Contains(t.Names(), column) {
		return nil, noColumn(column, t.Names())
	}
	if rows < 1 {
		return nil, inputErrorf("PerPerson(%q, %d): a person keeps at least 1 row", column, rows)
	}
	same := func(asked []string) []string { return asked }
	p := &people{changed: changed{Scanner: t, names: t.Names(), needs: same,
		print: fmt.Sprintf("rows of whole people %q %d", column, rows)}, column: column, rows: rows}
	whole, ok := t.(*Table)
	if !ok {
		return p, nil
	}
	kept, err := p.choice()
	if err != nil {
		return nil, err
	}
	return whole.Filter(kept.has), nil
}

// people is a table of which some rows of each person are handed on.
type people struct {
	changed
	column string
	rows   int

	once sync.Mutex
	kept *rowSet // of choice; nil before it
}

// rowSet is a set of the rows of a table, by their places.
type rowSet struct {
	bits []uint64
	rows int
}

func (s *rowSet) has(i int) bool { return s.bits[i/64]>>(i%64)&1 == 1 }

// candidate is a row that may stay.
type candidate struct {
	hash uint64
	row  int
}

// smallest sorts candidates, equal ones by their places, and returns the first few.
func smallest(of []candidate, rows int) []candidate {
	slices.SortFunc(of, func(a, b candidate) int { return cmp.Or(cmp.Compare(a.hash, b.hash), a.row-b.row) })
	return of[:min(rows, len(of))]
}

// choice returns the rows that stay, by scans of all columns the first time. Where there is a limit on memory
// (debug.SetMemoryLimit), a quarter of it is for people: the first scan that finds more looks at half of them, or at a
// half of that, by a hash of who they are, and as many scans follow as are left over. Which rows stay does not depend
// on that.
func (p *people) choice() (*rowSet, error) {
	p.once.Lock()
	defer p.once.Unlock()
	if p.kept != nil {
		return p.kept, nil
	}
	var err error
	p.kept, err = p.choose(debug.SetMemoryLimit(-1) / 4)
	return p.kept, err
}

// choose is choice with so many bytes for people.
func (p *people) choose(limit int64) (kept *rowSet, err error) {
	const most = 1 << 10 // scans
	seed := maphash.MakeSeed()
	parts, part := uint64(1), uint64(0)
	for ; part < parts; part++ {
		of, used, seen := map[string]*[]candidate{}, int64(0), 0
		err := p.Scanner.Scan(nil, func(chunk *Table) error {
			c, err := chunk.Column(p.column)
			if err != nil {
				return err
			}
			hashes, err := chunk.hashes(p.column)
			if err != nil {
				return err
			}
			for i, h := range hashes {
				who := trim(c.Text(i))
				if who == "" || c.Kind == Numeric && !(math.Abs(c.Numbers[i]) < largestExact) ||
					maphash.String(seed, who)%parts != part {
					continue
				}
				own := of[who]
				if own == nil {
					own = &[]candidate{}
					of[strings.Clone(who)] = own // the chunk's text is gone with it
					for used += p.bytesOf(who); used > limit && part == 0 && parts < most; {
						parts *= 2
						maps.DeleteFunc(of, func(who string, _ *[]candidate) bool {
							away := maphash.String(seed, who)%parts != 0
							if away {
								used -= p.bytesOf(who)
							}
							return away
						})
					}
				}
				if *own = append(*own, candidate{h, seen + i}); len(*own) == 2*p.rows {
					*own = smallest(*own, p.rows)
				}
			}
			seen += chunk.rows
			return nil
		})
		if err != nil {
			return nil, err
		}
		if kept == nil {
			kept = &rowSet{make([]uint64, (seen+63)/64), seen}
		} else if seen != kept.rows {
			return nil, errOtherRows
		}
		for _, own := range of { // in any order: it is a set
			for _, c := range smallest(*own, p.rows) {
				kept.bits[c.row/64] |= 1 << (c.row % 64)
			}
		}
	}
	return kept, nil
}

// bytesOf is about what a person takes in memory while rows are chosen.
func (p *people) bytesOf(who string) int64 { return int64(100 + len(who) + 32*p.rows) }

// hashes returns one of all texts of each row, that of the person first.
func (t *Table) hashes(person string) ([]uint64, error) {
	c, err := t.Column(person)
	if err != nil {
		return nil, err
	}
	hashes := make([]uint64, t.rows)
	const block = 1024
	parallel.Blocks(t.rows, block, func(lo, hi int) {
		var buffer []byte
		for i := lo; i < hi; i++ {
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
	return hashes, nil
}

// Scan implements Scanner.
func (p *people) Scan(columns []string, f func(*Table) error) error {
	if columns == nil {
		columns = p.names
	}
	if err := CheckSelection(columns, p.names); err != nil {
		return err
	}
	kept, err := p.choice()
	if err != nil {
		return err
	}
	c, seen := p.changed, 0
	c.change = func(chunk *Table) (*Table, error) {
		lo := seen
		if seen += chunk.rows; seen > kept.rows {
			return nil, errOtherRows
		}
		return chunk.Filter(func(i int) bool { return kept.has(lo + i) }), nil
	}
	if err := c.Scan(columns, f); err != nil || seen >= kept.rows {
		return err
	}
	return errOtherRows // others may be where those that were chosen had been
}

var errOtherRows = inputErrorf("the table has other rows than when those of each person were chosen: open it again")
