package parquet_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// What is read of columns of every type of Arrow, as numbers and as texts, and written to Parquet and read again, and
// why others are refused, is as it was: testdata/said.txt.
func TestWhatIsRead(t *testing.T) {
	dir := t.TempDir()
	var all strings.Builder
	say := func(name string, values ...any) { fmt.Fprintln(&all, append([]any{name + ":"}, values...)...) }
	show := func(name, path string, settings *parquet.Settings) frame.Scanner {
		s, err := parquet.Open(path, settings)
		if say(name, err); err != nil {
			return nil
		}
		say("names", s.Names(), s.Origin().Rows)
		err = s.Scan(nil, func(chunk *frame.Table) error {
			for _, column := range chunk.Names() {
				c := must.Get(chunk.Column(column))
				for i := range chunk.Rows() {
					fmt.Fprintf(&all, "%s %v %q %v; ", column, c.Kind, c.Text(i), c.Number(i))
				}
				all.WriteByte('\n')
			}
			return nil
		})
		say("read", err)
		return s
	}
	write := func(name string, fields []arrow.Field, rows string) string {
		path := filepath.Join(dir, name)
		schema := arrow.NewSchema(fields, nil)
		record, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
		must.Do(err)
		f := must.Get(os.Create(path))
		w := must.Get(ipc.NewFileWriter(f, ipc.WithSchema(schema)))
		must.Do(w.Write(record))
		must.Do(w.Write(record))
		must.Do(w.Close())
		must.Do(f.Close())
		return path
	}
	for _, c := range []struct {
		of     arrow.DataType
		values string // of two rows, beside a null
	}{{arrow.PrimitiveTypes.Int8, "-128,7"}, {arrow.PrimitiveTypes.Int16, "-3,300"}, {arrow.PrimitiveTypes.Int32,
		"-3,70000"}, {arrow.PrimitiveTypes.Int64, "-3,9007199254740993"}, {arrow.PrimitiveTypes.Uint8, "3,255"},
		{arrow.PrimitiveTypes.Uint16, "3,65535"}, {arrow.PrimitiveTypes.Uint32, "3,4294967295"},
		{arrow.PrimitiveTypes.Uint64, "3,18446744073709551615"}, {arrow.PrimitiveTypes.Float32, "0.5,-3e10"},
		{arrow.PrimitiveTypes.Float64, "0.1,-3e100"}, {arrow.FixedWidthTypes.Boolean, "true,false"}, {arrow.BinaryTypes.
			String, `"a","ü, b"`}, {arrow.BinaryTypes.LargeString, `"a",""`}, {arrow.BinaryTypes.Binary,
			`"YQ==","Yg=="`},
		{arrow.FixedWidthTypes.Date32, `"2020-01-31","1969-12-31"`}, {arrow.FixedWidthTypes.Date64,
			`"2020-01-31","1969-12-31"`}, {arrow.FixedWidthTypes.Timestamp_s,
			`"2020-01-31T12:00:00Z","1969-12-31T06:00:00Z"`},
		{arrow.FixedWidthTypes.Timestamp_ms, `"2020-01-31T12:00:00.5Z","1969-12-31T06:00:00Z"`}, {arrow.FixedWidthTypes.
			Timestamp_us, `"2020-01-31T12:00:00.25Z","1969-12-31T06:00:00Z"`}, {arrow.FixedWidthTypes.Timestamp_ns,
			`"2020-01-31T12:00:00.125Z","1969-12-31T06:00:00Z"`}, {arrow.FixedWidthTypes.Time32s,
			`"06:00:00","18:00:00"`},
		{arrow.FixedWidthTypes.Time32ms, `"06:00:00.5","18:00:00"`}, {arrow.FixedWidthTypes.Time64us,
			`"06:00:00.25","18:00:00"`}, {arrow.FixedWidthTypes.Time64ns, `"06:00:00.125","18:00:00"`},
		{&arrow.Decimal128Type{Precision: 9, Scale: 2}, `"1.25","-300.5"`}, {&arrow.Decimal256Type{Precision: 40,
			Scale: 3},
			`"1.25","-300.5"`}, {&arrow.Decimal128Type{Precision: 9, Scale: 0}, `"125","-3"`},
		{arrow.FixedWidthTypes.Float16, "0.5,-2"}, {arrow.BinaryTypes.LargeBinary, `"YQ==","Yg=="`},
		{arrow.ListOf(arrow.PrimitiveTypes.Int8), "[1],[2]"}, {arrow.FixedWidthTypes.Duration_s, "1,2"},
		{&arrow.FixedSizeBinaryType{ByteWidth: 2}, `"YWI=","Y2Q="`}, {arrow.Null, "null,null"},
	} {
		rows := "["
		for _, v := range append(strings.SplitN(c.values, ",", 2), "null") {
			rows += fmt.Sprintf(`{"c":%s},`, strings.TrimSpace(v))
		}
		if c.values[0] == '"' {
			one, other, _ := strings.Cut(c.values, `",`)
			rows = fmt.Sprintf(`[{"c":%s"},{"c":%s},{"c":null},`, one, other)
		}
		path := write("a.arrow", []arrow.Field{{Name: "c", Type: c.of, Nullable: true}}, rows[:len(rows)-1]+"]")
		s := show(fmt.Sprint("= ", c.of), path, nil)
		show("as texts", path, &parquet.Settings{Texts: []string{"c"}, ChunkRows: 4})
		to := filepath.Join(dir, "a.parquet")
		err := parquet.Write(to, s)
		if say("written", err); err == nil {
			show("again", to, nil)
			show("again, as texts", to, &parquet.Settings{Texts: []string{"c"}})
		}
	}
	nested := arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int8}, arrow.Field{Name: "y",
		Type: arrow.BinaryTypes.String})
	show("nested", write("n.arrow", []arrow.Field{{Name: "s", Type: nested, Nullable: true}}, `[{"s":{"x":1,"y":"a"}},{
		"s":null}]`), nil)
	two := write("two.arrow", []arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int8}, {Name: "b", Type: arrow.
		BinaryTypes.String}}, `[{"a":1,"b":"x"},{"a":2,"b":"y"}]`)
	same := write("same.arrow", []arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int8}, {Name: "a", Type: arrow.
		BinaryTypes.String}}, `[]`)
	csv := filepath.Join(dir, "two.csv")
	must.Do(os.WriteFile(csv, []byte("a,b\n1,x\n"), 0o600))
	whole := must.Get(os.ReadFile(two))
	must.Do(os.WriteFile(filepath.Join(dir, "cut.arrow"), whole[:len(whole)-9], 0o600))
	must.Do(os.WriteFile(filepath.Join(dir, "long.arrow"), append(whole[:len(whole)-10:len(whole)-10],
		"\xff\xff\xff\x0fARROW1"...),
		0o600))
	for _, c := range []struct {
		path string
		s    parquet.Settings
	}{{two, parquet.Settings{ChunkRows: -1}}, {two, parquet.Settings{Texts: []string{"c"}}}, {two, parquet.Settings{
		Texts: []string{"b"}}}, {same, parquet.Settings{}}, {csv, parquet.Settings{}}, {dir, parquet.Settings{}},
		{filepath.Join(dir, "none"), parquet.Settings{}}, {filepath.Join(dir, "cut.arrow"), parquet.Settings{}},
		{filepath.Join(dir, "long.arrow"), parquet.Settings{}}} {
		show(fmt.Sprint("= ", filepath.Base(c.path), c.s), c.path, &c.s)
	}
	for _, path := range []string{two, csv, dir, filepath.Join(dir, "a.parquet"), filepath.Join(dir, "none")} {
		s, err := parquet.OpenAny(path, nil, nil)
		say("any", filepath.Base(path) == filepath.Base(dir), parquet.Columnar(path), s != nil, err)
	}
	err := must.Get(parquet.Open(two, nil)).Scan([]string{"b", "q"}, nil)
	say("no such column", err)
	golden.Compare(t, "testdata/said.txt", strings.ReplaceAll(all.String(), dir, "DIR"))
}
