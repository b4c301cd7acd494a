package frame

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/weight"
)

// A file that changes while it is scanned, or between two scans, is refused, and no records are stored of it; a scan of
// columns in small pieces stores the same as of all at once.
func TestSourceThatChanges(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.csv")
	text := "x,y\n" + strings.Repeat("0.5,no\n0.25,yes\n", 50)
	begin := func() Scanner {
		t.Helper()
		must.Do(os.WriteFile(path, []byte(text), 0o600))
		return must.Get(ScanCSV(path, &CSVSettings{ChunkRows: 10}))
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
	must.Do(os.WriteFile(path, []byte("w\na b\nc\nb\n"), 0o600))
	seen := map[string]bool{}
	for _, f := range []Field{CategoricalField("w", "a b", "c"), CategoricalField("w", "a", "b", "c"),
		{Name: "w", Kind: Categorical, Levels: []string{"a b", "c"}, Else: "c"}} {
		s := must.Get(ScanCSV(path, nil))
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

// Tables are stored under all that their rows depend on: whatever is changed of how a file is read, or of what is done
// to its rows, is another table's. Where rows were chosen, it is told.
func TestTablesAreToldApart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	must.Do(os.WriteFile(path, []byte("w,x;z\na,0;1\nb,1;1\n"), 0o600))
	seen := map[string]string{}
	told := func(what string, s Scanner, err error) Scanner {
		must.Do(err)
		print := s.(fingerprinted).Fingerprint()
		if other, there := seen[print]; there || print == "" {
			t.Errorf("%s is %q, as is %s", what, print, other)
		}
		seen[print] = what
		return s
	}
	for k, settings := range []CSVSettings{{}, {Comma: ';'}, {Decimal: ',', Comma: ';'}, {Thousands: ' '},
		{Encoding: "Latin-1"}, {Skip: 1, Header: []string{"w", "x"}}, {Header: []string{"w", "x"}},
		{Rename: map[string]string{"w": "v"}}, {PlainQuotes: true}, {Missing: []string{"a"}}, {Comment: '#'},
		{TrimSuffix: "."}, {TrimPrefix: "£"}, {NumberDuplicates: true}} {
		s, err := ScanCSV(path, &settings)
		told(fmt.Sprint("settings ", k), s, err)
	}
	file := must.Get(ScanCSV(path, nil))
	var done []string
	for k, of := range []func() (Scanner, Scanner, error){
		func() (Scanner, Scanner, error) { return Split(file, 0.3, "k") },
		func() (Scanner, Scanner, error) { return Split(file, 0.4, "k") },
		func() (Scanner, Scanner, error) { return Split(file, 0.3, "l") },
		func() (Scanner, Scanner, error) { return Split(file, 0.3, "k", "w") },
		func() (Scanner, Scanner, error) { return Split(file, 0.3, "k", "x;z") },
	} {
		first, rest, err := of()
		for _, s := range []Scanner{told(fmt.Sprint("first ", k), first, err),
			told(fmt.Sprint("rest ", k), rest, err)} {
			done = append(done, s.Origin().Done...)
		}
	}
	for _, of := range []func() (Scanner, error){
		func() (Scanner, error) { return Rename(file, "w", "v") },
		func() (Scanner, error) { return Rename(file, "w", "u") },
		func() (Scanner, error) { return Rename(file, "x;z", "v") },
		func() (Scanner, error) { return Drop(file, "w") },
		func() (Scanner, error) { return Drop(file, "x;z") },
		func() (Scanner, error) { return PerPerson(file, "w", 1) },
		func() (Scanner, error) { return PerPerson(file, "x;z", 1) },
		func() (Scanner, error) { return PerPerson(file, "w", 2) },
	} {
		s, err := of()
		done = append(done, told(fmt.Sprint("table ", len(seen)), s, err).Origin().Done...)
	}
	want := []string{"the first part of 0.3 and 0.7 (k)", "the second part of 0.3 and 0.7 (k)",
		"the first part of 0.4 and 0.6 (k)", "the second part of 0.4 and 0.6 (k)", "the first part of 0.3 and 0.7 (l)",
		"the second part of 0.3 and 0.7 (l)", "the first part of 0.3 and 0.7 (k)", "the second part of 0.3 and 0.7 (k)",
		"the first part of 0.3 and 0.7 (k)", "the second part of 0.3 and 0.7 (k)", `with "v" in place of "w"`,
		`with "u" in place of "w"`, `with "v" in place of "x;z"`}
	if !slices.Equal(done, want) {
		t.Errorf("done is %q", done)
	}
}

// Rows of groups, and values of a column, are what the schema says of each row, of a table and of one that is scanned,
// in whose groups no row is twice though a rule says otherwise later.
func TestGroupsAreTheirRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	must.Do(os.WriteFile(path, []byte("w,x\na,0\nb,1\nc,2\n?,3\na,\nb,9\n"), 0o600))
	file := must.Get(ScanCSV(path, &CSVSettings{ChunkRows: 2}))
	schema := &Schema{Fields: []Field{CategoricalField("w", "a", "b", "c").OrElse("b"), NumericField("x", 0, 4).
		OrMissingAs(3.5)}}
	for name, table := range map[string]Scanner{"a table": must.Get(Collect(file, nil)), "a file": file} {
		p := must.Get(NewPartition(table, schema, "w"))
		for category, want := range map[string][]float64{"a": {0, 3.5}, "b": {1, 3, 4}, "c": {2}} {
			group := must.Get(Collect(must.Get(p.Group(category)), nil))
			v := must.Get(NewValues(schema, group.Names(), []string{"x"}))
			if got := must.Get(v.Of(group))[0]; !slices.Equal(got, want) {
				t.Errorf("%s: group %s has %v, want %v", name, category, got, want)
			}
		}
	}
	said := "a"
	p := must.Get(NewPartition(must.Get(DeriveText(file, "v", func(Row) string { return said }, "x")),
		&Schema{Fields: []Field{CategoricalField("v", "a", "b")}}, "v"))
	for _, want := range []struct {
		says, group string
		rows        int
	}{{"a", "a", 6}, {"b", "b", 0}, {"a", "a", 6}} {
		said = want.says
		if got := must.Get(Collect(must.Get(p.Group(want.group)), nil)).Rows(); got != want.rows {
			t.Errorf("the rule says %s: group %s has %d rows, want %d", said, want.group, got, want.rows)
		}
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
	must.Do(os.WriteFile(path, []byte(text), 0o600))
	schema := &Schema{Fields: []Field{NumericField("x", 0, 2000), CategoricalField("y", "no", "yes")}}
	made := func(s CSVSettings, stored bool) string {
		t.Helper()
		s.Comma = ';'
		table, err := ScanCSV(path, &s)
		if err != nil {
			t.Fatal(err)
		}
		d := must.Get(Planned(table, schema, DesignSettings{Label: "y"}))
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
		{Comment: '#'}, {TrimSuffix: "."}, {TrimPrefix: "1"}, {Skip: 1, Header: []string{"x", "y"}}} {
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

// The weights of stored records are those of the table.
func TestStoredWithWeights(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.csv")
	must.Do(os.WriteFile(path, []byte("x,w,y\n1,1,no\n2,3,yes\n3,9,no\n4,,yes\n"), 0o600))
	schema := &Schema{Fields: []Field{NumericField("x", 0, 4).Typically(4), CategoricalField("y", "no", "yes")}}
	s := must.Get(ScanCSV(path, nil))
	d := must.Get(Planned(s, schema, DesignSettings{Label: "y", Weights: "w", WeightBound: 4}))
	d = must.Get(d.Encoding.Stored(s, Storage{Dir: dir}))
	for i, want := range []float64{0.25, 0.75, 1, 0} {
		if y, w := weight.Of(d.Labels[i]); w != want || (y > 0) != (i%2 == 1) {
			t.Errorf("record %d has label %v and weight %v, want %v", i, y, w, want)
		}
	}
}

// Records that were stored are not taken for those of the same file of which other rows count, or that are made in
// another way.
func TestOtherRowsStoreOthers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.csv")
	text := "who,house,x,y\n"
	for i := range 60 {
		text += fmt.Sprintf("%d,%d,%d,%s\n", i%7, i%5, i, []string{"no", "yes", "maybe"}[i%3])
	}
	must.Do(os.WriteFile(path, []byte(text), 0o600))
	table := must.Get(ScanCSV(path, nil))
	x, y := NumericField("x", 0, 60), CategoricalField("y", "no", "yes")
	plain := DesignSettings{Label: "y"}
	half, rest, err := Split(table, 0.5, "a", "who")
	other, _, errOther := Split(table, 0.5, "b", "who")
	third, _, errThird := Split(table, 0.3, "a", "who")
	must.Do(errors.Join(err, errOther, errThird))
	group := func(c string) Scanner {
		return must.Get(must.Get(NewPartition(table, &Schema{Fields: []Field{y}}, "y")).Group(c))
	}
	seen, cases := map[string]bool{}, 0
	for _, c := range []struct {
		rows Scanner
		x, y Field
		s    DesignSettings
	}{
		{table, x, y, plain}, {must.Get(PerPerson(table, "who", 1)), x, y, plain},
		{must.Get(PerPerson(table, "who", 2)), x, y, plain}, {must.Get(PerPerson(table, "house", 2)), x, y, plain},
		{half, x, y, plain}, {rest, x, y, plain}, {other, x, y, plain}, {third, x, y, plain},
		{group("no"), x, y, plain}, {group("yes"), x, y, plain}, {table, NumericField("x", 0, 80), y, plain},
		{table, x, CategoricalField("y", "no", "maybe"), plain}, {table, x, y.OrElse("maybe"), plain},
		{table, x, y, DesignSettings{Label: "y", Positive: "no"}},
		{table, x, y, DesignSettings{Label: "y", RowNorm: 1}},
		{table, x, y, DesignSettings{Label: "y", RowNorm: 2}},
		{table, x, y, DesignSettings{Label: "y", ClipNorm: 0.5}},
		{table, x, y, DesignSettings{Label: "y", NoBias: true}},
		{table, x, y, DesignSettings{Label: "y", Centred: true}},
		{table, x, y, DesignSettings{Label: "y", ClassWeight: [2]float64{0.5, 1}}},
	} {
		c.s.Task = TwoClasses
		if len(c.y.Levels) > 2 {
			c.s.Task = ManyClasses
		}
		d, err := Planned(must.Get(Select(c.rows, "x", "y")), &Schema{Fields: []Field{c.x, c.y}}, c.s)
		must.Do(err)
		made := func(dir string) (all string) {
			d := must.Get(d.Encoding.Stored(c.rows, Storage{Dir: dir, Double: true}))
			n, width := d.Rows.Dims()
			row := make([]float64, width)
			for i := range n {
				d.Rows.Row(row, i)
				all += fmt.Sprintln(row, d.Labels[i])
			}
			return all
		}
		want := made(t.TempDir())
		if made(dir) != want {
			t.Errorf("%+v %+v %+v: others are taken for them", c.x, c.y, c.s)
		}
		seen[want] = true
		cases++
	}
	if len(seen) < cases {
		t.Errorf("%d different records of %d", len(seen), cases)
	}
	if err := (&Schema{Fields: []Field{x, CategoricalField("y", "a\xfe", "a\xff")}}).Validate(); err == nil {
		t.Error("categories that are the same where they are written down")
	}
}

// Sums of passes that a program which was killed has left beside the records go with them.
func TestSumsGoWithTheRecords(t *testing.T) {
	dir := t.TempDir()
	sums := filepath.Join(dir, "ab.rows.passes")
	must.Do(os.Mkdir(sums, 0o700))
	must.Do(os.WriteFile(filepath.Join(sums, "pass-0.sums"), []byte("raw"), 0o600))
	must.Do(RemoveStored(Storage{Dir: dir}))
	if _, err := os.Stat(sums); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the sums are still there: %v", err)
	}
}

// A packed file is the table that it has, read in chunks and beside others; one that is cut short is refused, as is any
// that is.
func TestPackedFiles(t *testing.T) {
	dir := t.TempDir()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	text := "\ufeffage;town\n" + strings.Repeat("30;Bern\n40;\"Rome; there\"\n", 5000)
	must.Get(z.Write([]byte(text)))
	must.Do(z.Close())
	plain, gz, cut := filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.csv.gz"), filepath.Join(dir, "c.csv.gz")
	must.Do(os.WriteFile(plain, []byte(text), 0o600))
	must.Do(os.WriteFile(gz, packed.Bytes(), 0o600))
	must.Do(os.WriteFile(cut, packed.Bytes()[:packed.Len()-9], 0o600))
	s := &CSVSettings{Comma: ';', ChunkRows: 999}
	texts := func(t Scanner) (all []string) {
		whole := must.Get(Collect(t, nil))
		for i := range whole.rows {
			all = append(all, whole.columns[0].Text(i)+whole.columns[1].Text(i))
		}
		return all
	}
	want := texts(must.Get(ScanCSV(plain, s)))
	if got := texts(must.Get(ScanCSV(gz, s))); !slices.Equal(got, want) || len(want) != 10_000 {
		t.Errorf("%d rows, want %d", len(got), len(want))
	}
	both := must.Get(Together(must.Get(ScanCSV(plain, s)), must.Get(ScanCSV(gz, s))))
	if got := texts(both); !slices.Equal(got, append(want, want...)) {
		t.Errorf("%d rows of both", len(got))
	}
	if _, err := Collect(must.Get(ScanCSV(cut, s)), nil); err == nil {
		t.Error("a packed file that is cut short is read")
	}
}

// Files of other kinds and of other editors are told by what they are, with a cure; a mark in front of a schema is none
// of it.
func TestFilesOfOtherKinds(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must.Do(os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	fields := `{"version": 1, "fields": [{"name": "age", "type": "number", "lower": 0, "upper": 9}]}`
	for _, c := range []struct{ table, schema, want string }{
		{"\x1f\x8b\x08\x00", "", "gzip"}, {"PK\x03\x04....", "", "as CSV"}, {"age,city\r30,Bern\r", "", "tr '"},
		{"age\r\n30\r\n", "", ""}, {"", fields, ""}, {"", "\ufeff" + fields, ""},
		{"", "// mine\n" + fields, `"comment"`},
		{"", "age,city\n30,Bern\n", "is it the table?"}, {"", "\xff\xfe{\x00}\x00", "UTF-8"},
		{"", `{"version": 1, "fields": {}}`, "list in brackets"},
		{"", strings.Replace(fields, "9", "1e999", 1), "not larger than"},
		{"", strings.Replace(fields, `"number"`, "4", 1), "quotation marks"},
	} {
		var err error
		if c.schema == "" {
			_, err = ScanCSV(write("table.csv", c.table), nil)
		} else {
			_, err = LoadSchema(write("schema.json", c.schema))
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.table+c.schema, err, c.want)
		}
	}
	if _, err := LoadSchema(dir); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("a folder for a schema: %v", err)
	}
	schema := &Schema{Fields: []Field{CategoricalField("town", "a", "b"), CategoricalField("y", "0", "1")}}
	settings := DesignSettings{Label: "y", Weights: "town", WeightBound: 2}
	if _, err := newEncoding([]string{"town", "y"}, schema, settings); err == nil ||
		!strings.Contains(err.Error(), "name another column") {
		t.Errorf("weights that are towns: %v", err)
	}
}

// The garbage collector keeps to seven eighths of a limit while something runs, or to what it kept to if that is less.
func TestKeepTo(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 40))
	for limit, want := range map[int64]int64{0: 1 << 40, 800 << 30: 700 << 30, 1 << 50: 1 << 40} {
		free := KeepTo(limit)
		if got := debug.SetMemoryLimit(-1); got != want {
			t.Errorf("%d bytes: the collector keeps to %d, want %d", limit, got, want)
		}
		if free(); debug.SetMemoryLimit(-1) != 1<<40 {
			t.Errorf("%d bytes: the collector goes on with %d", limit, debug.SetMemoryLimit(-1))
		}
	}
}
