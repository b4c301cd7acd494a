package parquet

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/dpnb/notebooks/dpnb/frame"
)

// readingKey is where the metadata of a file say how texts are read: a frame.Reading by column, as JSON.
const readingKey = "dpnb.reading"

// Write writes a table to a Parquet file: numbers as doubles, texts as strings, what is missing as null, a row group
// for each chunk of a scan. Texts of a file stay as they stand there, those that mean "missing" too; how they are read
// (decimal marks and the like) is in the metadata under readingKey, by which Open reads them in the same way. The file
// is there in full or not at all. It has raw records, and is as private as they are.
//
// Errors: those of the scan and of the file system.
func Write(path string, s frame.Scanner) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".dpnb-part-"+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	var w *file.Writer
	var first *frame.Table
	err = s.Scan(nil, func(chunk *frame.Table) error {
		if w == nil {
			first = chunk.Head(0)
			if w, err = newWriter(f, chunk); err != nil {
				return err
			}
		} else if !first.ReadLike(chunk) {
			return inputErrorf("files that are read in different ways are written one by one")
		}
		return writeGroup(w, chunk)
	})
	if err == nil {
		err = w.FlushWithFooter()
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func newWriter(f *os.File, chunk *frame.Table) (*file.Writer, error) {
	var fields schema.FieldList
	readings := map[string]frame.Reading{}
	for _, name := range chunk.Names() {
		c, err := chunk.Column(name)
		if err != nil {
			return nil, err
		}
		if r := c.Reading(); r.Decimal != 0 || r.Missing != nil {
			readings[name] = r
		}
		node := schema.Node(schema.NewFloat64Node(name, parquet.Repetitions.Optional, -1))
		if c.Kind == frame.Categorical {
			node, err = schema.NewPrimitiveNodeLogical(name, parquet.Repetitions.Optional, schema.StringLogicalType{},
				parquet.Types.ByteArray, -1, -1)
		}
		if err != nil {
			return nil, err
		}
		fields = append(fields, node)
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(readings)
	if err != nil {
		return nil, err
	}
	said := metadata.KeyValueMetadata{}
	if err := said.Append(readingKey, string(text)); err != nil {
		return nil, err
	}
	return file.NewParquetWriterWithError(f, root, file.WithWriteMetadata(said), file.WithWriterProps(
		parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy), parquet.WithStats(false))))
}

func writeGroup(w *file.Writer, chunk *frame.Table) error {
	group, err := w.AppendRowGroupChecked()
	if err != nil {
		return err
	}
	levels := make([]int16, chunk.Rows())
	for _, name := range chunk.Names() {
		c, err := chunk.Column(name)
		if err != nil {
			return err
		}
		out, err := group.NextColumn()
		if err != nil {
			return err
		}
		clear(levels)
		switch out := out.(type) {
		case *file.Float64ColumnChunkWriter:
			var numbers []float64
			for i, v := range c.Numbers {
				if !math.IsNaN(v) {
					numbers, levels[i] = append(numbers, v), 1
				}
			}
			_, err = out.WriteBatch(numbers, levels, nil)
		case *file.ByteArrayColumnChunkWriter:
			var texts []parquet.ByteArray
			for i := range levels {
				if text := c.Texts[i]; text != "" {
					texts, levels[i] = append(texts, parquet.ByteArray(text)), 1
				}
			}
			_, err = out.WriteBatch(texts, levels, nil)
		}
		if err := errors.Join(err, out.Close()); err != nil {
			return err
		}
	}
	return group.Close()
}
