package statistic

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// EncodeTally returns what t has added up, with a checksum: the same bytes for the same records in any order and any
// parts. It is not private.
func EncodeTally(t Tally) []byte {
	b, last := make([]byte, 4), -1
	t.Each(func(place int, count int64) {
		b = binary.AppendUvarint(b, uint64(place-last-1))
		b = binary.AppendVarint(b, count)
		last = place
	})
	binary.LittleEndian.PutUint32(b, crc32.Checksum(b[4:], castagnoli))
	return b
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errDamaged = errors.New("statistic: no tally, or damaged")

// CheckTally reports whether EncodeTally has written b.
func CheckTally(b []byte) error {
	if len(b) < 4 || binary.LittleEndian.Uint32(b) != crc32.Checksum(b[4:], castagnoli) {
		return errDamaged
	}
	return nil
}

// MergeTally adds to t what EncodeTally wrote of another tally of the same mechanism.
//
// Errors: bytes that it has not written, or that are of another mechanism; t is then of no use.
func MergeTally(t Tally, b []byte) (err error) {
	if err := CheckTally(b); err != nil {
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("statistic: the tally of another mechanism: %v", p)
		}
	}()
	place := -1
	for b = b[4:]; len(b) > 0; {
		gap, n := binary.Uvarint(b)
		count, m := binary.Varint(b[max(0, n):])
		if n <= 0 || m <= 0 || gap > 1<<40 {
			return errDamaged
		}
		place += int(gap) + 1
		t.Count(place, count)
		b = b[n+m:]
	}
	return nil
}
