package frame

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// A file that changes while it is scanned, or between two scans, is refused, and no records are stored of it; a scan of
// columns in small pieces stores the same as of all at once.
func TestSourceThatChanges(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.csv")
	text := "x,y\n" + strings.Repeat("0.5,no\n0.25,yes\n", 50)
	begin := func() Scanner {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := ScanCSV(path, &CSVSettings{ChunkRows: 10})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	grow := func() {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = fmt.Fprintln(f, "0.75,no")
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	schema := &Schema{Fields: []Field{NumericField("x", 0, 1), CategoricalField("y", "no", "yes")}}
	for when := range 3 {
		s := begin()
		d, err := Planned(s, schema, DesignSettings{Label: "y"})
		if err != nil {
			t.Fatal(err)
		}
		switch when {
		case 0: // between looking at it and the scan
			grow()
		case 1: // in the middle
			s = changing{s, grow}
		}
		_, err = d.Encoding.Stored(s, Storage{Dir: dir})
		var wrong *InputError
		if refused := errors.As(err, &wrong) && strings.Contains(err.Error(), "was changed"); refused == (when == 2) {
			t.Errorf("%d: %v", when, err)
		}
		if files, err := ListStored(Storage{Dir: dir}); err != nil || len(files) != when/2 {
			t.Errorf("%d: %v, %v", when, files, err)
		}
	}
}

// changing calls change after the first chunk.
type changing struct {
	Scanner
	change func()
}

func (c changing) Scan(columns []string, f func(*Table) error) error {
	first := true
	return c.Scanner.Scan(columns, func(chunk *Table) error {
		if first {
			c.change()
		}
		first = false
		return f(chunk)
	})
}

// Groups of other rules are other records, however alike the rules look when they are written in a row.
func TestGroupsAreToldApart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte("w\na b\nc\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range []Field{CategoricalField("w", "a b", "c"), CategoricalField("w", "a", "b", "c"),
		{Name: "w", Kind: Categorical, Levels: []string{"a b", "c"}, Else: "c"}} {
		s, err := ScanCSV(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewPartition(s, &Schema{Fields: []Field{f}}, "w")
		if err == nil {
			s, err = p.Group("c")
		}
		if err != nil {
			t.Fatal(err)
		}
		print := s.(fingerprinted).Fingerprint()
		if seen[print] || print == "" {
			t.Errorf("%+v: %s was seen", f, print)
		}
		seen[print] = true
	}
}

// Records that were stored in float32 are not taken for those that are asked for in float64.
func TestStoredTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	must.Do(os.WriteFile(path, []byte("x,y\n0.1,no\n"), 0o600))
	table := must.Get(ScanCSV(path, nil))
	schema := &Schema{Fields: []Field{NumericField("x", 0, 1), CategoricalField("y", "no", "yes")}}
	d := must.Get(Planned(table, schema, DesignSettings{Label: "y"}))
	var first [2]float64
	for k, double := range []bool{false, true} {
		s := must.Get(d.Encoding.Stored(table, Storage{Dir: filepath.Dir(path), Double: double}))
		_, width := s.Rows.Dims()
		row := make([]float64, width)
		s.Rows.Row(row, 0)
		first[k] = row[0]
	}
	if float64(float32(first[0])) != first[0] || float64(float32(first[1])) == first[1] {
		t.Errorf("%v in float32, %v in float64", first[0], first[1])
	}
}

// Records that were stored of a file are not taken for those of the same file that is read in another way.
func TestOtherSettingsStoreOthers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.csv")
	text := "x;y\n" + strings.Repeat("1.500;no\n2.25;yes.\n1,5;no.\n9;yes\n#3;no\n", 3)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	schema := &Schema{Fields: []Field{NumericField("x", 0, 2000), CategoricalField("y", "no", "yes")}}
	made := func(s CSVSettings, stored bool) string {
		t.Helper()
		s.Comma = ';'
		table, err := ScanCSV(path, &s)
		if err != nil {
			t.Fatal(err)
		}
		d, err := Planned(table, schema, DesignSettings{Label: "y"})
		if err != nil {
			t.Fatal(err)
		}
		if stored {
			d, err = d.Encoding.Stored(table, Storage{Dir: dir, Double: true})
		} else {
			var whole *Table
			if whole, err = ReadCSVFile(path, &s); err == nil {
				d, err = d.Encoding.Design(whole)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		n, width := d.Rows.Dims()
		row, all := make([]float64, width), ""
		for i := range n {
			d.Rows.Row(row, i)
			all += fmt.Sprintln(row, d.Labels[i])
		}
		return all
	}
	seen := map[string]bool{}
	for _, s := range []CSVSettings{{}, {Decimal: ','}, {Decimal: ',', Thousands: '.'}, {Missing: []string{"9"}},
		{Comment: '#'}, {TrimSuffix: "."}, {Skip: 1, Header: []string{"x", "y"}}} {
		want := made(s, false)
		if got := made(s, true); got != want {
			t.Errorf("%+v: stored as\n%s want\n%s", s, got, want)
		}
		seen[want] = true
	}
	if len(seen) < 5 {
		t.Errorf("%d different tables: the settings tried are too tame to test anything", len(seen))
	}
}

// Sums of passes that a program which was killed has left beside the records go with them.
func TestSumsGoWithTheRecords(t *testing.T) {
	dir := t.TempDir()
	sums := filepath.Join(dir, "ab.rows.passes")
	if err := os.Mkdir(sums, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(sums, "pass-0.sums"), []byte("raw"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := RemoveStored(Storage{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(sums); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the sums are still there: %v", err)
	}
}
