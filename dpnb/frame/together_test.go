package frame

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/runlog"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// A record is read as its file is, whatever is done to the rows of the table and whichever records are beside it in a
// chunk: here those of the next file, of which there may be one or none.
func TestARecordIsReadAsItsFileIs(t *testing.T) {
	dir := t.TempDir()
	file := func(name, row string, n int, s CSVSettings) Scanner {
		path := filepath.Join(dir, name)
		must.Do(os.WriteFile(path, []byte("who;x\n"+strings.Repeat(row+"\n", n)), 0o600))
		s.Comma = ';'
		return must.Get(ScanCSV(path, &s))
	}
	texts := file("texts", "a;0.25", 10, CSVSettings{})
	first := map[string]Scanner{
		"a decimal comma":       file("comma", "a;0,25", 10, CSVSettings{Decimal: ','}),
		"a number that is none": file("missing", "a;99", 10, CSVSettings{Missing: []string{"99"}}),
		"numbers": must.Get(NewTable(Column{Name: "who", Kind: Categorical, Texts: slices.Repeat([]string{"a"}, 10)},
			Column{Name: "x", Numbers: slices.Repeat([]float64{0.25}, 10)})),
	}
	change := map[string]func(Scanner) (Scanner, error){
		"Drop":        func(s Scanner) (Scanner, error) { return Drop(s, "who") },
		"DropMissing": func(s Scanner) (Scanner, error) { return DropMissing(s, "who") },
		"PerPerson":   func(s Scanner) (Scanner, error) { return PerPerson(s, "who", 50) },
	}
	for name, one := range first {
		for n := range 3 {
			other := file(fmt.Sprint("other", n), "b;0.75", n, CSVSettings{})
			both := must.Get(Together(one, other, texts))
			want := 0.25
			if strings.Contains(name, "none") {
				want = math.NaN()
			}
			for how, change := range change {
				seen := 0
				must.Do(must.Get(change(both)).Scan([]string{"x"}, func(chunk *Table) error {
					x := must.Get(chunk.Column("x"))
					for i := range chunk.rows {
						v, is := x.Number(i), want
						switch {
						case seen >= 10+n:
							is = 0.25
						case seen >= 10:
							is = 0.75
						}
						if v != is && !(math.IsNaN(v) && math.IsNaN(is)) {
							t.Errorf("%s, %s, %d beside it: record %d is %v, not %v", name, how, n, seen, v, is)
						}
						seen++
					}
					return nil
				}))
				if seen != 20+n {
					t.Errorf("%s, %s: %d records", name, how, seen)
				}
			}
			if _, err := Collect(both, nil); err == nil {
				t.Errorf("%s: read in two ways, and in one table", name)
			}
			if _, err := FirstRows(both, 15); err == nil {
				t.Errorf("%s: read in two ways, and in one head", name)
			}
		}
	}
}

// What a notebook reads of several files is known to its report file by file: it is made anew when one has changed.
func TestReportsKnowEachFile(t *testing.T) {
	t.Setenv(runlog.DirEnv, t.TempDir())
	files, _ := inFiles(t, t.TempDir(), 3, 4, 5)
	must.Do(must.Get(Drop(scanned(files...), "town")).Origin().Log())
	dir, _ := runlog.Dir()
	log := must.Get(runlog.Read(dir))
	for k, path := range files {
		if len(log.Data) != 3 || log.Data[k].File != path || log.Data[k].Name != filepath.Base(path) ||
			log.Data[k].Path != log.Data[k].Name || log.Data[k].Public || log.Data[k].Invented ||
			log.Data[k].SHA256 != scanned(path).Origin().SHA256 {
			t.Errorf("file %d of 3 is logged as %+v", k+1, log.Data)
		}
	}
}

// What is public, or invented, of some files is not said of rows of others, whichever file is the first.
func TestMarksAreOfAllFiles(t *testing.T) {
	dir := t.TempDir()
	must.Do(os.WriteFile(filepath.Join(dir, "people.csv"), []byte("x\n7\n8\n"), 0o600))
	must.Do(os.WriteFile(filepath.Join(dir, "nobody.csv"), []byte("x\n1\n2\n"), 0o600))
	private := must.Get(ScanCSV(filepath.Join(dir, "people.csv"), nil))
	marked := must.Get(ReadCSVFile(filepath.Join(dir, "nobody.csv"), nil))
	marked.Source.Public, marked.Source.Invented, marked.Source.Note = true, true, "nobody is real"
	for _, both := range []Scanner{must.Get(Together(marked, private)), must.Get(Together(private, marked))} {
		for what, s := range map[string]Source{"the table": both.Origin(),
			"its head": must.Get(FirstRows(both, 3)).Source, "all of it": must.Get(Collect(both, nil)).Source} {
			if s.Public || s.Invented || s.Note != "" {
				t.Errorf("%s is %+v", what, s)
			}
		}
	}
}

// A table in memory is not put beside itself, nor beside what has rows of it without a copy; two halves are whole.
func TestTogetherInMemory(t *testing.T) {
	x := Column{Name: "x", Numbers: []float64{1, 2, 3, 4}}
	who := Column{Name: "who", Kind: Categorical, Texts: []string{"a", "b", "c", "d"}}
	all := must.Get(NewTable(x, who))
	none := must.Get(NewTable(Column{Name: "x"}, Column{Name: "who", Kind: Categorical}))
	renewed := must.Get(NewTable(Column{Name: "x", Numbers: []float64{5, 6, 7, 8}}, who))
	for what, parts := range map[string][]Scanner{
		"itself": {all, all}, "its head": {all, all.Head(2)}, "its end": {all.Slice(3, 4), all},
		"a column of it": {all, none, renewed}, "its columns": {all, must.Get(all.Select("x", "who"))},
	} {
		if _, err := Together(parts...); err == nil || !strings.Contains(err.Error(), "twice") {
			t.Errorf("a table beside %s: %v", what, err)
		}
	}
	both := must.Get(Collect(must.Get(Together(all.Slice(2, 4), none, none, all.Slice(0, 2))), nil))
	if got := rowsOf(both); !slices.Equal(got, []string{"3 c", "4 d", "1 a", "2 b"}) {
		t.Errorf("two halves are %q", got)
	}
}
