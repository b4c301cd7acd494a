package parquet

import (
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
)

// openArrow reads what is at the end of an Arrow file.
func openArrow(f *os.File) (*ipc.FileReader, error) {
	mem, err := fileLimit(f, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	if err := checkArrow(f); err != nil {
		return nil, err
	}
	r, err := ipc.NewFileReader(f, ipc.WithAllocator(mem))
	if err != nil {
		return nil, inputErrorf("no Arrow file, or one that was cut short: %v", err)
	}
	return r, nil
}

// arrowNames has no number of rows: that is known after a scan.
func arrowNames(f *os.File) (names []string, rows int, err error) {
	r, err := openArrow(f)
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	for _, field := range r.Schema().Fields() {
		names = append(names, field.Name)
	}
	return names, 0, nil
}

// scanArrow reads one batch of the file after the other, and makes chunks of ChunkRows rows.
func (t *table) scanArrow(f *os.File, columns []string, emit func([]frame.Column) error) error {
	r, err := openArrow(f)
	if err != nil {
		return err
	}
	defer r.Close()
	at, chunk := make([]int, len(columns)), make([]frame.Column, len(columns))
	for k, name := range columns {
		at[k] = slices.Index(t.names, name)
		if at[k] >= r.Schema().NumFields() {
			return inputErrorf("the file was changed since it was opened")
		}
		chunk[k] = frame.Column{Name: name}
		none := array.MakeArrayOfNull(memory.DefaultAllocator, r.Schema().Field(at[k]).Type, 0)
		v, err := valuesOf(none, name, slices.Contains(t.Texts, name))
		if err != nil {
			return err
		}
		if v.text != nil {
			chunk[k].Kind = frame.Categorical
		}
	}
	rows, chunks := 0, 0
	flush := func() error {
		err := emit(chunk)
		for k := range chunk {
			chunk[k].Numbers, chunk[k].Texts = chunk[k].Numbers[:0], chunk[k].Texts[:0]
		}
		rows, chunks = 0, chunks+1
		return err
	}
	for b := range r.NumRecords() {
		batch, err := r.RecordBatch(b)
		if err != nil {
			return inputErrorf("batch %d of %d is damaged or cut short: %v", b+1, r.NumRecords(), err)
		}
		for lo := 0; lo < int(batch.NumRows()); {
			hi := min(int(batch.NumRows()), lo+t.ChunkRows-rows)
			for k, j := range at {
				v, err := valuesOf(batch.Column(j), columns[k], slices.Contains(t.Texts, columns[k]))
				if err != nil {
					return err
				}
				v.appendTo(&chunk[k], lo, hi)
			}
			if rows, lo = rows+hi-lo, hi; rows == t.ChunkRows {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	if rows > 0 || chunks == 0 {
		return flush()
	}
	return nil
}

// values has the numbers of an array, or its texts.
type values struct {
	arrow.Array
	number func(i int) float64
	text   func(i int) string
}

func (v values) appendTo(c *frame.Column, lo, hi int) {
	for i := lo; i < hi; i++ {
		switch {
		case v.text != nil && v.IsNull(i):
			c.Texts = append(c.Texts, "")
		case v.text != nil:
			c.Texts = append(c.Texts, v.text(i))
		case v.IsNull(i):
			c.Numbers = append(c.Numbers, math.NaN())
		default:
			c.Numbers = append(c.Numbers, v.number(i))
		}
	}
}

// entries are those of a dictionary that the rows name, of which one may be null itself.
type entries struct {
	*array.Dictionary
	of values
}

// IsNull reports whether a row names no entry, or one that is null.
func (e entries) IsNull(i int) bool { return e.Dictionary.IsNull(i) || e.of.IsNull(e.GetValueIndex(i)) }

// valuesOf returns the values of an array; those of whole numbers as texts if asked for.
func valuesOf(a arrow.Array, name string, asTexts bool) (values, error) {
	whole := func(signed func(i int) int64) values {
		if asTexts {
			return values{a, nil, func(i int) string { return strconv.FormatInt(signed(i), 10) }}
		}
		return values{a, func(i int) float64 { return float64(signed(i)) }, nil}
	}
	unsigned := func(v func(i int) uint64) values {
		if asTexts {
			return values{a, nil, func(i int) string { return strconv.FormatUint(v(i), 10) }}
		}
		return values{a, func(i int) float64 { return float64(v(i)) }, nil}
	}
	switch x := a.(type) {
	case *array.Int8:
		return whole(func(i int) int64 { return int64(x.Value(i)) }), nil
	case *array.Int16:
		return whole(func(i int) int64 { return int64(x.Value(i)) }), nil
	case *array.Int32:
		return whole(func(i int) int64 { return int64(x.Value(i)) }), nil
	case *array.Int64:
		return whole(x.Value), nil
	case *array.Uint8:
		return unsigned(func(i int) uint64 { return uint64(x.Value(i)) }), nil
	case *array.Uint16:
		return unsigned(func(i int) uint64 { return uint64(x.Value(i)) }), nil
	case *array.Uint32:
		return unsigned(func(i int) uint64 { return uint64(x.Value(i)) }), nil
	case *array.Uint64:
		return unsigned(x.Value), nil
	case interface{ Value(i int) string }: // String, LargeString, StringView
		return values{a, nil, x.Value}, nil
	case interface{ Value(i int) []byte }: // Binary, LargeBinary, BinaryView, FixedSizeBinary
		return values{a, nil, func(i int) string { return string(x.Value(i)) }}, nil
	case *array.Boolean:
		return values{a, nil, func(i int) string { return strconv.FormatBool(x.Value(i)) }}, nil
	case *array.Dictionary:
		of, err := valuesOf(x.Dictionary(), name, asTexts)
		if err != nil || of.text == nil {
			return values{entries{x, of}, func(i int) float64 { return of.number(x.GetValueIndex(i)) }, nil}, err
		}
		return values{entries{x, of}, nil, func(i int) string { return of.text(x.GetValueIndex(i)) }}, nil
	}
	if asTexts {
		return values{}, inputErrorf("column %q is of the type %v, and in %s: those are whole numbers", name,
			a.DataType(), wording.Of("Texts"))
	}
	number := func(v func(i int) float64) (values, error) { return values{a, v, nil}, nil }
	day := func(unit arrow.TimeUnit) float64 { return float64(24*time.Hour) / float64(unit.Multiplier()) }
	switch x := a.(type) {
	case *array.Float16:
		return number(func(i int) float64 { return float64(x.Value(i).Float32()) })
	case *array.Float32:
		return number(func(i int) float64 { return float64(x.Value(i)) })
	case *array.Float64:
		return number(x.Value)
	case *array.Decimal128:
		scale := math.Pow(10, float64(x.DataType().(*arrow.Decimal128Type).Scale))
		return number(func(i int) float64 { return x.Value(i).ToFloat64(0) / scale })
	case *array.Decimal256:
		scale := math.Pow(10, float64(x.DataType().(*arrow.Decimal256Type).Scale))
		return number(func(i int) float64 { return x.Value(i).ToFloat64(0) / scale })
	case *array.Time32:
		day := day(x.DataType().(*arrow.Time32Type).Unit)
		return number(func(i int) float64 { return float64(x.Value(i)) / day })
	case *array.Time64:
		day := day(x.DataType().(*arrow.Time64Type).Unit)
		return number(func(i int) float64 { return float64(x.Value(i)) / day })
	case *array.Date32:
		return number(func(i int) float64 { return float64(x.Value(i)) })
	case *array.Date64:
		return number(func(i int) float64 { return float64(x.Value(i)) / 86400e3 })
	case *array.Timestamp:
		day := day(x.DataType().(*arrow.TimestampType).Unit)
		return number(func(i int) float64 { return float64(x.Value(i)) / day })
	}
	return values{}, inputErrorf("column %q is of the type %v, which is not read: select others", name, a.DataType())
}
