package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
)

// Lengths stand in a file, and one that is damaged may say any. Memory is therefore asked for through an allocator that
// refuses more at a time than the file can be worth: always leastLimit, beyond it no more than mostRatio times the
// file, and of a Parquet file no more than twice what its footer says of the column.
const (
	leastLimit = 64 << 20
	mostRatio  = 1100 // deflate has at most 1,032
)

// limited is an allocator that panics, which table.use makes an error, instead of handing out more than so many bytes
// at a time.
type limited struct {
	memory.Allocator
	most int64
}

// fileLimit is the allocator for what is read of a file whose columns may have so many bytes.
func fileLimit(f *os.File, column int64) (memory.Allocator, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	most := int64(math.MaxInt64)
	if info.Size() < most/mostRatio {
		most = info.Size() * mostRatio
	}
	if column < most/2 {
		most = 2 * column
	}
	return limited{memory.NewGoAllocator(), max(leastLimit, most)}, nil
}

func (l limited) check(size int) {
	if int64(size) > l.most {
		panic(fmt.Sprintf("a length in it is %d bytes, and no more than %d can be right", size, l.most))
	}
}

// Allocate implements memory.Allocator.
func (l limited) Allocate(size int) []byte {
	l.check(size)
	return l.Allocator.Allocate(size)
}

// Reallocate implements memory.Allocator.
func (l limited) Reallocate(size int, b []byte) []byte {
	l.check(size)
	return l.Allocator.Reallocate(size, b)
}

// mostOfColumn returns how many bytes a column has at most in a row group, by the footer, and refuses row groups that
// are not within the file.
func mostOfColumn(r *file.Reader, size int64, at int) (most int64, err error) {
	for g := range r.NumRowGroups() {
		group := r.MetaData().RowGroup(g)
		c, err := group.ColumnChunk(at)
		if err != nil {
			return 0, inputErrorf("row group %d: %v", g+1, err)
		}
		begin, length := c.DataPageOffset(), c.TotalCompressedSize()
		if c.HasDictionaryPage() && c.DictionaryPageOffset() > 0 {
			begin = min(begin, c.DictionaryPageOffset())
		}
		if begin < 0 || length < 0 || begin > size || length > size-begin || group.NumRows() < 0 {
			return 0, inputErrorf("row group %d is beyond the end of the file: it is damaged or cut short", g+1)
		}
		most = max(most, c.TotalUncompressedSize())
	}
	return most, nil
}

// snappy is the library's codec, which makes room for as much as a block says that it holds.
type snappy struct{ compress.ErrorCodec }

func init() {
	if c, err := compress.GetCodec(compress.Codecs.Snappy); err == nil {
		if c, ok := c.(compress.ErrorCodec); ok {
			compress.RegisterCodec(compress.Codecs.Snappy, snappy{c})
		}
	}
}

// DecodeWithError implements compress.ErrorCodec.
func (c snappy) DecodeWithError(dst, src []byte) ([]byte, error) {
	if n, _ := binary.Uvarint(src); n > uint64(max(len(dst), leastLimit)) {
		return nil, errors.New("a block is said to hold more than its page")
	}
	return c.ErrorCodec.DecodeWithError(dst, src)
}
