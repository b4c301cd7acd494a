package frame

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/matrix/stored"
)

// inFiles writes a table to files of so many rows each, and the whole to one.
func inFiles(t *testing.T, dir string, counts ...int) (files []string, whole string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	const header = "x,town,y\n"
	all := header
	for k, n := range counts {
		text := ""
		for range n {
			text += fmt.Sprintf("%.3f,%s,%d\n", 2*rng.Float64()-0.5, []string{"a", "b", "elsewhere"}[rng.IntN(3)],
				rng.IntN(2))
		}
		path := filepath.Join(dir, fmt.Sprintf("part-%d.csv", k))
		must.Do(os.WriteFile(path, []byte(header+text), 0o600))
		files, all = append(files, path), all+text
	}
	whole = filepath.Join(dir, "whole.csv")
	must.Do(os.WriteFile(whole, []byte(all), 0o600))
	return files, whole
}

func scanned(paths ...string) Scanner {
	var files []Scanner
	for _, p := range paths {
		files = append(files, must.Get(ScanCSV(p, &CSVSettings{ChunkRows: 100})))
	}
	return must.Get(Together(files...))
}

func townsEncoding(t *testing.T, upper float64) *Encoding {
	t.Helper()
	schema := &Schema{Fields: []Field{NumericField("x", 0, upper), CategoricalField("town", "a", "b"),
		CategoricalField("y", "0", "1")}}
	return must.Get(newEncoding([]string{"x", "town", "y"}, schema, DesignSettings{Label: "y", ClipNorm: 1}))
}

// Records of several files have the bits of one file that holds them all, some of them empty, whoever stores the shards
// and in whichever order; what was stored of a file that did not change is found again.
func TestShardsAreOneTable(t *testing.T) {
	files, whole := inFiles(t, t.TempDir(), 250, 0, 1, 600, 0)
	e := townsEncoding(t, 1)
	one := must.Get(e.Stored(scanned(whole), Storage{Dir: t.TempDir()}))
	rows := func(d *Design) []float64 { return matrix.Densed(matrix.Select(d.Rows, counting(851))).Data }
	by := t.TempDir()
	for name, where := range map[string]Storage{
		"here": {Dir: t.TempDir()}, "within a limit": {Dir: t.TempDir(), MemoryLimit: 1 << 40},
		"by others": {Dir: by, By: byOthers(nil)}, "by others, again": {Dir: by, By: byOthers(nil)},
	} {
		d := must.Get(e.Stored(scanned(files...), where))
		set, ok := d.Rows.(*stored.Set)
		if !ok || len(set.Files()) != 5 {
			t.Fatalf("%s: %T", name, d.Rows)
		}
		if !slices.Equal(rows(d), rows(one)) || !slices.Equal(d.Labels, one.Labels) ||
			matrix.MaxNorm(d.Rows) != matrix.MaxNorm(one.Rows) {
			t.Errorf("%s: other records than those of one file", name)
		}
	}
	two := must.Get(e.Stored(scanned(files[0], files[3]), Storage{Dir: t.TempDir()}))
	if n, _ := two.Rows.Dims(); n != 850 || len(two.Labels) != 850 {
		t.Errorf("two files of 250 and 600 have %d records", n)
	}
	// A table of several is no file of another: its files are.
	nested := must.Get(Together(scanned(files[:3]...), scanned(files[3:]...)))
	if name := nested.Origin().Name; name != "part-0.csv and 4 more files" {
		t.Errorf("five files, of which three were one table, are called %s", name)
	}
	// What was done to the rows of a file is not done by who opens it.
	wide := must.Get(Drop(scanned(files[3]), "town"))
	schema := &Schema{Fields: []Field{NumericField("x", 0, 1), CategoricalField("y", "0", "1")}}
	narrow := must.Get(newEncoding([]string{"x", "y"}, schema, DesignSettings{Label: "y", ClipNorm: 1}))
	d := must.Get(narrow.Stored(wide, Storage{Dir: t.TempDir(), By: func(Sharding) error {
		return errors.New("others were asked")
	}}))
	if n, _ := d.Rows.Dims(); n != 600 {
		t.Errorf("%d records of a file without a column", n)
	}
	if known := scanned(files...).(fingerprinted).Fingerprint(); known ==
		scanned(append(slices.Clone(files[1:]), files[0])...).(fingerprinted).Fingerprint() {
		t.Error("files in another order are said to be the same table")
	}
	single := must.Get(e.Stored(scanned(whole), Storage{Dir: by, By: byOthers(nil)}))
	if _, ok := single.Rows.(*stored.Rows); !ok || !slices.Equal(rows(single), rows(one)) {
		t.Errorf("one file that was stored by others: %T", single.Rows)
	}
	link := filepath.Join(filepath.Dir(whole), "link.csv")
	must.Do(os.Symlink(files[0], link))
	for _, twice := range []string{files[0], link} {
		again := must.Get(ScanCSV(twice, nil))
		if _, err := Together(scanned(files[:2]...), again); err == nil ||
			!strings.Contains(err.Error(), "twice") {
			t.Errorf("%s is there twice: %v", twice, err)
		}
	}
	without := func(files ...string) Scanner { return must.Get(Drop(scanned(files...), "town")) }
	_, err := Together(without(files[3]), without(files[:2]...), without(files[1]))
	if err == nil || !strings.Contains(err.Error(), "part-1.csv is there twice") {
		t.Errorf("a file is there by itself and within a table that was changed: %v", err)
	}
	other := must.Get(NewTable(Column{Name: "z", Numbers: []float64{1}}))
	if _, err := Together(scanned(files[0]), other); err == nil {
		t.Error("files of other columns are one table")
	}
}

// The pieces of a table are all of its files, as they were: another is refused, and a table to whose rows something was
// done has none.
func TestPiecesAreTheTable(t *testing.T) {
	files, whole := inFiles(t, t.TempDir(), 250, 0, 1, 600)
	all := Pieces(scanned(files...))
	open := func(path string) (Scanner, error) { return ScanCSV(path, nil) }
	again := must.Get(Collect(must.Get(Opened(all, open)), nil))
	if want := must.Get(Collect(scanned(whole), nil)); len(all) != 4 || again.Rows() != want.Rows() {
		t.Errorf("%d pieces of %d rows, want 4 of %d", len(all), again.Rows(), want.Rows())
	}
	all[3].SHA256 = all[0].SHA256
	if _, err := Opened(all, open); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("another file: %v", err)
	}
	if left := Pieces(must.Get(Drop(scanned(files...), "town"))); left != nil {
		t.Errorf("%v are without a column", left)
	}
}

// stretch is a file of parts, lo to hi − 1 of them.
type stretch struct {
	Scanner
	lo, hi int
}

func (s stretch) Read(func(io.Reader) error) error { return nil }
func (s stretch) Stretch() (lo, hi int)            { return s.lo, s.hi }
func (s stretch) Parts() int                       { return 9 }
func (s stretch) Part(lo, hi int) Scanner          { return stretch{s.Scanner, lo, hi} }

// A piece of a file that is read in parts is the same parts of it again.
func TestPiecesOfParts(t *testing.T) {
	files, _ := inFiles(t, t.TempDir(), 3, 2)
	all := Pieces(must.Get(Together(stretch{scanned(files[0]), 3, 7}, stretch{scanned(files[1]), 0, 0})))
	again := must.Get(Opened(all, func(path string) (Scanner, error) {
		file, err := ScanCSV(path, nil)
		return stretch{file, 0, 9}, err
	}))
	if got := Pieces(again); len(all) != 2 || all[0].Lo != 3 || all[0].Hi != 7 || all[1].Hi != 0 || got[0] != all[0] ||
		got[1].Lo != 0 || got[1].Hi != 9 {
		t.Errorf("pieces %+v, opened %+v", all, got)
	}
}

// A table is public, or invented, only if all of its files are.
func TestPublicTogether(t *testing.T) {
	of := func(is bool) *Table {
		t := must.Get(NewTable(Column{Name: "x", Numbers: []float64{1}}))
		t.Source.Public, t.Source.Invented = is, is
		return t
	}
	for k := range 4 {
		a, b := k&1 > 0, k&2 > 0
		if all := must.Get(Together(of(a), of(b))).Origin(); all.Public != (a && b) || all.Invented != (a && b) {
			t.Errorf("of %v and %v: public %v, invented %v", a, b, all.Public, all.Invented)
		}
	}
}

// inParts is a table of which each row is a part.
type inParts struct{ *Table }

func (t inParts) Parts() int              { return t.rows }
func (t inParts) Part(lo, hi int) Scanner { return t.Slice(lo, hi) }

// Parts of several files are rows of theirs, each once, and no others.
func TestPartsTogether(t *testing.T) {
	of := func(x ...float64) Scanner { return inParts{must.Get(NewTable(Column{Name: "x", Numbers: x}))} }
	all := must.Get(Together(of(0, 1, 2), of(3), of(4, 5))).(Parted)
	for lo := range all.Parts() {
		for hi := lo + 1; hi <= all.Parts(); hi++ {
			var got, want []float64
			must.Do(all.Part(lo, hi).Scan([]string{"x"}, func(c *Table) error {
				got = append(got, c.columns[0].Numbers...)
				return nil
			}))
			for k := lo; k < hi; k++ {
				want = append(want, float64(k))
			}
			if !slices.Equal(got, want) {
				t.Errorf("parts %d to %d have %v", lo, hi, got)
			}
		}
	}
}

// Tables that have their first file in common have folders of their own for sums, which are listed.
func TestSumsOfFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(k byte) stored.File {
		return stored.File{Path: filepath.Join(dir, string('a'+rune(k))), Key: [32]byte{k + 1}}
	}
	for _, t := range [][]stored.File{{file(0)}, {file(0), file(1)}, {file(0), file(2)}, {file(0), file(1), file(2)}} {
		must.Do(os.MkdirAll(SumsOf(t), 0o700))
	}
	if known := must.Get(ListStored(Storage{Dir: dir})); len(known) != 4 {
		t.Errorf("of the sums of four tables these are known: %v", known)
	}
	whole, part := filepath.Join(dir, "x"+storedSuffix), filepath.Join(dir, stored.PartPrefix+"y")
	must.Do(os.WriteFile(whole, []byte("abc"), 0o600))
	must.Do(os.WriteFile(part, []byte("abcd"), 0o600))
	for _, f := range must.Get(ListStored(Storage{Dir: dir})) {
		size := map[string]int64{whole: 3, part: 4}[f.Path]
		if f.Part != (f.Path == part) || f.Sums != (size == 0) || size != 0 && f.Bytes != size {
			t.Errorf("%+v", f)
		}
	}
}

// Rows are gathered to chunks of the size that was asked for, in order, the last of one row, too; where there are none
// there is one chunk without rows.
func TestGather(t *testing.T) {
	for _, c := range []struct{ parts, want []int }{
		{[]int{1, 1, 1, 1}, []int{3, 1}}, {[]int{4}, []int{3, 1}}, {[]int{3}, []int{3}}, {[]int{2, 5}, []int{3, 3, 1}},
		{[]int{0}, []int{0}}, {[]int{3, 0}, []int{3}},
	} {
		var sizes []int
		var all []float64
		g, from := gather{size: 3, f: func(t *Table) error {
			sizes = append(sizes, t.Rows())
			c, err := t.Column("x")
			all = append(all, c.Numbers...)
			return err
		}}, 0
		for _, n := range c.parts {
			column := Column{Name: "x"}
			for i := range n {
				column.Numbers = append(column.Numbers, float64(from+i))
			}
			from += n
			must.Do(g.add(must.Get(NewTable(column))))
		}
		must.Do(g.flush(true))
		if !slices.Equal(sizes, c.want) || len(all) != from || from > 0 && all[from-1] != float64(from-1) {
			t.Errorf("%v became %v, %v", c.parts, sizes, all)
		}
	}
}

func counting(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// byOthers stores shards as workers do, who are told in JSON, the last one first. Before, what they are told may be
// changed.
func byOthers(change func(*Sharding)) func(Sharding) error {
	return func(s Sharding) error {
		if change != nil {
			change(&s)
		}
		var told Sharding
		if err := json.Unmarshal(must.Get(json.Marshal(s)), &told); err != nil {
			return err
		}
		for k := len(told.Shards) - 1; k >= 0; k-- {
			err := told.Store(k, func(path string) (Scanner, error) {
				return ScanCSV(path, &CSVSettings{ChunkRows: 100})
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// A shard that is missing, of a file that was changed, of another schema, encoding, precision or version, or under
// another's name, is refused, whoever left it; one that is cut short or damaged is stored anew.
func TestForeignShards(t *testing.T) {
	dir := t.TempDir()
	files, _ := inFiles(t, dir, 250, 30, 600)
	e := townsEncoding(t, 1)
	keyed := func(where Storage) (paths []string) {
		for k := range files {
			_, name, err := e.keyOf(scanned(files[k]), where)
			must.Do(err)
			paths = append(paths, name)
		}
		return paths
	}
	for name, c := range map[string]struct {
		change func(*Sharding)
		wants  string
	}{
		"a shard that nobody stores": {func(s *Sharding) { s.Shards = s.Shards[:2] }, "shard 3 of 3 was not stored"},
		"another folder":             {func(s *Sharding) { s.Dir = t.TempDir() }, "was not stored"},
		"another version":            {func(s *Sharding) { s.Steps = "dpnb records 1" }, "another version"},
		"another schema":             {func(s *Sharding) { s.Encoding = townsEncoding(t, 2).Kept() }, "other records"},
		"another norm":               {func(s *Sharding) { s.Encoding.Settings.ClipNorm = 2 }, "other records"},
		"another precision":          {func(s *Sharding) { s.Double = true }, "other records"},
		"shards in another order":    {func(s *Sharding) { slices.Reverse(s.Shards) }, ""},
		"files in another order": {func(s *Sharding) {
			s.Shards[0].Pieces, s.Shards[1].Pieces = s.Shards[1].Pieces, s.Shards[0].Pieces
		}, "other records"},
		"another file": {func(s *Sharding) { s.Shards[1].Pieces[0].Path = files[2] }, "checksum differs"},
		"a file that is gone": {func(s *Sharding) {
			s.Shards[1].Pieces[0].Path = filepath.Join(dir, "gone.csv")
		}, "no file"},
		"a file that was changed": {func(*Sharding) {
			must.Do(os.WriteFile(files[1], []byte("x,town,y\n0.5,a,1\n"), 0o600))
		}, "checksum differs"},
	} {
		t.Run(name, func(t *testing.T) {
			before := must.Get(os.ReadFile(files[1]))
			where := Storage{Dir: t.TempDir(), By: byOthers(c.change)}
			_, err := e.Stored(scanned(files...), where)
			if c.wants == "" && err != nil || c.wants != "" && (err == nil || !strings.Contains(err.Error(), c.wants)) {
				t.Errorf("%v, want %q", err, c.wants)
			}
			must.Do(os.WriteFile(files[1], before, 0o600))
		})
	}
	// What lies in the folder.
	where := Storage{Dir: t.TempDir()}
	want := must.Get(e.Stored(scanned(files...), where))
	paths := keyed(where)
	whole := must.Get(os.ReadFile(paths[2]))
	for name, content := range map[string][]byte{"cut short": whole[:len(whole)-1],
		"damaged": append(slices.Clone(whole[:5000]), append([]byte{whole[5000] ^ 1}, whole[5001:]...)...),
		"another": must.Get(os.ReadFile(paths[0]))} {
		for _, by := range []func(Sharding) error{nil, byOthers(nil)} {
			must.Do(os.WriteFile(paths[2], content, 0o600))
			got, err := e.Stored(scanned(files...), Storage{Dir: where.Dir, By: by})
			if err != nil || !slices.Equal(got.Labels, want.Labels) ||
				!slices.Equal(must.Get(os.ReadFile(paths[2])), whole) {
				t.Errorf("a shard that is %s: %v", name, err)
			}
		}
		must.Do(os.WriteFile(paths[2], content, 0o600))
		_, err := e.Stored(scanned(files...), Storage{Dir: where.Dir, By: func(Sharding) error { return nil }})
		if name != "damaged" && err == nil { // of that one the block says it when it is read
			t.Errorf("a shard that is %s is taken from a worker that did not look at it", name)
		}
	}
	injected := errors.New("injected")
	_, err := e.Stored(scanned(files...), Storage{Dir: where.Dir, By: func(Sharding) error { return injected }})
	if !errors.Is(err, injected) {
		t.Errorf("workers that fail: %v", err)
	}
}
