package frame

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// visits is a table of people with 0 to 5 rows each in a random order, some of them equal.
func visits(t *testing.T, seed uint64, without string) *Table {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	var who, what []string
	for person := range 40 {
		for range r.IntN(6) {
			who, what = append(who, fmt.Sprint("p", person)), append(what, fmt.Sprint(r.IntN(4)))
		}
	}
	who, what = append(who, "", ""), append(what, "1", "2")
	order := r.Perm(len(who))
	a, b := Column{Name: "id", Kind: Categorical}, Column{Name: "what", Kind: Categorical}
	for _, i := range order {
		if who[i] != without {
			a.Texts, b.Texts = append(a.Texts, who[i]), append(b.Texts, what[i])
		}
	}
	return must.Get(NewTable(a, b))
}

// perPerson is PerPerson of a table in memory.
func perPerson(t *Table, column string, rows int) (*Table, error) {
	s, err := PerPerson(t, column, rows)
	if err != nil {
		return nil, err
	}
	return s.(*Table), nil
}

func rowsOf(t *Table) (rows []string) {
	for i := range t.rows {
		rows = append(rows, t.columns[0].Text(i)+" "+t.columns[1].Text(i))
	}
	return rows
}

// A person more in the table changes no row of another that is kept, each keeps as many as it has and may, in the order
// of the table, and whatever order it is, the same.
func TestPerPersonLooksAtOnePersonOnly(t *testing.T) {
	for seed := range uint64(20) {
		for _, k := range []int{1, 2, 3} {
			whole := visits(t, seed, "nobody")
			kept := must.Get(perPerson(whole, "id", k))
			count, had := map[string]int{}, map[string]int{}
			for i := range kept.rows {
				count[kept.columns[0].Text(i)]++
			}
			for i := range whole.rows {
				had[whole.columns[0].Text(i)]++
			}
			for who, n := range had {
				if want := min(n, k); who != "" && count[who] != want || who == "" && count[who] != 0 {
					t.Errorf("seed %d, k = %d: %q has %d rows of %d", seed, k, who, count[who], n)
				}
			}
			for _, gone := range []string{"p0", "p7", "p39"} {
				fewer := must.Get(perPerson(visits(t, seed, gone), "id", k))
				want := slices.DeleteFunc(rowsOf(kept), func(r string) bool { return r[:len(gone)+1] == gone+" " })
				if got := rowsOf(fewer); !slices.Equal(got, want) {
					t.Errorf("seed %d, k = %d: without %s the rows are %q, want %q", seed, k, gone, got, want)
				}
			}
			// Backwards.
			back := must.Get(NewTable(Column{Name: "id", Kind: Categorical, Texts: reversed(whole.columns[0].Texts)},
				Column{Name: "what", Kind: Categorical, Texts: reversed(whole.columns[1].Texts)}))
			turned, _ := perPerson(back, "id", k)
			a, b := rowsOf(kept), rowsOf(turned)
			slices.Sort(a)
			slices.Sort(b)
			if !slices.Equal(a, b) {
				t.Errorf("seed %d, k = %d: what is kept depends on the order of the table", seed, k)
			}
		}
	}
	if _, err := perPerson(visits(t, 1, ""), "id", 0); err == nil {
		t.Error("no rows are accepted")
	}
	if _, err := perPerson(visits(t, 1, ""), "name", 1); err == nil {
		t.Error("a column that is not there is accepted")
	}
}

// Spaces around a name make nobody another person, in whatever rows they are.
func TestPerPersonOfSpacedNames(t *testing.T) {
	for seed := range uint64(5) {
		whole := visits(t, seed, "nobody")
		spaced := visits(t, seed, "nobody")
		for i, who := range spaced.columns[0].Texts {
			spaced.columns[0].Texts[i] = []string{"", " ", "\t"}[i%3] + who + []string{"", "  "}[i%2]
		}
		for _, k := range []int{1, 2} {
			want := must.Get(perPerson(whole, "id", k))
			got := must.Get(perPerson(spaced, "id", k))
			rows := map[string]int{}
			for _, who := range got.columns[0].Texts {
				if rows[strings.TrimSpace(who)]++; rows[strings.TrimSpace(who)] > k {
					t.Errorf("%d rows of %q, want %d at most", rows[strings.TrimSpace(who)], who, k)
				}
			}
			if got.rows != want.rows {
				t.Errorf("%d rows stay, %d without the spaces", got.rows, want.rows)
			}
		}
	}
}

// Whole numbers from 2⁵³ on are not told apart as float64: rows of whoever has one are nobody's, and all others' stay.
func TestPerPersonOfLargeNumbers(t *testing.T) {
	const first = 1 << 53
	numbers := func(of ...int64) *Table {
		id, what := Column{Name: "id"}, Column{Name: "what", Kind: Categorical}
		for i, v := range of {
			id.Numbers, what.Texts = append(id.Numbers, float64(v)), append(what.Texts, fmt.Sprint(i))
		}
		return must.Get(NewTable(id, what))
	}
	kept := must.Get(perPerson(numbers(7, first, 7, first+1, -first-1, first-1, 1-first, first-1), "id", 1))
	if got := kept.columns[0].Numbers; len(got) != 3 || !slices.Contains(got, 7) || !slices.Contains(got, first-1) ||
		!slices.Contains(got, 1-first) {
		t.Errorf("rows of %v stay", got)
	}
}

func reversed(x []string) []string { x = slices.Clone(x); slices.Reverse(x); return x }

// Of rows that differ each is as likely to be the one that is kept: of 4000 people with the rows a, b and c, a third
// keep each, to five standard errors, which are 11 % of it.
func TestPerPersonChoosesEvenly(t *testing.T) {
	const n = 4000
	a, b := Column{Name: "id", Kind: Categorical}, Column{Name: "what", Kind: Categorical}
	for i := range n {
		for _, what := range []string{"a", "b", "c"} {
			a.Texts, b.Texts = append(a.Texts, fmt.Sprint(i)), append(b.Texts, what)
		}
	}
	whole := must.Get(NewTable(a, b))
	kept, _ := perPerson(whole, "id", 1)
	count := map[string]int{}
	for _, text := range kept.columns[1].Texts {
		count[text]++
	}
	for what, c := range count {
		if c < n/3-149 || c > n/3+149 {
			t.Errorf("%s is kept in %d of %d", what, c, n)
		}
	}
}

// A table that is scanned keeps the rows that it keeps in memory, whatever the sizes of chunks, with the columns that
// are asked for and under other names, and can say what it gives; a person with many rows is no exception.
func TestPerPersonOfAScan(t *testing.T) {
	for seed := range uint64(5) {
		whole := visits(t, seed, "nobody")
		who, what := whole.columns[0].Texts, whole.columns[1].Texts
		text := "id,what,more\n"
		for i := range who {
			text += fmt.Sprintf("%s,%s,%d\n", who[i], what[i], i)
		}
		for i := range 50 {
			text += fmt.Sprintf("many,%d,%d\n", i%7, i)
		}
		path := filepath.Join(t.TempDir(), "a.csv")
		must.Do(os.WriteFile(path, []byte(text), 0o600))
		read := must.Get(ReadCSVFile(path, nil))
		for _, k := range []int{1, 3} {
			want := must.Get(perPerson(read, "id", k))
			for _, size := range []int{1, 7, 1000} {
				scan := must.Get(ScanCSV(path, &CSVSettings{ChunkRows: size}))
				s, err := PerPerson(scan, "id", k)
				if err == nil {
					s, err = Rename(s, "id", "name")
				}
				if err == nil {
					s, err = Select(s, "name", "more")
				}
				if err != nil {
					t.Fatal(err)
				}
				got := must.Get(Collect(s, nil))
				if !slices.Equal(got.columns[0].Texts, want.columns[0].Texts) ||
					!slices.Equal(got.columns[1].Texts, want.columns[2].Texts) || !slices.Equal(got.lines, want.lines) {
					t.Errorf("seed %d, k = %d, chunks of %d: %v, want %v", seed, k, size, got.lines, want.lines)
				}
				print := s.(fingerprinted).Fingerprint()
				if !strings.Contains(print, fmt.Sprintf("people \"id\" %d", k)) || !strings.Contains(print, "csv ") {
					t.Error(print)
				}
			}
		}
	}
	hidden := must.Get(Where(new(endless), func(Row) bool { return true }, "x"))
	s, err := PerPerson(hidden, "x", 1)
	if err != nil || s.(fingerprinted).Fingerprint() != "" {
		t.Errorf("what a function does is in a fingerprint (%v)", err)
	}
}

// counted is a table that counts its scans.
type counted struct {
	Scanner
	scans int
}

func (c *counted) Scan(columns []string, f func(*Table) error) error {
	c.scans++
	return c.Scanner.Scan(columns, f)
}

// Where memory is short people are looked at in several scans, and the same rows of each stay.
func TestPerPersonWithinMemory(t *testing.T) {
	testscale.Slow(t)
	const others = 2000
	var text strings.Builder
	text.WriteString("id,what\n")
	for i := range 3 * others {
		fmt.Fprintf(&text, "p%d,%d\n", i*7%others, i)
	}
	path := filepath.Join(t.TempDir(), "a.csv")
	must.Do(os.WriteFile(path, []byte(text.String()), 0o600))
	for _, rows := range []int{1, 3} {
		table := &counted{Scanner: must.Get(ScanCSV(path, &CSVSettings{ChunkRows: 100}))}
		p := must.Get(PerPerson(table, "id", rows)).(*people)
		want := must.Get(p.choose(math.MaxInt64))
		if table.scans != 1 {
			t.Errorf("%d scans where memory is not short", table.scans)
		}
		last := 1
		for _, limit := range []int64{1 << 16, 1 << 12} { // who is where is random, by a factor of 2 of scans
			table.scans = 0
			if got := must.Get(p.choose(limit)); got.rows != want.rows || !slices.Equal(got.bits, want.bits) {
				t.Errorf("%d rows of each, %d bytes: other rows stay", rows, limit)
			}
			if table.scans <= last || table.scans&(table.scans-1) != 0 {
				t.Errorf("%d scans within %d bytes, and %d within 16 times as many", table.scans, limit, last)
			}
			last = table.scans
		}
	}
}

// endless is a table of one column that gives a row more in each scan.
type endless struct{ rows, fewer int }

func (*endless) Names() []string { return []string{"x"} }
func (*endless) Origin() Source  { return Source{} }
func (e *endless) Scan(_ []string, f func(*Table) error) error {
	e.rows += 1 - e.fewer
	t, err := NewTable(Column{Name: "x", Kind: Categorical, Texts: slices.Repeat([]string{"a"}, e.rows)})
	if err != nil {
		return err
	}
	return f(t)
}

// A table that is another when it is read again, with more rows or with fewer, is refused: others than those that were
// chosen may be in their places.
func TestPerPersonOfAChangingTable(t *testing.T) {
	for _, table := range []*endless{{}, {rows: 9, fewer: 3}} {
		s := must.Get(PerPerson(table, "x", 1))
		if _, err := Collect(s, nil); err == nil || !strings.Contains(err.Error(), "other rows") {
			t.Error(err)
		}
	}
}
