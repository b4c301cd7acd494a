// Package stored has records in a file, read block by block: for fits of more rows than fit in memory. Whoever makes
// records of tables may enter; it enters matrix.
package stored

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
)

// A file has, little-endian,
//
//	the header: magic, key, bytes of an entry, n, d, rows of a block, the norm of the longest
//	row, the checksum of the table, and that of the header before it;
//	from byte rowsAt on the rows, as float32 or float64;
//	from the next multiple of labelsAlign on the labels, as float64, which are mapped;
//	the table: a checksum for each block of rows, and for each labelBlock of labels.
//
// A block of rows is what is read at once, and its checksum is looked at each time.
const (
	magic       = "dpnbrow2"
	keyAt       = len(magic)
	fieldsAt    = keyAt + 32
	headerSize  = fieldsAt + 5*8 + 4 + 4
	rowsAt      = 4096
	labelsAlign = 1 << 16
	labelBlock  = 1 << 16
	// blockBytes is about the size of a block of rows: large beside the latency of a disk, small beside a processor's
	// cache.
	blockBytes = 1 << 18
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// header is what a file says of itself.
type header struct {
	key              [32]byte
	size, n, d, rows int
	longest          float64
	table            uint32 // its checksum
}

// blockRows returns how many rows of d entries are a block.
func blockRows(d, size int) int {
	rows := blockBytes / max(1, d*size)
	if rows > 4 {
		rows &^= 3
	}
	return max(1, rows)
}

func (h *header) blocks() int       { return (h.n + h.rows - 1) / h.rows }
func (h *header) labelBlocks() int  { return (h.n + labelBlock - 1) / labelBlock }
func (h *header) rowBytes() int64   { return int64(h.d) * int64(h.size) }
func (h *header) labelsAt() int64   { return aligned(rowsAt + int64(h.n)*h.rowBytes()) }
func (h *header) tableAt() int64    { return h.labelsAt() + 8*int64(h.n) }
func (h *header) tableBytes() int64 { return 4 * int64(h.blocks()+h.labelBlocks()) }

func aligned(at int64) int64 { return (at + labelsAlign - 1) / labelsAlign * labelsAlign }

// bytes returns the header as it stands in the file.
func (h *header) bytes() []byte {
	b := append([]byte(magic), h.key[:]...)
	for _, v := range []uint64{uint64(h.size), uint64(h.n), uint64(h.d), uint64(h.rows), math.Float64bits(h.longest)} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	b = binary.LittleEndian.AppendUint32(b, h.table)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// ErrNone says that there are no records for the key in a whole file at the path.
var ErrNone = errors.New("stored: no records for the key")

// lookAt reads the header, and with it whether the file has its length.
func lookAt(f *os.File) (*header, error) {
	b := make([]byte, headerSize)
	_, err := io.ReadFull(io.NewSectionReader(f, 0, int64(headerSize)), b)
	if err != nil || string(b[:keyAt]) != magic {
		return nil, fmt.Errorf("%w: %s is no such file", ErrNone, f.Name())
	}
	field := func(k int) uint64 { return binary.LittleEndian.Uint64(b[fieldsAt+8*k:]) }
	h := &header{key: [32]byte(b[keyAt:fieldsAt]), longest: math.Float64frombits(field(4)),
		table: binary.LittleEndian.Uint32(b[fieldsAt+40:])}
	size, n, d, rows := field(0), field(1), field(2), field(3)
	if crc32.Checksum(b[:headerSize-4], castagnoli) != binary.LittleEndian.Uint32(b[headerSize-4:]) ||
		size != 4 && size != 8 || n > 1<<40 || d > 1<<20 || rows != uint64(blockRows(int(d), int(size))) {
		return nil, fmt.Errorf("%w: %s is damaged", ErrNone, f.Name())
	}
	h.size, h.n, h.d, h.rows = int(size), int(n), int(d), int(rows)
	if info, err := f.Stat(); err != nil || info.Size() != h.tableAt()+h.tableBytes() {
		return nil, fmt.Errorf("%w: %s was cut short", ErrNone, f.Name())
	}
	return h, nil
}

// Info is what a file says of itself in its header.
type Info struct {
	// Key is by what its records are known again.
	Key [32]byte
	// Records n of Features d, each of so many Bytes, 4 or 8.
	Records, Features, Bytes int
}

// Look reads the header of a file.
//
// Errors: ErrNone if it is none, or cut short.
func Look(path string) (Info, error) {
	f, err := os.Open(path)
	if err != nil {
		return Info{}, fmt.Errorf("%w: %w", ErrNone, err)
	}
	defer f.Close()
	h, err := lookAt(f)
	if err != nil {
		return Info{}, err
	}
	return Info{h.key, h.n, h.d, h.size}, nil
}
