package parquet_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/dpnb/notebooks/dpnb/dataset"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// same wants a scan of s to give what whole holds.
func same(t *testing.T, s frame.Scanner, whole *frame.Table, columns []string) {
	t.Helper()
	row := 0
	err := s.Scan(columns, func(chunk *frame.Table) error {
		for _, name := range chunk.Names() {
			got, _ := chunk.Column(name)
			want, err := whole.Column(name)
			if err != nil {
				return err
			}
			if got.Kind != want.Kind {
				return fmt.Errorf("column %q is %v, want %v", name, got.Kind, want.Kind)
			}
			for i := range chunk.Rows() {
				if got.Text(i) != want.Text(row+i) {
					return fmt.Errorf("%s of row %d is %q, want %q", name, row+i, got.Text(i), want.Text(row+i))
				}
			}
		}
		row += chunk.Rows()
		return nil
	})
	if err != nil || row != whole.Rows() {
		t.Fatalf("%d of %d rows, %v", row, whole.Rows(), err)
	}
}

func mixed(t *testing.T, rows int) *frame.Table {
	t.Helper()
	numbers, texts := make([]float64, rows), make([]string, rows)
	for i := range rows {
		numbers[i], texts[i] = float64(i)/3, fmt.Sprint("tëxt ", i%5)
		if i%7 == 3 {
			numbers[i] = math.NaN()
		}
		if i%4 == 1 {
			texts[i] = ""
		}
	}
	return must.Get(frame.NewTable(frame.Column{Name: "number", Numbers: numbers},
		frame.Column{Name: "text", Kind: frame.Categorical, Texts: texts}))
}

// A table that is written is what is read again, whatever the sizes of chunks and groups.
func TestThereAndBack(t *testing.T) {
	testscale.Slow(t)
	path := filepath.Join(t.TempDir(), "a.parquet")
	for _, rows := range []int{0, 1, 1000, 1<<17 + 5} {
		whole := mixed(t, rows)
		must.Do(parquet.Write(path, whole))
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("others may read it: %v, %v", info.Mode(), err)
		}
		for _, size := range []int{0, 333, 100000} {
			s := must.Get(parquet.Open(path, &parquet.Settings{ChunkRows: size}))
			if s.Origin().Rows != rows || len(s.Origin().SHA256) != 64 {
				t.Errorf("origin %+v", s.Origin())
			}
			for _, columns := range [][]string{nil, {"text"}, {"text", "number"}} {
				same(t, s, whole, columns)
			}
			got := must.Get(frame.Collect(s, nil))
			same(t, got, whole, nil)
		}
	}
}

// All chunks but the last have ChunkRows rows, and none is empty.
func TestChunksAreFull(t *testing.T) {
	for name, write := range map[string]func(path string) error{"a.arrow": writeArrow, "a.parquet": writeTypes} {
		path := filepath.Join(t.TempDir(), name)
		must.Do(write(path))
		for _, size := range []int{2, 3, 100, 1} {
			last, all := size, 0
			must.Do(must.Get(parquet.Open(path, &parquet.Settings{Texts: []string{"id"}, ChunkRows: size})).
				Scan([]string{"word"}, func(chunk *frame.Table) error {
					if n := chunk.Rows(); n < 1 || n > size || last != size {
						t.Fatalf("%s by %d: %d rows after %d", name, size, n, last)
					}
					last, all = chunk.Rows(), all+chunk.Rows()
					return nil
				}))
			if all != 3 {
				t.Errorf("%s by %d: %d rows", name, size, all)
			}
		}
	}
}

// A table without rows is one chunk of none, with its columns.
func TestNoRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.arrow")
	sc := arrow.NewSchema([]arrow.Field{{Name: "word", Type: arrow.BinaryTypes.String}}, nil)
	f := must.Get(os.Create(path))
	w := must.Get(ipc.NewFileWriter(f, ipc.WithSchema(sc)))
	must.Do(w.Close())
	f.Close()
	chunks := 0
	must.Do(must.Get(parquet.Open(path, nil)).Scan([]string{"word"}, func(chunk *frame.Table) error {
		if chunks++; chunk.Rows() != 0 || must.Get(chunk.Column("word")).Kind != frame.Categorical {
			t.Errorf("%d rows", chunk.Rows())
		}
		return nil
	}))
	if chunks != 1 {
		t.Errorf("%d chunks", chunks)
	}
}

// Every type is what it stands for; null is missing.
func TestTypes(t *testing.T) {
	dir := t.TempDir()
	for name, write := range map[string]func(path string) error{"a.arrow": writeArrow, "a.parquet": writeTypes} {
		path := filepath.Join(dir, name)
		must.Do(write(path))
		s := must.Get(parquet.Open(path, &parquet.Settings{Texts: []string{"id"}, ChunkRows: 2}))
		for column, want := range map[string]string{
			"id": "9007199254740993||-5", "small": "-3||7", "unsigned": "4294967295||0", "float": "0.5||-2",
			"flag": "true||false", "day": "19000||-1", "moment": "1.5||-0.25",
			"coarse": "1.5||-0.25", "fine": "1.5||-0.25", "price": "12.34||-0.05",
			"word": "Zürich||x", "large": "18446744073709552000||1", "old": "1.501||-0.25",
		} {
			if column == "old" && name == "a.arrow" {
				continue // a type that Arrow does not have
			}
			tab, err := frame.Collect(s, []string{column})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			c, _ := tab.Column(column)
			if got := c.Text(0) + "|" + c.Text(1) + "|" + c.Text(2); got != want || tab.Rows() != 3 {
				t.Errorf("%s: %s is %s, want %s", name, column, got, want)
			}
		}
		err := s.Scan(nil, func(*frame.Table) error { return nil })
		if err == nil || !strings.Contains(err.Error(), `"odd"`) || !strings.Contains(err.Error(), "not read") {
			t.Errorf("%s: a column of a type that is not read: %v", name, err)
		}
	}
}

// A row that names an entry of a dictionary that is null is missing, not what stands where the entry has nothing.
func TestNullEntriesOfDictionaries(t *testing.T) {
	mem := memory.DefaultAllocator
	numbers, texts, places := array.NewInt64Builder(mem), array.NewStringBuilder(mem), array.NewInt8Builder(mem)
	numbers.AppendValues([]int64{40, 77}, []bool{true, false})
	texts.AppendValues([]string{"Zürich", "nowhere"}, []bool{true, false})
	places.AppendValues([]int8{1, 0, 0}, []bool{true, true, false})
	index, fields, columns := places.NewArray(), []arrow.Field{}, []arrow.Array{}
	for name, of := range map[string]arrow.Array{"age": numbers.NewArray(), "town": texts.NewArray()} {
		kind := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: of.DataType()}
		fields = append(fields, arrow.Field{Name: name, Type: kind, Nullable: true})
		columns = append(columns, array.NewDictionaryArray(kind, index, of))
	}
	sc, path := arrow.NewSchema(fields, nil), filepath.Join(t.TempDir(), "a.arrow")
	f := must.Get(os.Create(path))
	w := must.Get(ipc.NewFileWriter(f, ipc.WithSchema(sc)))
	must.Do(errors.Join(w.Write(array.NewRecordBatch(sc, columns, 3)), w.Close(), f.Close()))
	tab := must.Get(frame.Collect(must.Get(parquet.Open(path, nil)), []string{"age", "town"}))
	for name, want := range map[string]string{"age": "|40|", "town": "|Zürich|"} {
		c := must.Get(tab.Column(name))
		if got := c.Text(0) + "|" + c.Text(1) + "|" + c.Text(2); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func writeArrow(path string) error {
	mem := memory.DefaultAllocator
	said := arrow.NewMetadata([]string{"made by"}, []string{"a test"})
	sc := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "small", Type: arrow.PrimitiveTypes.Int16, Nullable: true},
		{Name: "unsigned", Type: arrow.PrimitiveTypes.Uint32, Nullable: true},
		{Name: "float", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
		{Name: "flag", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "day", Type: arrow.FixedWidthTypes.Date32, Nullable: true},
		{Name: "moment", Type: arrow.FixedWidthTypes.Timestamp_ms, Nullable: true},
		{Name: "price", Type: &arrow.Decimal128Type{Precision: 9, Scale: 2}, Nullable: true},
		{Name: "word", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8,
			ValueType: arrow.BinaryTypes.String}, Nullable: true},
		{Name: "odd", Type: arrow.FixedWidthTypes.MonthInterval, Nullable: true},
		{Name: "large", Type: arrow.PrimitiveTypes.Uint64, Nullable: true},
		{Name: "coarse", Type: arrow.FixedWidthTypes.Timestamp_s, Nullable: true},
		{Name: "fine", Type: arrow.FixedWidthTypes.Timestamp_ns, Nullable: true, Metadata: said},
	}, &said)
	b := array.NewRecordBuilder(mem, sc)
	valid := []bool{true, false, true}
	b.Field(0).(*array.Int64Builder).AppendValues([]int64{9007199254740993, 0, -5}, valid)
	b.Field(1).(*array.Int16Builder).AppendValues([]int16{-3, 0, 7}, valid)
	b.Field(2).(*array.Uint32Builder).AppendValues([]uint32{math.MaxUint32, 0, 0}, valid)
	b.Field(3).(*array.Float32Builder).AppendValues([]float32{0.5, 0, -2}, valid)
	b.Field(4).(*array.BooleanBuilder).AppendValues([]bool{true, false, false}, valid)
	b.Field(5).(*array.Date32Builder).AppendValues([]arrow.Date32{19000, 0, -1}, valid)
	b.Field(6).(*array.TimestampBuilder).AppendValues([]arrow.Timestamp{129600e3, 0, -21600e3}, valid)
	b.Field(7).(*array.Decimal128Builder).AppendValues([]decimal128.Num{decimal128.FromI64(1234), {},
		decimal128.FromI64(-5)}, valid)
	words := b.Field(8).(*array.BinaryDictionaryBuilder)
	if err := errors.Join(words.AppendString("Zürich"), func() error { words.AppendNull(); return nil }(),
		words.AppendString("x")); err != nil {
		return err
	}
	b.Field(9).(*array.MonthIntervalBuilder).AppendValues([]arrow.MonthInterval{1, 2, 3}, valid)
	b.Field(10).(*array.Uint64Builder).AppendValues([]uint64{math.MaxUint64, 0, 1}, valid)
	b.Field(11).(*array.TimestampBuilder).AppendValues([]arrow.Timestamp{129600, 0, -21600}, valid)
	b.Field(12).(*array.TimestampBuilder).AppendValues([]arrow.Timestamp{129600e9, 0, -21600e9}, valid)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(sc))
	if err != nil {
		return err
	}
	return errors.Join(w.Write(b.NewRecordBatch()), w.Close(), f.Close())
}

func writeTypes(path string) error {
	var fields schema.FieldList
	var failed error
	add := func(name string, l schema.LogicalType, p pq.Type, length int) {
		n, err := schema.NewPrimitiveNodeLogical(name, pq.Repetitions.Optional, l, p, length, -1)
		fields, failed = append(fields, n), errors.Join(failed, err)
	}
	add("id", schema.NoLogicalType{}, pq.Types.Int64, -1)
	add("small", schema.NewIntLogicalType(16, true), pq.Types.Int32, -1)
	add("unsigned", schema.NewIntLogicalType(32, false), pq.Types.Int32, -1)
	add("float", schema.NoLogicalType{}, pq.Types.Float, -1)
	add("flag", schema.NoLogicalType{}, pq.Types.Boolean, -1)
	add("day", schema.DateLogicalType{}, pq.Types.Int32, -1)
	add("moment", schema.NewTimestampLogicalType(true, schema.TimeUnitMicros), pq.Types.Int64, -1)
	add("price", schema.NewDecimalLogicalType(9, 2), pq.Types.FixedLenByteArray, 4)
	add("word", schema.StringLogicalType{}, pq.Types.ByteArray, -1)
	add("odd", schema.IntervalLogicalType{}, pq.Types.FixedLenByteArray, 12)
	add("large", schema.NewIntLogicalType(64, false), pq.Types.Int64, -1)
	add("coarse", schema.NewTimestampLogicalType(true, schema.TimeUnitMillis), pq.Types.Int64, -1)
	add("fine", schema.NewTimestampLogicalType(true, schema.TimeUnitNanos), pq.Types.Int64, -1)
	add("old", schema.NoLogicalType{}, pq.Types.Int96, -1)
	root, err := schema.NewGroupNode("schema", pq.Repetitions.Required, fields, -1)
	if err = errors.Join(failed, err); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := file.NewParquetWriter(f, root)
	g, err := w.AppendRowGroupChecked()
	if err != nil {
		return err
	}
	levels := []int16{1, 0, 1}
	for range fields {
		c, err := g.NextColumn()
		if err != nil {
			return err
		}
		switch c := c.(type) {
		case *file.Int64ColumnChunkWriter:
			v := map[string][]int64{"id": {9007199254740993, -5}, "moment": {129600e6, -21600e6},
				"large": {-1, 1}, "coarse": {129600e3, -21600e3}, "fine": {129600e9, -21600e9}}[c.Descr().Name()]
			_, err = c.WriteBatch(v, levels, nil)
		case *file.Int32ColumnChunkWriter:
			v := map[string][]int32{"small": {-3, 7}, "unsigned": {-1, 0}, "day": {19000, -1}}[c.Descr().Name()]
			_, err = c.WriteBatch(v, levels, nil)
		case *file.Int96ColumnChunkWriter: // nanoseconds of a Julian day
			v := make([]pq.Int96, 2)
			for i, nanos := range []uint64{43_286_400_000_000, 64_800_000_000_000} {
				binary.LittleEndian.PutUint64(v[i][:], nanos)
				binary.LittleEndian.PutUint32(v[i][8:], []uint32{2_440_589, 2_440_587}[i])
			}
			_, err = c.WriteBatch(v, levels, nil)
		case *file.Float32ColumnChunkWriter:
			_, err = c.WriteBatch([]float32{0.5, -2}, levels, nil)
		case *file.BooleanColumnChunkWriter:
			_, err = c.WriteBatch([]bool{true, false}, levels, nil)
		case *file.ByteArrayColumnChunkWriter:
			_, err = c.WriteBatch([]pq.ByteArray{[]byte("Zürich"), []byte("x")}, levels, nil)
		case *file.FixedLenByteArrayColumnChunkWriter:
			v := []pq.FixedLenByteArray{{0, 0, 4, 0xd2}, {0xff, 0xff, 0xff, 0xfb}}
			if c.Descr().Name() == "odd" {
				v = []pq.FixedLenByteArray{make([]byte, 12), make([]byte, 12)}
			}
			_, err = c.WriteBatch(v, levels, nil)
		}
		if err := errors.Join(err, c.Close()); err != nil {
			return err
		}
	}
	return errors.Join(g.Close(), w.Close())
}

// A column within another is missing where either is null, and each row keeps its own value.
func TestColumnsWithinOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.parquet")
	optional := pq.Repetitions.Optional
	rooms, err := schema.NewPrimitiveNode("rooms", optional, pq.Types.Double, -1, -1)
	city, e := schema.NewPrimitiveNodeLogical("city", optional, schema.StringLogicalType{}, pq.Types.ByteArray, -1, -1)
	home, f := schema.NewGroupNode("home", optional, schema.FieldList{rooms, city}, -1)
	root, g := schema.NewGroupNode("schema", pq.Repetitions.Required, schema.FieldList{home}, -1)
	out, h := os.Create(path)
	must.Do(errors.Join(err, e, f, g, h))
	w := file.NewParquetWriter(out, root)
	group := must.Get(w.AppendRowGroupChecked())
	levels := []int16{2, 1, 2, 0, 1, 2} // of 1 the column is null, of 0 what it is within
	for range 2 {
		c, err := group.NextColumn()
		if err != nil {
			t.Fatal(err)
		}
		switch c := c.(type) {
		case *file.Float64ColumnChunkWriter:
			_, err = c.WriteBatch([]float64{3, 4, 5}, levels, nil)
		case *file.ByteArrayColumnChunkWriter:
			_, err = c.WriteBatch([]pq.ByteArray{[]byte("a"), []byte("b"), []byte("c")}, levels, nil)
		}
		must.Do(errors.Join(err, c.Close()))
	}
	must.Do(errors.Join(group.Close(), w.Close()))
	s := must.Get(parquet.Open(path, &parquet.Settings{ChunkRows: 4}))
	for column, want := range map[string]string{"home.rooms": "3,,4,,,5", "home.city": "a,,b,,,c"} {
		tab, err := frame.Collect(s, []string{column})
		if err != nil {
			t.Errorf("%s: %v", column, err)
			continue
		}
		c, _ := tab.Column(column)
		var got []string
		for i := range tab.Rows() {
			got = append(got, c.Text(i))
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%s has %q, want %s", column, got, want)
		}
	}
}

// A file that was cut short, at whatever place, is refused by name.
func TestBrokenFiles(t *testing.T) {
	dir := t.TempDir()
	for name, write := range map[string]func(path string) error{"a.arrow": writeArrow,
		"a.parquet": func(path string) error { return parquet.Write(path, mixed(t, 500)) }} {
		path := filepath.Join(dir, name)
		must.Do(write(path))
		whole := must.Get(os.ReadFile(path))
		try := func(b []byte) error {
			must.Do(os.WriteFile(path, b, 0o600))
			s, err := parquet.Open(path, nil)
			if err != nil {
				return err
			}
			return s.Scan(s.Names()[:2], func(*frame.Table) error { return nil })
		}
		var in *frame.InputError
		if err := try(whole); err != nil {
			t.Errorf("%s as it was written: %v", name, err)
		}
		for n := 0; n < len(whole); n += 1 + len(whole)/97 {
			if err := try(whole[:n]); !errors.As(err, &in) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s cut after %d of %d bytes: %v", name, n, len(whole), err)
			}
		}
	}
	if _, err := parquet.Open(filepath.Join(dir, "gone.parquet"), nil); err == nil ||
		!strings.Contains(err.Error(), "gone.parquet") {
		t.Errorf("%v", err)
	}
}

// Adult as Parquet makes the same records as the file of texts.
func TestAdult(t *testing.T) {
	var csv string
	for _, dir := range []string{os.Getenv("DPNB_DATA"), "../../../data", "../../../../shared/data/adult"} {
		if path := filepath.Join(dir, "adult.data"); csv == "" && dir != "" {
			if _, err := os.Stat(path); err == nil {
				csv = path
			}
		}
	}
	if csv == "" {
		t.Skip("the Adult data are not here; fetch them with: go run ./dpnb/cmd/dpnb data adult")
	}
	whole := must.Get(frame.ReadCSVFile(csv, dataset.AdultCSV()))
	path := filepath.Join(t.TempDir(), "adult.parquet")
	must.Do(parquet.Write(path, whole))
	s := must.Get(parquet.Open(path, nil))
	same(t, s, whole, nil)
}
