package parquet

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
)

// open reads what is at the end of a Parquet file, if known is nil; else its columns may have so many bytes.
func open(f *os.File, known *metadata.FileMetaData, most int64) (*file.Reader, error) {
	mem, err := fileLimit(f, most)
	if err != nil {
		return nil, err
	}
	props := parquet.NewReaderProperties(mem)
	props.BufferedStreamEnabled = true // else all of a column's row group is held
	props.BufferSize = 1 << 20
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	opts := []file.ReadOption{file.WithReadProps(props)}
	if known != nil {
		opts = append(opts, file.WithMetadata(known))
	}
	r, err := file.NewParquetReader(io.NewSectionReader(f, 0, info.Size()), opts...)
	if err != nil {
		return nil, inputErrorf("no Parquet file, nor an Arrow one, or one that was cut short: %v", err)
	}
	return r, nil
}

// lookAtParquet reads what a Parquet file says of its columns.
func (t *table) lookAtParquet(f *os.File) error {
	r, err := open(f, nil, math.MaxInt64)
	if err != nil {
		return err
	}
	s := r.MetaData().Schema
	for j := range s.NumColumns() {
		t.names = append(t.names, s.Column(j).Path())
	}
	t.origin.Rows, t.groups = int(r.NumRows()), r.NumRowGroups()
	if text := r.MetaData().KeyValueMetadata().FindValue(readingKey); text != nil {
		if err := json.Unmarshal([]byte(*text), &t.readings); err != nil {
			return inputErrorf("how texts are read (%s) is damaged: %v", readingKey, err)
		}
	}
	return nil
}

// scanParquet reads chunk by chunk, the columns of one at the same time.
func (t *table) scanParquet(f *os.File, columns []string, emit func([]frame.Column) error) error {
	first, err := open(f, nil, math.MaxInt64)
	if err != nil {
		return err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	cursors := make([]*cursor, len(columns))
	for k, name := range columns {
		at := slices.Index(t.names, name)
		if at >= first.MetaData().Schema.NumColumns() {
			return inputErrorf("the file was changed since it was opened")
		}
		c := &cursor{at: at, group: t.lo, to: frame.Column{Name: name}, known: interned{},
			own: slices.Contains(t.Texts, name)}
		most, err := mostOfColumn(first, size, at)
		if err != nil {
			return err
		}
		if c.file, err = open(f, first.MetaData(), most); err != nil {
			return err
		}
		if err := c.readType(c.file.MetaData().Schema.Column(at)); err != nil {
			return err
		}
		if r, ok := t.readings[name]; ok {
			if err := c.to.ReadAs(r); err != nil {
				return err
			}
		}
		cursors[k] = c
	}
	if t.groups != first.NumRowGroups() {
		return inputErrorf("the file was changed since it was opened")
	}
	total := int64(0)
	for g := t.lo; g < t.hi; g++ {
		total += first.RowGroup(g).NumRows()
	}
	chunk := make([]frame.Column, len(columns))
	for done := int64(0); done == 0 || done < total; done += int64(t.ChunkRows) {
		rows := min(int64(t.ChunkRows), total-done)
		err := parallel.For(context.Background(), len(cursors), 0, func(_, k int) (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = inputErrorf("column %q is damaged: %v", cursors[k].to.Name, p)
				}
			}()
			err = cursors[k].next(rows)
			chunk[k] = cursors[k].to
			return err
		})
		if err != nil {
			return err
		}
		if err := emit(chunk); err != nil {
			return err
		}
	}
	return nil
}

// cursor reads one column from row group to row group.
type cursor struct {
	file     *file.Reader
	at       int // of the column
	group    int // that is read next
	chunk    file.ColumnChunkReader
	left     int64 // rows of the group that were not read
	to       frame.Column
	most     int16 // the definition level of a value that is not null
	known    interned
	own      bool // read as a text by the settings
	scale    func(v float64) float64
	unsigned bool
	levels   []int16
	buffer   any // of values, the size of the largest batch
}

// readType finds out what the values of the column stand for.
func (c *cursor) readType(col *schema.Column) error {
	refuse := func(what string) error {
		return inputErrorf("column %q is %s, which is not read: select others", c.to.Name, what)
	}
	if c.most = col.MaxDefinitionLevel(); col.MaxRepetitionLevel() > 0 {
		return refuse("a list or a map")
	}
	perUnit := func(unit float64) func(float64) float64 { return func(v float64) float64 { return v / unit } }
	text := c.own
	switch l := col.LogicalType().(type) { // of which some are pointers
	case interface{ Scale() int32 }: // a decimal
		c.scale = perUnit(math.Pow(10, float64(l.Scale())))
	case interface{ TimeUnit() schema.TimeUnitType }: // a moment, or a time of the day
		c.scale = perUnit(perDay(l.TimeUnit()))
	case interface{ IsSigned() bool }: // a whole number
		c.unsigned = !l.IsSigned()
	case schema.IntervalLogicalType, schema.Float16LogicalType, schema.BSONLogicalType, schema.VariantLogicalType,
		schema.GeometryLogicalType, schema.GeographyLogicalType:
		return refuse("of the type " + l.String())
	}
	switch col.PhysicalType() {
	case parquet.Types.Boolean:
		text = true
	case parquet.Types.ByteArray, parquet.Types.FixedLenByteArray:
		text = text || c.scale == nil
	case parquet.Types.Int32, parquet.Types.Int64:
		if c.own && c.scale != nil {
			return refuse("a number that is not whole, and in Texts")
		}
	default:
		if c.own {
			return refuse("a number that is not whole, and in Texts")
		}
	}
	if c.to.Kind = frame.Numeric; text {
		c.to.Kind = frame.Categorical
	}
	return nil
}

func perDay(u schema.TimeUnitType) float64 {
	switch u {
	case schema.TimeUnitMillis:
		return 86400e3
	case schema.TimeUnitMicros:
		return 86400e6
	}
	return 86400e9
}

// next reads the next rows of the column.
func (c *cursor) next(rows int64) error {
	if c.to.Kind == frame.Numeric {
		c.to.Numbers = slices.Grow(c.to.Numbers[:0], int(rows))
	} else {
		c.to.Texts = slices.Grow(c.to.Texts[:0], int(rows))
	}
	for rows > 0 {
		if c.left == 0 {
			if c.group >= c.file.NumRowGroups() {
				return inputErrorf("column %q has fewer rows than the file says: it is damaged", c.to.Name)
			}
			g := c.file.RowGroup(c.group)
			var err error
			if c.chunk, err = g.Column(c.at); err != nil {
				return inputErrorf("column %q: %v", c.to.Name, err)
			}
			c.group, c.left = c.group+1, g.NumRows()
			continue
		}
		n, err := c.batch(min(rows, c.left, 1<<13))
		if err == nil && n == 0 {
			err = errors.New("fewer rows than the file says")
		}
		if err != nil {
			return inputErrorf("column %q is damaged or cut short: %v", c.to.Name, err)
		}
		rows, c.left = rows-n, c.left-n
	}
	return nil
}

// batch reads up to n rows.
func (c *cursor) batch(n int64) (int64, error) {
	switch r := c.chunk.(type) {
	case *file.Float64ColumnChunkReader:
		return read(c, n, r.ReadBatch, func(v float64) float64 { return v }, nil)
	case *file.Float32ColumnChunkReader:
		return read(c, n, r.ReadBatch, func(v float32) float64 { return float64(v) }, nil)
	case *file.Int32ColumnChunkReader:
		if c.unsigned {
			return read(c, n, r.ReadBatch, func(v int32) float64 { return float64(uint32(v)) },
				func(v int32) string { return strconv.FormatUint(uint64(uint32(v)), 10) })
		}
		return read(c, n, r.ReadBatch, func(v int32) float64 { return float64(v) },
			func(v int32) string { return strconv.FormatInt(int64(v), 10) })
	case *file.Int64ColumnChunkReader:
		if c.unsigned {
			return read(c, n, r.ReadBatch, func(v int64) float64 { return float64(uint64(v)) },
				func(v int64) string { return strconv.FormatUint(uint64(v), 10) })
		}
		return read(c, n, r.ReadBatch, func(v int64) float64 { return float64(v) },
			func(v int64) string { return strconv.FormatInt(v, 10) })
	case *file.Int96ColumnChunkReader:
		return read(c, n, r.ReadBatch, func(v parquet.Int96) float64 {
			t := v.ToTime()
			return (float64(t.Unix()) + float64(t.Nanosecond())/1e9) / (24 * time.Hour).Seconds()
		}, nil)
	case *file.BooleanColumnChunkReader:
		return read(c, n, r.ReadBatch, nil, strconv.FormatBool)
	case *file.ByteArrayColumnChunkReader:
		return read(c, n, r.ReadBatch, func(v parquet.ByteArray) float64 { return twosComplement(v) },
			func(v parquet.ByteArray) string { return c.known.text(v) })
	case *file.FixedLenByteArrayColumnChunkReader:
		return read(c, n, r.ReadBatch, func(v parquet.FixedLenByteArray) float64 { return twosComplement(v) },
			func(v parquet.FixedLenByteArray) string { return c.known.text(v) })
	}
	return 0, errors.New("an unknown type")
}

// read appends up to n rows to the column, nulls as missing.
func read[T any](c *cursor, n int64, batch func(int64, []T, []int16, []int16) (int64, int, error),
	number func(T) float64, text func(T) string) (int64, error) {
	values, _ := c.buffer.([]T)
	if values = slices.Grow(values[:0], int(n))[:n]; c.buffer == nil {
		c.buffer = values
	}
	c.levels = slices.Grow(c.levels[:0], int(n))[:n]
	rows, count, err := batch(n, values, c.levels, nil)
	if err != nil && !(errors.Is(err, io.EOF) && rows > 0) {
		return 0, err
	}
	k := 0
	for i := range rows {
		null := c.most > 0 && c.levels[i] < c.most
		if !null && k >= count {
			return 0, errors.New("fewer values than rows")
		}
		switch {
		case c.to.Kind == frame.Numeric && null:
			c.to.Numbers = append(c.to.Numbers, math.NaN())
		case c.to.Kind == frame.Numeric:
			v := number(values[k])
			if c.scale != nil {
				v = c.scale(v)
			}
			c.to.Numbers = append(c.to.Numbers, v)
		case null:
			c.to.Texts = append(c.to.Texts, "")
		default:
			c.to.Texts = append(c.to.Texts, text(values[k]))
		}
		if !null {
			k++
		}
	}
	return rows, nil
}

// twosComplement is the whole number of a decimal in bytes, the highest first.
func twosComplement(b []byte) float64 {
	v := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	f, _ := new(big.Float).SetInt(v).Float64()
	return f
}
